"""Every table against a plain computation from the files of a run."""

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import f1_score

from heedful.experiments import EXPERIMENT_NAMES
from heedful.measures import bootstrap, holm, sign_test
from heedful.report.tables import TABLES, Table, tables
from heedful.report.tables.formats import to_csv, to_markdown, write_tables
from heedful.report.tables.latex import to_latex
from heedful.runs.config import resolve
from heedful.runs.directory import Run
from tests.making import as_older

Rows = list[dict[str, Any]]


def _rows(run: Run, name: str) -> Rows:
    table = TABLES[name]([run])
    assert table.runs == (run.folder.name,) * len(table.rows)
    return [dict(zip((column.key for column in table.columns), row, strict=True)) for row in table.rows]


def _frame(run: Run, name: str) -> pl.DataFrame:
    return pl.read_parquet(run.folder / "results" / f"{name}.parquet")


def _check_mean(row: dict[str, Any], key: str, values: pl.Series, *, std: bool = False) -> None:
    """The mean of the defined values, and the interval of the bootstrap with the tables' seed and draws."""
    defined = values.cast(pl.Float64).drop_nulls().to_list()
    assert row[key] == pytest.approx(sum(defined) / len(defined))
    interval = bootstrap(values.cast(pl.Float64).fill_null(np.nan), seed=0, draws=1000)
    assert (row[f"{key}_low"], row[f"{key}_high"]) == pytest.approx(interval)
    if std:
        mean = sum(defined) / len(defined)
        assert row[f"{key}_std"] == pytest.approx(math.sqrt(sum((x - mean) ** 2 for x in defined) / len(defined)))


def test_table_1(whole: Run) -> None:
    (row,) = _rows(whole, "jain-wallace-table-1")
    corpus, metrics = whole.manifest["corpus"], whole.metrics["test"]
    assert (row["vocabulary"], row["mean_length"], row["n"]) == (corpus["vocabulary"], corpus["mean_length"], 30)
    assert row["train"] == "/".join(map(str, corpus["counts"]["train"]))
    assert (row["metric"], row["performance"]) == ("macro F1", metrics["macro_f1"])
    assert row["performance_low"] < row["performance"] < row["performance_high"]
    assert row["paper_vocabulary"] is row["paper_train"] is row["paper_performance"] is None


def test_table_2(whole: Run) -> None:
    frame, rows = _frame(whole, "correlation"), _rows(whole, "jain-wallace-table-2")
    groups = [*sorted(frame["decision"].unique()), None]
    assert len(groups) > 2
    assert [(row["importance"], row["decided"]) for row in rows] == [
        (measure, "all" if group is None else whole.classes[group])
        for measure in ("gradient", "leave-one-out")
        for group in groups
    ]
    for row, group in zip(rows, groups * 2, strict=True):
        some = frame if group is None else frame.filter(frame["decision"] == group)
        measure = row["importance"].replace("-", "_")
        tau, p = some[f"tau_attention_{measure}"], some[f"p_attention_{measure}"]
        assert (row["n"], row["undefined"]) == (len(tau) - tau.null_count(), tau.null_count())
        _check_mean(row, "tau", tau, std=True)
        _check_mean(row, "significant", p <= 0.05)


def test_flips(whole: Run) -> None:
    frame, rows = _frame(whole, "single_weight"), _rows(whole, "serrano-smith-flips")
    assert len(rows) == 6
    assert (frame["items"] > 1).all()
    for row in rows:
        name = row["ranking"].replace(" x ", "_")
        top = frame[f"{name}_flips"].cast(pl.Float64)
        rival = frame[f"{name}_{'rival' if row['rival'] == 'drawn' else 'expected'}_flips"].cast(pl.Float64)
        assert row["n"] == len(frame)
        _check_mean(row, "both", top * rival)
        _check_mean(row, "top_only", top * (1 - rival))
        _check_mean(row, "rival_only", (1 - top) * rival)
        _check_mean(row, "neither", (1 - top) * (1 - rival))
        if row["rival"] == "expected":
            _check_mean(row, "negative", frame[f"{name}_expected_negative"])


def test_rankings(whole: Run) -> None:
    frame, rows = _frame(whole, "removal"), _rows(whole, "serrano-smith-rankings")
    assert len(rows) == 7
    for row in rows:
        name = row["ranking"].replace(" x ", "_")
        if name == "random":  # over all its orders
            every = frame["random_counts"].explode().cast(pl.Float64) / frame["items"].repeat_by(5).explode()
            assert row["fraction_all"] == pytest.approx(every.fill_null(1.0).mean())
            continue
        count, least = frame[f"{name}_count"], frame["optimal_count"]
        assert row["never"] == pytest.approx(count.null_count() / len(frame))
        _check_mean(row, "fraction", frame[f"{name}_fraction"], std=True)
        _check_mean(row, "fraction_all", frame[f"{name}_fraction"].fill_null(1.0))
        _check_mean(row, "mass_all", frame[f"{name}_mass"].fill_null(1.0))
        _check_mean(row, "excess", count - least)
        known = pl.select(pl.when(least.is_not_null()).then(count.eq_missing(least))).to_series()
        _check_mean(row, "optimal", known)


def test_wins(whole: Run) -> None:
    frame, rows = _frame(whole, "removal"), _rows(whole, "serrano-smith-wins")
    names = ["gradient", "gradient_attention", "contribution", "random", "ascending"]
    assert [row["rival"] for row in rows] == [name.replace("t_a", "t x a") for name in names]
    own = frame["attention_count"].cast(pl.Float64).fill_null(np.inf)
    for row, name in zip(rows, names, strict=True):
        other = frame[f"{name}_count"].cast(pl.Float64).fill_null(np.inf)
        assert row["n"] == len(frame)
        _check_mean(row, "rival_wins", other < own)
        _check_mean(row, "attention_wins", own < other)
        assert row["ties"] == ((own == other) & own.is_finite()).sum()
        assert row["neither"] == (own.is_infinite() & other.is_infinite()).sum()
    counts = [frame[f"{name}_count"].fill_null(10**9).to_numpy() for name in ["attention", *names]]
    pairs = [(first, second) for first in range(6) for second in range(first + 1, 6)]
    corrected = holm([sign_test(counts[first], counts[second]).p_value for first, second in pairs])
    assert [row["p_holm"] for row in rows] == pytest.approx(corrected[:5])


def test_adversary(whole: Run) -> None:
    found, search = _frame(whole, "adversary"), _frame(whole, "adversary_search")
    (row,) = _rows(whole, "adversary")
    assert (row["n"], row["epsilon"]) == (30, 0.01)
    _check_mean(row, "jsd", found["jsd"])
    assert (row["upper"], row["certified"]) == pytest.approx((found["upper"].mean(), found["certified"].mean()))
    _check_mean(row, "search_jsd", search["jsd"])
    within = search["tvd"] <= 0.01 * (1 + 1e-6)
    _check_mean(row, "within", within)
    missed = (found["jsd"] - search["jsd"]).filter(within)
    assert row["missed"] == pytest.approx(missed.mean())
    assert row["beaten"] == pytest.approx((missed > 1e-6).mean())


def test_experiments_of_one_row(whole: Run) -> None:
    for name, keys in {
        "permutation": {"median": "median", "changed": "changed", "can_change": "can_change"},
        "violation": {"violates": "violates"},
        "truth": {"mass": "mass", "share": "share", "top": "top"},
    }.items():
        (row,) = _rows(whole, name)
        frame = _frame(whole, name)
        assert row["n"] == len(frame)
        for key, column in keys.items():
            _check_mean(row, key, frame[column], std=key == "median")
    (row,) = _rows(whole, "reach")
    frame = _frame(whole, "reach")
    _check_mean(row, "irrelevant", ~frame["can_change"])
    assert row["gap"] == pytest.approx(frame["gap"].mean())


def test_substitution(whole: Run) -> None:
    frame, rows = _frame(whole, "substitution"), _rows(whole, "substitution")
    assert [row["weights"] for row in rows] == ["own", "uniform", "random", "permuted"]
    labels = frame["label"]
    for row in rows:
        own = row["weights"] == "own"
        decisions = frame["decision" if own else f"{row['weights']}_decision"]
        assert row["n"] == len(frame)
        assert row["accuracy"] == pytest.approx((decisions == labels).mean())
        assert row["macro_f1"] == pytest.approx(f1_score(labels, decisions, average="macro"))
        assert row["accuracy_low"] <= row["accuracy"] <= row["accuracy_high"]
        if own:
            assert row["accuracy_change"] is row["changed"] is None
        else:
            assert row["accuracy_change"] == pytest.approx(row["accuracy"] - rows[0]["accuracy"])
            assert row["macro_f1_change"] == pytest.approx(row["macro_f1"] - rows[0]["macro_f1"])
            _check_mean(row, "changed", frame[f"{row['weights']}_changed"])


def test_erasure(whole: Run) -> None:
    frame, rows = _frame(whole, "erasure"), _rows(whole, "erasure")
    assert len(rows) == 10
    for row in rows:
        race = f"{row['way'].replace('deleted', 'delete')}_{row['ranking'].replace(' ', '_')}"
        assert (row["n"], row["sampled"]) == (len(frame), len(frame))
        assert row["never"] == pytest.approx(frame[f"{race}_count"].is_null().mean())
        _check_mean(row, "fraction_all", frame[f"{race}_fraction"].fill_null(1.0))
        _check_mean(row, "comprehensiveness", frame[f"{race}_comprehensiveness"])
        _check_mean(row, "sufficiency", frame[f"{race}_sufficiency"])


def test_claims(whole: Run) -> None:
    single, removed, rows = _frame(whole, "single_weight"), _frame(whole, "removal"), _rows(whole, "claims")
    changed = single["attention_flips"].mean()
    assert isinstance(changed, float)
    assert (rows[0]["share"], rows[0]["against"]) == pytest.approx((1 - changed, changed))
    assert rows[0]["verdict"] == ("holds" if changed < 0.5 else "does not hold")
    own, other = (removed[f"{name}_count"].fill_null(10**9) for name in ("attention", "gradient"))
    assert (rows[1]["share"], rows[1]["against"]) == pytest.approx(((other < own).mean(), (own < other).mean()))
    counts = whole.manifest["corpus"]["counts"]["test"]
    assert rows[0]["learned"] == (whole.metrics["test"]["accuracy"] > max(counts) / sum(counts))
    assert {row["verdict"] for row in rows} <= {"holds", "does not hold", "not significant here"}


def test_all_tables_of_a_whole_run_are_there_and_no_value_is_nan(whole: Run) -> None:
    made = tables([whole])
    assert [table.name for table in made] == [name for name in TABLES if name != "missing"]
    for table in made:
        json.dumps(table.to_json(), allow_nan=False)
        assert len({column.key for column in table.columns} | {"run"}) == len(table.columns) + 1
        assert all(column.meaning.endswith(".") for column in table.columns)
        assert table.missing == ()
        assert ("bootstrap" in table.caption) == any(column.part == "low" for column in table.columns)
        kinds = {"text": str, "flag": bool, "count": int}
        for row in table.rows:
            for column, value in zip(table.columns, row, strict=True):
                assert value is None or isinstance(value, kinds.get(column.kind, int | float))


def test_half_finished_runs_are_told_as_missing(whole: Run, bare: Run, unprepared: Run) -> None:
    made = {table.name: table for table in tables([whole, bare, unprepared])}
    for name, table in made.items():
        if name not in ("missing", "jain-wallace-table-1"):
            assert set(table.runs) == {whole.folder.name}, name
            assert all(row[1] == f"bilstm + additive, seed 0, {_hash(whole)}" for row in table.rows)
    assert made["jain-wallace-table-1"].runs == (whole.folder.name, bare.folder.name)
    untold = "the model is not trained and tested yet; `heedful run` with the same options does it"
    again = "`heedful run` with the same options and --experiments reach does it"
    assert made["reach"].missing == (
        f"planted, bilstm + additive, seed 1: reach was not performed; {again}",
        f"planted, bilstm + additive, seed 0, 00000000: {untold}",
    )
    assert made["missing"].runs == (bare.folder.name, unprepared.folder.name)
    assert made["missing"].rows[1][2] == "all, and the model itself"
    names = str(made["missing"].rows[0][2]).split(", ")
    assert names[0] == "correlation"
    assert len(names) == len(EXPERIMENT_NAMES)


def _hash(run: Run) -> str:
    return run.folder.name.rpartition("-")[2]


def test_tables_without_rows_are_left_out_and_told_as_missing(bare: Run) -> None:
    made = tables([bare])
    assert [table.name for table in made] == ["jain-wallace-table-1", "missing"]
    assert "permutation" in str(made[1].rows[0])
    assert TABLES["permutation"]([bare]).rows == ()
    assert tables([]) == []


def test_a_gap_is_left_where_only_the_search_was_not_performed(whole: Run, tmp_path: Path) -> None:
    copy = Run.open(shutil.copytree(whole.folder, tmp_path / whole.folder.name))
    (copy.folder / "results" / "adversary_search.parquet").unlink()
    table = TABLES["adversary"]([copy])
    assert len(table.rows) == 1
    (row,) = _rows(copy, "adversary")
    assert row["jsd"] is not None
    assert row["search_jsd"] is row["beaten"] is row["missed"] is row["missed_low"] is None
    assert "adversary_search was not performed" in table.missing[0]


def test_what_evidence_cannot_support_is_called_so(whole: Run, tmp_path: Path) -> None:
    copy = Run.open(as_older(shutil.copytree(whole.folder, tmp_path / whole.folder.name)))
    (copy.folder / "results" / "truth.parquet").unlink()
    evidence = pl.read_parquet(copy.folder / "evidence.parquet")
    evidence.drop("truth").write_parquet(copy.folder / "evidence.parquet")
    (sentence,) = TABLES["truth"]([copy]).missing
    assert "truth needs evidence with the column 'truth'" in sentence
    (row,) = _rows(copy, "missing")
    assert row["open"] == ""
    assert row["impossible"].startswith("truth needs evidence")


def test_published_figures_stand_beside_those_of_the_same_model(whole: Run) -> None:
    run = Run(whole.folder, resolve({"corpus": "sst", "encoder": "average"}))
    rows = _rows(run, "jain-wallace-table-2")
    assert [row["paper_tau"] for row in rows] == [0.69, 0.69, None, None, None, None]
    assert (rows[1]["paper_tau_std"], rows[1]["paper_significant"]) == (0.14, 0.94)
    (row,) = _rows(run, "jain-wallace-table-1")
    assert (row["paper_vocabulary"], row["paper_train"], row["paper_test"]) == (16175, "3034/3321", "863/862")
    assert row["paper_performance"] is None  # the paper's is of a BiLSTM
    bilstm = Run(whole.folder, resolve({"corpus": "sst"}))
    assert _rows(bilstm, "jain-wallace-table-1")[0]["paper_performance"] == 0.81
    caption = TABLES["jain-wallace-table-2"]([bilstm]).caption
    assert "Of 1 run on corpora of the papers, 1 began with random word vectors" in caption
    dot = Run(whole.folder, resolve({"corpus": "sst", "attention": "dot"}))
    assert {row["paper_tau"] for row in _rows(dot, "jain-wallace-table-2")} == {None}


def test_gradients_wins_stand_beside_the_papers(whole: Run) -> None:
    run = Run(whole.folder, resolve({"corpus": "yelp", "model": "han", "subset": True}))
    rows = _rows(run, "serrano-smith-wins")
    assert rows[0]["paper_rival_wins"] == pytest.approx(0.3153, abs=1e-4)
    assert {row["paper_rival_wins"] for row in rows[1:]} == {None}
    dot = Run(whole.folder, resolve({"corpus": "yelp", "model": "han", "attention": "dot"}))
    assert _rows(dot, "serrano-smith-wins")[0]["paper_rival_wins"] is None


def test_subsets_are_marked(whole: Run, tmp_path: Path) -> None:
    copy = _changed(whole, tmp_path, lambda corpus: corpus.update(subset=True))
    table = TABLES["jain-wallace-table-1"]([copy])
    assert table.rows[0][0] == "planted (subset)"
    assert "(subset): trained and tested on a part" in table.caption


def test_hostile_names_are_only_text(whole: Run, tmp_path: Path) -> None:
    classes = ["=cmd()|'/c calc'!A1", "a|b\n\\& <script>alert(1)</script>"]
    copy = _changed(whole, tmp_path, lambda corpus: corpus.update(classes=classes), "x-<b>&_|%=1")
    made = tables([whole, copy])
    write_tables(made, tmp_path / "out")
    table = next(table for table in made if table.name == "jain-wallace-table-2")
    assert classes[1] in {row[3] for row in table.rows}
    assert "\n'=cmd" not in to_csv(table)
    assert "'=cmd()|'/c calc'!A1" in to_csv(table)
    marked = to_markdown(table)
    assert "<script" not in marked
    assert "a\\|b\\\\n" in marked
    assert r"x-\textless{}b\textgreater{}" not in to_latex(table)  # only what follows the last hyphen is needed
    assert r"\textless{}b\textgreater{}\&\_\textbar{}\%=1" in to_latex(table)


def _changed(run: Run, folder: Path, change: Callable[[dict[str, Any]], None], name: str | None = None) -> Run:
    copy = Run.open(shutil.copytree(run.folder, folder / (name or run.folder.name)))
    manifest = copy.manifest
    change(manifest["corpus"])
    copy.record(corpus=manifest["corpus"])
    return copy


def test_many_classes_are_not_told_one_by_one(whole: Run, tmp_path: Path) -> None:
    copy = _changed(whole, tmp_path, lambda corpus: corpus.update(classes=list("abcd")))
    assert {row["decided"] for row in _rows(copy, "jain-wallace-table-2")} == {"all"}


def test_tables_are_made_without_torch(whole: Run) -> None:
    code = (
        "import sys; from heedful.runs.directory import Run; from heedful.report.tables import tables; "
        f"tables([Run.open({str(whole.folder)!r})]); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_tables_are_the_same_every_time(whole: Run, bare: Run) -> None:
    assert tables([whole, bare]) == tables([whole, bare])
    alone: list[Table] = [TABLES[name]([whole]) for name in TABLES]
    assert [table for table in alone if table.rows] == tables([whole])

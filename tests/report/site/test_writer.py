"""The site's files: they say what the runs say, and appear whole or not at all."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from heedful.errors import BadConfig, BadInput
from heedful.files import write_parquet
from heedful.findings.gathering import gather
from heedful.findings.instance_table import columns_of, instance_rows
from heedful.report.site import shards, writer
from heedful.report.site.writer import write_site
from heedful.runs.directory import Run
from tests.making import Decoder, awkward_evidence, make_evidence
from tests.report.made_run import QUICK, made_run
from tests.report.site.reading import data, instances, numbers

_TANH = tuple(name for name in QUICK if name != "reach")


@pytest.fixture(scope="module", params=["sigmoid", "softmax", "tanh", "awkward"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    evidence = {
        "sigmoid": lambda: make_evidence(1, n=20),
        "softmax": lambda: make_evidence(2, n=20, outputs=3),
        "tanh": lambda: make_evidence(3, n=20, outputs=4, decoder="tanh"),
        "awkward": lambda: awkward_evidence(3),
    }[request.param]()
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "BATCH", 6)  # several shards of a few instances
        run = made_run(folder / "runs" / "made", evidence, experiments=_TANH if request.param == "tanh" else QUICK)
        write_site(gather([folder / "runs"]), folder / "site", formats=[])
    return run, folder / "site"


def test_columns_equal_the_results(made: tuple[Run, Path]) -> None:
    run, site = made
    about = data(site, "made/run")
    rows = instance_rows(run, [column.name for column in columns_of(run)])
    assert about["n"] == len(rows)
    assert data(site, "made/ids") == rows["id"].to_list()
    assert len(about["columns"]) > 20
    undefined = {"f64": np.nan, "i32": np.iinfo(np.int32).min, "u8": 255}
    for column in about["columns"]:
        packed = data(site, f"made/column-{column['name']}")
        found, wanted = numbers(packed), rows[column["name"]]
        lost = np.isnan(found) if packed["kind"] == "f64" else found == undefined[packed["kind"]]
        assert lost.tolist() == wanted.is_null().to_list(), column
        assert found[~lost].tolist() == wanted.drop_nulls().to_list(), column


def test_maps_equal_evidence_importance_and_results(made: tuple[Run, Path]) -> None:
    run, site = made
    evidence, maps = run.evidence, instances(site, "made", "maps")
    assert len(maps) == len(evidence)
    adversary, removal, importance = run.results("adversary"), run.results("removal"), run.importance
    for index, known in enumerate(maps):
        assert numbers(known["weights"]).tolist() == evidence.weights[index].tolist()
        assert numbers(known["output"]).tolist() == evidence.output[index].tolist()
        said = ("scores", "bias") if evidence.scores is not None else ("features", "context")
        for name in said:
            assert numbers(known[name]).tolist() == np.ravel(getattr(evidence, name)[index]).tolist()
        assert numbers(known["adversarial"]).tolist() == adversary["weights"][index].to_list()
        assert known["adversary_decision"] == adversary["adversary_decision"][index]
        assert known.get("flip_set") == removal["optimal_set"].to_list()[index]
        own = importance.filter(importance["id"] == evidence.ids[index])
        decided = 0 if evidence.outputs == 1 else int(evidence.decisions[index])
        for measure in ("gradient", "leave_one_out"):
            rows = own.filter((own["measure"] == measure) & ((own["output"] == decided) | own["output"].is_null()))
            assert numbers(known[measure]).tolist() == rows["values"][0].to_list()


def test_texts(made: tuple[Run, Path]) -> None:
    run, site = made
    assert [text["tokens"] for text in instances(site, "made", "texts")] == [
        list(tokens) for tokens in (run.evidence.tokens[index] for index in range(len(run.evidence)))
    ]


@pytest.mark.parametrize("decoder", ["affine", "tanh"])
def test_bytes_do_not_depend_on_how_much_is_read_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decoder: Decoder
) -> None:
    made_run(
        tmp_path / "made", make_evidence(1, n=30, outputs=3, decoder=decoder), experiments=("removal", "adversary")
    )
    written = []
    for size in (7, 30):
        monkeypatch.setattr(shards, "BATCH", size)
        write_site(gather([tmp_path / "made"]), tmp_path / "site", formats=[])
        written.append([instances(tmp_path / "site", "made", kind) for kind in ("texts", "maps")])
    assert written[0] == written[1]


def test_the_same_texts_have_the_same_fingerprint(tmp_path: Path) -> None:
    evidence = make_evidence(1, n=5)
    other = replace(evidence, tokens=evidence.tokens.like(evidence.tokens.values[::-1].copy()))
    for name, each in (("a", evidence), ("b", evidence), ("c", other)):
        made_run(tmp_path / "runs" / name, each, experiments=())
    write_site(gather([tmp_path / "runs"]), tmp_path / "site", formats=[])
    a, b, c = (run["texts"] for run in data(tmp_path / "site", "site")["runs"])
    assert a == b != c


def test_features_are_left_out_where_they_take_too_much_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "FEATURES", 300)
    made_run(tmp_path / "made", make_evidence(1, n=9, outputs=3, decoder="tanh"), experiments=())
    write_site(gather([tmp_path / "made"]), tmp_path / "site", formats=[])
    maps = instances(tmp_path / "site", "made", "maps")
    bare = [known for known in maps if "features" not in known]
    assert 0 < len(bare) < len(maps)
    assert all("heedful show" in known["whatif"] for known in bare)
    assert data(tmp_path / "site", "made/run")["bare"] == len(bare)


def test_two_runs_of_one_name_are_two(tmp_path: Path) -> None:
    for place in ("x", "y"):
        made_run(tmp_path / place / "made", make_evidence(n=3 if place == "x" else 4), experiments=("violation",))
    write_site(gather([tmp_path / "x", tmp_path / "y"]), tmp_path / "site", formats=[])
    site = data(tmp_path / "site", "site")
    assert [(run["key"], run["n"]) for run in site["runs"]] == [("made", 3), ("made-2", 4)]
    assert len({run["title"] for run in site["runs"]}) == 2
    for key, n in (("made", 3), ("made-2", 4)):
        tables = {table["name"]: table for table in data(tmp_path / "site", f"{key}/run")["tables"]}
        assert tables["violation"]["runs"] == [key]
        assert n in tables["violation"]["rows"][0]


def test_missing_experiments_are_said(tmp_path: Path) -> None:
    made_run(tmp_path / "made", make_evidence(), experiments=("violation",))
    write_site(gather([tmp_path / "made"]), tmp_path / "site", formats=[])
    (run,) = data(tmp_path / "site", "site")["runs"]
    assert any(reason.startswith("permutation was not performed") for reason in run["missing"])
    charts = {chart["name"]: chart for chart in data(tmp_path / "site", "made/run")["charts"]}
    assert charts["permutation"]["missing"].startswith("permutation was not performed")


def test_a_run_without_labels(tmp_path: Path) -> None:
    made_run(tmp_path / "made", replace(make_evidence(n=30), labels=None))
    write_site(gather([tmp_path / "made"]), tmp_path / "site", formats=[])
    (run,) = data(tmp_path / "site", "site")["runs"]
    assert run["figures"]["accuracy"] is None
    assert {"label", "wrong"}.isdisjoint(column["name"] for column in data(tmp_path / "site", "made/run")["columns"])


def test_only_a_report_is_replaced(tmp_path: Path) -> None:
    made_run(tmp_path / "runs" / "made", make_evidence(), experiments=())
    gathered = gather([tmp_path / "runs"])
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    for out in (mine, tmp_path / "runs", tmp_path / "runs" / "made", mine / "thesis.txt"):
        with pytest.raises(BadConfig, match=r"choose another|name a directory"):
            write_site(gathered, out, formats=[])
    assert (mine / "thesis.txt").read_text() == "years of work"
    (tmp_path / "empty").mkdir()
    for _ in range(2):
        assert write_site(gathered, tmp_path / "empty", formats=[]).page.is_file()


def test_a_report_that_fails_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = made_run(tmp_path / "runs" / "made", make_evidence(), experiments=("adversary",))
    write_site(gather([run.folder]), tmp_path / "site", formats=[])

    def there() -> list[Path]:  # kept findings come and go
        return sorted(path for path in tmp_path.rglob("*") if ".findings" not in path.parts)

    before = there()

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(writer, "_write_pages", fail)
    with pytest.raises(KeyboardInterrupt):
        write_site(gather([run.folder]), tmp_path / "site", formats=[])
    assert there() == before


def test_results_about_other_instances_are_refused(tmp_path: Path) -> None:
    run = made_run(tmp_path / "made", make_evidence(), experiments=("adversary",))
    path = run.folder / "results" / "adversary.parquet"
    write_parquet(path, run.results("adversary")[::-1])
    with pytest.raises(BadInput, match=r"adversary\.parquet is not about the instances"):
        write_site(gather([run.folder]), tmp_path / "site", formats=[])
    assert not (tmp_path / "site").exists()

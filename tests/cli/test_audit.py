"""`heedful audit` as a user sees it."""

import json
from pathlib import Path

import pytest

from heedful.verdict.verdict import Verdict
from tests.audits.made import TEXTS, csv, planted
from tests.cli.calling import Answer, heedful

MODELS = Path(__file__).parents[1] / "audits" / "models.py"


def _audit(tmp_path: Path, *more: str | Path, model: str = "faithful", sample: int = 31, repeated: int = 1) -> Answer:
    data = csv(tmp_path / "mine.csv", ["text,label", *(f"{text},0" for text in TEXTS * repeated)])
    place = ["--module", f"{MODELS}:{model}", "--data", data, "--out", tmp_path / "audits", "--sample", str(sample)]
    return heedful("audit", *place, *more)


def test_the_verdict_comes_first_and_is_the_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = _audit(tmp_path, model="distracted", sample=0, repeated=10)
    assert answer.code == 1, answer.err
    assert answer.out.startswith("May this attention be shown as an explanation? No.")
    told = "".join(answer.out.split())  # lines may be broken anywhere, depending on the names of folders
    for words in ("Does the decision", "total", "Better map", "card.html", "Next: ", "accuracy unknown"):
        assert "".join(words.split()) in told
    (card,) = tmp_path.rglob("card.html")
    assert "<h1>May this attention be shown as an explanation? No.</h1>" in card.read_text()
    original = Verdict.from_json
    for said, code, strict in (("yes", 0, 0), ("with caution", 0, 1), ("no", 1, 1), ("not determined", 3, 3)):
        monkeypatch.setattr(
            Verdict, "from_json", lambda told, table, said=said: original({**told, "answer": said}, table)
        )
        assert _audit(tmp_path, model="distracted").code == code
        assert _audit(tmp_path, "--fail-on", "no,caution", model="distracted").code == strict


def test_json_is_for_programs(tmp_path: Path) -> None:
    answer = _audit(tmp_path, "--json", "--label", "label", sample=3)
    told = json.loads(answer.out)
    assert told["verdict"]["answer"] == "not determined"  # of three texts
    assert answer.code == 3
    assert "instances" not in told["verdict"]
    assert 0 <= told["metrics"]["accuracy"] <= 1
    assert told["manifest"]["stages"]["erasure"]["readings"] > 0
    assert Path(told["audit"]).is_dir()


def test_a_dry_run_tells_the_cost_and_leaves_nothing(tmp_path: Path) -> None:
    answer = _audit(tmp_path, "--dry-run", "--json", sample=5)
    assert answer.code == 0, answer.err
    costs = {cost["stage"]: cost for cost in json.loads(answer.out)["costs"]}
    assert costs["erasure"]["texts"] == 5
    assert costs["substitution"]["texts"] == len(TEXTS)
    assert costs["erasure"]["readings"] > costs["evidence"]["readings"] == len(TEXTS)
    assert not (tmp_path / "audits").exists()
    done = json.loads(_audit(tmp_path, "--json", sample=5).out)["manifest"]["stages"]
    for name in ("erasure", "importance"):
        assert 1 / 1.5 < done[name]["readings"] / costs[name]["readings"] < 1.5
    assert "total" in _audit(tmp_path, "--dry-run").out


def test_evidence_is_audited_without_a_model(tmp_path: Path) -> None:
    planted("opposing").evidence().write(tmp_path / "mine.parquet")
    answer = heedful("audit", "--evidence", tmp_path / "mine.parquet", "--out", tmp_path / "audits")
    assert answer.code == 3, answer.err  # from so little evidence, and without the model
    assert "mine.parquet(evidence)" in "".join(answer.out.split())


CASES = {
    "nothing": ([], "nothing to audit"),
    "no data": (["--module", f"{MODELS}:faithful"], "give a table"),
    "no file": (["--module", "none.py:faithful", "--data", "mine.csv"], "none.py: no such file"),
    "no function": (["--module", f"{MODELS}:faithfull", "--data", "mine.csv"], "did you mean 'faithful'"),
    "no name": (["--module", str(MODELS), "--data", "mine.csv"], "FILE.py:NAME"),
    "fails": (["--module", f"{MODELS}:broken", "--data", "mine.csv"], "ValueError: no weights here"),
    "no call": (["--module", f"{MODELS}:number", "--data", "mine.csv"], "is int, not a function"),
    "no subject": (["--module", f"{MODELS}:nothing", "--data", "mine.csv"], "is NoneType"),
    "no column": (["--module", f"{MODELS}:faithful", "--data", "mine.csv", "--text", "txt"], "no column 'txt'"),
    "label": (
        ["--module", f"{MODELS}:faithful", "--data", "mine.csv", "--label", "label"],
        "line 2: label 'good' is not a class of the model, which has 0 class 0, 1 class 1",
    ),
    "ids": (["--module", f"{MODELS}:faithful", "--data", "mine.csv", "--id", "label"], "id 'good' occurs more"),
    "fail on": (["--fail-on", "maybe"], "unknown answer to fail on 'maybe'"),
    "exit": (["--module", f"{MODELS}:leaving", "--data", "mine.csv"], "SystemExit: 0"),  # no verdict, so no code 0
    "tokenizer": (["--module", f"{MODELS}:strange", "--data", "mine.csv"], "ZeroDivisionError: no tokens"),
    "threads": (["--module", f"{MODELS}:faithful", "--data", "mine.csv", "--threads", "-1"], "threads = -1"),
    "no dataset": (["--module", f"{MODELS}:faithful", "--data", "hf:"], "name a dataset"),
    "map": (["--evidence", "mine.parquet", "--map", "norm"], "map = norm: only for a transformers"),
    "items": (["--module", f"{MODELS}:faithful", "--data", "mine.csv", "--items", "words"], "items = words"),
    "misfit": (["--evidence", "mine.parquet", "--importance", "few.jsonl"], "no row for instance"),
    "no numbers": (["--evidence", "mine.parquet", "--importance", "text.jsonl"], "not a list of numbers"),
    "device": (["--hf", "x", "--data", "mine.csv", "--device", "gpu"], "device = gpu: choose auto, cpu, cuda, mps"),
    "other device": (["--module", f"{MODELS}:faithful", "--data", "mine.csv", "--device", "cpu"], "no torch module"),
    "device of evidence": (["--evidence", "mine.parquet", "--device", "cpu"], "only for a model that is loaded"),
    "precision": (["--module", f"{MODELS}:faithful", "--data", "mine.csv", "--float32"], "only for a transformers"),
    "two": (["--hf", "x", "--evidence", "y.parquet"], "hf and evidence given"),
    "no evidence": (["--evidence", "none.parquet"], "no such evidence file"),
    "evidence and texts": (["--evidence", "mine.parquet", "--truncate"], "truncate is only for texts"),
    "importance": (["--evidence", "mine.parquet", "--importance", "none.jsonl"], "no such importance file"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_one_line_and_leaves_nothing(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    csv(tmp_path / "mine.csv", ["text,label", "a film,good", "a book,good"])
    planted().evidence().write(tmp_path / "mine.parquet")
    (tmp_path / "few.jsonl").write_text('{"id": "x", "method": "mine", "values": [1.0]}')
    (tmp_path / "text.jsonl").write_text('{"id": "x", "method": "mine", "values": "abc"}')
    arguments, words = CASES[case]
    answer = heedful("audit", *arguments)
    assert answer.code == 2, answer
    (error,) = (line for line in answer.err.splitlines() if line.startswith("error:"))
    assert words in error
    assert not list((tmp_path / "audits").rglob("*"))


def test_rationales_are_a_column_or_a_file_and_stand_beside_the_verdict(tmp_path: Path) -> None:
    rows = [{"text": text, "why": [[0, len(text.split()[0])]]} for text in TEXTS]
    data = tmp_path / "mine.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    place = ["audit", "--module", f"{MODELS}:faithful", "--data", data, "--sample", "5", "--out", tmp_path / "audits"]
    answer = heedful(*place, "--rationales", "why")
    assert answer.code == 3, answer.err  # five texts do not determine the verdict
    assert "Plausible to people? (not part of the verdict)" in answer.out
    assert "5 texts with rationales" in " ".join(answer.out.split())
    told, plain = (json.loads(heedful(*place, "--json", *more).out) for more in (["--rationales", "why"], []))
    assert told["verdict"] == plain["verdict"]
    assert "plausibility" not in plain
    scores = {row["ranking"]: row for row in told["plausibility"]["scores"]}
    assert scores["attention"]["n"] == 5
    marks = tmp_path / "marks.jsonl"
    marks.write_text('{"id": "row-1", "spans": [[0, 4000]]}\n')
    answer = heedful(*place, "--rationales", marks)
    assert answer.code == 2
    assert "marks.jsonl, line 1: the span [0, 4000) is not inside the text" in " ".join(answer.err.split())

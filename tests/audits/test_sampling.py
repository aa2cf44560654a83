"""As many texts as it takes: when an audit stops, what it then knows, and that a kill makes no difference."""

import json
from pathlib import Path

import numpy as np
import pytest

import heedful
from heedful.audits import sampling
from heedful.audits.battery import BATTERY
from heedful.audits.directory import Audit
from heedful.evidence import decide
from heedful.importance.highlights import Floats
from heedful.workspace import sample
from heedful.workspace.sample import AUTO, FIRST, NEXT, Population, drawn
from tests.audits.made import TEXTS, assert_same, csv, planted
from tests.cli.calling import heedful as command

MODELS = Path(__file__).with_name("models.py")
MANY = [f"{text} word-{number % 7}" for number, text in enumerate(TEXTS * 6)]


def _audit(kind: str, out: Path, **options: object) -> Audit:
    return heedful.audit(planted(kind), texts=MANY, out=out, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    return _audit("distracted", tmp_path_factory.mktemp("stopped"))


def test_it_stops_where_the_answer_is_plain_and_says_what_all_texts_say(stopped: Audit, tmp_path: Path) -> None:
    tested = len(stopped.results("highlights"))
    assert FIRST <= tested < len(MANY)
    assert (tested - FIRST) % NEXT == 0
    assert stopped.verdict.answer == _audit("distracted", tmp_path, sample=0).verdict.answer == "no"
    assert stopped.evidence.ids == [f"row-{number}" for number in range(1, len(MANY) + 1)]
    assert stopped.results("erasure")["id"].to_list() == stopped.results("highlights")["id"].to_list()


def test_the_texts_of_a_kill_are_not_tested_again(
    stopped: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure, parts = sampling._Measure.__call__, []

    def killed(self: sampling._Measure, rows: np.ndarray) -> object:
        if parts:
            raise KeyboardInterrupt
        parts.append(rows)
        return measure(self, rows)

    monkeypatch.setattr(sample, "FIRST", 8)
    monkeypatch.setattr(sample, "NEXT", 8)
    whole = _audit("distracted", tmp_path / "whole")
    monkeypatch.setattr(sampling._Measure, "__call__", killed)
    with pytest.raises(KeyboardInterrupt):
        _audit("distracted", tmp_path / "killed")
    tested: list[int] = []
    monkeypatch.setattr(
        sampling._Measure, "__call__", lambda self, rows: tested.extend(rows.tolist()) or measure(self, rows)
    )
    resumed = _audit("distracted", tmp_path / "killed")
    assert not {*parts[0].tolist()} & {*tested}
    assert_same(whole, resumed)


def test_decided_classes_are_tested_in_turn_in_an_order_of_their_ids() -> None:
    decided = np.array([0] * 90 + [1] * 10)
    ids = [f"t{number}" for number in range(100)]
    rows = drawn(Population(ids, decided), AUTO, seed=0)
    assert sorted(rows) == list(range(100))
    assert sorted(decided[rows[:20]]) == [0] * 10 + [1] * 10
    other = np.random.default_rng(0).permutation(100)
    again = drawn(Population([ids[row] for row in other], decided[other]), AUTO, seed=0)
    assert [ids[row] for row in rows] == [ids[other[row]] for row in again]
    assert rows.tolist() != drawn(Population(ids, decided), AUTO, seed=1).tolist()
    assert len(drawn(Population(ids, decided), 7, seed=0)) == 7


@pytest.mark.parametrize("model", ["faithful", "bent"])  # with exact tests of all texts, and without
def test_a_budget_too_small_to_test_anything_determines_nothing(model: str, tmp_path: Path) -> None:
    texts = TEXTS if model == "faithful" else [f"{number} 3 4 5 6" for number in range(1, 9)]
    data = csv(tmp_path / "mine.csv", ["text", *texts])
    place = ["--module", f"{MODELS}:{model}", "--data", data, "--budget", "0.001s", "--out", tmp_path / "audits"]
    answer = command("audit", *place)
    assert answer.code == 3, answer.err
    told = " ".join(answer.out.split())
    assert "Not determined" in told
    assert ("no words were deleted from the texts" if model == "faithful" else "Nothing was tested") in told
    assert "give a larger --budget" in told
    assert json.loads(command("audit", *place, "--json").out)["verdict"]["answers"]["no"] == 0


def test_a_constant_model_is_not_determined_because_nothing_depends_on_words(tmp_path: Path) -> None:
    texts = [text for text in MANY if _decided(text) == 0]
    done = heedful.audit(planted(), texts=texts, out=tmp_path, sample=60)
    assert done.verdict.answer == "not determined"
    assert "every tested text is decided the same way" in done.verdict.words
    assert BATTERY["highlights"].at_attention


def _decided(text: str) -> int:
    subject = planted()
    logits: Floats = subject.read(subject.encode([text])).logits
    return int(decide(logits)[0])

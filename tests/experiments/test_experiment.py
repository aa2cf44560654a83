"""The descriptor of an experiment: what follows from it, and that nothing else is needed for a new one."""

import os
import shutil
import subprocess
import sys
from inspect import signature
from pathlib import Path

import polars as pl
import pytest

import heedful
from heedful.errors import BadInput
from heedful.experiments import EXPERIMENT_NAMES, EXPERIMENTS, Experiment, permutation
from heedful.experiments.experiment import Headline, RunSettings
from heedful.runs.config import ExperimentOptions
from heedful.runs.directory import STAGES, Run
from heedful.runs.experiment_stages import DEFAULT, unsupported
from tests.making import make_evidence
from tests.runs.small import ARGUMENTS

DOCS = Path(__file__).parents[2] / "docs" / "experiments"

TOY = '''"""How long are texts?"""

import polars as pl

from heedful.evidence import Evidence
from heedful.experiments.experiment import Experiment, Headline


def length(evidence: Evidence, *, permutations: int, seed: int) -> pl.DataFrame:
    return pl.DataFrame(
        {"id": evidence.ids, "decision": evidence.decisions, "length": evidence.weights.lengths + 0.0, "seed": seed}
    ).with_columns(permutations=permutations)


LENGTH = Experiment(
    name="text_length",
    function=length,
    question="How long are texts?",
    headline=Headline(pl.col("length"), "Texts have {:.1f} {item}s on average"),
    options=lambda settings: {"permutations": settings.options.permutations},
    random=True,
)
'''


def test_a_new_experiment_is_one_file_and_its_registration(tmp_path: Path) -> None:
    package = shutil.copytree(Path(heedful.__file__).parent, tmp_path / "heedful")
    (package / "experiments" / "length.py").write_text(TOY)
    registry = package / "experiments" / "__init__.py"
    line = '    "truth.TRUTH",\n'
    assert line in registry.read_text()
    registry.write_text(registry.read_text().replace(line, f'{line}    "length.LENGTH",\n'))

    def command(*arguments: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "200"}
        ran = [sys.executable, "-c", "from heedful.cli.main import main; main()", "run", *arguments]
        done = subprocess.run(ran, capture_output=True, text=True, env=environment, cwd=tmp_path, check=True)
        return done.stderr + done.stdout

    run = ["--set", "seed=3", "--set", "experiment_options.permutations=7", "--experiments", "text_length", "--verbose"]
    printed = command(*ARGUMENTS, *run)
    assert printed.count("Texts have ") == 2  # when its stage is done, and in the summary
    assert "text length: Texts have " in printed
    (file,) = (tmp_path / "runs").glob("*/results/text_length.parquet")
    frame = pl.read_parquet(file)
    run_made = Run.open(file.parents[1])
    assert frame["length"].to_list() == run_made.evidence.weights.lengths.tolist()
    assert frame.select("seed", "permutations").unique().row(0) == (3, 7)
    assert "text_length" in run_made.manifest["stages"]
    assert "text_length" in command("--help")


def test_every_experiment_has_its_page_and_the_index_is_theirs() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    assert "\n".join(experiment.index_row for experiment in EXPERIMENTS.values()) in index
    pages = {experiment.page or f"{experiment.name}.md" for experiment in EXPERIMENTS.values()}
    assert pages == {page.name for page in DOCS.glob("*.md")} - {"README.md"}


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENT_NAMES)
def test_what_is_declared_is_so(experiment: Experiment) -> None:
    stage = STAGES[experiment.name]
    assert stage.files == (f"results/{experiment.name}.parquet",)
    assert ("importance" in stage.needs) == ("importance" in experiment.needs)
    assert (experiment.name in DEFAULT) == experiment.default
    assert experiment.question.endswith("?")
    if experiment.function is not None:
        parameters = signature(experiment.function).parameters
        assert experiment.random == ("seed" in parameters)
        options = experiment.run_options(RunSettings(ExperimentOptions(), "paper", lambda: 20.0), 1)
        assert set(options) <= set(parameters)


def test_it_is_called_as_its_function_is() -> None:
    evidence = make_evidence(n=5)
    assert EXPERIMENTS["permutation"](evidence, seed=2).equals(permutation(evidence, seed=2))
    with pytest.raises(BadInput, match="'erasure' needs a model"):
        EXPERIMENTS["erasure"](evidence)


def test_what_evidence_supports() -> None:
    assert set(unsupported({"tokens", "truth"})) == set()  # of a corpus: its evidence will have scores
    assert set(unsupported({"tokens", "query"})) == {"reach", "truth"}
    assert set(unsupported({"weights", "features", "truth"})) == {"reach"}
    bare = unsupported({"weights", "output"})
    assert set(EXPERIMENTS) - set(bare) == {"correlation", "erasure", "highlights"}
    assert "question-answering models have a non-linear one" in unsupported({"tokens", "query"})["reach"]


def test_a_headline_is_of_what_is_defined() -> None:
    headline = Headline(pl.col("share"), "{:.0%} of {item}s")
    frame = pl.LazyFrame({"share": [0.25, None, 0.75]})
    assert headline.of(frame) == "50% of words"
    assert headline.of(frame, item="sentence") == "50% of sentences"
    assert headline.of(frame.filter(pl.col("share").is_null())) is None
    assert headline.of(pl.LazyFrame({"other": [1.0]})) is None

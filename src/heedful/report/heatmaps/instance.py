"""One instance, taken from a run's evidence or read anew by its model."""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from heedful.errors import BadConfig, BadInput, NotFound
from heedful.evidence import Evidence, chance, collect, decide, read_metadata, scan
from heedful.evidence_checks import NO_LABEL
from heedful.experiments import adversary
from heedful.experiments.affine_view import AffineView
from heedful.experiments.removal import smallest_flip_sets
from heedful.files import scan_parquet
from heedful.printable import plain_text
from heedful.ragged import Ragged
from heedful.runs.directory import STAGES, Run

if TYPE_CHECKING:
    from heedful.corpora.reader import Options, Reader


@dataclass(frozen=True)
class Adversarial:
    """Other attention, as far from the model's own as it can be while the output stays nearly the same."""

    weights: list[float]
    decision: str
    probability: float  # of that decision
    tvd: float  # by which the output moves
    jsd: float  # from the model's attention
    upper: float  # no attention that moves the output by `epsilon` at most is further away
    certified: bool  # `jsd` is `upper`
    epsilon: float


@dataclass(frozen=True)
class FlipSet:
    """The fewest items whose removal changes the decision."""

    items: list[int] | None  # positions; None: no removal changes it
    decision: str | None  # without them


@dataclass(frozen=True)
class Instance:
    """What is shown of an instance; class names are spelled out."""

    id: str
    corpus: str  # a subset is called one
    tokens: list[str]
    weights: list[float]
    decision: str
    probability: float  # of the decision
    label: str | None
    truth: list[bool] | None
    scores: list[list[float]]  # what each item alone would say, one value an output; none if the decoder is not affine
    query: list[str] | None = None  # question or hypothesis
    adversarial: Adversarial | None = None
    flip_set: FlipSet | None = None  # None: not known, because the decoder is not affine
    sentences: bool = False  # whether the items are sentences

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def read_instance(run: Run, id: str | None) -> Instance:
    """A test instance of the run; the first if none is named."""
    run.require("evidence")
    path = run.folder / "evidence.parquet"
    frame = scan(path)
    row = collect(frame.head(1) if id is None else frame.filter(pl.col("id") == id), path)
    if not len(row):
        first = collect(frame.select("id").head(1), path).item()
        raise NotFound(f"{path}: there is no instance '{id}'; ids look like '{first}'")
    return _of(Evidence.from_frame(row, read_metadata(path), str(path)), run, stored=run.done("adversary"))


def read_text(run: Run, text: str, query: str | None) -> Instance:
    """Any text, tokenised as the corpus was and read by the run's model; where that answers queries, with one."""
    from heedful.models.inference import observe
    from heedful.runs.model_setup import inputs_of, items_of

    model = run.model()
    if query is None and model.question is not None:
        raise BadConfig(f"the model of {run.folder} answers questions: give --question as well")
    if query is not None and model.question is None:
        raise BadConfig(f"the model of {run.folder} answers no questions: leave --question out")
    columns = {"tokens": [_tokens(run, text, "--text")]}
    if query is not None:
        columns["query"] = [_tokens(run, query, "--question")]
    frame = pl.DataFrame(columns)
    if run.config.hierarchical:
        reader, options = _reader(run)
        lengths = [len(sentence) for sentence in reader.sentences(text, options) or []]
        frame = frame.with_columns(sentences=pl.Series([lengths], dtype=pl.List(pl.Int32)))
    inputs = inputs_of(frame, run.vocabulary, sentences=run.config.hierarchical)
    evidence = observe(
        model,
        replace(inputs, candidates=_candidates(run, columns["tokens"][0])),
        ids=["text"],
        **items_of(frame, "--text", sentences=run.config.hierarchical),
    )
    return _of(evidence, run)


def _tokens(run: Run, text: str, option: str) -> list[str]:
    reader, options = _reader(run)
    tokens = reader.tokenise(plain_text(text, option), options)
    if not tokens:
        raise BadInput(f"{option} has no tokens; give at least one word")
    return tokens


def _reader(run: Run) -> "tuple[Reader, Options]":
    from heedful.corpora.registry import reader_of

    reader = reader_of(run.config.corpus)
    return reader, reader.options(**run.config.corpus_options)


def _candidates(run: Run, tokens: list[str]) -> Ragged | None:
    """Where a corpus lets each text say what may be answered: the classes among its words, or all if there is none."""
    if not run.manifest["corpus"].get("candidates"):
        return None
    words = set(tokens)
    found = [index for index, name in enumerate(run.classes) if name in words]
    return Ragged.from_rows([found or range(len(run.classes))], dtype=np.int32)


def _of(evidence: Evidence, run: Run, *, stored: bool = False) -> Instance:
    classes = run.classes
    decision = int(decide(evidence.output)[0])
    label = NO_LABEL if evidence.labels is None else int(evidence.labels[0])
    return Instance(
        id=evidence.ids[0],
        corpus=run.corpus_label,
        tokens=[str(token) for token in evidence.tokens[0]],
        weights=evidence.weights[0].tolist(),
        decision=classes[decision],
        probability=float(chance(evidence.output, np.array([decision]))[0]),
        label=None if label == NO_LABEL else classes[label],
        truth=None if evidence.truth is None else evidence.truth[0].tolist(),
        query=None if evidence.query is None else [str(token) for token in evidence.query[0]],
        scores=[] if evidence.scores is None else evidence.scores[0].tolist(),
        adversarial=_adversarial(evidence, run, stored=stored) if evidence.decodable else None,
        flip_set=None if evidence.scores is None else _flip_set(evidence, run),
        sentences=evidence.words is not None,
    )


def _flip_set(evidence: Evidence, run: Run) -> FlipSet:
    """Found anew: it takes no time."""
    view, rows = AffineView.of(evidence), np.array([0])
    found = smallest_flip_sets(view, rows)
    if not found.counts[0]:
        return FlipSet(None, None)
    kept = np.where(found.chosen[0], 0.0, view.weights.values)  # (T,)
    left = view.decode_sums(rows, (kept @ view.item_vectors(rows)[0])[None, None], kept.sum()[None, None])
    return FlipSet(np.flatnonzero(found.chosen[0]).tolist(), run.classes[int(left.decided[0, 0])])


def _adversarial(evidence: Evidence, run: Run, *, stored: bool) -> Adversarial:
    """As the run has stored it, or found: for one instance that takes no time, and any text has one."""
    options = run.config.experiment_options
    if stored:
        path = run.folder / STAGES["adversary"].files[0]
        table = collect(scan_parquet(path).filter(pl.col("id") == evidence.ids[0]), path)
        if not len(table):
            raise BadInput(f"{path} has no row for instance '{evidence.ids[0]}': delete it and run again")
    else:
        table = adversary(evidence, epsilon=options.epsilon, seed=run.config.seed)
    found = table.row(0, named=True)
    output = evidence.decode(evidence.weights.like(np.array(found["weights"])))
    decision = found["adversary_decision"]
    return Adversarial(
        decision=run.classes[decision],
        probability=float(chance(output, np.array([decision]))[0]),
        epsilon=options.epsilon,
        **{name: found[name] for name in ("weights", "tvd", "jsd", "upper", "certified")},
    )

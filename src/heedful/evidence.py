"""Evidence: all that the counterfactual tests need of a model, one row an instance (see docs/formats.md).

A model that decides from `decode(sum_t alpha_t h_t)` with an affine decoder is summed up, instance by instance, by its
attention weights alpha (T,), the score of each item alone, S (T, K), and the bias b (K,). Any other attention `a`
then gives the logits `a @ S + b`: no model, no hidden states. With a decoder that is not affine (tanh_decoder.py) the
features of the items (T, F), the instance's context (F,) and the decoder itself stand in for scores and bias.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit, softmax

from heedful import evidence_checks as columns
from heedful.damage import first_line, panics_as_errors, unreadable
from heedful.errors import BadInput
from heedful.evidence_checks import NO_LABEL, check_unique, validate
from heedful.files import scan_parquet, write_parquet
from heedful.integrity import checked
from heedful.list_columns import list_column
from heedful.ragged import Indices, Ragged
from heedful.tanh_decoder import TanhDecoder, mix

# one value an instance, in the order of the file's columns; `ids` come first
_COLUMNS = "tokens weights scores bias features context candidates output labels query words sentences truth".split()
_DESCRIBED = ("classes", "provenance", "decoder")


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """A batch of instances seen through their attention.

    K = 1 means one sigmoid output, the probability of the second class; otherwise K softmax outputs.
    """

    ids: Sequence[str]  # n
    tokens: Ragged  # (N,) of strings: the items' texts
    weights: Ragged  # (N,) float32
    output: NDArray[np.float32]  # (n, K) probabilities
    scores: Ragged | None = None  # (N, K) float32, where the decoder is affine
    bias: NDArray[np.float32] | None = None  # (n, K)
    features: Ragged | None = None  # (N, F) float32, where it is not: what the decoder sees of each item
    context: NDArray[np.float32] | None = None  # (n, F): what it sees whatever is attended
    candidates: Ragged | None = None  # of int32, rising: the classes that can be decided for; None: all
    decoder: TanhDecoder | None = None  # goes together with features and context
    labels: NDArray[np.int64] | None = None  # (n,), NO_LABEL where there is none
    query: Ragged | None = None  # of strings: question or hypothesis
    words: Ragged | None = None  # of strings: where items are sentences, all their words
    sentences: Ragged | None = None  # of int32: how many words each sentence has, of `words` or (None) of the items
    truth: Ragged | None = None  # (N,) bool: items known to decide
    classes: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        optional = ("scores", "features", "candidates", "labels", "query", "truth")
        given = [name for name in optional if getattr(self, name) is not None]
        has = f" with {', '.join(given)}" if given else ""
        return f"Evidence({len(self):,} instances, {len(self.weights.values):,} items, {self.outputs} outputs{has})"

    @property
    def outputs(self) -> int:
        """K: the number of outputs."""
        return int(self.output.shape[1])

    @property
    def decisions(self) -> NDArray[np.int64]:
        """The decided class of each instance, (n,): the lowest index on ties; a sigmoid decides 1 only above 0.5."""
        return decide(self.output)

    @property
    def decodable(self) -> bool:
        """Whether the outputs under other attention can be computed."""
        return self.scores is not None or self.features is not None

    def decode(self, weights: Ragged) -> NDArray[np.float64]:
        """The outputs (n, K) under other attention weights, everything else held fixed."""
        if not np.array_equal(weights.offsets, self.weights.offsets):
            raise ValueError("weights must have one value for each item")
        if self.scores is not None and self.bias is not None:
            attended = weights.values.astype(np.float64)[:, None] * self.scores.values.astype(np.float64)  # (N, K)
            return probabilities(weights.like(attended).sum() + self.bias)
        if self.features is not None and self.context is not None and self.decoder is not None:
            logits = self.decoder.logits(mix(weights, self.features), self.context)
            allowed = self.allowed
            return probabilities(logits if allowed is None else np.where(allowed, logits, -np.inf))
        raise BadInput(
            "this evidence has no columns 'scores' and 'bias', nor 'features', 'context' and a decoder, so other "
            "attention cannot be decoded"
        )

    @property
    def allowed(self) -> NDArray[np.bool_] | None:
        """Which classes are candidates, (n, K); None: all."""
        if self.candidates is None:
            return None
        allowed = np.zeros((len(self), self.outputs), dtype=bool)
        allowed[self.candidates.row_of_value, self.candidates.values] = True
        return allowed

    def slice(self, start: int, stop: int) -> "Evidence":
        """Instances start..stop, without copying; bounds count as in any Python slice."""
        cut: dict[str, Any] = {}
        for name in ("ids", *_COLUMNS):
            column = getattr(self, name)
            if column is not None:
                cut[name] = column.slice(start, stop) if isinstance(column, Ragged) else column[start:stop]
        return replace(self, **cut)

    def take(self, rows: Indices) -> "Evidence":
        """The named instances, in the named order; one that is named twice is there twice."""
        taken: dict[str, Any] = {"ids": [self.ids[row] for row in rows]}
        for name in _COLUMNS:
            column = getattr(self, name)
            if column is not None:
                taken[name] = column.take(rows) if isinstance(column, Ragged) else column[rows]
        return replace(self, **taken)

    def batches(self, size: int) -> Iterator["Evidence"]:
        """Consecutive slices of at most `size` instances."""
        return (self.slice(start, start + size) for start in range(0, len(self), size))

    def validate(self, where: str = "evidence") -> "Evidence":
        """Return self if every invariant of the format holds; otherwise say which row breaks which one."""
        validate(self, where)
        return self

    def to_frame(self) -> pl.DataFrame:
        """One row an instance, in the columns of the file format."""
        table = {"id": pl.Series(list(self.ids), dtype=pl.String)}
        for name in _COLUMNS:
            column = getattr(self, name)
            if name == "labels" and column is not None:
                table["label"] = self.label_column()
            elif isinstance(column, Ragged):
                table[name] = list_column(column)
            elif column is not None:
                table[name] = pl.Series(column).cast(pl.List(pl.Float32))
        return pl.DataFrame(table)

    def label_column(self) -> pl.Series:
        """The labels as a column of frames, null where there is none."""
        if self.labels is None:
            return pl.Series([None] * len(self), dtype=pl.Int32)
        labels = pl.Series(self.labels, dtype=pl.Int32)
        return pl.select(pl.when(labels != NO_LABEL).then(labels)).to_series()

    def write(self, path: Path | str) -> None:
        """Write the evidence file, whole or not at all."""
        write_parquet(Path(path), self.to_frame(), metadata(self.classes, self.provenance, self.decoder))

    @classmethod
    def read(cls, path: Path | str) -> "Evidence":
        """Read and validate an evidence file."""
        path = Path(path)
        return cls.from_frame(collect(scan(path), path), read_metadata(path), str(path))

    @classmethod
    def from_frame(
        cls, frame: pl.DataFrame, about: Mapping[str, str] = MappingProxyType({}), where: str = "evidence"
    ) -> "Evidence":
        """Evidence from a frame with the columns of the file format, validated."""
        columns.check_columns(frame, where)
        there = [name for name in _COLUMNS if name in frame.columns and name != "labels"]
        evidence = cls(
            ids=columns.ids(frame, where),
            **{name: columns.read(frame, name, where) for name in there},
            decoder=TanhDecoder.from_json(about["decoder"], where) if "decoder" in about else None,
            labels=columns.labels(frame, where),
            classes=tuple(columns.described(about, "classes", list, where)),
            provenance=columns.described(about, "provenance", dict, where),
        )
        return evidence.validate(where)


def scan(path: Path) -> pl.LazyFrame:
    """The file as a lazy frame, or an error that names it."""
    if not path.is_file():
        raise BadInput(f"{path}: there is no such evidence file")
    frame = scan_parquet(path)
    columns.check_columns(collect(frame.head(0), path), str(path))
    return frame


def collect(frame: pl.LazyFrame, path: Path) -> pl.DataFrame:
    """Collect a lazy frame of the file, or raise an error that names the file."""
    with damage_reported(path):
        return frame.collect()


@contextmanager
def damage_reported(path: Path) -> Iterator[None]:
    """Turn the errors of a file that cannot be read into one that names it."""
    try:
        with panics_as_errors():
            yield
    except (pl.exceptions.PolarsError, OSError) as error:
        remedy = "write it again (in a run: delete it and run again)"
        raise unreadable(path, f": not a readable Parquet file ({first_line(error)}); {remedy}", error) from error


def read_batches(path: Path | str, size: int, *, start: int = 0) -> Iterator[Evidence]:
    """An evidence file from instance `start` on in batches of instances, so that memory is bounded by a batch."""
    path = Path(path)
    frame, about = scan(path), read_metadata(path)
    ids = collect(frame.select("id"), path)["id"]
    check_unique(ids, str(path))  # a batch sees only its own
    for first in range(start, max(1, len(ids)), size):
        yield Evidence.from_frame(collect(frame.slice(first, size), path), about, str(path))


def metadata(
    classes: Sequence[str], provenance: Mapping[str, Any], decoder: TanhDecoder | None = None
) -> dict[str, str]:
    """What an evidence file says about itself, as Parquet key-value metadata."""
    about = {"classes": json.dumps(list(classes)), "provenance": json.dumps(dict(provenance))}
    return about if decoder is None else about | {"decoder": decoder.to_json()}


def read_metadata(path: Path) -> dict[str, str]:
    """The key-value metadata of an evidence file; files of other tools may have none."""
    with damage_reported(path):
        about = pl.read_parquet_metadata(checked(path))
    return {key: value for key, value in about.items() if key in _DESCRIBED}


def probabilities(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Outputs of logits (n, K): a sigmoid for K = 1, a softmax otherwise."""
    logits = np.asarray(logits, dtype=np.float64)
    return np.asarray(expit(logits) if logits.shape[-1] == 1 else softmax(logits, axis=-1))


def chance(output: NDArray[Any], classes: NDArray[np.int64]) -> NDArray[np.float64]:
    """The probability of one class each, (n,), in outputs (n, K); a sigmoid says that of the second class."""
    output = np.asarray(output, dtype=np.float64)
    chances = np.column_stack([1 - output, output]) if output.shape[1] == 1 else output
    return np.asarray(np.take_along_axis(chances, classes[:, None], axis=1)[:, 0])


def decision_counts(path: Path) -> dict[int, int]:
    """How many instances of an evidence file are decided for each class."""
    output = collect(scan(path).select("output"), path)["output"]
    if not len(output):
        return {}
    classes, counts = np.unique(decide(np.stack(output.to_list())), return_counts=True)
    return dict(zip(classes.tolist(), counts.tolist(), strict=True))


def decide(output: NDArray[Any]) -> NDArray[np.int64]:
    """The decided class of each output (n, K): the lowest index on ties."""
    if output.shape[-1] == 1:
        return (output[..., 0] > 0.5).astype(np.int64)
    return np.asarray(output.argmax(axis=-1), dtype=np.int64)

"""Evidence: all that the counterfactual tests need of a model, one row an instance (see docs/formats.md).

A model that decides from `decode(sum_t alpha_t h_t)` with an affine decoder is summed up, instance by instance, by its
attention weights alpha (T,), what each item alone would say, S (T, K), and the bias b (K,). Any other attention `a`
then gives the logits `a @ S + b`: no model, no hidden states.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit, softmax

from heedful.errors import BadInput
from heedful.files import write_parquet
from heedful.nested import nested, ragged
from heedful.ragged import Ragged
from heedful.validation import NO_LABEL, validate

_REQUIRED = ("id", "tokens", "weights", "output")


@dataclass(frozen=True, eq=False)
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
    labels: NDArray[np.int32] | None = None  # (n,), NO_LABEL where there is none
    query: Ragged | None = None  # of strings: question or hypothesis
    truth: Ragged | None = None  # (N,) bool: items known to decide
    classes: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def outputs(self) -> int:
        """K: the number of outputs."""
        return int(self.output.shape[1])

    @property
    def decisions(self) -> NDArray[np.int64]:
        """The decided class of each instance, (n,): the lowest index on ties; a sigmoid decides 1 only above 0.5."""
        return decide(self.output)

    def decode(self, weights: Ragged) -> NDArray[np.float64]:
        """The outputs (n, K) under other attention weights, everything else held fixed."""
        if self.scores is None or self.bias is None:
            raise BadInput("this evidence has no columns 'scores' and 'bias', so other attention cannot be decoded")
        if not np.array_equal(weights.offsets, self.weights.offsets):
            raise ValueError("weights must have one value for each item")
        attended = weights.values.astype(np.float64)[:, None] * self.scores.values.astype(np.float64)  # (N, K)
        return probabilities(weights.like(attended).sum() + self.bias)

    def slice(self, start: int, stop: int) -> "Evidence":
        """Instances start..stop, without copying."""
        cut: dict[str, Any] = {"ids": self.ids[start:stop], "output": self.output[start:stop]}
        for name in ("tokens", "weights", "scores", "query", "truth"):
            rows = getattr(self, name)
            cut[name] = None if rows is None else rows.slice(start, min(stop, len(self)))
        for name in ("bias", "labels"):
            column = getattr(self, name)
            cut[name] = None if column is None else column[start:stop]
        return replace(self, **cut)

    def batches(self, size: int) -> Iterator["Evidence"]:
        """Consecutive slices of at most `size` instances."""
        return (self.slice(start, start + size) for start in range(0, len(self), size))

    def index(self, id: str) -> int:
        """The row of an instance."""
        try:
            return list(self.ids).index(id)
        except ValueError:
            raise BadInput(f"there is no instance '{id}'; ids look like '{self.ids[0]}'") from None

    def validate(self, where: str = "evidence") -> "Evidence":
        """Return self if every invariant of the format holds; otherwise say which row breaks which one."""
        validate(self, where)
        return self

    def to_frame(self) -> pl.DataFrame:
        """One row an instance, in the columns of the file format."""
        columns: dict[str, pl.Series] = {
            "id": pl.Series(list(self.ids), dtype=pl.String),
            "tokens": nested(self.tokens),
            "weights": nested(self.weights),
        }
        if self.scores is not None and self.bias is not None:
            columns["scores"] = nested(self.scores)
            columns["bias"] = pl.Series(self.bias).cast(pl.List(pl.Float32))
        columns["output"] = pl.Series(self.output).cast(pl.List(pl.Float32))
        if self.labels is not None:
            labels = pl.Series(self.labels)
            columns["label"] = pl.select(pl.when(labels != NO_LABEL).then(labels)).to_series()
        if self.query is not None:
            columns["query"] = nested(self.query)
        if self.truth is not None:
            columns["truth"] = nested(self.truth)
        return pl.DataFrame(columns)

    def write(self, path: Path | str) -> None:
        """Write the evidence file, whole or not at all."""
        write_parquet(Path(path), self.to_frame(), metadata(self.classes, self.provenance))

    @classmethod
    def read(cls, path: Path | str) -> "Evidence":
        """Read and validate an evidence file."""
        path = Path(path)
        return cls.from_frame(scan(path).collect(), read_metadata(path), str(path))

    @classmethod
    def from_frame(
        cls, frame: pl.DataFrame, about: Mapping[str, str] | None = None, where: str = "evidence"
    ) -> "Evidence":
        """Evidence from a frame with the columns of the file format, validated."""
        missing = [name for name in _REQUIRED if name not in frame.columns]
        if missing:
            raise BadInput(
                f"{where}: column '{missing[0]}' is missing; an evidence file has {', '.join(_REQUIRED)} at least"
            )
        about = about or {}
        evidence = cls(
            ids=frame["id"].to_list(),
            tokens=ragged(frame, "tokens", np.dtype(object), where),
            weights=ragged(frame, "weights", np.dtype(np.float32), where),
            output=_matrix(frame, "output", where),
            scores=_optional(frame, "scores", np.dtype(np.float32), where),
            bias=_matrix(frame, "bias", where) if "bias" in frame.columns else None,
            labels=_labels(frame),
            query=_optional(frame, "query", np.dtype(object), where),
            truth=_optional(frame, "truth", np.dtype(bool), where),
            classes=tuple(json.loads(about.get("classes", "[]"))),
            provenance=json.loads(about.get("provenance", "{}")),
        )
        return evidence.validate(where)


def scan(path: Path) -> pl.LazyFrame:
    """The file as a lazy frame, or an error that names it."""
    if not path.is_file():
        raise BadInput(f"{path}: there is no such evidence file")
    try:
        frame = pl.scan_parquet(path)
        frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BadInput(f"{path}: not a readable Parquet file ({error}); write it again") from error
    return frame


def read_batches(path: Path | str, size: int) -> Iterator[Evidence]:
    """An evidence file in batches of instances, so that memory is bounded by a batch."""
    path = Path(path)
    frame, about = scan(path), read_metadata(path)
    rows = int(frame.select(pl.len()).collect().item())
    for start in range(0, rows, size):
        yield Evidence.from_frame(frame.slice(start, size).collect(), about, str(path))


def metadata(classes: Sequence[str], provenance: Mapping[str, Any]) -> dict[str, str]:
    """What an evidence file says about itself, as Parquet key-value metadata."""
    return {"classes": json.dumps(list(classes)), "provenance": json.dumps(dict(provenance))}


def read_metadata(path: Path) -> dict[str, str]:
    """The key-value metadata of an evidence file; files of other tools may have none."""
    return {key: value for key, value in pl.read_parquet_metadata(path).items() if key in ("classes", "provenance")}


def probabilities(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Outputs of logits (n, K): a sigmoid for K = 1, a softmax otherwise."""
    logits = np.asarray(logits, dtype=np.float64)
    return np.asarray(expit(logits) if logits.shape[-1] == 1 else softmax(logits, axis=-1))


def decide(output: NDArray[Any]) -> NDArray[np.int64]:
    """The decided class of each output (n, K): the lowest index on ties."""
    if output.shape[-1] == 1:
        return (output[..., 0] > 0.5).astype(np.int64)
    return np.asarray(output.argmax(axis=-1), dtype=np.int64)


def _matrix(frame: pl.DataFrame, name: str, where: str) -> NDArray[np.float32]:
    rows = ragged(frame, name, np.dtype(np.float32), where)
    lengths = rows.lengths
    if len(lengths) and np.any(lengths != lengths[0]):
        row = int(np.flatnonzero(lengths != lengths[0])[0])
        raise BadInput(
            f"{where}, instance '{frame['id'][row]}': '{name}' has {lengths[row]} values where others have {lengths[0]}"
        )
    return rows.values.reshape(len(rows), -1)


def _optional(frame: pl.DataFrame, name: str, dtype: np.dtype[Any], where: str) -> Ragged | None:
    return ragged(frame, name, dtype, where) if name in frame.columns else None


def _labels(frame: pl.DataFrame) -> NDArray[np.int32] | None:
    if "label" not in frame.columns:
        return None
    return frame["label"].fill_null(NO_LABEL).cast(pl.Int32).to_numpy()

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
from heedful.files import scan_parquet, write_parquet
from heedful.nested import Kind, nested, ragged
from heedful.ragged import Ragged
from heedful.validation import NO_LABEL, check_unique, validate

_REQUIRED = ("id", "tokens", "weights", "output")


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
    labels: NDArray[np.int64] | None = None  # (n,), NO_LABEL where there is none
    query: Ragged | None = None  # of strings: question or hypothesis
    truth: Ragged | None = None  # (N,) bool: items known to decide
    classes: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        given = [name for name in ("scores", "labels", "query", "truth") if getattr(self, name) is not None]
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

    def decode(self, weights: Ragged) -> NDArray[np.float64]:
        """The outputs (n, K) under other attention weights, everything else held fixed."""
        if self.scores is None or self.bias is None:
            raise BadInput("this evidence has no columns 'scores' and 'bias', so other attention cannot be decoded")
        if not np.array_equal(weights.offsets, self.weights.offsets):
            raise ValueError("weights must have one value for each item")
        attended = weights.values.astype(np.float64)[:, None] * self.scores.values.astype(np.float64)  # (N, K)
        return probabilities(weights.like(attended).sum() + self.bias)

    def slice(self, start: int, stop: int) -> "Evidence":
        """Instances start..stop, without copying; bounds count as in any Python slice."""
        cut: dict[str, Any] = {"ids": self.ids[start:stop], "output": self.output[start:stop]}
        for name in ("tokens", "weights", "scores", "query", "truth"):
            rows = getattr(self, name)
            cut[name] = None if rows is None else rows.slice(start, stop)
        for name in ("bias", "labels"):
            column = getattr(self, name)
            cut[name] = None if column is None else column[start:stop]
        return replace(self, **cut)

    def batches(self, size: int) -> Iterator["Evidence"]:
        """Consecutive slices of at most `size` instances."""
        return (self.slice(start, start + size) for start in range(0, len(self), size))

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
            columns["label"] = self.label_column()
        if self.query is not None:
            columns["query"] = nested(self.query)
        if self.truth is not None:
            columns["truth"] = nested(self.truth)
        return pl.DataFrame(columns)

    def label_column(self) -> pl.Series:
        """The labels as a column of frames, null where there is none."""
        if self.labels is None:
            return pl.Series([None] * len(self), dtype=pl.Int32)
        labels = pl.Series(self.labels, dtype=pl.Int32)
        return pl.select(pl.when(labels != NO_LABEL).then(labels)).to_series()

    def write(self, path: Path | str) -> None:
        """Write the evidence file, whole or not at all."""
        write_parquet(Path(path), self.to_frame(), metadata(self.classes, self.provenance))

    @classmethod
    def read(cls, path: Path | str) -> "Evidence":
        """Read and validate an evidence file."""
        path = Path(path)
        return cls.from_frame(collect(scan(path), path), read_metadata(path), str(path))

    @classmethod
    def from_frame(
        cls, frame: pl.DataFrame, about: Mapping[str, str] | None = None, where: str = "evidence"
    ) -> "Evidence":
        """Evidence from a frame with the columns of the file format, validated."""
        _check_columns(frame, where)
        about = about or {}
        evidence = cls(
            ids=_ids(frame, where),
            tokens=ragged(frame, "tokens", "text", where),
            weights=ragged(frame, "weights", "numbers", where),
            output=_matrix(frame, "output", where),
            scores=_optional(frame, "scores", "numbers", where, levels=2),
            bias=_matrix(frame, "bias", where) if "bias" in frame.columns else None,
            labels=_labels(frame, where),
            query=_optional(frame, "query", "text", where),
            truth=_optional(frame, "truth", "flags", where),
            classes=tuple(_json(about, "classes", list, where)),
            provenance=_json(about, "provenance", dict, where),
        )
        return evidence.validate(where)


def scan(path: Path) -> pl.LazyFrame:
    """The file as a lazy frame, or an error that names it."""
    if not path.is_file():
        raise BadInput(f"{path}: there is no such evidence file")
    frame = scan_parquet(path)
    _check_columns(collect(frame.head(0), path), str(path))
    return frame


def collect(frame: pl.LazyFrame, path: Path) -> pl.DataFrame:
    """Read what a lazy frame of the file asks for, or raise an error that names the file."""
    try:
        return frame.collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BadInput(
            f"{path}: not a readable Parquet file ({error}); write it again (in a run: delete it and run again)"
        ) from error


def _check_columns(frame: pl.DataFrame, where: str) -> None:
    missing = [name for name in _REQUIRED if name not in frame.columns]
    if missing:
        raise BadInput(
            f"{where}: column '{missing[0]}' is missing; an evidence file has {', '.join(_REQUIRED)} at least"
        )


def read_batches(path: Path | str, size: int, *, start: int = 0) -> Iterator[Evidence]:
    """An evidence file from instance `start` on in batches of instances, so that memory is bounded by a batch."""
    path = Path(path)
    frame, about = scan(path), read_metadata(path)
    ids = collect(frame.select("id"), path)["id"]
    check_unique(ids, str(path))  # a batch sees only its own
    for first in range(start, max(1, len(ids)), size):
        yield Evidence.from_frame(collect(frame.slice(first, size), path), about, str(path))


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
    rows = ragged(frame, name, "numbers", where)
    lengths = rows.lengths
    if len(lengths) and np.any(lengths != lengths[0]):
        row = int(np.flatnonzero(lengths != lengths[0])[0])
        raise BadInput(
            f"{where}, instance '{frame['id'][row]}': '{name}' has {lengths[row]} values where others have {lengths[0]}"
        )
    return rows.values.reshape(len(rows), -1)


def _optional(frame: pl.DataFrame, name: str, kind: Kind, where: str, *, levels: int = 1) -> Ragged | None:
    return ragged(frame, name, kind, where, levels=levels) if name in frame.columns else None


def _ids(frame: pl.DataFrame, where: str) -> list[str]:
    if not len(frame):
        raise BadInput(f"{where}: there are no instances in it")
    if frame["id"].dtype != pl.String:
        raise BadInput(f"{where}: column 'id' holds {frame['id'].dtype}; ids are strings")
    return frame["id"].to_list()


def _labels(frame: pl.DataFrame, where: str) -> NDArray[np.int64] | None:
    if "label" not in frame.columns:
        return None
    labels = frame["label"]
    if not labels.dtype.is_integer() and labels.dtype != pl.Null:
        raise BadInput(f"{where}: column 'label' holds {labels.dtype}; labels are indices into the class names")
    # an index beyond 64 bits is as wrong as any other that names no class
    whole = labels.cast(pl.Int64, strict=False).fill_null(2**62)
    return pl.select(pl.when(labels.is_null()).then(NO_LABEL).otherwise(whole)).to_series().to_numpy()


def _json(about: Mapping[str, str], key: str, kind: type[Any], where: str) -> Any:
    try:
        value = json.loads(about.get(key, "null"))
    except ValueError as error:
        raise BadInput(f"{where}: the metadata '{key}' is not JSON ({error})") from error
    names = value if kind is list and isinstance(value, list) else []
    if value is not None and not (isinstance(value, kind) and all(isinstance(name, str) for name in names)):
        raise BadInput(
            f"{where}: the metadata '{key}' must be a JSON {'list of strings' if kind is list else 'object'}"
        )
    return value or kind()

"""The invariants of evidence; a breach names the instance, says what is wrong and what to do."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from heedful.errors import BadInput
from heedful.list_columns import Kind, ragged_column

if TYPE_CHECKING:
    from heedful.evidence import Evidence

SUM_TOLERANCE = 1e-4
OUTPUT_TOLERANCE = 1e-3  # what a model in half precision may be off
NO_LABEL = -1
_PER_ITEM = ("tokens", "scores", "features", "truth")
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("tokens", "query", "words"), "text"),
    **dict.fromkeys(("weights", "scores", "features"), "numbers"),
    **dict.fromkeys(("candidates", "sentences"), "indices"),
    "truth": "flags",
}


def validate(evidence: "Evidence", where: str) -> None:
    """Raise BadInput unless ids are unique, lengths agree, weights and outputs are distributions, labels exist."""
    check = _Check(evidence.ids, where)
    check_unique(pl.Series(list(evidence.ids), dtype=pl.String), where)
    for part in (_check_rows, _check_lengths, _check_weights, _check_output, _check_scores, _check_features):
        part(evidence, check)
    for part in (_check_candidates, _check_decoding, _check_labels, _check_sentences):
        part(evidence, check)


class _Check:
    """Refuses the first instance for which something is wrong."""

    def __init__(self, ids: Any, where: str) -> None:
        self.ids, self.where = ids, where

    def __call__(self, bad: Any, problem: str) -> None:
        rows = np.flatnonzero(bad)
        if len(rows):
            raise BadInput(f"{self.where}, instance '{self.ids[int(rows[0])]}': {problem}")

    def refuse(self, problem: str) -> NoReturn:
        """Refuse the evidence as a whole."""
        raise BadInput(f"{self.where}: {problem}")


def check_unique(ids: pl.Series, where: str) -> None:
    """Every instance has an id of its own."""
    if ids.null_count():
        raise BadInput(f"{where}: row {ids.is_null().arg_max()} has no id; every instance needs one")
    _Check(ids, where)(ids.is_duplicated().to_numpy(), "its id occurs more than once; ids must be unique")


def _check_rows(evidence: "Evidence", check: _Check) -> None:
    others = ("weights", "output", "bias", "context", "candidates", "labels", "query", "words", "sentences")
    for name in (*_PER_ITEM, *others):
        column = getattr(evidence, name)
        if column is not None and len(column) != len(evidence):
            check.refuse(f"'{name}' has {len(column)} rows for {len(evidence)} instances")


def _check_lengths(evidence: "Evidence", check: _Check) -> None:
    lengths = evidence.weights.lengths
    check(lengths == 0, "it has no items; leave it out")
    for name in _PER_ITEM:
        rows = getattr(evidence, name)
        if rows is not None:
            check(rows.lengths != lengths, f"'{name}' and 'weights' have different lengths; give one value an item")


def _check_weights(evidence: "Evidence", check: _Check) -> None:
    weights = evidence.weights
    check(_any(weights.like(~np.isfinite(weights.values))), "'weights' has NaN or infinite values")
    check(_any(weights.like(weights.values < 0)), "'weights' has a negative value; weights are a distribution")
    total = weights.like(weights.values.astype(np.float64)).sum()
    off = np.abs(total - 1) > SUM_TOLERANCE
    if off.any():
        check(off, f"'weights' sum to {total[off][0]:.6g}, not to 1; normalise them over the real items")


def _check_output(evidence: "Evidence", check: _Check) -> None:
    output = evidence.output
    if output.ndim != 2 or output.shape[1] < 1:
        check.refuse("'output' must have one or more probabilities an instance")
    check(~np.isfinite(output).all(axis=1), "'output' has NaN or infinite values")
    check(((output < 0) | (output > 1)).any(axis=1), "'output' holds a value outside [0, 1]; give probabilities")
    if evidence.outputs > 1:
        check(np.abs(output.sum(axis=1) - 1) > SUM_TOLERANCE, "'output' does not sum to 1; give probabilities")


def _check_scores(evidence: "Evidence", check: _Check) -> None:
    scores, bias = evidence.scores, evidence.bias
    if scores is None and bias is None:
        return
    if scores is None or bias is None:
        check.refuse("columns 'scores' and 'bias' go together; give both or neither")
    if scores.values.shape[1:] != (evidence.outputs,) or bias.shape[1:] != (evidence.outputs,):
        check.refuse(f"'scores' and 'bias' must have as many columns as 'output', {evidence.outputs}")
    check(_any(scores.like(~np.isfinite(scores.values))), "'scores' has NaN or infinite values")
    check(~np.isfinite(bias).all(axis=1), "'bias' has NaN or infinite values")


def _check_features(evidence: "Evidence", check: _Check) -> None:
    features, context, decoder = evidence.features, evidence.context, evidence.decoder
    if features is None and context is None and decoder is None:
        return
    if features is None or context is None or decoder is None:
        check.refuse("'features' and 'context' and the metadata 'decoder' go together; give all or none")
    if evidence.scores is not None:
        check.refuse("'scores' are of an affine decoder, 'features' of another one; give one of them")
    if evidence.outputs < 2:
        check.refuse("a decoder of 'features' has two outputs or more; give the probability of each class")
    if decoder.weight.ndim != 2 or decoder.weight.shape[0] != evidence.outputs:
        check.refuse(f"the decoder's weight must have one row for each of the {evidence.outputs} outputs")
    width = decoder.weight.shape[1:]
    if decoder.bias.shape != (evidence.outputs,):
        check.refuse(f"the decoder's bias must have one value for each of the {evidence.outputs} outputs")
    if features.values.shape[1:] != width or context.shape[1:] != width:
        check.refuse(f"'features' and 'context' must be as wide as the decoder's weight, {width[0]}")
    if not (np.isfinite(decoder.weight).all() and np.isfinite(decoder.bias).all()):
        check.refuse("the decoder has NaN or infinite values")
    check(_any(features.like(~np.isfinite(features.values).all(axis=1))), "'features' has NaN or infinite values")
    check(~np.isfinite(context).all(axis=1), "'context' has NaN or infinite values")


def _check_candidates(evidence: "Evidence", check: _Check) -> None:
    candidates = evidence.candidates
    if candidates is None:
        return
    if evidence.features is None:
        check.refuse("column 'candidates' goes with 'features'; leave it out")
    classes, rows = candidates.values, candidates.row_of_value
    check(candidates.lengths == 0, "'candidates' is empty; give one class at least")
    strange = (classes < 0) | (classes >= evidence.outputs)
    check(_any(candidates.like(strange)), f"'candidates' has a class that is not one of 0 to {evidence.outputs - 1}")
    falls = np.flatnonzero((np.diff(classes) <= 0) & (rows[1:] == rows[:-1]))
    check(np.isin(np.arange(len(candidates)), rows[falls]), "'candidates' must rise, each class at most once")
    barred = ~np.asarray(evidence.allowed)
    check(((evidence.output != 0) & barred).any(axis=1), "'output' of a class that is no candidate must be 0")


def _check_decoding(evidence: "Evidence", check: _Check) -> None:
    if not evidence.decodable:
        return
    apart = np.abs(evidence.decode(evidence.weights) - evidence.output).max(axis=1)
    off = apart > OUTPUT_TOLERANCE
    if off.any():
        given = "'weights', 'scores' and 'bias'" if evidence.scores is not None else "'weights' and 'features'"
        check(off, f"{given} give an output that is {apart[off][0]:.3g} away from 'output'")


def _check_labels(evidence: "Evidence", check: _Check) -> None:
    classes = 2 if evidence.outputs == 1 else evidence.outputs
    if evidence.classes and len(evidence.classes) != classes:
        check.refuse(f"{len(evidence.classes)} class names for {classes} classes")
    if evidence.labels is not None:
        labels = evidence.labels
        strange = (labels != NO_LABEL) & ((labels < 0) | (labels >= classes))
        check(strange, f"its label is not one of 0 to {classes - 1}")


def _check_sentences(evidence: "Evidence", check: _Check) -> None:
    """Sentences cut the items or, where there are words, these: then each item is a sentence."""
    words, sentences = evidence.words, evidence.sentences
    if sentences is None:
        if words is not None:
            check.refuse("column 'words' goes with 'sentences', the lengths of the items; give both")
        return
    check(_any(sentences.like(sentences.values < 0)), "'sentences' has a negative length")
    if words is not None:
        items = evidence.weights.lengths
        check(sentences.lengths != items, "'sentences' and 'weights' have different lengths; give one value an item")
    whole, what = (evidence.weights, "items") if words is None else (words, "words")
    check(sentences.sum() != whole.lengths, f"the lengths of its 'sentences' do not add up to its number of {what}")


def _any(flags: Any) -> NDArray[np.bool_]:
    """Whether any cell of a row is flagged, (n,)."""
    counts = flags.sum()  # (n, ...)
    return np.asarray(counts.any(axis=tuple(range(1, counts.ndim))))


REQUIRED = ("id", "tokens", "weights", "output")


def check_columns(frame: pl.DataFrame, where: str) -> None:
    """Raise unless all required columns are there."""
    missing = [name for name in REQUIRED if name not in frame.columns]
    if missing:
        raise BadInput(f"{where}: column '{missing[0]}' is missing; evidence files need {', '.join(REQUIRED)}")


def ids(frame: pl.DataFrame, where: str) -> list[str]:
    """The names of the instances, of which there must be some."""
    if not len(frame):
        raise BadInput(f"{where}: there are no instances in it")
    if frame["id"].dtype != pl.String:
        raise BadInput(f"{where}: column 'id' holds {frame['id'].dtype}; ids are strings")
    return frame["id"].to_list()


def labels(frame: pl.DataFrame, where: str) -> NDArray[np.int64] | None:
    """The true classes, NO_LABEL where there is none."""
    if "label" not in frame.columns:
        return None
    column = frame["label"]
    if not column.dtype.is_integer() and column.dtype != pl.Null:
        raise BadInput(f"{where}: column 'label' holds {column.dtype}; labels are indices into the class names")
    # an index beyond 64 bits is as wrong as any other that names no class
    whole = column.cast(pl.Int64, strict=False).fill_null(2**62)
    return pl.select(pl.when(column.is_null()).then(NO_LABEL).otherwise(whole)).to_series().to_numpy()


def matrix(frame: pl.DataFrame, name: str, where: str) -> NDArray[np.float32]:
    """A column of equally long lists of numbers, (n, width)."""
    rows = ragged_column(frame, name, "numbers", where)
    lengths = rows.lengths
    if len(lengths) and np.any(lengths != lengths[0]):
        row = int(np.flatnonzero(lengths != lengths[0])[0])
        problem = f"'{name}' has {lengths[row]} values where others have {lengths[0]}"
        raise BadInput(f"{where}, instance '{frame['id'][row]}': {problem}")
    return rows.values.reshape(len(rows), -1)


def read(frame: pl.DataFrame, name: str, where: str) -> Any:
    """A column of lists: ragged, or a matrix where all lists are equally long."""
    if name in ("output", "bias", "context"):
        return matrix(frame, name, where)
    return ragged_column(frame, name, _KINDS[name], where, levels=2 if name in ("scores", "features") else 1)


def described(about: Mapping[str, str], key: str, kind: type[Any], where: str) -> Any:
    """A list of names or an object of the metadata; an empty one if it has none."""
    try:
        value = json.loads(about.get(key, "null"))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{where}: the metadata '{key}' is not JSON ({error})") from error
    names = value if kind is list and isinstance(value, list) else []
    if value is not None and not (isinstance(value, kind) and all(isinstance(name, str) for name in names)):
        shape = "list of strings" if kind is list else "object"
        raise BadInput(f"{where}: the metadata '{key}' must be a JSON {shape}")
    return value or kind()

"""Texts and maps of a run's instances in files of bounded size, read and written in bounded memory."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from heedful.errors import BadInput
from heedful.evidence import Evidence, read_batches
from heedful.files import scan_parquet
from heedful.progress import Reporter
from heedful.report.site.packing import pack, to_json, write_json_data
from heedful.runs.directory import STAGES, Run

BATCH = 256  # instances read at a time, and in a shard at most
SHARD = 1 << 19  # characters of a shard, after which another one begins
FEATURES = 1 << 28  # characters of features in all: decoders that are not affine take hundreds of numbers an item

_NO_FEATURES = (
    "What this item would say is not in this report: the features of its run take too much room. "
    "`heedful show` reads any instance."
)


class Shards(NamedTuple):
    """What was written."""

    texts: list[int]  # the first instance of each shard
    maps: list[int]
    fingerprint: str  # of ids and words: runs in which it is the same have read the same texts
    ids: list[str]
    bare: int  # instances whose features were left out
    measures: list[str]  # of importance, those that some instance has


def write_shards(run: Run, site: Path, key: str, reporter: Reporter) -> Shards:
    """Write `texts-<n>.js` and `maps-<n>.js` of a run."""
    texts, maps = (_Writer(site, key, kind) for kind in ("texts", "maps"))
    digest, ids = hashlib.blake2b(digest_size=8), []
    beside, room, bare = _Beside(run), FEATURES, 0
    for evidence in read_batches(run.folder / "evidence.parquet", BATCH):
        others = beside.take(evidence)
        for index, id in enumerate(evidence.ids):
            text, words = _text(evidence, index)
            digest.update("\x1f".join([id, *words, "\x1e"]).encode())
            texts.add(text)
            features = _features(evidence, index) if room > 0 else {}
            room -= sum(len(packed["data"]) for packed in features.values())
            known = {**_map(evidence, index), **features, **{name: values[index] for name, values in others.items()}}
            if evidence.features is not None and not features:
                bare, known["whatif"] = bare + 1, _NO_FEATURES
            maps.add({name: value for name, value in known.items() if value is not None})
            ids.append(id)
        reporter.reach(len(ids))
    return Shards(texts.close(), maps.close(), digest.hexdigest(), ids, bare, beside.measures)


class _Writer:
    """Instances one after the other into files of bounded size."""

    def __init__(self, site: Path, key: str, kind: str) -> None:
        self._site, self._key, self._kind = site, key, kind
        self._starts: list[int] = []
        self._open: list[str] = []
        self._seen = 0

    def add(self, value: Mapping[str, Any]) -> None:
        if not self._open:
            self._starts.append(self._seen)
            self._size = 0
        self._open.append(to_json(value))
        self._size += len(self._open[-1])
        self._seen += 1
        if self._size > SHARD or len(self._open) >= BATCH:
            self._write()

    def close(self) -> list[int]:
        """Write what is left; the first instance of each file."""
        if self._open:
            self._write()
        return self._starts

    def _write(self) -> None:
        name = f"{self._key}/{self._kind}-{len(self._starts) - 1}"
        write_json_data(self._site, name, f"[{','.join(self._open)}]")
        self._open = []


def _text(evidence: Evidence, index: int) -> tuple[dict[str, Any], list[str]]:
    """What was read, as shown and as words."""
    tokens = [str(token) for token in evidence.tokens[index]]
    text: dict[str, Any] = {"tokens": tokens}
    if evidence.query is not None:
        text["query"] = [str(token) for token in evidence.query[index]]
    if evidence.words is not None:
        return text, [str(word) for word in evidence.words[index]]
    if evidence.sentences is not None:
        text["sentences"] = evidence.sentences[index].tolist()
    return text, tokens


def _map(evidence: Evidence, index: int) -> dict[str, Any]:
    """The weights and what other weights would give."""
    known: dict[str, Any] = {"weights": pack(evidence.weights[index]), "output": pack(evidence.output[index])}
    if evidence.scores is not None and evidence.bias is not None:
        known |= {"scores": pack(evidence.scores[index]), "bias": pack(evidence.bias[index])}
    if evidence.candidates is not None:
        known["candidates"] = evidence.candidates[index].tolist()
    if evidence.truth is not None:
        known["truth"] = pack(evidence.truth[index].astype(np.uint8))
    return known


def _features(evidence: Evidence, index: int) -> dict[str, dict[str, str]]:
    if evidence.features is None or evidence.context is None:
        return {}
    return {"features": pack(evidence.features[index]), "context": pack(evidence.context[index])}


class _Beside:
    """What importance and experiments say of each instance, batch by batch."""

    def __init__(self, run: Run) -> None:
        self._taken = 0
        self._files: dict[str, tuple[Path, pl.LazyFrame]] = {}
        for stage, columns in (
            ("adversary", ("weights", "adversary_decision")),
            ("removal", ("optimal_set",)),
            ("importance", ("measure", "output", "values")),
        ):
            path = run.folder / STAGES[stage].files[0]
            if run.done(stage) and set(columns) <= set(scan_parquet(path).collect_schema().names()):
                self._files[stage] = path, scan_parquet(path).select("id", *columns)
        self._measured = 1  # rows of importance an instance
        self.measures: list[str] = []
        if "importance" in self._files:
            path, frame = self._files["importance"]
            first = frame.filter(pl.col("id") == pl.col("id").first()).select("measure").collect()["measure"]
            self._measured, self.measures = len(first), first.unique(maintain_order=True).to_list()

    def take(self, evidence: Evidence) -> dict[str, list[Any]]:
        """One value an instance under each name."""
        found: dict[str, list[Any]] = {}
        for stage, (path, frame) in self._files.items():
            each = self._measured if stage == "importance" else 1
            rows = frame.slice(self._taken * each, len(evidence) * each).collect()
            if rows["id"].gather_every(each).to_list() != list(evidence.ids):
                raise BadInput(f"{path} is not about the instances of evidence.parquet: delete it and run again")
            found |= dict(_VALUES[stage](rows, evidence))
        self._taken += len(evidence)
        return found


def _adversary(rows: pl.DataFrame, _: Evidence) -> Iterator[tuple[str, list[Any]]]:
    yield "adversarial", [pack(weights.to_numpy()) for weights in rows["weights"]]
    yield "adversary_decision", rows["adversary_decision"].to_list()


def _removal(rows: pl.DataFrame, _: Evidence) -> Iterator[tuple[str, list[Any]]]:
    yield "flip_set", rows["optimal_set"].to_list()


def _importance(rows: pl.DataFrame, evidence: Evidence) -> Iterator[tuple[str, list[Any]]]:
    """A measure that has one row an output is taken at the decided one."""
    decided = np.zeros(len(evidence)) if evidence.outputs == 1 else evidence.decisions
    outputs = pl.DataFrame({"id": list(evidence.ids), "decided": decided}, schema_overrides={"decided": pl.Int32})
    own = rows.join(outputs, on="id", maintain_order="left").filter(
        pl.col("output").is_null() | (pl.col("output") == pl.col("decided"))
    )
    for (measure,), taken in own.partition_by("measure", as_dict=True, maintain_order=True).items():
        values = dict(zip(taken["id"], taken["values"], strict=True))
        yield str(measure), [pack(values[id].to_numpy()) if id in values else None for id in evidence.ids]


_VALUES = {"adversary": _adversary, "removal": _removal, "importance": _importance}

"""What hostile inputs are read by: each target prepares good inputs and reads one; it may refuse, never fall over."""

import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import tomli_w

from heedful.adapters.huggingface.subject import HuggingFace
from heedful.audits.directory import Audit
from heedful.audits.evidence_sources import evidence_source
from heedful.audits.given_importance import read_given_importance
from heedful.audits.request import audit
from heedful.audits.text_sources import file_source
from heedful.corpora.archives import lines, member_lines, members
from heedful.corpora.json_objects import json_objects
from heedful.corpora.locating import Found
from heedful.corpora.rationales import file_rationales, marked_spans
from heedful.corpora.registry import READERS
from heedful.corpora.tabular import values
from heedful.errors import HeedfulError
from heedful.evidence import Evidence
from heedful.findings.gathering import gather
from heedful.models.checkpoint import read_tensors, write_tensors
from heedful.runs.catalogue import runs_in, scan
from heedful.runs.config import read_toml, resolve
from heedful.runs.directory import Run
from heedful.runs.execution import perform
from heedful.sweeps.grid import built_in, read_grid
from heedful.text.word_vectors import read_vectors
from tests.adapters.tiny import classifier, word_pieces
from tests.audits import made
from tests.corpora.native import pack, tree, write
from tests.making import make_evidence, make_importance
from tests.runs.small import VALUES

TEXTS = [f'a {word} film with number {i}, and "some" of it\'s words' for i in range(12) for word in ("fine", "dull")]


class Target(NamedTuple):
    """Good inputs below a folder, each a file or (`whole`) a folder, and what reads one of them."""

    name: str
    prepare: Callable[[Path], object]
    read: Callable[[Path], object]
    share: float  # of the hostile inputs
    whole: bool = False


def _consume(items: Iterator[Any]) -> None:
    for _ in items:
        pass


def _evidence(folder: Path) -> None:
    for number, (outputs, decoder) in enumerate([(1, "affine"), (3, "affine"), (3, "tanh")]):
        make_evidence(number, n=12, outputs=outputs, decoder=decoder).write(folder / f"{decoder}-{outputs}.parquet")  # type: ignore[arg-type]


def _evidence_lines(folder: Path) -> None:
    rows = make_evidence(0, n=12, outputs=3).to_frame().to_dicts()
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    write(folder / "lines.jsonl", text)
    write(folder / "packed.jsonl.gz", text)


def _read_evidence(path: Path) -> None:
    if path.suffix == ".parquet":
        Evidence.read(path)
    _consume(evidence_source(path).batches(0))


def _importance(folder: Path) -> None:
    evidence = make_evidence(0, n=12)
    frame = make_importance(evidence).select("id", "values", method="measure").filter(method="leave_one_out")
    frame = frame.with_columns(method=frame["method"] + "_mine")
    frame.write_parquet(folder / "given.parquet")
    write(folder / "given.jsonl", "".join(f"{json.dumps(row)}\n" for row in frame.to_dicts()))


def _tables(folder: Path) -> None:
    import polars as pl

    names, each = ("fine", "dull"), range(len(made.TEXTS))
    frame = pl.DataFrame({"id": [f"r{i}" for i in each], "text": made.TEXTS, "label": [names[i % 2] for i in each]})
    frame.write_parquet(folder / "table.parquet")
    frame.write_csv(folder / "table.csv")
    frame.write_csv(folder / "table.tsv", separator="\t")
    write(folder / "table.csv.gz", frame.write_csv())
    write(folder / "table.jsonl", "".join(f"{json.dumps(row)}\n" for row in frame.to_dicts()))


def _read_table(path: Path) -> None:
    _consume(values(path, ["text", "label"]))
    _consume(file_source(path, text="text", label="label", id="id").rows())


def _rationales(folder: Path) -> None:
    rows = [{"id": f"r{i}", "spans": [[0, 1], [2, 6]]} for i in range(24)]
    write(folder / "marked.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    write(folder / "marked.csv", "id,rationale\n" + "".join(f'r{i},"[0, 1, 0]"\n' for i in range(24)))


def _read_rationales(path: Path) -> None:
    for row in file_rationales(path).rows():
        marked_spans(row, TEXTS[0])


_FILES = {f"aclImdb/train/{side}/{i}_{i}.txt": TEXTS[i].encode() for i in range(8) for side in ("pos", "neg")}
_TREES = {f"trees/{split}.txt": "".join(f"{tree(3, text)}\n" for text in TEXTS).encode() for split in ("train", "dev")}


def _archives(folder: Path) -> None:
    for name in ("files.zip", "files.tar", "files.tar.gz", "files.tgz"):
        pack(folder / name, _FILES | _TREES)
    (folder / "trees.txt.gz").write_bytes(gzip.compress(_TREES["trees/train.txt"]))


def _read_archive(path: Path) -> None:
    if path.name.endswith(".txt.gz"):
        _consume(lines(path))
        return
    _consume(members(path, lambda name: name.suffix == ".txt"))
    _consume(member_lines(path, lambda name: name.suffix == ".txt"))


_SNLI = {"gold_label": "entailment", "sentence1": "A film is dull.", "sentence2": "It is a film.", "pairID": "1"}
_STORY = "1 Mary went to the hall.\n2 John went out.\n3 Where is Mary? \thall\t1\n"


def _corpora(folder: Path) -> None:
    pack(folder / "sst.zip", {f"{split}.txt": _TREES["trees/dev.txt"] for split in ("train", "dev", "test")})
    write(folder / "sst.txt", _TREES["trees/train.txt"])
    pairs = "".join(json.dumps({**_SNLI, "pairID": str(i)}) + "\n" for i in range(12))
    write(folder / "snli.jsonl", pairs)
    write(folder / "agnews.csv", "".join(f'"{1 + i % 4}","title {i}","{"some text " * 4}"\n' for i in range(12)))
    write(folder / "babi-1.txt", _STORY * 6)
    rows = [{"review": TEXTS[i], "rating": 1 + i % 10} for i in range(12)]
    write(folder / "imdb-ratings.json", json.dumps(rows))


def _read_corpus(path: Path) -> None:
    name = path.name.partition(".")[0]
    if name == "imdb-ratings":
        _consume(json_objects(path))
        return
    reader = READERS[name]
    roles = {"archive": path} if path.suffix == ".zip" else dict.fromkeys(("train", "dev", "test"), path)
    _consume(reader.documents(Found(roles), reader.options()))


def _configs(folder: Path) -> None:
    for number, values_ in enumerate(({"corpus": "sst"}, VALUES, {"corpus": "planted", "model": "han"})):
        text = resolve(values_).model_dump(mode="json", exclude_none=True)
        write(folder / f"config-{number}.toml", tomli_w.dumps(text))


def _grids(folder: Path) -> None:
    for name, file in built_in().items():
        write(folder / f"{name}.toml", file.read_bytes())
    write(
        folder / "small.toml", 'corpus = "planted"\nencoder = ["bilstm", "cnn"]\nseed = [0, 1]\ntraining.epochs = 1\n'
    )


def _runs(folder: Path) -> None:
    run = perform(VALUES, out=folder)
    (run.folder / ".lock").unlink(missing_ok=True)


def _read_run(folder: Path) -> None:
    """As a report or a program would, every part."""
    runs_in(folder)
    run = Run.open(folder)
    for read in (
        run.check,
        lambda: run.metrics,
        lambda: run.history,
        lambda: run.vocabulary,
        run.model,
        lambda: run.verdict,
        lambda: scan(folder).collect(),
        lambda: scan(folder, "permutation").collect(),
        lambda: gather([folder]),
    ):
        _refusing(read)


def _audits(folder: Path) -> None:
    audit(evidence=make_evidence(1, n=12, outputs=3), out=folder, sample=6, threads=1)


def _read_audit(folder: Path) -> None:
    done = Audit.load(folder)
    for read in (lambda: done.verdict.instances, lambda: done.metrics, lambda: done.signals, lambda: gather([folder])):
        _refusing(read)


def _refusing(read: Callable[[], object]) -> None:
    with suppress(HeedfulError):
        read()


def _weights(folder: Path) -> None:
    import torch

    write_tensors(folder / "model.safetensors", {"a": torch.ones(3, 2), "b": torch.zeros(4)}, {"history": "[]"})


def _vectors(folder: Path) -> None:
    text = "".join(f"{word} 0.1 0.2 0.3\n" for word in ("film", "fine", "dull", "of"))
    write(folder / "glove.txt", text)
    write(folder / "fast.vec", "4 3\n" + text)
    write(folder / "fast.vec.gz", "4 3\n" + text)
    rows = b"".join(word + b" " + bytes(12) + b"\n" for word in (b"film", b"fine", b"dull", b"of"))
    write(folder / "word2vec.bin", b"4 3\n" + rows)


def _models(folder: Path) -> None:
    for family in ("bert", "distilbert", "gpt2"):
        place = folder / family
        classifier(family).save_pretrained(place)
        word_pieces().save_pretrained(place)


TARGETS = [
    Target("evidence", _evidence, _read_evidence, 7),
    Target("evidence lines", _evidence_lines, _read_evidence, 12),
    Target("importance", _importance, read_given_importance, 6),
    Target("tables", _tables, _read_table, 16),
    Target("rationales", _rationales, _read_rationales, 12),
    Target("archives", _archives, _read_archive, 24),
    Target("corpora", _corpora, _read_corpus, 5),
    Target("configurations", _configs, lambda path: resolve(read_toml(path)), 8),
    Target("grids", _grids, read_grid, 3),
    Target("tensors", _weights, read_tensors, 6),
    Target("word vectors", _vectors, lambda path: read_vectors(path, ["film", "of", "none"], 3), 10),
    Target("runs", _runs, _read_run, 0.15, whole=True),
    Target("audits", _audits, _read_audit, 0.15, whole=True),
    Target("models", _models, lambda path: HuggingFace.load(str(path), device="cpu"), 0.3, whole=True),
]

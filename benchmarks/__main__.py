"""`make bench`: run every benchmark, print ratios, keep JSON in benchmarks/results/."""

import sys
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch

from benchmarks.adversary import adversary_result, batched_results, sst_like_evidence
from benchmarks.audit import audit_result, replay_result
from benchmarks.documents import document_result
from benchmarks.gradients import gradient_result
from benchmarks.leave_one_out import document_results, leave_one_out_result, story_results
from benchmarks.permutation import permutation_result
from benchmarks.plain import paper_model
from benchmarks.prefix import prefix_result
from benchmarks.removal import removal_results
from benchmarks.report import Result, kept_results
from benchmarks.scan import scan_result
from benchmarks.site import site_results
from benchmarks.sweep import scheduling_result, workers_result
from benchmarks.tokenising import tokenising_result
from benchmarks.training import training_epoch
from heedful.corpora.loading import load
from heedful.errors import NotFound
from heedful.evidence import Evidence
from heedful.models.batches import Inputs
from heedful.models.training import Examples
from heedful.ragged import Ragged
from heedful.runs.execution import perform
from heedful.text.vocabulary import Vocabulary

WORDS = 13826


class Sentences(NamedTuple):
    """SST, or random texts of its lengths on machines that do not have it; the name says which."""

    name: str
    training: Examples
    test: Ragged
    words: int
    evidence: Evidence  # of the test split, from a model


def sentences() -> Sentences:
    try:
        corpus = load("sst")
    except NotFound:
        draw = np.random.default_rng(0)
        lengths = np.clip(draw.normal(18, 8, size=6355).round(), 6, 46).astype(np.int64)
        training, test = random_texts(lengths), random_texts(lengths[:1725]).inputs.tokens
        return Sentences("random texts as long as SST's", training, test, WORDS, sst_like_evidence())
    frame = corpus.split("train")
    vocabulary = Vocabulary.build(corpus.scan("train"))
    training = Examples(Inputs(vocabulary.encode(frame["tokens"])), frame["label"].to_numpy().astype(np.int64))
    test = vocabulary.encode(corpus.split("test")["tokens"])
    with tempfile.TemporaryDirectory() as folder:
        evidence = perform({"corpus": "sst", "training": {"epochs": 3}}, out=folder, experiments=[]).evidence
    return Sentences("SST", training, test, len(vocabulary), evidence)


def random_texts(lengths: np.ndarray, words: int = WORDS) -> Examples:
    draw = np.random.default_rng(1)
    tokens = Ragged.from_lengths(draw.integers(4, words, size=int(lengths.sum()), dtype=np.int32), lengths)
    return Examples(Inputs(tokens), draw.integers(0, 2, size=len(lengths)))


def benchmarks() -> Iterator[Result]:
    sst = sentences()
    yield training_epoch(f"training epoch, {sst.name}, BiLSTM, batch 32", sst.training, sst.words, least=1.8)
    documents = random_texts(np.random.default_rng(2).integers(150, 211, size=640))
    yield training_epoch("training, documents of 180 tokens, BiLSTM, batch 32", documents, WORDS, least=2.5)
    yield document_result("flan", least=2.5)
    yield document_result("han", least=2.5)
    yield gradient_result(f"gradients, {sst.name} test, BiLSTM", sst.test, sst.words, batch=128, least=2.0)
    some = documents.inputs.tokens.slice(0, 160)
    yield gradient_result("gradients, documents of 180 tokens, BiLSTM", some, WORDS, batch=32, least=2.0)
    name, model = f"leave-one-out, {sst.name} test, BiLSTM", paper_model("bilstm", sst.words)
    yield leave_one_out_result(name, model, Inputs(sst.test), least=2.5, least_share=0.6)
    yield from document_results()
    yield from story_results()
    yield prefix_result(least=1.6)
    yield permutation_result(f"100 permutations, {sst.name} test", sst.test.lengths, least=10)
    yield from removal_results()
    yield replay_result(least=40)
    yield audit_result(least=6)
    yield from site_results()
    yield from kept_results()
    yield tokenising_result(least=2.5)
    yield scan_result("grouped mean over 200 runs", least=1.5)
    yield adversary_result(f"adversary, exact against search, {sst.name} test", sst.evidence, least=200)
    yield from batched_results()
    yield workers_result(cells=12, least=1.6)
    yield scheduling_result(cells=200, workers=2, least=1 / 1.05)


def main() -> int:
    torch.set_num_threads(1)
    results = []
    for result in benchmarks():
        print(result, flush=True)
        result.keep()
        results.append(result)
    print("kept in benchmarks/results/")
    return int(not all(result.kept_up for result in results))


if __name__ == "__main__":
    sys.exit(main())

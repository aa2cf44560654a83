"""Planted subjects: models built by hand, whose attention is faithful, or not, by construction.

The state of a token is its own embedding mixed with what an encoder carries there from other tokens; the head reads the
attended mixture of states and, past attention, a pool of all tokens. What attention looks at, how far information
travels and how much the head uses of what is attended are set by a plan (planted_texts.py), so that nobody has to guess
what the map is worth.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from heedful.adapters.changes import Change, changed, masses_of, normalised
from heedful.adapters.subject import Embed, Padded, Reading, Subject
from heedful.adapters.texts import Texts, each_token_an_item
from heedful.audits.planted_plan import SHARP, Plan
from heedful.audits.planted_texts import embeddings, vocabulary, written
from heedful.evidence import Evidence
from heedful.models.decoders import output_of
from heedful.ragged import Ragged

DECAY = 0.6  # of what a recurrent encoder remembers, from token to token


class Planted(Subject):
    """The model of a plan, and its texts."""

    blank = 0  # embedded as zeros
    longest = None

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.classes = tuple(f"class {index}" for index in range(plan.classes))
        self.outputs = plan.classes
        self.about = {"kind": "planted", "name": f"{plan.kind}, {plan.encoder}", "map": "attention"}
        self.places = {word: place for place, word in enumerate(vocabulary(plan))}
        self.table = torch.from_numpy(embeddings(plan))  # (V, D): classes, then a key, then noise
        self.gain = 1.0
        self.texts = self.encode(written(plan))
        self.ids = [f"text-{index:04d}" for index in range(len(self.texts))]
        logits = np.sort(self.read(self.texts).logits, axis=1)
        self.gain = plan.sure / float(np.median(logits[:, -1] - logits[:, -2]))

    def encode(self, texts: Sequence[str]) -> Texts:
        """Words in order; a word that it does not know says nothing."""
        rows = [text.split() for text in texts]
        tokens = Ragged.from_rows([[self.places.get(word, 0) for word in row] for row in rows], dtype=np.int64)
        return each_token_an_item(tokens, Ragged.from_rows(rows, dtype=np.str_))

    def bytes_of(self, tokens: int, *, gradient: bool) -> int:
        """Mixing is square in the tokens."""
        return (8 if gradient else 2) * tokens * (tokens + self.table.shape[1]) * 4

    def forward(
        self, batch: Padded, *, change: Change | None = None, embed: Embed | None = None, attention_fixed: bool = False
    ) -> Reading:
        """Embed, mix, attend, decide."""
        vectors = self.table[batch.tokens] * batch.real[..., None]  # (B, L, D)
        if embed is not None:
            vectors = embed(vectors)
        states = self._states(vectors, batch.real)
        weights = _softmax(states[..., self.outputs], batch.real)  # (B, L)
        if attention_fixed:
            weights = weights.detach()
        if change is not None:
            weights = changed(weights[:, None], batch.item, batch.items, change)[:, 0]
        attended = (weights[..., None] * states).sum(dim=1)  # (B, D)
        logits = self._said(attended, self.plan.used) + self._past(vectors, batch.real)
        shown = masses_of(weights[:, None], batch.item, batch.items)[:, 0]  # (B, T)
        return Reading(logits, shown, torch.zeros(len(weights)))

    def evidence(self) -> Evidence:
        """Its texts as evidence: what each state says, and what is said whatever is attended."""
        texts, seen = self.texts, self.read(self.texts)
        scores = np.empty((len(texts.names.values), self.outputs), dtype=np.float32)
        bias = np.empty((len(texts), self.outputs), dtype=np.float32)
        with torch.inference_mode():
            for batch in self.batches(texts):
                vectors = self.table[batch.tokens] * batch.real[..., None]
                said = self._said(self._states(vectors, batch.real), self.plan.used)
                scores[texts.names.cells(batch.rows)] = said[batch.mask].numpy()
                bias[batch.rows] = self._past(vectors, batch.real).numpy()
        weights = seen.weights.like(seen.weights.values.astype(np.float32))
        output = output_of(torch.from_numpy(seen.logits)).float().numpy()
        return Evidence(self.ids, texts.names, weights, output, texts.names.like(scores), bias, classes=self.classes)

    def _said(self, vectors: Tensor, share: float) -> Tensor:
        return self.gain * share * vectors[..., : self.outputs]

    def _past(self, vectors: Tensor, real: Tensor) -> Tensor:
        """What the head reads past attention, (B, K): words that say something, wherever they stand."""
        pooled = (self._telling(vectors, real)[..., None] * vectors).sum(dim=1)
        return self._said(pooled, 1 - self.plan.used)

    def _states(self, vectors: Tensor, real: Tensor) -> Tensor:
        """Own embeddings and what is carried there, (B, L, D); keys stay where they are."""
        mixed, key = self.plan.mixed, self.outputs
        states = (1 - mixed) * vectors + mixed * (self._mixing(vectors, real) @ vectors)
        states = torch.cat([states[..., :key], vectors[..., key : key + 1], states[..., key + 1 :]], dim=-1)
        if self.plan.kind == "shifted":  # a state is about the token before it, the first about the last
            lengths = real.sum(dim=1, keepdim=True).clamp(min=1)
            before = (torch.arange(real.shape[1]) - 1) % lengths  # (B, L)
            states = states.gather(1, before[..., None].expand_as(states))
        return states * real[..., None]

    def _mixing(self, vectors: Tensor, real: Tensor) -> Tensor:
        """How much of each token is carried to each other, (B, L, L)."""
        places = torch.arange(real.shape[1])
        apart = (places[:, None] - places).abs().float()  # (L, L)
        match self.plan.encoder:
            case "selective":  # as a layer of attention that looks for words that say something
                return self._telling(vectors, real)[:, None].expand(-1, len(places), -1)
            case "average":  # what all say, as loud as one that decides: a mean would fade with length
                return (real[:, None] / self.plan.deciding).expand(-1, len(places), -1)
            case "recurrent":
                kernel = DECAY**apart
            case _:
                kernel = (apart <= 1).float()
        return normalised(kernel * real[:, None])

    def _telling(self, vectors: Tensor, real: Tensor) -> Tensor:
        """Which tokens say something, (B, L), summing to one."""
        loudness = (vectors[..., : self.outputs].square().sum(dim=-1) + 1e-6).sqrt()  # smooth at zero
        return _softmax(2 * SHARP * loudness, real)


def _softmax(logits: Tensor, real: Tensor) -> Tensor:
    """Over the real tokens; zeros where there are none."""
    return logits.masked_fill(~real, -1e9).softmax(dim=-1) * real

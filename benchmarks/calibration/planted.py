"""Planted subjects: models built by hand, whose attention is faithful, or not, by construction.

The state of a token is its own embedding mixed with what an encoder carries there from other tokens; the head reads the
attended mixture of states and, past attention, a pool of all tokens. What attention looks at, how far information
travels and how much the head uses of what is attended are set by a plan (planted_texts.py), so that nobody has to guess
what the map is worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.adapters.changes import Change, changed, masses_of, normalised
from heedful.adapters.subject import Embed, Padded, Reading, Subject
from heedful.adapters.texts import Texts, each_token_an_item
from heedful.evidence import Evidence
from heedful.models.decoders import output_of
from heedful.ragged import Ragged
from heedful.randomness import Stream

Encoder = Literal["none", "window", "recurrent", "average", "selective"]
Kind = Literal["faithful", "random", "distracted", "opposing", "unused", "shifted"]

UNFAITHFUL: tuple[Kind, ...] = ("random", "distracted", "opposing", "unused", "shifted")
OBEYED: tuple[Kind, ...] = ("faithful", "shifted")  # the head goes by what is attended
SMEARING: tuple[Encoder, ...] = ("average", "selective")  # they carry what any token says to all others

SHARP = 4.0  # by how much the key of a word that is looked at exceeds others'
NEAR = 0.3  # of a state comes from its neighbours, where what decides goes another way


@dataclass(frozen=True)
class Plan:
    """What a planted subject is made of.

    `faithful`: attention looks at the words that decide, states are mostly about their own words, and the head reads
    nothing but what is attended. In the others what is shown is not what decides:

    `random`: every word has an attention of its own, whatever it says; the head learns of the deciding words past it.
    `distracted`: the same, with attention on words that mean nothing.
    `opposing`: the same, with attention on words that speak for another class.
    `unused`: attention is on the deciding words, and the head does not use it.
    `shifted`: the head uses it, but each state is about the word before it: the map shows the wrong words.

    `through` is how much of what the head reads comes from the attended words themselves. The rest comes through states
    that know of all words (encoders `average`, `selective`) or, with other encoders, from neighbours in faithful models
    and from a pool of all words, past attention, in others.
    """

    kind: Kind = "faithful"
    encoder: Encoder = "none"
    through: float = 0.8
    length: int = 20  # tokens of a text, on average
    deciding: int = 2  # of them decide
    classes: int = 2
    noise: float = 0.15  # how much other words say, a deciding word saying 1
    blur: float = 0.5  # how unevenly attention looks at words alike
    contrary: float = 0.0  # how many texts have a word that speaks for another class
    sure: float = 2.5  # by how much the decision leads, in logits, in half of the texts
    instances: int = 100
    seed: int = 0

    @property
    def faithful(self) -> bool:
        """Whether attention may be shown."""
        return self.kind == "faithful"

    @property
    def mixed(self) -> float:
        """What part of a state comes from other tokens."""
        if self.encoder == "none":
            return 0.0
        return 1 - self.through if self.encoder in SMEARING or self.kind in OBEYED else NEAR

    @property
    def used(self) -> float:
        """What part of what the head reads is attended."""
        return 1.0 if self.encoder in SMEARING or (self.kind in OBEYED and self.encoder != "none") else self.through


EACH = 30  # words of a sort: those that speak for a class, for another one, distractors
FILLERS = 300
SILENT = 4  # dimensions of an embedding that say nothing
CONTRARY = 0.8  # how loudly a contrary word speaks, a deciding word speaking with 1


def vocabulary(plan: Plan) -> list[str]:
    """All words, a blank first; what a word does is in its name."""
    sorts = [*(f"for{index}" for index in range(plan.classes)), *(f"not{index}" for index in range(plan.classes))]
    words = [f"{sort}-{index}" for sort in (*sorts, "draw") for index in range(EACH)]
    return ["blank", *words, *(f"word-{index}" for index in range(FILLERS))]


def embeddings(plan: Plan) -> NDArray[np.float32]:
    """Of each word (V, D): what it says for each class, the key that attention looks for, and what is never read."""
    draw = Stream(plan.seed, "planted words").generator()
    words = vocabulary(plan)
    said = draw.normal(0, plan.noise, (len(words), plan.classes))
    key = draw.normal(0, plan.blur, len(words))
    sort = np.array([word.split("-")[0] for word in words])
    for index in range(plan.classes):
        speaks, denies = sort == f"for{index}", sort == f"not{index}"
        said[speaks, index] += 1.0
        said[denies, (index + 1) % plan.classes] += CONTRARY
    key += SHARP * _looked_at(plan, sort, draw)
    table = np.concatenate([said, key[:, None], draw.normal(0, 1, (len(words), SILENT))], axis=1)
    table[0] = 0.0
    return np.asarray(table, dtype=np.float32)


def _looked_at(plan: Plan, sort: NDArray[np.str_], draw: np.random.Generator) -> NDArray[np.float64]:
    match plan.kind:
        case "random":
            return draw.normal(0, 0.5, len(sort))
        case "distracted":
            looked_at = sort == "draw"
        case "opposing":
            looked_at = np.char.startswith(sort, "not")
        case _:
            looked_at = np.char.startswith(sort, "for") | np.char.startswith(sort, "not")
    return np.asarray(looked_at, dtype=np.float64)


def written(plan: Plan) -> list[str]:
    """Texts: words that decide for a class, as many distractors, perhaps one contrary word, and filler, shuffled."""
    texts = []
    for index in range(plan.instances):
        draw = Stream(plan.seed, "planted texts").generator(index)
        label = draw.integers(plan.classes)
        length = round(plan.length * draw.uniform(0.6, 1.4))
        sorts = [f"for{label}"] * plan.deciding + ["draw"] * plan.deciding
        if plan.kind == "opposing" or draw.random() < plan.contrary:
            sorts.append(f"not{label}")
        words = [f"{sort}-{draw.integers(EACH)}" for sort in sorts]
        words += [f"word-{draw.integers(FILLERS)}" for _ in range(length - len(words))]
        texts.append(" ".join(draw.permutation(words)))
    return texts


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

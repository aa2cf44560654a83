"""Networks that pool words by attention: words, an encoder, attention, a linear or hidden layer, classes.

What their encoders carry from word to word: nothing (`bag`), all (`bilstm`), neighbours (`cnn`); in a `han` words are
attended within their sentences and sentences within the text, and the weight of a word is the product of both.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from benchmarks.calibration.factory.plans import Plan
from benchmarks.calibration.factory.tasks import SEPARATOR
from heedful.adapters.module import Module
from heedful.adapters.subject import Subject

UNKNOWN = 1  # place of the token that stands for nothing
POSITIONS = 80  # words that a text may have
UNEVEN = 2.0  # of frozen random scores: a softmax over them is uneven


class Read(NamedTuple):
    """What a network makes of texts."""

    logits: Tensor  # (B, K)
    shown: Tensor  # (B, H, T): attention on words, as an audit would see it
    inner: tuple[Tensor, ...] = ()  # (B, H, T, T) of each layer below, words to words


class Pooling(nn.Module):
    """Words pooled by attention and, if the plan says so, by a pool beside it."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        task, width = plan.task, plan.width
        self.words = nn.Embedding(len(task.words), width, padding_idx=0)
        nn.init.normal_(self.words.weight, std=0.5)
        self.encoder = _encoder(plan)
        frozen, separator = plan.kind == "random", task.words.index(SEPARATOR)
        if frozen:
            self.attention: nn.Module = Frozen(len(task.words), plan.heads)
        elif plan.architecture == "han":
            self.attention = Hierarchical(width, separator)
        else:
            self.attention = Additive(width, plan.heads)
        self.cancelling, self.shifted = plan.kind == "cancelling", plan.kind == "shifted" and plan.architecture == "bag"
        self.decoder = _decoder(width * (1 if self.cancelling else plan.heads), plan)
        self.pool = plan.pool
        self.past = nn.Linear(width, width) if plan.pool else None
        self.past_decoder = _decoder(width, plan) if plan.pool else None

    def forward(self, tokens: Tensor, real: Tensor) -> Tensor:
        """Logits (B, K)."""
        return self.read(tokens, real).logits

    def read(self, tokens: Tensor, real: Tensor, given: Tensor | None = None) -> Read:
        """Logits and weights; the last texts of the batch are read with the weights (B', T) given for them."""
        vectors = self.words(tokens)  # (B, T, D)
        states = self.encoder(vectors, real)
        if self.shifted:  # a state is about the word before
            states = nn.functional.pad(states, (0, 0, 1, 0))[:, :-1]
        weights = self.attention(states, real, tokens)  # (B, H, T)
        used = weights
        if given is not None:
            own = len(tokens) - len(given)
            used = torch.cat([weights[:own], given[:, None].expand(-1, weights.shape[1], -1)])
        heads = used @ states  # (B, H, D)
        attended = heads[:, 0] - heads[:, 1:].mean(dim=1) if self.cancelling else heads.flatten(1)
        logits = self.decoder(attended)
        if self.past is not None and self.past_decoder is not None:
            said = torch.tanh(self.past(vectors))  # (B, T, D): of each word, whatever is attended
            logits = logits + self.past_decoder(_pooled(said, real, self.pool))
        return Read(logits, weights)


def _pooled(states: Tensor, real: Tensor, way: str) -> Tensor:
    """States (B, T, D) of all words as one, (B, D)."""
    if way == "max":
        return states.masked_fill(~real[..., None], -1.0).amax(dim=1)
    return (states * real[..., None]).sum(dim=1) / real.sum(dim=1, keepdim=True)


class PerWord(nn.Module):
    """States that are about their own words only."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, vectors: Tensor, real: Tensor) -> Tensor:
        return torch.tanh(self.linear(vectors))


class Convolution(nn.Module):
    """States that are about a word and its neighbours."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(width, width, 3, padding=1)

    def forward(self, vectors: Tensor, real: Tensor) -> Tensor:
        return torch.tanh(self.convolution((vectors * real[..., None]).transpose(1, 2)).transpose(1, 2))


class BiLSTM(nn.Module):
    """States that know of all words."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(width, width // 2, bidirectional=True, batch_first=True)

    def forward(self, vectors: Tensor, real: Tensor) -> Tensor:
        packed = pack_padded_sequence(vectors, real.sum(dim=1), batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=real.shape[1])[0]


class Additive(nn.Module):
    """Additive attention (Bahdanau et al. 2015) of some heads: weights (B, H, T)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.hidden, self.score = nn.Linear(width, width), nn.Linear(width, heads, bias=False)

    def forward(self, states: Tensor, real: Tensor, tokens: Tensor) -> Tensor:
        scores: Tensor = self.score(torch.tanh(self.hidden(states))).transpose(1, 2)
        return scores.masked_fill(~real[:, None], -torch.inf).softmax(dim=-1)


class Hierarchical(nn.Module):
    """Attention to words within sentences and to sentences (Yang et al. 2016), multiplied: weights (B, 1, T)."""

    def __init__(self, width: int, separator: int) -> None:
        super().__init__()
        self.separator = separator
        self.hidden, self.score = nn.Linear(width, width), nn.Linear(width, 1, bias=False)
        self.sentence_hidden, self.sentence_score = nn.Linear(width, width), nn.Linear(width, 1, bias=False)

    def forward(self, states: Tensor, real: Tensor, tokens: Tensor) -> Tensor:
        ends = (tokens == self.separator).long()
        sentence = ends.cumsum(dim=1) - ends  # (B, T): a separator belongs to the sentence that it ends
        inside = (sentence[:, None] == torch.arange(int(sentence.max()) + 1)[:, None]) & real[:, None]  # (B, S, T)
        scores: Tensor = self.score(torch.tanh(self.hidden(states))).transpose(1, 2)  # (B, 1, T)
        words = scores.masked_fill(~inside, -1e9).softmax(dim=-1) * inside  # (B, S, T)
        sentences: Tensor = self.sentence_score(torch.tanh(self.sentence_hidden(words @ states)))  # (B, S, 1)
        sentences = sentences.masked_fill(~inside.any(dim=-1, keepdim=True), -torch.inf).softmax(dim=1)
        return (sentences * words).sum(dim=1, keepdim=True)


class Frozen(nn.Module):
    """Every place, and a little every word, has an attention of its own, drawn at random and never trained: (B, H, T).
    If words alone had, a rule with few cues would be found by chance."""

    def __init__(self, words: int, heads: int) -> None:
        super().__init__()
        self.places = nn.Parameter(UNEVEN * torch.randn(POSITIONS, heads), requires_grad=False)
        self.words = nn.Parameter(0.5 * torch.randn(words, heads), requires_grad=False)

    def forward(self, states: Tensor, real: Tensor, tokens: Tensor) -> Tensor:
        scores = (self.words[tokens] + self.places[: tokens.shape[1]]).transpose(1, 2)
        return scores.masked_fill(~real[:, None], -torch.inf).softmax(dim=-1)


def _encoder(plan: Plan) -> nn.Module:
    match plan.architecture:
        case "bilstm":
            return BiLSTM(plan.width)
        case "cnn":
            return Convolution(plan.width)
        case _:
            return PerWord(plan.width)


def _decoder(width: int, plan: Plan) -> nn.Module:
    """Linear, unless the rule is not: a negated cue says the opposite."""
    if plan.task.rule != "negation":
        return nn.Linear(width, plan.task.classes)
    return nn.Sequential(nn.Linear(width, plan.width), nn.Tanh(), nn.Linear(plan.width, plan.task.classes))


def pooling_subject(network: Pooling, plan: Plan) -> Subject:
    """The network as an audit sees it."""
    places = {word: place for place, word in enumerate(plan.task.words)}

    def tokenize(text: str) -> tuple[list[int], list[str]]:
        words = text.split()
        return [places.get(word, UNKNOWN) for word in words], words

    return Module(
        network.eval(),
        attention="attention",
        embedding="words",
        tokenize=tokenize,
        classes=plan.classes,
        blank=UNKNOWN,
    )

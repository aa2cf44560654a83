"""heedful's own classifier as a user would hand it in: a torch module that reads plain tensors."""

import numpy as np
import torch
from torch import Tensor, nn

from heedful.adapters.module import Module
from heedful.adapters.subject import Subject
from heedful.adapters.texts import Texts
from heedful.evidence import probabilities
from heedful.models.batches import Padded
from heedful.models.classifier import Classifier
from heedful.ragged import Indices, Ragged
from heedful.text.vocabulary import END, START, UNKNOWN, Vocabulary


class Plain(nn.Module):
    """Tokens (B, L) to logits (B, K)."""

    def __init__(self, classifier: Classifier) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(classifier.embedding.detach())
        self.classifier = classifier

    def forward(self, tokens: Tensor, real: Tensor) -> Tensor:
        vectors, lengths = self.words(tokens), real.sum(dim=1)
        start, end = self.words.weight[START], self.words.weight[END]
        framed = torch.cat([start.expand(len(tokens), 1, -1), vectors, torch.zeros_like(vectors[:, :1])], dim=1)
        ends = (torch.arange(framed.shape[1]) == lengths[:, None] + 1)[..., None]
        return self.classifier(Padded(torch.where(ends, end, framed), lengths + 2)).logits


def own_subject(classifier: Classifier, vocabulary: Vocabulary, classes: tuple[str, ...]) -> Module:
    places = {word: place for place, word in enumerate(vocabulary.words)}

    def tokenize(text: str) -> tuple[list[int], list[str]]:
        words = text.split()
        return [places.get(word, UNKNOWN) for word in words], words

    return Module(
        Plain(classifier),
        attention="classifier.attention",
        embedding="words",
        tokenize=tokenize,
        classes=classes,
        output="sigmoid" if classifier.decoder.outputs == 1 else "softmax",
        blank=UNKNOWN,
    )


class Erasing:
    """Texts of a subject with some of their items erased."""

    def __init__(self, subject: Subject, texts: Texts) -> None:
        self.subject, self.texts = subject, texts
        self.output = probabilities(subject.read(texts).logits)

    @property
    def items(self) -> Ragged:
        return self.texts.names

    @property
    def words(self) -> Indices:
        return self.texts.tokens.lengths

    def erased(self, rows: Indices, gone: np.ndarray, way: str) -> np.ndarray:
        texts = self.texts.take(rows)
        left = texts.keep(~gone) if way == "delete" else texts.replaced(gone, self.subject.blank)
        return probabilities(self.subject.read(left).logits)

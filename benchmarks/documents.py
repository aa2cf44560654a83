"""Training on documents: heedful's flat and hierarchical GRUs against plain ones, same batches, and the same losses.

The plain flat model packs its sequences for the library's bidirectional GRU; the plain hierarchical one pads a cube of
documents, sentences and words, as released code does. Both let the embedding have a dense gradient and Adam its default
implementation.
"""

import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from benchmarks.products import Products, machine_gflops
from benchmarks.report import Result
from heedful.models.batches import Inputs
from heedful.models.classifier import Classifier
from heedful.models.documents import MODELS, Han
from heedful.models.embedding_gradients import Tables
from heedful.models.options import BiGRUOptions, TrainingOptions
from heedful.models.schedule import training_batches
from heedful.models.training import make_optimiser, train_step
from heedful.ragged import Ragged

WORDS, WIDTH, CLASSES, DOCUMENTS = 10_000, 200, 5, 512


def document_result(kind: str, *, least: float, epochs: int = 3) -> Result:
    """Time epochs both ways, batch by batch in turns; the best of either counts. It is processor time (there is one
    thread), which other work on the machine changes least."""
    inputs, labels = documents(hierarchical=kind == "han")
    options = TrainingOptions(batch=64, l2=0.0)
    model = document_model(kind)
    ours, tables = make_optimiser(model, options), Tables(model)
    plain = Plain(model)
    theirs = torch.optim.Adam(plain.parameters(), lr=options.learning_rate)
    seconds, apart = np.zeros((2, epochs)), 0.0
    for epoch in range(epochs):
        for rows in training_batches(inputs, size=options.batch, seed=0, epoch=epoch):
            some, wanted = inputs.take(rows), labels[rows]  # in turns, so that a slow moment slows both alike
            started = time.process_time()
            loss = cross_entropy(plain(some), wanted)
            theirs.zero_grad()
            loss.backward()
            theirs.step()
            seconds[0, epoch] += time.process_time() - started
            started = time.process_time()
            value = train_step(model, ours, tables, some, _loss(wanted), options=options)
            seconds[1, epoch] += time.process_time() - started
            apart = max(apart, abs(value - loss.item()))
    if apart > 1e-5:
        raise AssertionError(f"{kind}: the loss curves part by {apart}")
    with Products() as products:
        for rows in training_batches(inputs, size=options.batch, seed=0, epoch=0):
            train_step(model, ours, tables, inputs.take(rows), _loss(labels[rows]), options=options)
    tokens, (slow, fast) = len(inputs.tokens.values), seconds.min(axis=1).tolist()
    return Result(
        name=f"training, {DOCUMENTS} documents of {tokens // DOCUMENTS} tokens, {kind.upper()}, GRU",
        plain_seconds=slow,
        fast_seconds=fast,
        least=least,
        limit_seconds=min(products.seconds() for _ in range(epochs)),
        details={
            "epochs": epochs,
            "largest difference of a batch loss": apart,
            "GFLOP/s of (2048 x 128)(128 x 512)": machine_gflops(),
        },
    )


def documents(*, hierarchical: bool) -> tuple[Inputs, Tensor]:
    """Documents of some eight sentences of some 16 words, as reviews have them: lengths vary widely."""
    draw = np.random.default_rng(0)
    sizes = [1 + draw.gamma(2.0, 7.5, size=1 + draw.poisson(7)).astype(np.int64) for _ in range(DOCUMENTS)]
    lengths = [int(document.sum()) for document in sizes]
    tokens = Ragged.from_lengths(draw.integers(4, WORDS, size=sum(lengths), dtype=np.int32), lengths)
    sentences = Ragged.from_rows(sizes, dtype=np.int32) if hierarchical else None
    return Inputs(tokens, sentences=sentences), torch.from_numpy(draw.integers(0, CLASSES, size=DOCUMENTS))


def document_model(kind: str) -> Classifier:
    embedding = np.random.default_rng(1).standard_normal((WORDS, WIDTH)).astype(np.float32)
    return MODELS[kind](
        embedding=embedding,
        encoder="bigru",
        encoder_options=BiGRUOptions(),
        attention="additive",
        outputs=CLASSES,
        seed=0,
    )


def _loss(wanted: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda logits: cross_entropy(logits, wanted)


class Plain(nn.Module):
    """The same model with the same parameters, as one would first write it."""

    def __init__(self, model: Classifier) -> None:
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(model.embedding.detach().clone(), freeze=False)
        self.levels = nn.ModuleList()
        if isinstance(model, Han):
            self.levels.append(PlainLevel(model.word_encoder, model.word_attention))
        self.levels.append(PlainLevel(model.encoder, model.attention))
        self.decoder = nn.Linear(model.encoder.size, CLASSES)
        self.decoder.load_state_dict(model.decoder.linear.state_dict())

    def forward(self, inputs: Inputs) -> Tensor:
        if inputs.sentences is None:
            words, _ = inputs.tokens.pad()
            lengths = torch.from_numpy(inputs.tokens.lengths)
            return self.decoder(self.levels[0](self.embedding(torch.from_numpy(words)), lengths))
        cube, sizes = padded_cube(inputs)  # (B, S, T), (B, S)
        vectors = self.embedding(cube.flatten(0, 1))  # (B * S, T, E): padding included
        # a sentence that is padding is read as one word, and never attended to
        sentences = self.levels[0](vectors, sizes.flatten().clamp_min(1)).view(*sizes.shape, -1)
        return self.decoder(self.levels[1](sentences, (sizes > 0).sum(dim=1)))


def padded_cube(inputs: Inputs) -> tuple[Tensor, Tensor]:
    assert inputs.sentences is not None
    sizes, real = inputs.sentences.pad()  # (B, S)
    cube = torch.zeros(*sizes.shape, int(sizes.max()), dtype=torch.int64)
    sentences = Ragged.from_lengths(inputs.tokens.values, inputs.sentences.values)
    words, _ = sentences.pad()
    cube[torch.from_numpy(real)] = torch.nn.functional.pad(
        torch.from_numpy(words.astype(np.int64)), (0, cube.shape[2] - words.shape[1])
    )
    return cube, torch.from_numpy(sizes.astype(np.int64))


class PlainLevel(nn.Module):
    """A packed bidirectional GRU and additive attention."""

    def __init__(self, encoder: nn.Module, attention: nn.Module) -> None:
        super().__init__()
        width, hidden = encoder.ahead.input_size, encoder.ahead.hidden_size
        self.gru = nn.GRU(width, hidden, batch_first=True, bidirectional=True)
        for name, parameter in encoder.ahead.named_parameters():
            getattr(self.gru, name).data.copy_(parameter.data)
            getattr(self.gru, f"{name}_reverse").data.copy_(getattr(encoder.back, name).data)
        self.hidden = nn.Linear(2 * hidden, attention.hidden.out_features)
        self.hidden.load_state_dict(attention.hidden.state_dict())
        self.score = nn.Linear(attention.hidden.out_features, 1, bias=False)
        self.score.load_state_dict(attention.score.state_dict())

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=vectors.shape[1])
        scores = self.score(torch.tanh(self.hidden(states))).squeeze(-1)
        padding = torch.arange(states.shape[1]) >= lengths[:, None]
        weights = scores.masked_fill(padding, -torch.inf).softmax(dim=-1)
        return (weights[..., None] * states).sum(dim=1)

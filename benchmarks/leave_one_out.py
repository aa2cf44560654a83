"""Leave-one-out: heedful's against the papers' algorithm, which reads the batch again for every position.

Of BiLSTMs also against the limit of the machine: the matrix products that heedful's way does, and nothing else.
"""

import math
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.plain import paper_model
from benchmarks.products import Products, machine_gflops
from benchmarks.report import Result
from heedful.importance.classifier_texts import ClassifierTexts
from heedful.importance.leave_one_out import leave_one_out
from heedful.measures import tvd
from heedful.models.attentions import Query
from heedful.models.batches import Inputs, Padded, with_sentinels
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.inference import predict
from heedful.models.options import BiLSTMOptions
from heedful.ragged import Indices, Ragged, length_batches

BATCH_ROWS = 32  # as in the papers; larger batches do not make the plain algorithm faster
REPEATS = 3
STORY_WORDS, STORY_ROWS = 40, 64
BATCH_CELLS = 1600  # fewer long documents together, so that the plain algorithm reads little padding


Way = Callable[[Classifier, Inputs], Ragged]


def leave_one_out_result(
    name: str,
    model: Classifier,
    inputs: Inputs,
    *,
    least: float,
    least_share: float | None = None,
    plain: Way | None = None,
) -> Result:
    """Time both ways, batch by batch in turns, and the products alone where a share of their time is wanted."""
    ways: dict[str, Way] = {"plain": plain or plain_leave_one_out, "heedful": fast_leave_one_out}
    seconds = dict.fromkeys([*ways, "limit"], 0.0)
    apart, multiply_adds = 0.0, 0
    groups = [inputs.take(rows) for rows in length_batches(inputs.tokens.lengths, rows=8 * BATCH_ROWS)]
    for way in ways.values():
        way(model, groups[0].take(np.arange(2)))  # the first call of a kernel pays for setting it up
    for texts in groups:
        importance = {}
        best = dict.fromkeys(seconds, math.inf)
        products = Products.of(partial(fast_leave_one_out, model, texts))
        multiply_adds += products.multiply_adds
        for _ in range(REPEATS):  # in turns, and the best of each, in processor time: others may be busy
            for way, compute in ways.items():
                started = time.process_time()
                importance[way] = compute(model, texts).values
                best[way] = min(best[way], time.process_time() - started)
            if least_share is not None:
                best["limit"] = min(best["limit"], products.seconds())
        seconds = {way: seconds[way] + best[way] for way in seconds}
        apart = max(apart, float(np.abs(importance["plain"] - importance["heedful"]).max()))
    if not apart < 1e-4:
        raise AssertionError(f"{name}: the importances differ by {apart}")
    details = {"texts": len(inputs), "tokens": len(inputs.tokens.values), "largest difference": apart}
    if least_share is not None:
        details |= {
            "multiply-adds": float(multiply_adds),
            "of which chains cannot do without": float(chain_multiply_adds(model, inputs)),
            "GFLOP/s": 2e-9 * multiply_adds / seconds["heedful"],
            "GFLOP/s of the products alone": 2e-9 * multiply_adds / seconds["limit"],
            "GFLOP/s of (2048 x 128)(128 x 512)": machine_gflops(),
        }
    return Result(
        name=name,
        plain_seconds=seconds["plain"],
        fast_seconds=seconds["heedful"],
        least=least,
        limit_seconds=None if least_share is None else seconds["limit"],
        least_share=least_share or 0.0,
        details=details,
    )


def chain_multiply_adds(model: Classifier, inputs: Inputs) -> int:
    """What chains that start behind each gap must multiply, in both directions: in every step a state by the matrix of
    attention's features, in every step but the last by that of the gates."""
    hidden, lengths = model.encoder.size // 2, inputs.tokens.lengths
    steps, chains = int((lengths * (lengths - 1)).sum()), 2 * int((lengths - 1).sum())
    features = model.attention.get_parameter("hidden.weight").shape[0]
    return steps * hidden * features + (steps - chains) * hidden * 4 * hidden


def story_results(stories: int = 24) -> Iterator[Result]:
    """A model of the paper's size for bAbI on stories as long as those of task 3, 421 tokens on average.

    Against the papers' way, position by position in batches of the papers' size, and against the fastest plain way.
    """
    draw = np.random.default_rng(3)
    embedding, asked = draw.standard_normal((2, STORY_WORDS, 50)).astype(np.float32)
    model = Classifier(
        embedding=embedding,
        encoder="bilstm",
        encoder_options=BiLSTMOptions(hidden=30),
        attention="additive",
        outputs=36,
        seed=0,
        query_embedding=asked,
    )
    lengths = draw.permutation(np.linspace(200, 642, stories).astype(np.int64))
    inputs = Inputs(_words(draw, lengths, STORY_WORDS), _words(draw, np.full(stories, 8), STORY_WORDS))
    name = "leave-one-out, stories of 421 tokens with questions, BiLSTM"
    yield leave_one_out_result(name, model, inputs, least=3.0, least_share=0.5, plain=position_by_position)
    yield leave_one_out_result(
        f"{name}, story by story", model, inputs, least=2.5, least_share=0.5, plain=story_by_story
    )


def fast_leave_one_out(model: Classifier, inputs: Inputs) -> Ragged:
    """As heedful measures it."""
    return leave_one_out(ClassifierTexts(model, inputs)).values


def position_by_position(model: Classifier, inputs: Inputs) -> Ragged:
    """The papers' way in batches of 50, as for bAbI; smaller ones are slower here."""
    return plain_leave_one_out(model, inputs, rows=50, cells=None)


def story_by_story(model: Classifier, inputs: Inputs) -> Ragged:
    """Reads all shortened versions of a text together: of long texts and small models, the fastest plain way."""
    tokens = inputs.tokens
    whole = np.repeat(predict(model, inputs), tokens.lengths, axis=0)
    without = [
        predict(model, inputs.shortened(tokens.cells(np.array([row]))), batch_rows=STORY_ROWS)
        for row in range(len(tokens))
    ]
    return tokens.like(tvd(whole, np.concatenate(without)).astype(np.float32))


def document_results(words: int = 13_826) -> Iterator[Result]:
    """Every encoder on random documents of 150 to 210 tokens."""
    wanted = [("bilstm", 16, 2.8, 0.65), ("cnn", 16, 15.0, None), ("average", 64, 50.0, None)]
    for encoder, documents, least, least_share in wanted:
        draw = np.random.default_rng(2)
        inputs = Inputs(_words(draw, draw.integers(150, 211, size=documents), words))
        name, model = f"leave-one-out, documents of 180 tokens, {encoder}", paper_model(encoder, words)
        yield leave_one_out_result(name, model, inputs, least=least, least_share=least_share)


def _words(draw: np.random.Generator, lengths: Indices, words: int) -> Ragged:
    return Ragged.from_lengths(draw.integers(4, words, size=int(lengths.sum()), dtype=np.int32), lengths)


def plain_leave_one_out(
    model: Classifier, inputs: Inputs, *, rows: int = BATCH_ROWS, cells: int | None = BATCH_CELLS
) -> Ragged:
    """In batches of the size that suits the plain algorithm best."""
    tokens = inputs.tokens
    importance = tokens.like(np.empty(len(tokens.values), dtype=np.float32))
    for some in length_batches(tokens.lengths, rows=rows, cells=cells):
        importance.values[tokens.cells(some)] = _plain_batch(model, inputs.take(some)).values
    return importance


def _plain_batch(model: Classifier, inputs: Inputs) -> Ragged:
    """For each position of the batch: delete it from every text that has it, read those texts, compare the outputs.

    Kinder than the released code, which reads the texts without that position too, keeps a graph for gradients, packs
    its sequences and reads its questions again.
    """
    tokens = inputs.tokens
    framed = Padded.of(with_sentinels(tokens))
    rows, length = framed.values.shape
    importance = np.zeros((rows, length - 2), dtype=np.float32)  # (B, T)
    with torch.inference_mode():
        query = model.query(inputs)
        whole = _output(model, framed, query)
        nothing = output_of(model.decoder.logits(torch.zeros(rows, model.decoder.width), query)).numpy()
        for position in range(1, length - 1):
            some = np.flatnonzero(tokens.lengths >= position)
            values = framed.values[some]
            shorter = torch.cat([values[:, :position], values[:, position + 1 :]], dim=1)
            without = _output(model, Padded(shorter, framed.lengths[some] - 1), query.take(torch.from_numpy(some)))
            single = tokens.lengths[some] == 1
            without[single] = nothing[some[single]]
            importance[some, position - 1] = tvd(whole[some], without)
    return Ragged.from_padded(importance, framed.inner().mask.numpy())


def _output(model: Classifier, tokens: Padded, query: Query) -> NDArray[np.float32]:
    return output_of(model(model.embed(tokens), query).logits).numpy()

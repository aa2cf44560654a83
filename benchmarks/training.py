"""A training epoch: heedful's against a plain one, same batches, same threads, and the same losses."""

import time
from functools import partial

import numpy as np
import torch

from benchmarks.plain import PlainBiLSTM, paper_model
from benchmarks.report import Result
from heedful.models.batches import Padded, with_sentinels
from heedful.models.embedding_gradients import Tables
from heedful.models.options import TrainingOptions
from heedful.models.schedule import training_batches
from heedful.models.training import Examples, batch_loss, class_weights, make_optimiser, train_step


def training_epoch(name: str, examples: Examples, words: int, *, least: float) -> Result:
    """Time an epoch both ways, batch by batch in turns."""
    options = TrainingOptions()
    model = paper_model("bilstm", words)
    plain = PlainBiLSTM(model)
    weights = class_weights(examples.labels, 2)
    framed, labels = with_sentinels(examples.inputs.tokens), torch.from_numpy(examples.labels)
    ours, tables = make_optimiser(model, options), Tables(model)
    theirs = torch.optim.Adam(plain.parameters(), lr=options.learning_rate, weight_decay=options.l2)
    seconds = {"plain": 0.0, "heedful": 0.0}
    losses: dict[str, list[float]] = {"plain": [], "heedful": []}
    batches = training_batches(examples.inputs, size=options.batch, seed=0, epoch=0)
    for rows in batches:  # in turns, so that a busy machine slows both alike
        loss_of = partial(batch_loss, labels=labels[rows], weights=weights, reduction="mean")
        started = time.perf_counter()
        loss = loss_of(plain(Padded.of(framed.take(rows))))
        theirs.zero_grad()
        loss.backward()
        theirs.step()
        losses["plain"].append(loss.item())
        seconds["plain"] += time.perf_counter() - started
        started = time.perf_counter()
        losses["heedful"].append(train_step(model, ours, tables, examples.inputs.take(rows), loss_of, options=options))
        seconds["heedful"] += time.perf_counter() - started
    apart = float(np.abs(np.subtract(losses["plain"], losses["heedful"])).max())
    if apart > 1e-3:
        raise AssertionError(f"{name}: the loss curves part by {apart}")
    return Result(
        name=name,
        plain_seconds=seconds["plain"],
        fast_seconds=seconds["heedful"],
        least=least,
        details={
            "batches": len(batches),
            "largest difference of a batch loss": apart,
            "mean loss, plain": float(np.mean(losses["plain"])),
            "mean loss, heedful": float(np.mean(losses["heedful"])),
        },
    )

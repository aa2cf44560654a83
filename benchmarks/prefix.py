"""Leave-one-out of a causal transformer: reading on from the unchanged beginning, against reading whole texts."""

import math
import time

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, GPT2Config

from benchmarks.report import Result
from heedful.adapters.huggingface import HuggingFace
from heedful.adapters.texts import each_token_an_item
from heedful.audits.battery.subject_texts import SubjectTexts
from heedful.importance.leave_one_out import leave_one_out
from heedful.ragged import Ragged
from tests.adapters.tiny import word_pieces

WORDS = 1000


def prefix_result(
    *,
    texts: int = 8,
    tokens: int = 64,
    width: int = 384,
    layers: int = 6,
    heads: int = 12,
    repeats: int = 3,
    least: float,
) -> Result:
    """Time both ways in turns, the best of each, on a GPT-2 with random parameters."""
    special: dict[str, int | None] = {"pad_token_id": 0, "bos_token_id": None, "eos_token_id": None}
    config = GPT2Config(
        vocab_size=WORDS, n_embd=width, n_layer=layers, n_head=heads, n_positions=tokens, num_labels=3, **special
    )
    torch.manual_seed(0)
    subject = HuggingFace(AutoModelForSequenceClassification.from_config(config).eval(), word_pieces())
    drawn = np.random.default_rng(0).integers(5, WORDS, size=texts * tokens)
    ragged = Ragged.from_lengths(drawn, np.full(texts, tokens))
    read = each_token_an_item(ragged, ragged.like(drawn.astype(str).astype(object)))
    if not subject.check(read).resumes:
        raise AssertionError("no beginning is kept")
    seen = subject.read(read)
    best = {False: math.inf, True: math.inf}
    importance = {}
    for _ in range(repeats):
        for kept in (False, True):
            subject.resumes = kept
            started = time.process_time()
            importance[kept] = leave_one_out(SubjectTexts(subject, read, seen)).values.values
            best[kept] = min(best[kept], time.process_time() - started)
    apart = float(np.abs(importance[True] - importance[False]).max())
    if not apart < 1e-5:
        raise AssertionError(f"the importances differ by {apart}")
    return Result(
        name=f"leave-one-out, texts of {tokens} tokens, GPT-2 of {layers} layers, from the unchanged beginning on",
        plain_seconds=best[False],
        fast_seconds=best[True],
        least=least,
        details={"texts": texts, "largest difference": apart},
    )

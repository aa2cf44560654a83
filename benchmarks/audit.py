"""Audits of a transformer of MiniLM's size: replays against whole readings, and the audit against what it once was.

The model is the one in the folder that HEEDFUL_MINILM names (benchmarks/minilm.py makes one); where there is none, a
model of the same shape with random parameters takes its place, and the names say so.
"""

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from benchmarks.report import Result
from heedful.adapters.huggingface import HuggingFace
from heedful.adapters.texts import Texts
from heedful.audits.battery import BATTERY
from heedful.audits.battery.readings import by, moved
from heedful.audits.battery.subject_texts import SubjectTexts
from heedful.audits.request import audit
from heedful.corpora.loading import load
from heedful.errors import NotFound
from heedful.importance.table import attributions
from heedful.verdict.rule import judge
from heedful.verdict.signals import signals

FOLDER = "HEEDFUL_MINILM"
WORDS = 2000  # of made-up texts
COPIES = 50  # readings of a text under changed attention
WHOLE = 10  # of them that the whole model reads: enough to time it
PART = 32  # texts read together, as in an audit
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SHAPE = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}


def sentences(count: int) -> list[str]:
    """Test sentences of SST, or made-up ones of its lengths."""
    try:
        frame = load("sst").split("test")
        return frame.select(pl.col("tokens").list.join(" ")).to_series().to_list()[:count]
    except NotFound:
        draw = np.random.default_rng(0)
        lengths = np.clip(draw.normal(18, 8, size=count).round(), 6, 46).astype(np.int64)
        return [" ".join(f"w{word}" for word in draw.integers(0, WORDS, size=length)) for length in lengths]


def model_of(texts: Sequence[str]) -> tuple[str, Any, Any]:
    """A classifier that reads these texts: its name, the model and its tokenizer."""
    if os.environ.get(FOLDER):
        subject = HuggingFace.load(os.environ[FOLDER], device="cpu")
        return "MiniLM", subject.model, subject.tokenizer
    return "a model of MiniLM's shape", *made_up(texts)


def made_up(texts: Sequence[str]) -> tuple[Any, Any]:
    """A model of MiniLM's shape with random parameters, and a tokenizer that knows the words of the texts."""
    words = [*SPECIAL, *sorted({word for text in texts for word in text.split()})]
    backend = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    added = [(token, SPECIAL.index(token)) for token in ("[CLS]", "[SEP]")]
    backend.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=added)
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    torch.manual_seed(0)
    config = BertConfig(vocab_size=30522, initializer_range=0.06, **SHAPE)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, **names)
    return BertForSequenceClassification(config).eval(), tokenizer


def replay_result(*, least: float, words: int = 16, texts: int = PART) -> Result:
    """Shuffled attention of the map `cls`, texts of 18 tokens: only the classifying row of the last layer is computed
    again, against the whole model."""
    draw = np.random.default_rng(0)
    made = [" ".join(f"w{word}" for word in draw.integers(0, WORDS, size=words)) for _ in range(texts)]
    subject = HuggingFace(*made_up(made))
    read = subject.encode(made)
    subject.check(read)
    rows = np.repeat(np.arange(texts), COPIES)
    orders = draw.permuted(np.tile(np.arange(words), (len(rows), 1)), axis=1)
    shifts = read.names.take(rows).like((orders - np.arange(words)).ravel())
    some = np.flatnonzero(np.arange(len(rows)) % COPIES < WHOLE)
    seen = subject.read_and_keep(read)
    ways: dict[str, Callable[[], Any]] = {
        "whole": lambda: subject.read(read.take(rows[some]), by(shifts.take(some), moved)).logits,
        "replay": lambda: subject.read_changed(read, rows, seen, by(shifts, moved)).logits[some],
    }
    best, found = dict.fromkeys(ways, np.inf), {}
    for _ in range(3):
        for way, compute in ways.items():
            started = time.perf_counter()
            found[way] = compute()
            best[way] = min(best[way], time.perf_counter() - started)
    apart = float(np.abs(found["whole"] - found["replay"]).max())
    if not apart < 1e-5:
        raise AssertionError(f"replays differ from the whole model by {apart}")
    tokens = int(read.tokens.lengths.max())
    return Result(
        name=f"readings under changed attention, cls map, MiniLM's shape, {tokens} tokens: replay against whole model",
        plain_seconds=best["whole"] / len(some) * len(rows),
        fast_seconds=best["replay"],
        least=least,
        details={"readings": len(rows), "replays a second": len(rows) / best["replay"], "largest difference": apart},
    )


def audit_result(*, least: float, texts: int = 100) -> Result:
    """A default audit, everything that it writes included, against the whole battery by readings of the whole model;
    processor time."""
    some = sentences(texts)
    name, model, tokenizer = model_of(some)
    subject = HuggingFace(model, tokenizer)
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        done = audit(subject, texts=some, sample=texts, threads=1, out=folder)
        fast = time.process_time() - started
        answer = done.verdict.answer
        ids = done.signals["id"].to_list()
    subject.replays = False
    started = time.process_time()
    verdict = judge(signals(whole_battery(subject, ids, subject.encode(some))))
    plain = time.process_time() - started
    if verdict.answer != answer:
        raise AssertionError(f"the default audit answers {answer!r}, the whole battery {verdict.answer!r}")
    return Result(
        name=f"audit of {name}, {texts} texts, against the whole battery by readings of the whole model",
        plain_seconds=plain,
        fast_seconds=fast,
        least=least,
        details={"answer of both": answer},
    )


def whole_battery(subject: HuggingFace, ids: Sequence[str], texts: Texts, *, seed: int = 0) -> dict[str, pl.DataFrame]:
    """The plain form: attributions for the rankings, then every test by itself with readings of its own; nothing that
    was read is known to the next, and the whole model is read under every change."""
    frames: dict[str, list[pl.DataFrame]] = {name: [] for name in BATTERY}
    with patch("heedful.importance.erasure.ReadOnce", lambda instances: instances):
        for start in range(0, len(ids), PART):
            part, names = texts.slice(start, min(start + PART, len(ids))), ids[start : start + PART]
            given = attributions(SubjectTexts(subject, part, subject.read(part)))
            for name, test in BATTERY.items():
                seen = subject.read(part)
                frames[name].append(test.perform(subject, names, part, seen, seed=seed, given=given, full=True))
    return {name: pl.concat(parts) for name, parts in frames.items()}

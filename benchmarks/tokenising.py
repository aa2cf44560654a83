"""The built-in tokeniser against spaCy's, each new to the texts."""

import os
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.report import Result
from heedful.text.tokenising import Tokeniser, import_spacy
from tests.corpora.real_texts import TEXTS


def tokenising_result(least: float) -> Result:
    """IMDB's reviews where they are, otherwise random words with punctuation."""
    data = Path(os.environ.get("HEEDFUL_DATA", "none"))
    real = (data / "imdb").is_dir()
    texts = list(islice(TEXTS["imdb"](data, "train"), 1500)) if real else _random_texts()
    plain = import_spacy("this benchmark").blank("en").tokenizer
    ours, tokens = _seconds(Tokeniser(), texts)
    theirs, _ = _seconds(lambda text: plain(" ".join(text.split())), texts)
    name = "1,500 reviews of IMDB" if real else "random texts"
    return Result(f"tokenising, {name}", theirs, ours, least, {"tokens": tokens})


def _seconds(tokenise: Callable[[str], object], texts: list[str]) -> tuple[float, int]:
    started = time.process_time()
    tokens = sum(len(tokenise(text)) for text in texts)  # type: ignore[arg-type]
    return time.process_time() - started, tokens


def _random_texts() -> list[str]:
    draw = np.random.default_rng(0)
    words = [f"w{number:x}{mark}" for number, mark in zip(range(20_000), "    ,.!')" * 2300, strict=False)]
    return [" ".join(words[place] for place in (20_000 * draw.random(250) ** 3).astype(int)) for _ in range(1500)]

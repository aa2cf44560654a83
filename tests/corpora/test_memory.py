"""A corpus of the size of CNN's is never in memory at once; here an eighth of it."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tests.corpora.native import write

PROGRAM = """
import resource, sys
from heedful.corpora.loading import load
from heedful.text.vocabulary import Vocabulary
corpus = load("cnn", data=sys.argv[1])
Vocabulary.build(corpus.scan("train"), min_documents=8, always=corpus.classes)
print(corpus.sizes()["train"], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
def test_loading_and_counting_words_are_streamed(tmp_path):
    draw = np.random.default_rng(0)
    words = np.array([f"word{index}" for index in range(100_000)])
    for split, count in (("train", 50_000), ("dev", 10), ("test", 10)):
        path = write(tmp_path / "cnn" / f"{split}.txt", "")
        with path.open("w") as file:
            for number in range(count):
                article = " ".join(words[(100_000 * draw.random(760) ** 3).astype(int)])
                file.write(f"who is @placeholder\n@entity{number % 9}\n@entity{number % 9} {article} @entity9\n\n")
    environment = os.environ | {"HEEDFUL_CACHE": str(tmp_path / "cache")}
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=True, env=environment
    )
    documents, megabytes = map(int, answer.stdout.split())
    assert documents == 50_000
    assert megabytes < 1500  # 38 million tokens; written in one group of rows, they took 2,200

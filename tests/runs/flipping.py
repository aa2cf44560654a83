"""Single flipped bits, spread over all files of a run or audit."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from heedful.workspace.folder import StageFolder


def flips(opened: StageFolder, count: int, *, seed: int) -> Iterator[tuple[str, int]]:
    """Files, as many times each, and a bit of each time."""
    draw = np.random.default_rng(seed)
    names = ["manifest.json", *opened.file_hashes()]
    for number in range(count):
        name = names[number % len(names)]
        yield name, int(draw.integers(0, 8 * (opened.folder / name).stat().st_size))


@contextmanager
def flipped(path: Path, bit: int, tick: int) -> Iterator[None]:
    """A file with one bit flipped; `tick` tells its time from that of other flips, however coarse the clock is."""
    whole = path.read_bytes()
    content = bytearray(whole)
    content[bit // 8] ^= 1 << bit % 8
    try:
        path.write_bytes(content)
        os.utime(path, ns=(tick, tick))
        yield
    finally:
        path.write_bytes(whole)
        os.utime(path, ns=(-tick, -tick) if tick < 0 else (tick + 1, tick + 1))

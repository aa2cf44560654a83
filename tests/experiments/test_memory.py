"""Long documents in great number: memory is bounded by a batch, not by the corpus."""

import subprocess
import sys

import pytest

LIMIT_GB = 4

SCRIPT = """
import resource
import numpy as np
from heedful.evidence import Evidence, probabilities
from heedful.experiments import adversary, permutation, reach
from heedful.ragged import Ragged

n, length = 20_000, 2_000
draw = np.random.default_rng(0)
lengths = np.full(n, length)
weights = Ragged.from_lengths(draw.random(n * length, dtype=np.float32), lengths)
weights.values[:] /= np.repeat(weights.sum(), length)
scores = weights.like(draw.standard_normal((n * length, 1), dtype=np.float32))
logits = np.einsum("nt,nt->n", weights.values.reshape(n, length), scores.values.reshape(n, length))[:, None]
tokens = weights.like(np.empty(n * length, dtype=object))
tokens.values.fill("word")  # one and the same string
evidence = Evidence(
    [f"{row}" for row in range(n)], tokens, weights, probabilities(logits), scores, np.zeros((n, 1), dtype=np.float32)
)
for experiment in (reach, adversary, permutation):
    frame = experiment(evidence)
    assert len(frame) == n
    del frame
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(experiment.__name__, round(peak, 2), "GB", flush=True)
print(peak)
"""


@pytest.mark.slow
def test_twenty_thousand_documents_of_two_thousand_tokens_fit_in_four_gigabytes() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.splitlines()[-1]) < LIMIT_GB, done.stdout

"""Long documents in great number: memory is bounded by a batch, not by the corpus."""

import subprocess
import sys

import pytest

LIMIT_GB = 4

SCRIPT = """
import resource
import numpy as np
from heedful.evidence import Evidence, probabilities
from heedful.experiments import adversary, curves, permutation, reach, removal, single_weight
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
for experiment in (reach, adversary, permutation, single_weight, removal, curves):
    frame = experiment(evidence)
    assert len(frame) == n
    del frame
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(experiment.__name__, round(peak, 2), "GB", flush=True)
print(peak)
"""

FEATURES = """
import resource
from functools import partial
import numpy as np
from heedful.tanh_decoder import TanhDecoder
from heedful.evidence import Evidence
from heedful.experiments import curves, permutation, removal, single_weight, substitution, violation
from heedful.ragged import Ragged

n, length, features, outputs = 1_000, 800, 128, 600
draw = np.random.default_rng(0)
weights = Ragged.from_lengths(np.full(n * length, 1 / length, dtype=np.float32), np.full(n, length))
tokens = weights.like(np.empty(n * length, dtype=object))
tokens.values.fill("word")
decoder = TanhDecoder(
    draw.standard_normal((outputs, features), dtype=np.float32), draw.standard_normal(outputs, dtype=np.float32)
)
said = weights.like(draw.standard_normal((n * length, features), dtype=np.float32))
context = draw.standard_normal((n, features), dtype=np.float32)
evidence = Evidence(
    [f"{row}" for row in range(n)],
    tokens,
    weights,
    decoder.logits(np.stack([weights[row] @ said[row] for row in range(n)]), context),
    features=said,
    context=context,
    decoder=decoder,
)
evidence.output[:] = evidence.decode(weights)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
removals = (partial(experiment, rankings=["attention"]) for experiment in (removal, curves))
for experiment in (violation, substitution, permutation, single_weight, *removals):
    assert len(experiment(evidence)) == n
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20)
"""


@pytest.mark.slow
def test_twenty_thousand_documents_of_two_thousand_tokens_fit_in_four_gigabytes() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.splitlines()[-1]) < LIMIT_GB, done.stdout


@pytest.mark.slow
def test_a_thousand_documents_of_features_need_little_more_than_themselves() -> None:
    done = subprocess.run([sys.executable, "-c", FEATURES], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0.3, done.stdout

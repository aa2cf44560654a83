"""Which view of evidence experiments take: of affine decoders, or of others."""

from heedful.evidence import Evidence
from heedful.experiments.arrays import Indices
from heedful.experiments.blends import Blends
from heedful.experiments.margins import Margins


def view_of(evidence: Evidence) -> Margins | Blends:
    """Read evidence of which other attention can be decoded; refuse any other."""
    return Blends.of(evidence) if evidence.scores is None else Margins.of(evidence)


def decisions_of(evidence: Evidence) -> Indices:
    """The decided classes (n,): one rule for all experiments, also for those that decode nothing."""
    return view_of(evidence).decided if evidence.decodable else evidence.decisions

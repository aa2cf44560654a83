"""Which view of evidence experiments take: of affine decoders, or of others."""

from heedful.evidence import Evidence
from heedful.experiments.affine_view import AffineView
from heedful.experiments.tanh_view import TanhView
from heedful.ragged import Indices


def view_of(evidence: Evidence) -> AffineView | TanhView:
    """Read evidence of which other attention can be decoded; refuse any other."""
    return TanhView.of(evidence) if evidence.scores is None else AffineView.of(evidence)


def decisions_of(evidence: Evidence) -> Indices:
    """The decided classes (n,): one rule for all experiments, also for those that decode nothing."""
    return view_of(evidence).decided if evidence.decodable else evidence.decisions

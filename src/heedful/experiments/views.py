"""The view of some evidence: by scores where its decoder is affine, by features where it is not."""

from heedful.evidence import Evidence
from heedful.experiments.affine_view import AffineView
from heedful.experiments.tanh_view import TanhView
from heedful.ragged import Indices


def view_of(evidence: Evidence) -> AffineView | TanhView:
    """The view of evidence from which other attention can be decoded; other evidence is refused."""
    return TanhView.of(evidence) if evidence.scores is None else AffineView.of(evidence)


def decisions_of(evidence: Evidence) -> Indices:
    """Decisions (n,), by one rule for all experiments, including those that decode nothing."""
    return view_of(evidence).decided if evidence.decodable else evidence.decisions

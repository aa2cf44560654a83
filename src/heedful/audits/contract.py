"""What must hold of a model before it is audited, tried on texts of all lengths."""

import numpy as np

from heedful.adapters.affine import affine
from heedful.adapters.checking import check
from heedful.adapters.subject import Subject
from heedful.audits.directory import Audit
from heedful.audits.reading import Reader
from heedful.runs.reporter import Reporter

PROBES = 16


def check_contract(audit: Audit, subject: Subject, reporter: Reporter) -> None:
    """Refuse a model that cannot be listened to; record what was measured, and whether its logits are affine in its
    attention (`exact`), so that all parts of the evidence are alike."""
    reporter.start("checking the model")
    reader = Reader(audit, subject)
    order = np.argsort(reader.lengths, kind="stable")
    rows = np.unique(order[np.linspace(0, len(order) - 1, num=min(PROBES, len(order))).round().astype(np.int64)])
    _, texts, _ = reader(rows)
    contract = check(subject, texts)
    exact = audit.options.exact and affine(subject, texts)
    audit.record(contract={**{name: float(value) for name, value in contract._asdict().items()}, "exact": exact})
    reporter.finish(f"its own attention put back moves logits by {contract.identity:.1e}")

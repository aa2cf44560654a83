from pathlib import Path

import pytest

import heedful
from tests.audits.made import TEXTS, labels_of, planted


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> heedful.Audit:
    """A finished audit; tests must not write into it."""
    subject = planted()
    out: Path = tmp_path_factory.mktemp("audits")
    return heedful.audit(subject, texts=TEXTS, labels=labels_of(subject, TEXTS), sample=30, out=out)

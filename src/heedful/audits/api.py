"""`heedful.audit`: the command `heedful audit` as a function."""

from pathlib import Path
from typing import Any

from heedful.adapters.subject import Subject
from heedful.audits.directory import Audit
from heedful.audits.execution import perform
from heedful.audits.request import Request
from heedful.runs.reporter import Reporter


def audit(
    subject: Subject | None = None,
    *,
    out: Path | str = "audits",
    threads: int = 0,
    reporter: Reporter | None = None,
    **values: Any,
) -> Audit:
    """May a model's attention be shown as an explanation? Put it to the tests, or go on where that was interrupted.

    The model is a `subject` (`heedful.adapters.huggingface.HuggingFace`, `heedful.adapters.module.Module`, or any other
    Subject), the name or folder of a transformers classifier (`hf`, with `map` and `items`), or FILE.py:NAME, a
    function that returns a subject (`module`). It reads `texts` (with `labels` and `ids`, if there are any) or a table
    (`data`: a file, or "hf:NAME[:SPLIT]") by its columns `text`, `label` and `id`. Without a model, `evidence` is a
    file or an `Evidence`. `importance` from elsewhere (columns `id`, `method`, `values`) takes part in the race.

    `truncate` cuts texts that are too long, `skip_empty` leaves empty ones out; tests that read a text many times are
    performed on a `sample` (200; 0: all) drawn by `seed`; nothing is fetched unless `download` is true; with
    `exact=False` no scores are recovered from a model whose logits are affine in its attention. The directory
    in `out` is named by model, data and options: the same ones are the same directory. So many `threads` of arithmetic
    (0: as torch has it).
    """
    options, inputs = Request.of({"subject": subject, **values}).resolved()
    return perform(Audit.at(Path(out) / options.name, options), inputs, threads=threads, reporter=reporter)

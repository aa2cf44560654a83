"""The stage `evidence`: attention and outputs of the model on every text, or evidence copied from a file."""

import numpy as np
import polars as pl

from heedful.adapters.observing import observe
from heedful.adapters.subject import Subject
from heedful.audits.directory import Audit
from heedful.audits.evidence_sources import EvidenceSource
from heedful.audits.texts_stage import Reader
from heedful.errors import BadInput
from heedful.evidence import metadata
from heedful.evidence_checks import NO_LABEL, check_unique
from heedful.files import Parts, scan_parquet, write_json
from heedful.list_columns import ragged_column
from heedful.models.metrics import classification_metrics
from heedful.progress import Reporter
from heedful.workspace.parts import StageParts

ROWS, TOKENS = 256, 1 << 16  # texts and tokens of a part, which is what a kill can lose


def evidence_parts(audit: Audit, subject: Subject, *, exact: bool) -> StageParts:
    """One forward pass per text: the columns of evidence, with scores if the logits are affine in attention (`exact`),
    and `aside`, the attention on tokens that are not items."""
    reader = Reader(audit, subject)
    labelled = audit.options.data.label is not None

    def part(start: int, stop: int) -> pl.DataFrame:
        rows = np.arange(start, stop)
        ids, texts, labels = reader(rows)
        seen, known = subject.read(texts), {"labels": labels if labelled else None, "truth": reader.truth(rows)}
        evidence = observe(subject, ids, texts, seen, exact=exact, **known)
        frame = evidence.validate(f"the evidence of {audit.options.model.name}").to_frame()
        return frame.with_columns(pl.Series("aside", seen.aside, dtype=pl.Float32))

    return StageParts.split(
        "evidence",
        reader.lengths,
        part,
        rows=ROWS,
        items=TOKENS,
        metadata=metadata(subject.classes, {"audit": audit.folder.name, "data": audit.options.data.name}),
        summary=lambda: f"{len(reader.lengths):,} texts",
        unit="tokens",
    )


def copy_evidence(audit: Audit, filed: EvidenceSource, reporter: Reporter) -> None:
    """Check evidence from a file and copy it, part by part."""
    reporter.start(f"reading {filed.name}")
    parts = Parts(audit.folder / "evidence.parquet")
    done, outputs = parts.rows, None
    for batch in filed.batches(done):
        if outputs not in (None, batch.outputs):
            raise BadInput(f"{filed.name}, instance '{batch.ids[0]}': {batch.outputs} outputs, but {outputs} before")
        outputs = batch.outputs
        parts.add(batch.to_frame())
        done += len(batch)
        reporter.reach(done, f"{done:,} instances")
    if not done:
        raise BadInput(f"{filed.name}: it has no instances")
    check_unique(parts.scan().select("id").collect()["id"], filed.name)
    parts.finish(filed.about)
    audit.record(data={"texts": done, "skipped": 0, "truncated": 0})
    reporter.finish(f"{done:,} instances")


def write_metrics(audit: Audit) -> None:
    """Write metrics.json, if there are labels."""
    table = scan_parquet(audit.folder / "evidence.parquet")
    if "label" not in table.collect_schema():
        return
    known = table.select("label", "output").collect()
    if audit.options.route != "run":  # of which an answer that is no class counts as missed, as in the run itself
        known = known.drop_nulls("label")
    if len(known):
        output = ragged_column(known, "output", "doubles", "the evidence").values.reshape(len(known), -1)
        names = audit.options.model.classes or tuple(map(str, range(max(2, output.shape[1]))))
        labels = known["label"].cast(pl.Int64).fill_null(NO_LABEL).to_numpy()
        write_json(audit.folder / "metrics.json", classification_metrics(labels, output, names))

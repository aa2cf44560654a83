"""One cell of a sweep as a task: a run like any other, whose progress goes to files."""

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heedful.errors import HeedfulError
from heedful.runs.config import RunConfig
from heedful.runs.engines.task import Task
from heedful.runs.status import StatusReporter


def cell_task(config: RunConfig, *, out: Path, data: Path | str | None, experiments: Sequence[str] | None) -> Task:
    """The task of a cell."""
    arguments = {
        "name": config.name,
        "values": config.model_dump(mode="json", exclude_none=True),
        "out": str(out.resolve()),
        "data": None if data is None else str(Path(data).resolve()),
        "experiments": None if experiments is None else list(experiments),
    }
    return Task(config.name, "heedful.runs.cell:perform_cell", arguments, config.threads)


def perform_cell(
    *, name: str, values: dict[str, Any], out: str, data: str | None, experiments: list[str] | None
) -> None:
    """Perform what is missing of a run."""
    reporter = StatusReporter(Path(out), name)
    reporter.log("begun")
    reporter.start("loading libraries")
    from heedful.runs.execution import perform

    try:
        perform(values, out=out, data=data, experiments=experiments, reporter=reporter)
    except HeedfulError as error:
        reporter.log(f"failed: {error}")
        raise
    except Exception:
        reporter.log(traceback.format_exc())
        raise
    except KeyboardInterrupt:
        reporter.log("stopped")
        raise
    reporter.log("done")

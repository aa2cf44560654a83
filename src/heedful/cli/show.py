"""`heedful show`: one instance in the terminal or in a file."""

import json
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option


def show(
    run: Annotated[Path, Argument(help="A run: its directory, the beginning of its name, or `latest`.")],
    instance: Annotated[str | None, Option(help="Id of a test instance; default: the first.")] = None,
    text: Annotated[str | None, Option(help="Any text for the run's model to read.")] = None,
    question: Annotated[
        str | None, Option(help="With --text: the question or hypothesis, for models that take one.")
    ] = None,
    save: Annotated[Path | None, Option(help="Write the heat-map to a .html, .svg or .tex file.")] = None,
    as_json: Annotated[bool, Option("--json", help="Print tokens, weights and output as JSON.")] = False,
) -> None:
    """Show a model's attention on one instance next to a different map that gives nearly the same output."""
    from heedful.cli.console import console
    from heedful.errors import BadConfig
    from heedful.privacy import owner_only
    from heedful.report.heatmaps.files import save_heatmap
    from heedful.report.heatmaps.instance import read_instance, read_text
    from heedful.report.heatmaps.terminal import terminal_heatmap
    from heedful.runs.catalogue import named_run
    from heedful.runs.directory import Run

    if save is not None and as_json:
        raise BadConfig("--save and --json exclude each other; give only one")
    if instance is not None and text is not None:
        raise BadConfig("--instance and --text exclude each other; give only one")
    if question is not None and text is None:
        raise BadConfig("--question needs --text: give the text it is about")
    opened = Run.open(named_run(run))
    shown = read_text(opened, text, question) if text is not None else read_instance(opened, instance)
    if save is not None:
        with owner_only(opened.private):
            save_heatmap(shown, save)
        console.print(f"written to {save}", markup=False, soft_wrap=True)
    elif as_json:
        typer.echo(json.dumps(shown.to_dict(), ensure_ascii=False))
    else:
        console.print(terminal_heatmap(shown))

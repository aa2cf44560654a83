"""`heedful compare`: runs next to the published figures."""

import json
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option


def compare(
    runs: Annotated[list[Path], Argument(help="Runs: directories, folders of them, beginnings of names, or `latest`.")],
    out: Annotated[
        Path | None,
        Option(help="Also write figures and claims to a .md, .tex or .csv file (of .csv, claims in a second one)."),
    ] = None,
    as_json: Annotated[bool, Option("--json", help="Print figures and claims as JSON.")] = False,
) -> None:
    """Compare runs with the published figures, and check the papers' claims on them."""
    from heedful.cli.console import console, notices
    from heedful.errors import unknown_name
    from heedful.files import write_text
    from heedful.findings.comparison import compare as compared
    from heedful.findings.gathering import gather, without_damaged
    from heedful.report.tables.comparison import claims_table, comparison_json, figures_table
    from heedful.report.tables.formats import to_csv, to_markdown
    from heedful.report.tables.latex import to_latex
    from heedful.report.terminal.comparison import comparison_view
    from heedful.runs.catalogue import named_places

    endings = (".csv", ".md", ".tex")
    if out is not None and out.suffix not in endings:
        raise unknown_name("ending of --out", out.suffix or out.name, endings)
    found = gather(named_places(runs), audits=False)
    comparison, gathered = without_damaged(found, lambda chosen: compared(chosen.runs))
    for folder, reason in gathered.refused:
        notices.print(f"not compared: {folder.name}: {reason}", markup=False, soft_wrap=True)
    figures, claims = figures_table(comparison), claims_table(comparison)
    if out is not None and out.suffix == ".csv":
        write_text(out, to_csv(figures))
        write_text(out.with_name(f"{out.stem}-claims.csv"), to_csv(claims))
    elif out is not None:
        convert = to_markdown if out.suffix == ".md" else to_latex
        write_text(out, f"{convert(figures)}\n{convert(claims)}")
    if as_json:
        refused = [{"run": folder.name, "reason": reason} for folder, reason in gathered.refused]
        typer.echo(json.dumps({**comparison_json(comparison), "refused": refused}))
        return
    console.print(comparison_view(comparison, width=console.width))
    if out is not None:
        console.print(f"written to {out}", markup=False, soft_wrap=True)

"""`heedful corpora`."""

import typer

corpora = typer.Typer()

"""The `heedful` command."""

import os
import sys
import traceback
from contextlib import suppress

import typer

from heedful.cli.audit import audit
from heedful.cli.compare import compare
from heedful.cli.corpora import corpora
from heedful.cli.demo import demo
from heedful.cli.report import report
from heedful.cli.run import RunCommand, run
from heedful.cli.show import show
from heedful.cli.sweep import sweep
from heedful.cli.verify import verify
from heedful.errors import BadRows, DiskFull, HeedfulError, Stopped, disk_full_named
from heedful.printable import printable
from heedful.version import __version__

app = typer.Typer(
    name="heedful",
    help="May the attention weights of a text model be shown to people as an explanation of its decisions?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(corpora)
app.command(cls=RunCommand)(run)
app.command()(sweep)
app.command()(show)
app.command()(report)
app.command()(compare)
app.command()(audit)
app.command()(verify)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"heedful {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass


def main() -> None:
    """Run the command line: errors that a user can fix are one line with exit code 2."""
    try:
        with disk_full_named():
            try:
                app()
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()
    except Stopped as error:
        _fail(str(error), 130)
    except DiskFull as error:
        with suppress(OSError, ValueError):  # what could not be printed would fail once more at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _fail(str(error), 2)
    except BadRows as error:
        _fail(str(error), 2, keep_lines=True)
    except HeedfulError as error:
        _fail(str(error), 2)
    except MemoryError as error:
        _fail(f"not enough memory ({error}): lower options such as embedding.width or training.batch", 2)
    except BrokenPipeError:  # the reader of our output went away, e.g. `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        place = error.filename or "file system"
        _fail(f"{place}: {error.strerror or error}; choose a writable place (--out, --save, HEEDFUL_CACHE)", 2)
    except Exception as error:  # a bug of ours: still no traceback, unless asked for
        if os.environ.get("HEEDFUL_DEBUG"):
            traceback.print_exc()
        _fail(f"unexpected {type(error).__name__}: {error} (a bug in heedful; HEEDFUL_DEBUG=1 shows where)", 70)


def _fail(message: str, code: int, *, keep_lines: bool = False) -> None:
    lines = message.splitlines() if keep_lines else [" ".join(message.split())]
    with suppress(OSError):  # standard error may be full as well
        print("\n".join(map(printable, [f"error: {lines[0]}", *lines[1:]])), file=sys.stderr)  # noqa: T201
    sys.exit(code)


if __name__ == "__main__":
    main()

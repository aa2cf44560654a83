"""The `heedful` command."""

import os
import platform
import sys
import tempfile
import traceback
from contextlib import suppress
from typing import NoReturn

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
from heedful.errors import BadRows, DiskFull, HeedfulError, Stopped, disk_full_named, resource_limit
from heedful.printable import plain_text, printable
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
        _run()
    except MemoryError as error:
        detail = f" ({error})" if str(error) else ""
        _fail(f"not enough memory{detail}: lower options such as embedding.width or training.batch", 2)
    except BrokenPipeError:  # the reader of our output went away, e.g. `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        place = error.filename or "file system"
        remedy = resource_limit(error) or "choose a writable place (--out, --save, HEEDFUL_CACHE)"
        _fail(f"{place}: {error.strerror or error}; {remedy}", 2)
    except (KeyboardInterrupt, SystemExit):
        raise
    except UnicodeEncodeError as error:  # a name on disk that is no text reached a place that takes text only
        near = printable(str(error.object)[max(0, error.start - 60) : error.end + 20])
        _fail(f"'{near}': a name of a file or folder has bytes that are no UTF-8 text; rename it", 2)
    except BaseException as error:  # panics of polars are no Exception
        if (limit := resource_limit(error)) is not None:
            _fail(limit, 2)
        _report_bug(error)


def _run() -> None:
    """Perform a command; errors of ours end it in their own words."""
    try:
        for argument in sys.argv:
            plain_text(argument, printable(argument))
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


def _report_bug(error: BaseException) -> NoReturn:
    """A bug of ours: one line, and the traceback in a file, unless it is asked for here."""
    if os.environ.get("HEEDFUL_DEBUG"):
        traceback.print_exc()
    text = f"heedful {__version__}, Python {platform.python_version()}, {platform.platform()}\n\n"
    text += f"command: {sys.argv[1:]}\n\n{''.join(traceback.format_exception(error))}"
    try:
        number, place = tempfile.mkstemp(prefix="heedful-bug-", suffix=".txt")
        with os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        where = f"what happened is in {place}; look through it for private texts and names before you send it"
    except OSError:
        where = "run it again with HEEDFUL_DEBUG=1, which shows where"
    _fail(
        f"unexpected {type(error).__name__}: {str(error)[:300]}. This is a bug in heedful {__version__}: please report "
        f"it. {where[0].upper()}{where[1:]}",
        70,
    )


def _fail(message: str, code: int, *, keep_lines: bool = False) -> NoReturn:
    lines = message.splitlines() if keep_lines else [" ".join(message.split())]
    with suppress(OSError):  # standard error may be full as well
        print("\n".join(map(printable, [f"error: {lines[0]}", *lines[1:]])), file=sys.stderr)  # noqa: T201
    sys.exit(code)


if __name__ == "__main__":
    main()

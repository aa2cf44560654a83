"""Read files in place: plain, .gz, folders, .tar, .tar.gz, .tgz and .zip; nothing is unpacked to disk.

Memory is bounded whatever is in them: see `heedful.bounds`.
"""

import gzip
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from heedful.bounds import Budget, bounded, bounded_content, bounded_lines
from heedful.damage import first_line, unreadable
from heedful.errors import BadInput

LONGEST_DESCRIPTION = 1 << 20  # bytes

_DESCRIPTIONS = (
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
)

Wanted = Callable[[PurePosixPath], bool]

_DAMAGE = (
    *(EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, struct.error),
    NotImplementedError,  # of zipfile: a way of packing that it does not know
    RuntimeError,  # of zipfile: a member that asks for a password
    OSError,  # a bad gzip header; a place before the beginning of the file
    OverflowError,
    LookupError,  # of zipfile: a member without a name
    ValueError,  # a number or a name in a header that is none
)


def members(path: Path, wanted: Wanted) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The wanted files of a folder or an archive: name inside it, and content."""
    with damage_named(path):
        for name, file in _opened(path, wanted):
            yield name, bounded_content(file, f"{path}, {name}")


def member_lines(path: Path, wanted: Wanted) -> Iterator[tuple[str, str]]:
    """The lines of the wanted UTF-8 text files of a folder or an archive, each with its place: archive, file, line."""
    with damage_named(path):
        for name, file in _opened(path, wanted):
            for number, raw in enumerate(bounded_lines(file, f"{path}, {name}"), start=1):
                where = f"{path}, {name}, line {number}"
                yield where, decode(raw, where)


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 text file, plain or .gz, with their numbers; line ends are kept."""
    with damage_named(path), open_bytes(path) as file:
        for number, raw in enumerate(bounded_lines(file, str(path)), start=1):
            yield number, decode(raw, f"{path}, line {number}")


def located_lines(path: Path) -> Iterator[tuple[str, str]]:
    """The same, each with its place: file and line."""
    return ((f"{path}, line {number}", line) for number, line in lines(path))


def files_below(folder: Path) -> list[str]:
    """The names of all files below a folder, in order; fast for hundreds of thousands of them."""
    names: list[str] = []
    pending = [("", str(folder))]
    while pending:
        prefix, place = pending.pop()
        with os.scandir(place) as entries:
            for entry in entries:
                if entry.is_file():
                    names.append(prefix + entry.name)
                elif entry.is_dir(follow_symlinks=False):  # a link may lead back here
                    pending.append((f"{prefix}{entry.name}/", entry.path))
    return sorted(names, key=lambda name: name.split("/"))


def decode(raw: bytes, where: str) -> str:
    """UTF-8 text without a byte order mark, or an error that names the place."""
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{where}: byte {raw[error.start]:#04x} is not UTF-8 text; save the file as UTF-8 (iconv -t UTF-8 does it)"
        ) from error


def open_bytes(path: Path) -> IO[bytes]:
    """A file's bytes, decompressed if it is a .gz."""
    if path.suffix not in (".gz", ".tgz"):
        return path.open("rb")
    return bounded(cast("IO[bytes]", gzip.open(path, "rb")), Budget(path))


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Turn the errors of damaged, truncated or unreadable files into ones that name the file."""
    try:
        yield
    except FileNotFoundError as error:
        raise BadInput(f"{error.filename or path} is not there any more") from error
    except PermissionError as error:
        raise BadInput(f"{error.filename or path} may not be read: change its permissions") from error
    except _DAMAGE as error:
        problem = f" is damaged or was cut short ({first_line(error)}): download or copy it again"
        raise unreadable(path, problem, error) from error


def _opened(path: Path, wanted: Wanted) -> Iterator[tuple[PurePosixPath, IO[bytes]]]:
    with damage_named(path):
        if path.is_dir():
            yield from _folder_members(path, wanted)
        elif path.suffix == ".zip":
            yield from _zip_members(path, wanted)
        else:
            yield from _tar_members(path, wanted)


def _folder_members(path: Path, wanted: Wanted) -> Iterator[tuple[PurePosixPath, IO[bytes]]]:
    for inside in files_below(path):
        name = PurePosixPath(inside)
        if wanted(name):
            with (path / name).open("rb") as content:
                yield name, content


def _zip_members(path: Path, wanted: Wanted) -> Iterator[tuple[PurePosixPath, IO[bytes]]]:
    budget = Budget(path)
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            name = PurePosixPath(entry.filename)
            if not entry.is_dir() and wanted(name):
                with bounded(archive.open(entry), budget) as content:
                    yield name, content


def _tar_members(path: Path, wanted: Wanted) -> Iterator[tuple[PurePosixPath, IO[bytes]]]:
    if path.suffix == ".tar":
        _check_tar_end(path)
    # decompressed by gzip: tarfile takes a truncated stream for the end of the archive
    budget = Budget(path)  # of contents: a sparse file grows as it is read
    with open_bytes(path) as file, tarfile.open(fileobj=file, mode="r|", tarinfo=_Entry) as archive:
        while (entry := archive.next()) is not None:
            name = PurePosixPath(entry.name)
            content = archive.extractfile(entry) if entry.isfile() and wanted(name) else None
            if content is not None:
                with bounded(content, budget) as within:
                    yield name, within
            archive.members.clear()  # type: ignore[attr-defined]  # else a description of every entry is kept
        while file.read(1 << 20):  # to the end, where gzip verifies its checksum
            pass


class _Entry(tarfile.TarInfo):
    """An entry of a tar, but none that describes the next one (by a long name, say) in more than a file may hold."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_Entry":
        entry = super().frombuf(buf, encoding, errors)
        if entry.type in _DESCRIPTIONS and entry.size > LONGEST_DESCRIPTION:
            raise tarfile.ReadError(f"a description of {entry.size:,} bytes")
        return entry


def _check_tar_end(path: Path) -> None:
    """A tar ends in zero blocks, which tarfile does not insist on."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 512))
        if size < 512 or any(file.read()):
            raise BadInput(f"{path} is damaged or was cut short (no end mark): download or copy it again")

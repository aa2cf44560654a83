"""Small files in the native formats of the corpora, for the tests of their readers."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path


def write(path: Path, content: str | bytes) -> Path:
    """Write a file, packed if its name ends in .gz."""
    data = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def tree(label: int, words: str) -> str:
    """A tree of the given words, leaning to the right."""
    first, _, rest = words.partition(" ")
    return f"({label} (2 {first}) {tree(2, rest)})" if rest else f"({label} {first})"


def pack(path: Path, files: dict[str, bytes]) -> Path:
    """An archive of the given files: .zip, .tar, .tar.gz or .tgz, by its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return path
    with tarfile.open(path, "w" if path.suffix == ".tar" else "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def unpack(folder: Path, files: dict[str, bytes]) -> Path:
    """The same files as a folder."""
    for name, content in files.items():
        write(folder / name, content)
    return folder

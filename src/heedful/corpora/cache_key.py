"""The key of a cached corpus: what it is made from (its content) and what reads it (code and libraries).

Only the modules that a reader imports count, so that a new corpus leaves all other caches as they are.
"""

import ast
import sys
from functools import cache
from importlib import metadata
from importlib.util import resolve_name
from pathlib import Path

from heedful.corpora.locating import Found, source_fingerprint
from heedful.corpora.reader import Options, Reader
from heedful.files import fingerprint
from heedful.integrity import content_fingerprint
from heedful.text.sentences import SENTENCIZER, missing_model
from heedful.text.tokenising import SPACY

SCHEME = 2  # how keys are made; those of scheme 1, made from all modules of corpora and text, carry no number

PACKAGE = Path(__file__).parents[1]

_ROOMS = ("heedful.corpora", "heedful.text", "heedful.randomness")  # other modules do not shape documents
_WRITER = "heedful.corpora.writing"  # shapes every corpus, and no reader imports it


def content_key(reader: Reader, options: Options, found: Found) -> str:
    """The bytes and kinds of a corpus's files, wherever they lie, and its options."""
    files = {role: [path.suffixes, source_fingerprint(path)] for role, path in found.files.items()}
    return fingerprint([reader.name, options.model_dump(mode="json", exclude={"file"}), files, found.subset])


def cache_key(content: str, reader: Reader, options: Options) -> str:
    """The scheme and a hash of content, code, and the versions of what tokenises and splits."""
    spacy = "" if getattr(options, "tokens", SPACY) != SPACY else _version("spacy")  # with or without it, the same
    libraries = [spacy, _version("scikit-learn"), *_sentence_model(getattr(options, "sentences", None))]
    return f"{SCHEME}-{fingerprint([content, _code(_modules(reader), PACKAGE), libraries])}"


def same_scheme(key: str) -> bool:
    """Whether a key was made as keys are made today, so that the two can be compared."""
    return key.startswith(f"{SCHEME}-")


def imported_files(modules: tuple[str, ...], package: Path) -> dict[str, Path]:
    """The sources of modules and of all they import of `corpora`, `text` and `randomness`, at the top or lazily."""
    files: dict[str, Path] = {}
    pending = list(modules)
    while pending:
        module = pending.pop()
        path = _source(module, package)
        if module not in files and path is not None:
            files[module] = path
            pending += [name for name in _imports(path, module) if _in_rooms(name)]
    return files


def _modules(reader: Reader) -> tuple[str, ...]:
    """Where a reader and the readers it extends are defined, and the writer."""
    return (*(kind.__module__ for kind in type(reader).__mro__ if issubclass(kind, Reader)), _WRITER)


@cache
def _code(modules: tuple[str, ...], package: Path) -> dict[str, str]:
    files = imported_files(modules, package)
    return {module: content_fingerprint(files[module]) for module in sorted(files)}


def _source(module: str, package: Path) -> Path | None:
    if _in_rooms(module):
        path = package.parent.joinpath(*module.split("."))
        return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None)
    file = getattr(sys.modules.get(module), "__file__", None)  # a reader from outside the package
    return None if file is None else Path(file)


def _imports(path: Path, module: str) -> list[str]:
    """Every name that is or may be a module: `from a import b` gives a and a.b."""
    parent = module if path.name == "__init__.py" else module.rpartition(".")[0]
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), parent)
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return names


def _in_rooms(module: str) -> bool:
    return any(module == room or module.startswith(f"{room}.") for room in _ROOMS)


def _sentence_model(name: str | None) -> list[str]:
    """The version of an installed spaCy model, or the content of one in a folder."""
    if name is None or name == SENTENCIZER:
        return []
    version = _version(name)
    if not version and not Path(name).is_dir():
        raise missing_model(name)
    return [version or source_fingerprint(Path(name))]


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""

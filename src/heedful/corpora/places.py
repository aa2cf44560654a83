"""Where corpora are looked for, where downloads go, and where the cache is."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """The folder for tokenised corpora and downloads: HEEDFUL_CACHE, or the user's cache folder."""
    chosen = os.environ.get("HEEDFUL_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "heedful"


def download_folder() -> Path:
    """Where `heedful corpora get` puts what it downloads."""
    return cache_folder() / "data"


def data_folders(given: Path | None = None) -> list[Path]:
    """Where corpora are looked for: the given folder alone, else HEEDFUL_DATA, then the downloads."""
    if given is not None:
        return [given]
    named = os.environ.get("HEEDFUL_DATA")
    return [*([Path(named)] if named else []), download_folder()]

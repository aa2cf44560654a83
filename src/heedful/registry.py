"""Registries: entries by name, imported when first used, so that names can be checked without torch."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Generic, TypeVar

Entry = TypeVar("Entry")


class Registry(Mapping[str, Entry], Generic[Entry]):
    """Names and what they stand for. An entry may be given as a module's name: importing it must register the entry.

    >>> shapes = Registry({"square": 4})
    >>> shapes.register("triangle", 3)
    >>> list(shapes), shapes["triangle"]
    (['square', 'triangle'], 3)
    """

    def __init__(self, entries: Mapping[str, Entry | str]) -> None:
        self._entries = dict(entries)

    def register(self, name: str, entry: Entry) -> None:
        """Add an entry, or put it in place of its module's name."""
        self._entries[name] = entry

    def unregister(self, name: str) -> None:
        """Remove an entry."""
        del self._entries[name]

    def __getitem__(self, name: str) -> Entry:
        module = self._entries[name]
        if isinstance(module, str):
            import_module(module)
        entry = self._entries[name]
        if isinstance(entry, str):
            raise TypeError(f"module {entry} does not register {name!r}")
        return entry

    def __contains__(self, name: object) -> bool:
        return name in self._entries  # without importing anything

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

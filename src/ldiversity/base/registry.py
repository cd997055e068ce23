"""A registry: entries of one kind by name, each brought by one registration.

An entry comes from this package, which names its home, or from another package, which announces it as an entry point
in the group ``ldiversity.<kind>``; both are loaded when they are first asked for. Or a running program registers it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Final, Generic, TypeVar, cast

from ldiversity.entries import ENTRIES
from ldiversity.errors import ParameterError

__all__ = ["Registry", "registered"]

Entry = TypeVar("Entry")
_GROUP: Final = "ldiversity."


class Registry(Mapping[str, Entry], Generic[Entry]):
    """Entries of one kind by name.

    Parameters
    ----------
    kind
        What the entries are, in the plural: ``"models"``. Other packages announce theirs in ``ldiversity.models``.
    homes
        The entries of this package by name, each as ``module:name``.

    Examples
    --------
    >>> numbers = Registry[float]("numbers", {"pi": "math:pi"})
    >>> numbers["pi"], list(numbers)
    (3.141592653589793, ['pi'])
    >>> with numbers.registered("half", 0.5):
    ...     numbers["half"]
    0.5
    """

    def __init__(self, kind: str, homes: Mapping[str, str]) -> None:
        self.kind = kind
        self._homes = dict(homes)
        self._given: dict[str, Entry] = {}

    def __getitem__(self, name: str) -> Entry:
        if name not in self._given:
            self._given[name] = self._load(name)
        return self._given[name]

    def __iter__(self) -> Iterator[str]:
        # The package's own come first, in their order: the first one is what users are shown first.
        return iter(dict.fromkeys([*self._homes, *self._announced, *self._given]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in self._given or name in self._homes or name in self._announced

    def register(self, name: str, entry: Entry) -> None:
        """Add an entry for as long as the program runs.

        Raises
        ------
        ParameterError
            When the name is taken: a release that names it must not change its meaning.
        """
        if name in self:
            raise ParameterError(self.kind, f"{name!r} is registered already", hint="Choose another name.")
        self._given[name] = entry

    def withdraw(self, name: str) -> None:
        """Take back what `register` added."""
        del self._given[name]

    @contextmanager
    def registered(self, name: str, entry: Entry) -> Iterator[None]:
        """Add an entry for the time of a ``with`` block."""
        self.register(name, entry)
        try:
            yield
        finally:
            self.withdraw(name)

    @cached_property
    def _announced(self) -> Mapping[str, EntryPoint]:
        """What other packages announce. A name of this package keeps its meaning, whoever else claims it."""
        return {
            point.name: point for point in entry_points(group=f"{_GROUP}{self.kind}") if point.name not in self._homes
        }

    def _load(self, name: str) -> Entry:
        if name in self._homes:
            module, _, attribute = self._homes[name].partition(":")
            return cast("Entry", getattr(import_module(module), attribute))
        return cast("Entry", self._announced[name].load())  # a KeyError, as of any mapping


def registered(kind: str) -> list[str]:
    """The names of all entries of a kind, for help texts: nothing is loaded.

    Examples
    --------
    >>> registered("distances")[:2]
    ['discrete', 'ordered']
    """
    return list(Registry[object](kind, ENTRIES[kind]))

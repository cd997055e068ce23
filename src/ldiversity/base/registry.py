"""A registry: entries of one kind by name.

An entry comes from this package (listed in `ldiversity.entries`), from another package (an entry point in the group
``ldiversity.<kind>``), or from a running program that registers it. The first two are loaded when first used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from typing import Final, Generic, TypeVar, cast

from ldiversity.base.warned import warn
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
        What the entries are, in the plural: ``"models"``.
    homes
        The entries of this package, each as ``module:name``.

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
        # This package's entries come first, in their listed order: help texts show them in this order.
        return iter(dict.fromkeys([*self._homes, *self._announced, *self._given]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in self._given or name in self._homes or name in self._announced

    def register(self, name: str, entry: Entry) -> None:
        """Add an entry until the program ends.

        Raises
        ------
        ParameterError
            When the name is taken: a release that names it must keep its meaning.
        """
        if name in self:
            raise ParameterError(self.kind, f"{name!r} is registered already", hint="Choose another name.")
        self._given[name] = entry

    def withdraw(self, name: str) -> None:
        """Remove an entry that `register` added."""
        del self._given[name]

    @contextmanager
    def registered(self, name: str, entry: Entry) -> Iterator[None]:
        """Add an entry for the duration of a ``with`` block."""
        self.register(name, entry)
        try:
            yield
        finally:
            self.withdraw(name)

    @cached_property
    def _announced(self) -> Mapping[str, Entry]:
        """What other packages announce. A name of this package keeps its meaning, even if another claims it.

        A package that cannot be imported must not take everything else down, so its entries are left out.
        """
        loaded: dict[str, Entry] = {}
        for point in entry_points(group=f"{_GROUP}{self.kind}"):
            if point.name in self._homes or point.name in loaded:
                continue
            try:
                loaded[point.name] = point.load()
            except Exception as error:  # noqa: BLE001 - whatever a stranger's module does when it is imported
                warn(
                    f"{self.kind}: {point.name!r} is left out: {point.value!r}, which another package announces, "
                    f"cannot be loaded ({type(error).__name__})."
                )
        return loaded

    def _load(self, name: str) -> Entry:
        if name in self._homes:
            module, _, attribute = self._homes[name].partition(":")
            return cast("Entry", getattr(import_module(module), attribute))
        return self._announced[name]  # an unknown name is a KeyError, as in any mapping


def registered(kind: str) -> list[str]:
    """List the names of all entries of a kind, for help texts; loads none of them.

    Examples
    --------
    >>> registered("distances")[:2]
    ['discrete', 'ordered']
    """
    announced = (point.name for point in entry_points(group=f"{_GROUP}{kind}"))
    return list(dict.fromkeys([*ENTRIES[kind], *announced]))

"""Hierarchies that users ask for by a word and an argument, as in ``width:5/10/20``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from ldiversity.base.arrays import Scalar
from ldiversity.base.registry import Registry
from ldiversity.entries import ENTRIES
from ldiversity.hierarchies._automatic import automatic_hierarchy
from ldiversity.hierarchies._tree import Hierarchy

__all__ = [
    "HIERARCHY_MAKERS",
    "AutomaticMaker",
    "DateMaker",
    "HierarchyMaker",
    "PrefixMaker",
    "QuantileMaker",
    "WidthMaker",
]


@dataclass(frozen=True, eq=False)
class HierarchyMaker(ABC):
    """Makes a hierarchy from the distinct values of a column and how often each occurs."""

    form: ClassVar[str]
    """Its text form, for messages."""

    values: Sequence[Scalar]
    counts: Sequence[int]

    @abstractmethod
    def make(self, argument: str, limits: Mapping[str, float | str]) -> Hierarchy:
        """Make the hierarchy.

        Parameters
        ----------
        argument
            The text after the colon, which may be empty.
        limits
            The public range, ``low`` and ``high``: numbers, or dates as texts.

        Raises
        ------
        ValueError, TypeError
            When the text does not have this form; the caller turns it into a clear message.
        """


class AutomaticMaker(HierarchyMaker):
    """Chooses one of the others by the type of the values."""

    form: ClassVar[str] = "auto"

    def make(self, argument: str, limits: Mapping[str, float | str]) -> Hierarchy:
        """By dates, numbers or prefixes, as the values suggest."""
        del argument
        return automatic_hierarchy(self.values, **limits)


class DateMaker(HierarchyMaker):
    """Days, months, quarters and years."""

    form: ClassVar[str] = "date"

    def make(self, argument: str, limits: Mapping[str, float | str]) -> Hierarchy:
        """By the calendar."""
        del argument
        return Hierarchy.by_date(self.values, **limits)  # type: ignore[arg-type]


class PrefixMaker(HierarchyMaker):
    """Prefixes of the given lengths, or one character shorter at each level."""

    form: ClassVar[str] = "prefix, prefix:3/2"

    def make(self, argument: str, limits: Mapping[str, float | str]) -> Hierarchy:
        """By lengths of prefixes."""
        _refuse(limits)
        return Hierarchy.by_prefix(self.values, [int(part) for part in argument.split("/")] if argument else None)


class WidthMaker(HierarchyMaker):
    """Intervals of the given widths."""

    form: ClassVar[str] = "width:5/10/20, width:5/10,low:0,high:119"

    def make(self, argument: str, limits: Mapping[str, float | str]) -> Hierarchy:
        """By widths of intervals."""
        widths = [float(part) if set(part) & set(".eE") else int(part) for part in argument.split("/")]
        return Hierarchy.by_width(self.values, widths, **limits)  # type: ignore[arg-type]


class QuantileMaker(HierarchyMaker):
    """Intervals that hold about equally many records."""

    form: ClassVar[str] = "quantiles:16/4"

    def make(self, argument: str, limits: Mapping[str, float | str]) -> Hierarchy:
        """By numbers of intervals."""
        _refuse(limits)
        return Hierarchy.by_quantiles(self.values, [int(part) for part in argument.split("/")], counts=self.counts)


def _refuse(limits: Mapping[str, float | str]) -> None:
    """Refuse a range: only numbers and dates have one."""
    if limits:
        raise ValueError(*limits)


HIERARCHY_MAKERS: Final = Registry[type[HierarchyMaker]]("hierarchies", ENTRIES["hierarchies"])
"""Every way to make a hierarchy, by the word that asks for it."""

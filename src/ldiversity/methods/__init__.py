"""Methods: the data holder's choices of how sensitive values are hidden, one file a method.

Classes are loaded when they are first asked for; `ldiversity.catalog` says which there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Final

from ldiversity.catalog import CATALOG
from ldiversity.methods._anatomy_classes import most_classes
from ldiversity.methods._base import Grouping, GroupingMethod, GroupingRun, Method, Partition, RandomizingMethod
from ldiversity.methods._coded import CategoryColumn, CodedTable, NumberColumn, QuasiColumn, SensitiveColumn

__all__ = [  # noqa: PLE0604 - all of them are texts
    "METHODS",
    "CategoryColumn",
    "CodedTable",
    "Grouping",
    "GroupingMethod",
    "GroupingRun",
    "Method",
    "NumberColumn",
    "Partition",
    "QuasiColumn",
    "RandomizingMethod",
    "SensitiveColumn",
    "most_classes",
    *sorted(entry.class_name for entry in CATALOG.values()),
]

_HOMES = {entry.class_name: entry.home for entry in CATALOG.values()}


def _load(home: str) -> type[Method]:
    module, _, name = home.partition(":")
    found: type[Method] = getattr(import_module(module), name)
    return found


class _Registry(Mapping[str, type[Method]]):
    """Classes by the names of the catalog, loaded one by one."""

    def __getitem__(self, name: str) -> type[Method]:
        return _load(CATALOG[name].home)

    def __iter__(self) -> Iterator[str]:
        return iter(CATALOG)

    def __len__(self) -> int:
        return len(CATALOG)


METHODS: Final[Mapping[str, type[Method]]] = _Registry()
"""Every method by its name on the command line and in policies."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a class of the catalog
    if name not in _HOMES:
        raise AttributeError(f"module 'ldiversity.methods' has no attribute {name!r}")
    return _load(_HOMES[name])

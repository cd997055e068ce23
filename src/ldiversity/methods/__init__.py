"""Methods: the data holder's choices of how sensitive values are hidden, one file a method.

Classes are loaded when they are first asked for; `ldiversity.catalog` says which there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from ldiversity.catalog import CATALOG
from ldiversity.methods._anatomy_classes import most_classes
from ldiversity.methods._base import Grouping, GroupingMethod, GroupingRun, Method, Partition, RandomizingMethod
from ldiversity.methods._coded import CategoryColumn, CodedTable, NumberColumn, QuasiColumn, SensitiveColumn
from ldiversity.methods._combinations import number_combinations

if TYPE_CHECKING:
    from ldiversity.methods._anatomy import Anatomy as Anatomy
    from ldiversity.methods._bsgi import BSGI as BSGI
    from ldiversity.methods._incognito import Incognito as Incognito
    from ldiversity.methods._llmsu import LLMSU as LLMSU
    from ldiversity.methods._mbf import MBF as MBF
    from ldiversity.methods._mondrian import Mondrian as Mondrian
    from ldiversity.methods._randomized_addition import RandomizedAddition as RandomizedAddition
    from ldiversity.methods._semantic_anatomy import SemanticAnatomy as SemanticAnatomy
    from ldiversity.methods._semantic_diversity import SemanticDiversity as SemanticDiversity
    from ldiversity.methods._tp import TP as TP

__all__ = [  # noqa: PLE0604 - all of them are texts
    "number_combinations",
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

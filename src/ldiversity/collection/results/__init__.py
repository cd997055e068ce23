"""Estimates while answers come in, and the release that a survey ends with.

What computes is loaded when it is first asked for: commands show answers without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from ldiversity.collection.results._answer import (
    ExportedRelease,
    ResultsAnswer,
    ShownCell,
    ShownDivision,
    ShownQuestion,
    ShownValue,
)

if TYPE_CHECKING:
    from ldiversity.collection.results._export import export as export
    from ldiversity.collection.results._live import LiveResults as LiveResults
    from ldiversity.collection.results._release import to_release as to_release

__all__ = [
    "ExportedRelease",
    "LiveResults",
    "ResultsAnswer",
    "ShownCell",
    "ShownDivision",
    "ShownQuestion",
    "ShownValue",
    "export",
    "to_release",
]

_HOMES: Final = {"LiveResults": "_live", "export": "_export", "to_release": "_release"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public object
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    loaded = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = loaded
    return loaded

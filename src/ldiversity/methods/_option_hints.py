"""The way out where an option is given to a method that has none of that name, or a method lacks one that it needs."""

from __future__ import annotations

from typing import Final

from ldiversity.catalog import CATALOG, methods_with
from ldiversity.sentences import Parameter, Setting, say

__all__ = ["example_of", "taken_by"]

_EXAMPLES: Final = {
    "l": Setting("l", 3),
    "d": Setting("d", 2.0),
    "distance": Setting("distance", "ordered", python="distance=OrderedDistance()"),
}
"""Values of options that some methods cannot do without."""


def example_of(option: str) -> str:
    """A value to give; empty where there is none that suits every table.

    Examples
    --------
    >>> example_of("d")
    'For example d=2. '
    """
    return say("For example {}. ", _EXAMPLES[option]) if option in _EXAMPLES else ""


def taken_by(option: str) -> str:
    """A method that has an option; empty where none has.

    Examples
    --------
    >>> taken_by("distance")
    ' For distance, use method=SemanticDiversity(...).'
    """
    first = next((CATALOG[name] for name in methods_with(option) if not CATALOG[name].for_comparison), None)
    if first is None:
        return ""
    method = Setting("method", first.name, python=f"method={first.class_name}(...)")
    return say(" For {}, use {}.", Parameter(option), method)

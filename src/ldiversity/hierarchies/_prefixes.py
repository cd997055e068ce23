"""Group codes, such as postal codes, by their prefixes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ldiversity.base.checks import check_integer
from ldiversity.errors import ParameterError, SchemaError
from ldiversity.hierarchies._distinct import distinct_values
from ldiversity.hierarchies._text import text_of
from ldiversity.hierarchies._unambiguous import ROOT, free_label, with_missing
from ldiversity.sentences import Named, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["flat_rows", "prefix_rows"]


def prefix_rows(owner: str, texts: Iterable[object], lengths: Sequence[int] | None, mask: str) -> list[tuple[str, ...]]:
    """Return one row per text: the text, its prefixes from long to short, and the root."""
    distinct = distinct_values(owner, texts)
    if distinct.kind not in {"text", "integer"}:
        raise SchemaError(owner, "values", "must be texts, at least one", got=distinct.noun).with_hint(
            say("Use {} for numbers and {} for dates.", Named("by_width", "width"), Named("by_date", "date"))
        )
    leaves = [text_of(value) for value in distinct.values]
    if len(mask) != 1:
        raise ParameterError(owner, "mask", "must be one character", got=repr(mask))
    if any(mask in leaf for leaf in leaves):
        raise ParameterError(owner, "mask", "must be a character that no value contains", got=repr(mask)).with_hint(
            "Choose another, for example mask='#'."
        )
    longest = max(map(len, leaves))
    kept = list(range(longest - 1, 0, -1)) if lengths is None else _check_lengths(owner, lengths, longest)
    rows = [(leaf, *(_prefix(leaf, length, longest, mask) for length in kept), ROOT) for leaf in leaves]
    return with_missing(rows, missing=distinct.missing)


def flat_rows(owner: str, values: Iterable[object]) -> list[tuple[str, ...]]:
    """Return one row per value: the value and the root."""
    distinct = distinct_values(owner, values)
    leaves = [text_of(value) for value in distinct.values]
    root = free_label(ROOT, leaves)
    return with_missing([(leaf, root) for leaf in leaves], missing=distinct.missing)


def _prefix(text: str, length: int, longest: int, mask: str) -> str:
    """Mask the end of a text; one that is shorter than the prefix represents itself, and joins others higher up."""
    return text if len(text) < length else text[:length] + mask * (longest - length)


def _check_lengths(owner: str, lengths: Sequence[int], longest: int) -> list[int]:
    if isinstance(lengths, str) or not hasattr(lengths, "__len__"):
        raise ParameterError(owner, "lengths", "must be a list of numbers of characters", got=repr(lengths))
    kept = [check_integer(owner, "lengths", length, minimum=1, maximum=max(1, longest - 1)) for length in lengths]
    if any(longer <= shorter for longer, shorter in pairwise(kept)):
        raise ParameterError(
            owner, "lengths", "must descend", got=repr(list(lengths)), hint="Write for example 3, 2, 1."
        )
    return kept

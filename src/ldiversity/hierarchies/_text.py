"""Values of a domain as the texts by which files name them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.base.checks import name_some
from ldiversity.errors import SchemaError
from ldiversity.schema import MISSING_LABEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from ldiversity.base.arrays import Scalar

__all__ = ["MATCHED_BY_TEXT", "MAX_LABEL", "check_label", "check_unique", "positions_of", "text_of"]

MAX_LABEL: Final = 500
"""Longest label, in characters."""


MATCHED_BY_TEXT: Final = "Values are matched by their text"
"""What to know when a hierarchy lacks values."""


def text_of(value: Scalar) -> str:
    """Give the text by which a file names `value`: ``str(value)``, and ``(missing)`` for None.

    Examples
    --------
    >>> text_of(1), text_of("flu"), text_of(None)
    ('1', 'flu', '(missing)')
    """
    return MISSING_LABEL if value is None else str(value)


def check_label(owner: str, label: object) -> None:
    """Refuse a label that is no text, empty or longer than `MAX_LABEL`."""
    if not isinstance(label, str):
        raise SchemaError(owner, "a label must be text", got=type(label).__name__)
    if not 0 < len(label) <= MAX_LABEL:
        raise SchemaError(owner, f"a label must have 1 to {MAX_LABEL} characters", got=len(label)).with_hint(
            "Shorten the labels, and the values that they stand for."
        )


def check_unique(owner: str, noun: str, texts: Iterable[str]) -> None:
    """Refuse texts that occur more than once; name at most ten."""
    repeated = [text for text, count in Counter(texts).items() if count > 1]
    if repeated:
        raise SchemaError(owner, noun, "must be distinct", got=f"{name_some(repeated)} more than once").with_hint(
            "List each of them once."
        )


def positions_of(
    owner: str, noun: str, position_of: Mapping[str, int], values: Iterable[Scalar], *, add: str
) -> NDArray[np.intp]:
    """Give the position of each value, or raise `SchemaError` that counts the values without one.

    They may be cells of a table, so none is quoted.
    """
    known = list(values)
    lacking = sum(text_of(value) not in position_of for value in known)
    if lacking:
        raise SchemaError(owner, f"every value must be a {noun}", got=f"{lacking} that are not").with_hint(
            f"{MATCHED_BY_TEXT}; add a {add} for each of them."
        )
    return np.array([position_of[text_of(value)] for value in known], dtype=np.intp)

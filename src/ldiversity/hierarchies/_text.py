"""The texts by which files name the values of a domain."""

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
"""The start of the hint when a hierarchy lacks values."""


def text_of(value: Scalar) -> str:
    """Return the text by which a file names `value`: ``str(value)``, and ``(missing)`` for None.

    Examples
    --------
    >>> text_of(1), text_of("flu"), text_of(None)
    ('1', 'flu', '(missing)')
    """
    return MISSING_LABEL if value is None else str(value)


def check_label(owner: str, label: object) -> None:
    """Refuse a label that is not a text, is empty, or is longer than `MAX_LABEL`."""
    if not isinstance(label, str):
        raise SchemaError(owner, "a label must be text", got=type(label).__name__)
    if not 0 < len(label) <= MAX_LABEL:
        raise SchemaError(owner, f"a label must have 1 to {MAX_LABEL} characters", got=len(label)).with_hint(
            "Shorten the labels, and the values that they name."
        )


def check_unique(owner: str, noun: str, texts: Iterable[str]) -> None:
    """Refuse texts that occur more than once; the message names at most ten."""
    repeated = [text for text, count in Counter(texts).items() if count > 1]
    if repeated:
        raise SchemaError(owner, noun, "must be distinct", got=f"{name_some(repeated)} more than once").with_hint(
            "List each of them once."
        )


def positions_of(
    owner: str, noun: str, position_of: Mapping[str, int], values: Iterable[Scalar], *, add: str
) -> NDArray[np.intp]:
    """Return the position of each value, or raise `SchemaError` with the number of values without one.

    They may be cells of a table, so the message quotes none.
    """
    texts = [text_of(value) for value in values]
    lacking = sum(text not in position_of for text in texts)
    if lacking:
        raise SchemaError(owner, f"every value must be a {noun}", got=f"{lacking} that are not").with_hint(
            f"{MATCHED_BY_TEXT}; add a {add} for each of them."
        )
    return np.array([position_of[text] for text in texts], dtype=np.intp)

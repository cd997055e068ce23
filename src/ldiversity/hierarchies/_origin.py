"""Where the leaves of a hierarchy come from: declared, or read off values that somebody's table may hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Origin", "OriginKind"]

OriginKind: TypeAlias = Literal["width", "quantiles", "prefix", "date", "flat"]


@dataclass(frozen=True)
class Origin:
    """How a hierarchy was made from values. A hierarchy without one was declared, and is public as it is.

    Parameters
    ----------
    kind
        What its labels mean: intervals, beginnings of texts, parts of the calendar, or nothing but the values.
    mask
        What stands for a dropped character in the beginning of a text.
    """

    kind: OriginKind
    mask: str = ""

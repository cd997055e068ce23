"""Where the leaves of a hierarchy come from: declared, or taken from values that may be cells of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Origin", "OriginKind"]

OriginKind: TypeAlias = Literal["width", "quantiles", "prefix", "date", "flat", "level"]


@dataclass(frozen=True)
class Origin:
    """How a hierarchy was made from values. A hierarchy without an origin was declared, and is public.

    `kind` says what the labels mean; `mask` replaces a dropped character in a prefix.
    """

    kind: OriginKind
    mask: str = ""

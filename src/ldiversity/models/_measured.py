"""What a privacy model measures: the figure that audits, reports and comparisons show of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Literal, TypeAlias

__all__ = ["Figures", "Measured"]

Figures: TypeAlias = float | Mapping[str, float]
"""A figure: one number, or several by name."""


@dataclass(frozen=True)
class Measured:
    """The figure of a model: its name, what it says, and how it is written.

    Parameters
    ----------
    name
        The key of the figure in audits and their JSON. A name never changes its meaning.
    meaning
        What the figure says of a release, as a phrase: ``"different values in the least diverse class"``.
    written
        ``number``: as it is reached; ``whole``: reached values are whole numbers, such as records or values; ``share``:
        the model asks for at least l, and the figure is the share 1/l.
    infinite
        Why there is no figure when the worst class reaches infinitely much.

    Examples
    --------
    >>> Measured("distinct_l", "different values in the least diverse class", "whole").told(3.0)
    3
    """

    name: str
    meaning: str
    written: Literal["number", "whole", "share"] = "number"
    infinite: str = "Nothing that is greater holds."

    def told(self, reached: float) -> float | None:
        """The figure for what the worst class reaches; None when that is infinite."""
        if not isfinite(reached):
            return None
        if self.written == "whole":
            return int(reached)
        return (1 / reached if reached else 0.0) if self.written == "share" else float(reached)

"""The l to begin with, the same wherever one is advised."""

from __future__ import annotations

from typing import Final

__all__ = ["LEAST_L", "usual_l"]

LEAST_L: Final = 2
"""With fewer values nothing is hidden."""

_USUAL_L: Final = 3


def usual_l(largest: int) -> int:
    """The l that descriptions, plans and audits advise where up to `largest` is possible with all records.

    It is 3: someone who knows nothing else is right once in three times. More hides more and costs more; plans and
    comparisons say how much. Where 3 is not possible, it is what is; where not even 2 is, records must be left out.

    Examples
    --------
    >>> [usual_l(largest) for largest in (0, 1, 2, 3, 6)]
    [2, 2, 2, 3, 3]
    """
    return max(LEAST_L, min(_USUAL_L, largest))

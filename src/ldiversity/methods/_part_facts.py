"""What a method says about the parts of a table that it grouped one by one, put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import Json

__all__ = ["PartFacts", "join_usual_facts"]


@dataclass(frozen=True)
class PartFacts:
    """How it went in one part: the method's facts, rows, rows that are published, and classes of each partition."""

    facts: Mapping[str, Json]
    n_rows: int
    n_published: int
    n_classes: tuple[int, ...]


def join_usual_facts(parts: Sequence[PartFacts]) -> dict[str, Json]:
    """Facts of all parts as one: whole numbers are added up, and fractions are averaged over rows.

    What is neither, and differs, is left out.

    Examples
    --------
    >>> facts = [{"classes": 2, "loss": 0.5}, {"classes": 1, "loss": 0.25}]
    >>> join_usual_facts([PartFacts(own, 4, 4, (2,)) for own in facts])
    {'classes': 3, 'loss': 0.375}
    """
    joined: dict[str, Json] = {}
    parts = [part for part in parts if part.facts]  # what is left out before is no part of which a method knows
    for name in dict.fromkeys(name for part in parts for name in part.facts):
        found = [part.facts.get(name) for part in parts]
        numbers = [one for one in found if isinstance(one, int | float) and not isinstance(one, bool)]
        if len(numbers) < len(found):
            if all(one == found[0] for one in found):
                joined[name] = found[0]
        elif all(isinstance(one, int) for one in numbers):
            joined[name] = int(sum(numbers))
        else:
            rows: NDArray[np.int64] = np.array([part.n_rows for part in parts])
            joined[name] = float(np.average(numbers, weights=rows))
    return joined

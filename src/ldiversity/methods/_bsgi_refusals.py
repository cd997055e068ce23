"""Why BSGI cannot form classes, and the way out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.numbers import counted
from ldiversity.errors import InfeasibleError
from ldiversity.methods._bsgi_space import Keys
from ldiversity.sentences import Setting, say

__all__ = ["check_most", "none_left", "unplaced"]

_LEAST_L: Final = 2


def check_most(counts: Mapping[str, NDArray[np.int64]], l: int) -> None:
    """Refuse when a value or a person has too many records; by what each key is called, how often each occurs."""
    who, worst = max(counts.items(), key=lambda known: int(known[1].max(initial=0)))
    n_rows, most = int(worst.sum()), int(worst.max(initial=0))
    if most * l <= n_rows:
        return
    possible, different = n_rows // most, min(int(np.count_nonzero(known)) for known in counts.values())
    rule = f"must be at most {possible}, because {who} has more than 1/{l} of the records"
    if possible < _LEAST_L:
        rule = f"cannot be reached with all records, because {who} has more than half of them"
    hint: str = f"The largest possible l is {possible}." if possible >= _LEAST_L else ""
    if l <= different or possible < _LEAST_L <= different:  # else leaving records out does not help
        smaller = say("{} with ", Setting("l", different)) if l > different else ""
        leave = say("{}{} leaves out as few records as needed.", smaller, Setting("overflow", "suppress"))
        hint = say("{} {}", hint, leave) if hint else leave
    raise InfeasibleError(
        "BSGI", "l", rule, got=l, nearest=[{"l": possible}] if possible >= _LEAST_L else []
    ).with_hint(hint or "Publish the column with another method, or leave it out.")


def none_left(keys: Keys, l: int, *, shared: bool) -> InfeasibleError:
    """Say why no class can be formed, even where records are left out; `shared` if values may repeat in a class."""
    distinct = min(int(np.count_nonzero(keys.counts(key))) for key in range(len(keys.names)))
    if distinct < l and not shared:
        return InfeasibleError(
            "BSGI",
            "l",
            f"must be at most {distinct}, the number of different values in the records"
            if distinct >= _LEAST_L
            else "cannot be reached, because all records have one value",
            got=l,
            nearest=[{"l": distinct}] if distinct >= _LEAST_L else [],
        ).with_hint("No class of so many different values can be formed.")
    apart = "leave each value its share" if shared else "differ in each"
    return InfeasibleError(
        "BSGI", f"no {l} records {apart} of {', '.join(keys.names)} together, although each allows it alone"
    ).with_hint("Use a smaller l, or publish these columns apart.")


def unplaced(keys: Keys, lost: int, l: int, *, shared: bool, moved: bool = False) -> InfeasibleError:
    """Say that so many records found no place; `shared` if values may repeat in a class.

    `moved` says whether records changed places before: classes as they were then may have room.
    """
    rule = "leave each value its share" if shared else f"differ in {', '.join(keys.names)}"
    other = say("Try {}, which forms other classes, ", Setting("effort", 0)) if moved else "Use "
    return InfeasibleError(
        "BSGI", f"{counted(lost, 'record')} could not be placed in classes of {l} that {rule}"
    ).with_hint(say("{}a smaller l, or {} to leave them out.", other, Setting("overflow", "suppress")))

"""The independent check of published sets and rows: it shares no code with the samplers that made them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray, IntArray, SetArray, all_ascend
from ldiversity.base.combinations import Combinations
from ldiversity.base.numbers import counted_of
from ldiversity.errors import ClaimError
from ldiversity.release._claims import Claim

__all__ = ["REPORT_IT", "verify_exploded", "verify_inside", "verify_sets"]

REPORT_IT: Final = "Nothing was published. Please report this with the command that was run, without the data."


def verify_sets(claim: Claim, sets: SetArray, n_values: int, distances: FloatArray | None) -> None:
    """Check sets of shape (n, l) against the claim, or raise `ClaimError`.

    The domain has `n_values` values. A claim with a least distance needs the distances between them.

    Examples
    --------
    >>> import numpy as np
    >>> claim = Claim(attribute="x", model="l-diversity", l=2, d=None, posterior=0.5)
    >>> verify_sets(claim, np.array([[0, 1], [2, 2]]), 3, None)
    Traceback (most recent call last):
        ...
    ldiversity.errors.ClaimError: x: 1 of 2 published sets breaks the claim that every set has 2 distinct values.
    Hint: Nothing was published. Please report this with the command that was run, without the data.
    """
    n = len(sets)
    if sets.ndim != 2 or sets.shape[1] != claim.l:  # noqa: PLR2004 - a matrix
        raise ClaimError(f"published sets must have {claim.l} members each", column=claim.attribute, hint=REPORT_IT)
    verify_inside(claim.attribute, sets, n_values)
    if claim.d is None and all_ascend(sets):
        return  # ascending and distinct, which is nearly always so
    repeated = np.zeros(n, dtype=bool)
    too_close = np.zeros(n, dtype=bool)
    for a, b in combinations(range(claim.l), 2):
        repeated |= sets[:, a] == sets[:, b]
        if claim.d is not None and distances is not None:
            too_close |= distances[sets[:, a], sets[:, b]] < claim.d
    _refuse(claim, repeated, f"every set has {claim.l} distinct values")
    # Ascending as they stand: a place among the members must not tell which one is true.
    _refuse(claim, np.any(sets[:, 1:] < sets[:, :-1], axis=1), "members are in domain order")
    if claim.d is not None:
        if distances is None:
            raise ClaimError(
                "a claim with a least distance needs the distances", column=claim.attribute, hint=REPORT_IT
            )
        _refuse(claim, too_close, f"members are at least {claim.d:g} apart")


def verify_inside(attribute: str, sets: SetArray, n_values: int) -> None:
    """Raise `ClaimError` unless all members of sets are codes of the domain.

    Examples
    --------
    >>> import numpy as np
    >>> verify_inside("disease", np.array([[0, 3]]), 4)
    """
    if sets.size and (sets.min() < 0 or sets.max() >= n_values):
        raise ClaimError("published sets must stay inside the domain", column=attribute, hint=REPORT_IT)


def verify_exploded(
    claim: Claim, rows: Iterable[tuple[pa.Table, CodeArray]], n_values: int, distances: FloatArray | None = None
) -> None:
    """Check exploded rows: among people who look alike, no value has more than 1/l of the rows.

    A person who looks like nobody else has exactly l rows. These are their set, so the least distance is checked too.
    Where several people look alike, their sets can no longer be told apart, and are not checked.

    The rows come some at a time: their other columns, and a member of each. The domain has `n_values` values.
    """
    seen: Combinations | None = None
    for columns, members in rows:
        if seen is None:
            seen = Combinations(whole=columns.num_columns)
        names = [*map(str, range(columns.num_columns)), "member"]
        seen.add(pa.table([*columns.columns, pa.array(members)], names=names))
    broken, n_groups = 0, 0
    for part in () if seen is None else seen.parts():
        largest, total, sets = _alike(part, claim.l)
        broken += int(np.count_nonzero((total % claim.l != 0) | (largest * claim.l > total)))
        n_groups += len(total)
        if not broken:
            verify_sets(claim, sets, n_values, distances)
    if broken:
        raise _broken(claim, broken, n_groups, f"no value has more than 1/{claim.l} of the rows that look alike")


def _alike(part: pa.Table, l: int) -> tuple[IntArray, IntArray, SetArray]:
    """Of people who look alike: the most rows of one value, and all rows; and the sets of people who stand alone."""
    *keys, member, n = part.column_names
    if not keys:  # without other columns everybody looks alike
        part, keys = part.append_column("", pa.nulls(part.num_rows, pa.int8())), [""]
    groups = part.group_by(keys).aggregate([(n, "max"), (n, "sum"), (member, "list")])
    total = groups[f"{n}_sum"].to_numpy()
    alone = groups.filter(pa.array(total == l))[f"{member}_list"].combine_chunks()
    # Only those with l different members have a set; of all others the counts say that they break the claim.
    sets = alone.filter(pc.equal(pc.list_value_length(alone), l)).flatten()
    return groups[f"{n}_max"].to_numpy(), total, np.sort(np.asarray(sets).reshape(-1, l), axis=1)


def _refuse(claim: Claim, broken: BoolArray, promise: str) -> None:
    count = int(broken.sum())
    if count:
        raise _broken(claim, count, len(broken), promise)


def _broken(claim: Claim, count: int, among: int, promise: str) -> ClaimError:
    text = f"{counted_of(count, among, 'published set', 'breaks', 'break')} the claim that {promise}"
    return ClaimError(text, column=claim.attribute, hint=REPORT_IT)

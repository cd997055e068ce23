"""The independent check of published sets and rows: it shares no code with the samplers that made them."""

from __future__ import annotations

from itertools import combinations
from typing import Final

import numpy as np
import pyarrow as pa

from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray, SetArray
from ldiversity.errors import ClaimError
from ldiversity.release._claims import Claim

__all__ = ["REPORT_IT", "verify_exploded", "verify_sets"]

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
    ldiversity.errors.ClaimError: x: 1 of 2 published sets break the claim that every set has 2 distinct values.
    Hint: Nothing was published. Please report this with the command that was run, without the data.
    """
    n = len(sets)
    if sets.ndim != 2 or sets.shape[1] != claim.l:  # noqa: PLR2004 - a matrix
        raise ClaimError(f"published sets must have {claim.l} members each", column=claim.attribute, hint=REPORT_IT)
    if n and (sets.min() < 0 or sets.max() >= n_values):
        raise ClaimError("published sets must stay inside the domain", column=claim.attribute, hint=REPORT_IT)
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


def verify_exploded(claim: Claim, columns: pa.Table, members: CodeArray, distances: FloatArray | None = None) -> None:
    """Check exploded rows: among people who look alike, no value has more than 1/l of the rows.

    A person who looks like nobody else has exactly l rows. These are their set, so the least distance is checked too.
    Where several people look alike, their sets can no longer be told apart, and are not checked.
    """
    # Without other columns everybody looks alike.
    alike = columns if columns.num_columns else pa.table({"": pa.array(np.zeros(len(members), dtype=np.int8))})
    keys = [f"k{number}" for number in range(alike.num_columns)]
    rows = alike.rename_columns(keys).append_column("member", pa.array(members))
    per_value = rows.group_by([*keys, "member"]).aggregate([([], "count_all")])
    per_group = per_value.group_by(keys).aggregate([("count_all", "max"), ("count_all", "sum"), ("member", "list")])
    largest = per_group["count_all_max"].to_numpy()
    total = per_group["count_all_sum"].to_numpy()
    broken = (total % claim.l != 0) | (largest * claim.l > total)
    _refuse(claim, broken, f"no value has more than 1/{claim.l} of the rows that look alike")
    alone = per_group.filter(pa.array(total == claim.l))["member_list"].combine_chunks().flatten()
    verify_sets(claim, np.sort(np.asarray(alone).reshape(-1, claim.l), axis=1), int(members.max()) + 1, distances)


def _refuse(claim: Claim, broken: BoolArray, promise: str) -> None:
    count = int(broken.sum())
    if count:
        raise ClaimError(
            f"{count} of {len(broken)} published sets break the claim that {promise}", column=claim.attribute
        ).with_hint(REPORT_IT)

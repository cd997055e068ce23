"""Checks that the mechanism can have published the sets of a release, which may come from a stranger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ldiversity.errors import ReleaseFormatError
from ldiversity.estimation._threads import map_threads, slices
from ldiversity.mechanisms import UniformSelection

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ldiversity.base.arrays import FloatArray, SetArray
    from ldiversity.mechanisms import SetMechanism

__all__ = ["admissible_members", "admissible_sets", "check_likelihood", "damaged", "whole_records"]


def admissible_sets(mechanism: SetMechanism, sets: SetArray) -> SetArray:
    """Give the sets with ascending members, or raise `ReleaseFormatError` when the mechanism cannot publish one.

    Examples
    --------
    >>> admissible_sets(UniformSelection(n_values=4, l=2), np.array([[0, 1], [3, 2]]))
    array([[0, 1],
           [2, 3]], dtype=int32)
    """
    from ldiversity._kernels.cells import are_allowed, are_ascending

    if sets.shape[1] != mechanism.l:
        raise _damaged(f"must have {mechanism.l} values")
    rows = admissible_members(mechanism, sets)
    pairs = getattr(mechanism, "compatibility", None)  # only mechanisms with a distance have it
    # One pass checks the order and the distances: a pair is allowed in ascending order only.
    if pairs is not None:
        ascending, codes = np.triu(pairs.allowed, 1), rows.view(np.uint32)
        if all(map_threads(lambda part: are_allowed(codes[part], ascending), slices(len(rows)))):
            return rows
    if not are_ascending(rows):
        rows = np.sort(rows, axis=1)
        if not are_ascending(rows):
            raise _damaged("must have distinct values")
    if not (isinstance(mechanism, UniformSelection) or bool(mechanism.admits(rows).all())):
        raise _damaged("must be sets that its mechanism can publish")
    return rows


def admissible_members(mechanism: SetMechanism, members: SetArray) -> SetArray:
    """Give the members, or raise `ReleaseFormatError` when one is outside the domain: compiled loops do not check."""
    if members.size and (members.min() < 0 or members.max() >= mechanism.n_values):
        raise _damaged("must have members of the domain alone")
    return np.ascontiguousarray(members, dtype=np.int32)


def whole_records(mechanism: SetMechanism, rows: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the records of exploded rows, or raise `ReleaseFormatError` when a set must be incomplete."""
    records = rows // mechanism.l
    if (rows % mechanism.l).any() or (counts > records[:, None]).any():
        raise _damaged(f"must be complete, with {mechanism.l} distinct values per record")
    return records


def check_likelihood(likelihood: FloatArray) -> None:
    """Raise `ReleaseFormatError` unless every set can come from one of its members."""
    if not (likelihood.max(axis=1) > 0).all():
        raise _damaged("must be sets that its mechanism can publish")


def _damaged(rule: str) -> ReleaseFormatError:
    return damaged(f"the sets of the release {rule}")


def damaged(rule: str) -> ReleaseFormatError:
    """The error of a release that breaks a rule which every publisher keeps."""
    return ReleaseFormatError("estimate", rule, hint="The release is damaged; ask the publisher for a good copy.")

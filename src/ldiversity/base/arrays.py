"""Names for the types that pass between modules: arrays, public values, JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BoolArray",
    "ClassArray",
    "CodeArray",
    "FloatArray",
    "IntArray",
    "Json",
    "Scalar",
    "SetArray",
    "WordArray",
    "all_ascend",
    "class_dtype",
    "different",
]

_Number = TypeVar("_Number", bound=np.integer[Any])

CodeArray: TypeAlias = NDArray[np.int32]
"""Shape (n,): positions in a `Domain`, one per record."""

ClassArray: TypeAlias = NDArray[np.signedinteger[Any]]
"""Shape (n,): the class of each record, from 0, or -1; 64 bits wide where there are too many classes for 32."""

SetArray: TypeAlias = NDArray[np.int32]
"""Shape (n, l): positions in a `Domain`, ascending within each row, so that their order carries no information."""

WordArray: TypeAlias = NDArray[np.uint64]
"""Shape (n, words): uniformly random 64-bit words, one row per record."""

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

Scalar: TypeAlias = str | int | float | bool | None
"""A public value of a domain; ``None`` is the category of missing values."""

Json: TypeAlias = Union[bool, int, float, str, Sequence["Json"], Mapping[str, "Json"], None]  # noqa: UP007 - recursive
"""What a document in JSON may hold, such as `release.json`."""


def class_dtype(n_classes: int) -> type[np.int32 | np.int64]:
    """The type of `ClassArray` for so many classes, and of their published numbers, which are greater by 1.

    Examples
    --------
    >>> class_dtype(2**31 - 1), class_dtype(2**31)
    (<class 'numpy.int32'>, <class 'numpy.int64'>)
    """
    return np.int32 if n_classes <= np.iinfo(np.int32).max else np.int64


def different(numbers: NDArray[_Number]) -> NDArray[_Number]:
    """The different ones of some whole numbers, ascending.

    `numpy.unique` finds them by hashing, which takes far longer than sorting where nearly all of them differ.

    Examples
    --------
    >>> different(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), dtype=np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def all_ascend(sets: SetArray) -> bool:
    """Whether the members of every row are distinct and in ascending order.

    Neighbours are compared over all rows at once: numpy is slow where each row has only a few numbers.

    Examples
    --------
    >>> all_ascend(np.array([[0, 4], [1, 2]])), all_ascend(np.array([[0, 4], [2, 2]]))
    (True, False)
    """
    members = sets.reshape(-1)
    rises = np.ones(len(members), dtype=np.bool_)
    np.greater(members[1:], members[:-1], out=rises[1:])
    rises[:: max(sets.shape[1], 1)] = True  # the first of a row has no neighbour before it
    return bool(rises.all())

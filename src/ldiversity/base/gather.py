"""Looking up many places of a small array: Arrow does it several times faster than numpy, and beside other threads."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["all_inside", "gathered"]

_Number = TypeVar("_Number", bound=np.number[Any])


def gathered(
    values: NDArray[_Number], places: NDArray[np.integer[Any]] | pa.Array, *, inside: bool = False
) -> NDArray[_Number]:
    """The value at each place, as ``values[places]``; the result cannot be written to.

    A place that the array does not have, and a negative one, is an `IndexError`. A caller who made the places, and so
    knows that all are `inside`, saves looking for those.

    Examples
    --------
    >>> gathered(np.array([7, 8, 9]), np.array([2, 0, 0], dtype=np.int32)).tolist()
    [9, 7, 7]
    """
    wanted = places if isinstance(places, pa.Array) else pa.array(places)
    # Where Arrow looks at each place, that takes longer than looking up.
    checked = inside or (not wanted.null_count and all_inside(wanted, len(values)))
    found: NDArray[_Number] = pc.take(pa.array(values), wanted, boundscheck=not checked).to_numpy()
    return found


def all_inside(places: pa.Array, length: int) -> bool:
    """Whether whole numbers, of which none is missing, are all from 0 to below `length`.

    Examples
    --------
    >>> all_inside(pa.array([0, 2]), 3), all_inside(pa.array([0, 3]), 3), all_inside(pa.array([-1, 2]), 3)
    (True, False, False)
    """
    numbers = places.to_numpy()
    unsigned = numbers.view(f"u{numbers.dtype.itemsize}")  # in which a negative one is larger than any length
    return not len(unsigned) or int(unsigned.max()) < length

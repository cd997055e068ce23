"""Names for the types that pass between modules: arrays, public values, JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

__all__ = ["BoolArray", "CodeArray", "FloatArray", "Json", "Scalar", "SetArray", "WordArray"]

CodeArray: TypeAlias = NDArray[np.int32]
"""Shape (n,): positions in a `Domain`, one per record."""

SetArray: TypeAlias = NDArray[np.int32]
"""Shape (n, l): positions in a `Domain`, ascending within each row, so that their order carries no information."""

WordArray: TypeAlias = NDArray[np.uint64]
"""Shape (n, words): uniformly random 64-bit words, one row per record."""

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

Scalar: TypeAlias = str | int | float | bool | None
"""A public value of a domain; ``None`` is the category of missing values."""

Json: TypeAlias = Union[bool, int, float, str, Sequence["Json"], Mapping[str, "Json"], None]  # noqa: UP007 - recursive
"""What a document in JSON may hold, such as `release.json`."""

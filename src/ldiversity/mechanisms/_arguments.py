"""Checks that the mechanisms share: of priors, of the arguments of samplers, of stored descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldiversity.base.arrays import CodeArray, FloatArray, Json, WordArray
from ldiversity.errors import ParameterError, ReleaseFormatError

__all__ = ["check_prior", "check_sample", "described_integer", "described_number", "read_only"]


def check_prior(owner: str, prior: ArrayLike | None, n_values: int) -> FloatArray:
    """Return `prior` as shares that sum to one; uniform when None.

    Examples
    --------
    >>> check_prior("UniformSelection", [3, 1, 0], 3)
    array([0.75, 0.25, 0.  ])
    """
    if prior is None:
        return np.full(n_values, 1.0 / n_values)
    try:
        weights = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.full(0, np.nan)
    rule = f"{n_values} finite weights of at least 0, not all 0"
    if weights.shape != (n_values,):
        raise ParameterError(owner, "prior", f"must be {rule}", got=f"shape {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ParameterError(owner, "prior", f"must be {rule}", hint="Give each value a weight in code order.")
    scaled = weights / weights.max()  # the sum of huge weights stays finite
    shares: FloatArray = scaled / scaled.sum()
    return shares


def check_sample(
    owner: str, codes: CodeArray, words: WordArray, *, n_values: int, n_words: int
) -> tuple[CodeArray, WordArray]:
    """Return codes and words as contiguous arrays that a kernel can use without checks.

    Examples
    --------
    >>> check_sample("UniformSelection", [0, 9], np.zeros((2, 2), np.uint64), n_values=5, n_words=2)
    Traceback (most recent call last):
    ldiversity.errors.ParameterError: UniformSelection: codes must be integers from 0 to 4.
    """
    checked = np.ascontiguousarray(codes, dtype=np.int32)
    if checked.ndim != 1 or (checked.size and (int(checked.min()) < 0 or int(checked.max()) >= n_values)):
        raise ParameterError(owner, "codes", f"must be integers from 0 to {n_values - 1}")
    shape = np.shape(words)
    if len(shape) != 2 or shape[0] != len(checked) or shape[1] < n_words:  # noqa: PLR2004 - rows and columns
        raise ParameterError(owner, "words", f"must have shape ({len(checked)}, {n_words} or more)", got=shape)
    return _writable(checked), _writable(np.ascontiguousarray(words, dtype=np.uint64))


def _writable(array: NDArray[Any]) -> NDArray[Any]:
    # The kernels only read, but numba would compile them again for read-only arrays.
    return array if array.flags.writeable else array.copy()


def described_integer(described: Mapping[str, Json], name: str, minimum: int, maximum: int) -> int:
    """Read an integer from an untrusted description."""
    value = described.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
        raise ReleaseFormatError("release", f"mechanism: {name} must be an integer from {minimum} to {maximum}")
    return value


def described_number(described: Mapping[str, Json], name: str) -> float:
    """Read a finite number of at least 0 from an untrusted description."""
    value = described.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise ReleaseFormatError("release", f"mechanism: {name} must be a finite number of at least 0")
    return float(value)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same array, made read-only."""
    array.flags.writeable = False
    return array

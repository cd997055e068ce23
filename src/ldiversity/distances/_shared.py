"""What all kinds of distance share: cover a domain, check a matrix, check an untrusted description."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ldiversity.base.arrays import Json
from ldiversity.base.checks import name_some
from ldiversity.errors import ParameterError, ReleaseFormatError, SchemaError
from ldiversity.hierarchies import MATCHED_BY_TEXT
from ldiversity.sentences import say

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from ldiversity.base.arrays import FloatArray, Scalar
    from ldiversity.schema import Domain

__all__ = ["MAX_VALUES", "check_keys", "check_matrix", "check_size", "listed_codes", "refusing", "spread"]

MAX_VALUES: Final = 10_000
"""Largest domain for which a matrix of distances is made (800 MB)."""

_SYMMETRY_TOLERANCE: Final = 1e-9


def check_size(owner: str, domain: Domain) -> int:
    """Return the size of a domain, or refuse one that is too large for a matrix."""
    if len(domain) > MAX_VALUES:
        raise SchemaError(owner, f"the domain must have at most {MAX_VALUES} values", got=len(domain)).with_hint(
            "Group rare values, or bin numbers, so that fewer values remain."
        )
    return len(domain)


def listed_codes(owner: str, domain: Domain, is_listed: Callable[[Scalar], bool]) -> list[int]:
    """Return the codes of the values that a distance lists; only the category of missing values may be absent.

    Raises
    ------
    SchemaError
        When another value is not listed, or two values have the same text. The domain may come from a table, so
        the message counts the values and does not quote them.
    """
    check_size(owner, domain)
    repeated = len(domain) - len(set(domain.labels))
    if repeated:
        raise SchemaError(
            owner, "texts of the domain's values must be distinct", got=f"{repeated} that are not"
        ).with_hint("Rename one of the values.")
    codes = [code for code, value in enumerate(domain.values) if is_listed(value)]
    listed = set(codes)
    absent = sum(code not in listed and value is not None for code, value in enumerate(domain.values))
    if absent:
        raise SchemaError(owner, "every value of the domain must be listed", got=f"{absent} that are not").with_hint(
            f"{MATCHED_BY_TEXT}; add them to the file of the distance."
        )
    return codes


def spread(distances: FloatArray, codes: Collection[int], size: int) -> FloatArray:
    """Extend the distances of the values `codes` to all values: the others get the greatest distance from everything.

    When all given distances are 0, the greatest counts as 1.

    Examples
    --------
    >>> spread(np.array([[0.0, 3.0], [3.0, 0.0]]), [0, 2], 3)
    array([[0., 3., 3.],
           [3., 0., 3.],
           [3., 3., 0.]])
    """
    if len(codes) == size:
        return distances
    matrix = np.full((size, size), distances.max(initial=0.0) or 1.0)
    np.fill_diagonal(matrix, 0.0)
    matrix[np.ix_(list(codes), list(codes))] = distances
    return matrix


def check_matrix(owner: str, matrix: FloatArray, names: Collection[object]) -> FloatArray:
    """Check that a matrix holds distances, and return it exactly symmetric.

    Raises
    ------
    SchemaError
        When it is not square, or an entry is infinite, NaN, negative, nonzero on the diagonal, or differs from its
        mirror image by more than rounding; names the two values of the first such entry.
    """
    size = len(names)
    if matrix.shape != (size, size):
        shape = " x ".join(map(str, matrix.shape))
        raise SchemaError(owner, f"the matrix must be {size} x {size}, one row per value", got=shape)
    _check_entries(owner, names, ~np.isfinite(matrix), "finite")
    _check_entries(owner, names, matrix < 0, "at least 0")
    _check_entries(owner, names, np.diag(np.diag(matrix) != 0), "0 from a value to itself")
    skewed = ~np.isclose(matrix, matrix.T, rtol=_SYMMETRY_TOLERANCE, atol=0.0)
    _check_entries(owner, names, skewed, "the same in both directions")
    # The smaller of two mirror images: rounding must not make two values count as far enough apart.
    return np.minimum(matrix, matrix.T)


def _check_entries(owner: str, names: Collection[object], wrong: np.ndarray[Any, Any], rule: str) -> None:
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        listed = list(names)
        raise SchemaError(
            owner, "distances", f"must be {rule}, but the one from {listed[row]!r} to {listed[column]!r} is not"
        )


def check_keys(kind: str, described: object, keys: Collection[str]) -> Mapping[str, Json]:
    """Refuse an untrusted description that is not a dict, is of another kind, or has other keys than `keys`."""
    if not isinstance(described, dict):
        raise ReleaseFormatError("release", "a distance must be an object", got=type(described).__name__)
    if described.get("kind") != kind:
        raise ReleaseFormatError("release", f"a distance of kind {kind!r} must say so under 'kind'")
    if described.keys() != {"kind", *keys}:
        wanted = name_some(["kind", *keys])
        raise ReleaseFormatError("release", f"a distance of kind {kind!r} must have exactly the keys {wanted}")
    return described


@contextmanager
def refusing(kind: str) -> Iterator[None]:
    """Turn a fault in an untrusted description into a `ReleaseFormatError`."""
    try:
        yield
    except OverflowError as error:
        raise ReleaseFormatError(
            "release", f"the distance of kind {kind!r} is damaged: a number is too large"
        ) from error
    except (SchemaError, ParameterError) as error:
        raise ReleaseFormatError(
            "release", say("the distance of kind {} is damaged: {}", repr(kind), error.message)
        ) from error

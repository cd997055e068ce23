"""The independent check of published classes: it counts again what was published, without any code of the methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.errors import ClaimError
from ldiversity.models import ClassCounts
from ldiversity.release._check_sets import REPORT_IT
from ldiversity.release._claims import ClassClaim
from ldiversity.schema import Domain

__all__ = ["verify_classes"]


def verify_classes(
    claims: Sequence[ClassClaim],
    *,
    domain: Domain,
    n_classes: int,
    row_classes: NDArray[np.integer[Any]],
    classes: NDArray[np.integer[Any]],
    codes: CodeArray,
    counts: NDArray[np.int64] | None = None,
) -> None:
    """Recount the values of every class, and check every claim on it, or raise `ClaimError`.

    Parameters
    ----------
    claims
        The promises about one attribute; at least one.
    row_classes
        The class of each published row, from 0; -1 where a record shows no value.
    classes, codes, counts
        Values as they were published, in any order: their class, their code and how often they occur there (once when
        None). Where values are in the rows, `classes` is `row_classes`.

    Examples
    --------
    >>> from ldiversity.models import FrequencyDiversity
    >>> claim, ids = ClassClaim("x", FrequencyDiversity(l=2)), np.array([0, 0, 1, 1])
    >>> codes = np.array([0, 1, 1, 1], dtype=np.int32)
    >>> verify_classes([claim], domain=Domain(("a", "b")), n_classes=2, row_classes=ids, classes=ids, codes=codes)
    Traceback (most recent call last):
        ...
    ldiversity.errors.ClaimError: x: 1 of 2 published classes break the claim: In every class no value of 'x' belongs to more than 1 of 2 records.
    Hint: Nothing was published. Please report this with the command that was run, without the data.
    """  # noqa: E501 - the message is one line
    claim = claims[0]
    if len(classes) != len(codes) or (counts is not None and len(counts) != len(codes)):
        raise _broken(claim, "every published value must have a class")
    if len(codes) and (codes.min() < 0 or codes.max() >= len(domain)):
        raise _broken(claim, "published values must stay inside the domain")
    if counts is not None and len(counts) and counts.min() < 1:
        raise _broken(claim, "published counts must be positive")
    if len(classes) and (classes.min() < 0 or classes.max() >= n_classes):
        raise _broken(claim, "published values must belong to a class")
    if len(row_classes) and (row_classes.min() < -1 or row_classes.max() >= n_classes):
        raise _broken(claim, "published rows must belong to a class")
    recounted = _recount(classes, codes, counts, n_classes, domain)
    rows = np.bincount(row_classes[row_classes >= 0], minlength=n_classes)
    if not np.array_equal(rows, recounted.sizes):
        different = int(np.count_nonzero(rows != recounted.sizes))
        raise _broken(claim, f"{different} of {n_classes} classes have different numbers of rows and values")
    if not n_classes or not rows.all():
        raise _broken(claim, "every class must have a row")
    for one in claims:
        failing = one.rule.failing(recounted)
        if len(failing):
            raise _broken(one, f"{len(failing)} of {n_classes} published classes break the claim: {one.statement[:-1]}")


def _recount(
    classes: NDArray[np.integer[Any]],
    codes: CodeArray,
    counts: NDArray[np.int64] | None,
    n_classes: int,
    domain: Domain,
) -> ClassCounts:
    """Count the records of each class and value by sorting what was published."""
    order = np.lexsort((codes, classes))
    held, values = classes[order], codes[order]
    weights = np.ones(len(order), dtype=np.int64) if counts is None else counts[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (held[1:] != held[:-1]) | (values[1:] != values[:-1])
    first = np.flatnonzero(new)
    summed = np.add.reduceat(weights, first) if len(first) else np.empty(0, dtype=np.int64)
    starts = np.searchsorted(held[first], np.arange(n_classes + 1))
    return ClassCounts(starts.astype(np.int64), values[first].astype(np.int32), summed.astype(np.int64), domain)


def _broken(claim: ClassClaim, what: str) -> ClaimError:
    return ClaimError(what, column=claim.attribute, hint=REPORT_IT)

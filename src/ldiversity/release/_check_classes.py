"""The independent check of published classes: it counts again what was published, without any code of the methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.base.numbers import counted_of, number, percent_at_most
from ldiversity.errors import ClaimError
from ldiversity.models import ClassCounts, failing_and_contradicted
from ldiversity.release._check_sets import REPORT_IT
from ldiversity.release._claims import ClassClaim
from ldiversity.schema import Domain

__all__ = ["ClassFaults", "Recount", "find_faults", "verify_classes"]

_WAITING: Final = 1 << 18
_NOTHING: Final = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32))


def verify_classes(  # noqa: PLR0913 - what was published, part by part
    claims: Sequence[ClassClaim],
    *,
    attribute: str | None = None,
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
        The promises about one attribute.
    attribute
        Its name, where nothing may be promised about its classes.
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
    ldiversity.errors.ClaimError: x: 1 of 2 published classes breaks the claim: In every class no value of 'x' belongs to more than 1 of 2 records.
    Hint: Nothing was published. Please report this with the command that was run, without the data.
    """  # noqa: E501 - the message is one line
    name = attribute if attribute is not None else claims[0].attribute
    if len(classes) != len(codes) or (counts is not None and len(counts) != len(codes)):
        raise _broken(name, "every published value must have a class")
    if len(codes) and (codes.min() < 0 or codes.max() >= len(domain)):
        raise _broken(name, "published values must stay inside the domain")
    if counts is not None and len(counts) and counts.min() < 1:
        raise _broken(name, "published counts must be positive")
    if len(classes) and (classes.min() < 0 or classes.max() >= n_classes):
        raise _broken(name, "published values must belong to a class")
    if len(row_classes) and (row_classes.min() < -1 or row_classes.max() >= n_classes):
        raise _broken(name, "published rows must belong to a class")
    recounted = _recount(classes, codes, counts, n_classes, domain)
    rows = np.bincount(row_classes[row_classes >= 0], minlength=n_classes)
    find_faults(claims, recounted, rows).refuse(name, claims)


@dataclass(frozen=True)
class ClassFaults:
    """How many classes have which fault. Those of some classes and of others add up to those of all.

    Parameters
    ----------
    n_classes
        How many classes were looked at.
    different
        Classes with other numbers of rows than of values.
    empty
        Classes without a row.
    failing
        For each claim: the classes that break it.
    contradicted
        For each claim: the classes that satisfy it only by the word of its model.

    Examples
    --------
    >>> ClassFaults(2, failing=(1,)) + ClassFaults(3, failing=(0,))
    ClassFaults(n_classes=5, different=0, empty=0, failing=(1,), contradicted=())
    """

    n_classes: int
    different: int = 0
    empty: int = 0
    failing: tuple[int, ...] = ()
    contradicted: tuple[int, ...] = ()

    def __add__(self, other: ClassFaults) -> ClassFaults:
        return ClassFaults(
            self.n_classes + other.n_classes,
            self.different + other.different,
            self.empty + other.empty,
            _added(self.failing, other.failing),
            _added(self.contradicted, other.contradicted),
        )

    def _of_all(self, n: int, one: str, several: str) -> str:
        return counted_of(n, self.n_classes, "published class|published classes", one, several)

    def refuse(self, attribute: str, claims: Sequence[ClassClaim]) -> None:
        """Raise `ClaimError` if there is a fault."""
        if self.different:
            what = f"{self._of_all(self.different, 'has', 'have')} different numbers of rows and values"
            raise _broken(attribute, what)
        if not self.n_classes or self.empty:
            raise _broken(attribute, "every class must have a row")
        for claim, failing in zip(claims, self.failing, strict=True):
            if failing:
                rule = claim.statement[:-1]
                raise _broken(attribute, f"{self._of_all(failing, 'breaks', 'break')} the claim: {rule}")
        for claim, alone in zip(claims, self.contradicted, strict=False):
            if alone:
                most = percent_at_most(claim.posterior)
                share = f"a value has more than {most} of the records, or " if claim.posterior < 1 else ""
                figure = f"its own figure is on the wrong side of {number(claim.rule.required)}"
                kept = f"{self._of_all(alone, 'keeps', 'keep')} {claim.rule.text!r}"
                raise _broken(attribute, f"{kept} by the word of that model alone: {share}{figure}")


def _added(mine: tuple[int, ...], theirs: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(one + other for one, other in zip_longest(mine, theirs, fillvalue=0))


def find_faults(claims: Sequence[ClassClaim], recounted: ClassCounts, rows: NDArray[np.int64]) -> ClassFaults:
    """The faults of classes whose values were counted again; `rows` has the number of rows of each."""
    different, empty = int(np.count_nonzero(rows != recounted.sizes)), int(np.count_nonzero(rows == 0))
    # A class without a value satisfies or breaks nothing.
    judged = not different and not empty
    found = [failing_and_contradicted(claim.rule, recounted) if judged else (0, 0) for claim in claims]
    failing, contradicted = (tuple(one[place] for one in found) for place in (0, 1))
    return ClassFaults(recounted.n_classes, different, empty, failing, contradicted)


class Recount:
    """Counts the values of classes again, batch by batch; memory grows with what is different, not with the rows.

    Examples
    --------
    >>> recount = Recount(2, Domain(("a", "b")))
    >>> for classes, codes in (([0, 1], [1, 1]), ([0, 0], [1, 0])):
    ...     recount.add(np.array(classes), np.array(codes, dtype=np.int32))
    >>> recount.result().dense().tolist()
    [[1, 2], [0, 1]]
    """

    def __init__(self, n_classes: int, domain: Domain) -> None:
        self._n_classes, self._domain = n_classes, domain
        self._counted = _recount(*_NOTHING, None, n_classes, domain)
        self._waiting: list[ClassCounts] = []

    def add(self, classes: NDArray[np.integer[Any]], codes: CodeArray, counts: NDArray[np.int64] | None = None) -> None:
        """Count some values: their classes, codes, and how often they occur there (once when None)."""
        self._waiting.append(_recount(classes, codes, counts, self._n_classes, self._domain))
        if sum(len(one.codes) for one in self._waiting) > max(_WAITING, len(self._counted.codes)):
            self._merge()

    def result(self) -> ClassCounts:
        """All that was added."""
        if self._waiting:
            self._merge()
        return self._counted

    def _merge(self) -> None:
        parts = [self._counted, *self._waiting]
        classes = [np.repeat(np.arange(self._n_classes), np.diff(one.starts)) for one in parts]
        codes, counts = (np.concatenate([getattr(one, name) for one in parts]) for name in ("codes", "counts"))
        self._waiting = []
        self._counted = _recount(np.concatenate(classes), codes, counts, self._n_classes, self._domain)


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


def _broken(attribute: str, what: str) -> ClaimError:
    return ClaimError(what, column=attribute, hint=REPORT_IT)

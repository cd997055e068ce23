"""Measures of a grouped release by the sizes of its classes and the records that were left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ldiversity.base.checks import check_integer, column_name, name_some
from ldiversity.errors import ParameterError
from ldiversity.evaluation.measures._original import n_records
from ldiversity.release import check_release

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ldiversity.base.arrays import BoolArray
    from ldiversity.release import Release

__all__ = ["additional_loss", "average_class_size", "discernibility", "hide_loss", "suppression"]


def discernibility(release: Release, *, sensitive: str | None = None) -> int:
    """Sum the squared sizes of the classes; a suppressed record counts as if it shared a class with all records.

    ``sum of |G|^2 + hidden * |T|``, with G the classes, T all records. Lower is better; at least ``l * |T|`` when
    every class has l records.

    Parameters
    ----------
    release
        A grouped release.
    sensitive
        The attribute whose classes to measure; needed only where each attribute has its own classes.

    Examples
    --------
    Two classes of 2 and 3 records and one record that was left out, of 6 in all: 4 + 9 + 6.

    >>> from ldiversity.evaluation.measures._samples import bucketized
    >>> discernibility(bucketized([0, 0, 1, 1, 1], suppressed=1))
    19
    """
    sizes, hidden = _sizes("discernibility", release, sensitive)
    return int(sizes @ sizes) + hidden * n_records(release)


def average_class_size(release: Release, *, sensitive: str | None = None, l: int | None = None) -> float:
    """Give the mean number of records of a class, optionally divided by the number of records that a class needs.

    Parameters
    ----------
    release
        A grouped release.
    sensitive
        The attribute whose classes to measure; needed only where each attribute has its own classes.
    l
        How many records a class needs. When given, the result is the normalized average ``(n / classes) / l``, 1 at
        best. Suppressed records count in neither.

    Examples
    --------
    >>> from ldiversity.evaluation.measures._samples import bucketized
    >>> release = bucketized([0, 0, 1, 1, 1])
    >>> average_class_size(release), average_class_size(release, l=2)
    (2.5, 1.25)
    """
    sizes, _ = _sizes("average_class_size", release, sensitive)
    needed = 1 if l is None else check_integer("average_class_size", "l", l, minimum=1)
    return float(sizes.mean() / needed)


def hide_loss(release: Release, *, sensitive: str | None = None) -> float:
    """Give the share of the records that are not published in full (paper 002).

    ``hidden / |T|``. For one attribute, its suppressed records are hidden. For all attributes, a record that lacks at
    least one is hidden; the paper takes the mean over attributes instead, which understates that.

    Parameters
    ----------
    release
        Any release; releases of sets hide no record.
    sensitive
        One attribute; None for all.

    Examples
    --------
    >>> from ldiversity.evaluation.measures._samples import bucketized
    >>> hide_loss(bucketized([0, 0, 1], suppressed=1))
    0.25
    """
    check_release("hide_loss", release)
    names = release.sensitive if sensitive is None else (_check_name("hide_loss", release, sensitive),)
    if not release.grouped:
        return 0.0
    hidden: BoolArray = np.logical_or.reduce([release.class_of(name) < 0 for name in names])
    return (int(np.count_nonzero(hidden)) + release.suppressed) / n_records(release)


def additional_loss(release: Release, *, sensitive: str | None = None, l: int | None = None) -> float:
    """Measure how much larger classes are than they need to be (paper 002).

    ``sum over classes of (|G| - l) / (classes * l)``; 0 when every class has l records.

    Parameters
    ----------
    release
        A grouped release.
    sensitive
        The attribute whose classes to measure; needed only where each attribute has its own classes.
    l
        How many records a class needs; the l of the release's claim when None.

    Examples
    --------
    Classes of 2 and 3 records where 2 are enough: 1 / (2 * 2).

    >>> from ldiversity.evaluation.measures._samples import bucketized
    >>> additional_loss(bucketized([0, 0, 1, 1, 1]))
    0.25
    """
    sizes, _ = _sizes("additional_loss", release, sensitive)
    needed = _claimed(release, sensitive) if l is None else check_integer("additional_loss", "l", l, minimum=1)
    return float((sizes - needed).sum() / (len(sizes) * needed))


def suppression(release: Release) -> float:
    """Give the share of the records that are not published at all.

    Examples
    --------
    >>> from ldiversity.evaluation.measures._samples import bucketized
    >>> suppression(bucketized([0, 0, 1], suppressed=1))
    0.25
    """
    check_release("suppression", release)
    return (n_records(release) - release.n_rows) / n_records(release)


def _sizes(owner: str, release: Release, sensitive: str | None) -> tuple[NDArray[np.int64], int]:
    """The size of each class, and how many records are in no class."""
    check_release(owner, release)
    if sensitive is None and len(set(release.class_columns.values())) > 1:
        raise ParameterError(
            owner, "sensitive", f"must name one of {name_some(release.sensitive)}: each has its own classes"
        )
    name = release.subjects[0] if sensitive is None else _check_name(owner, release, sensitive)
    class_of = release.class_of(name)
    hidden = int(np.count_nonzero(class_of < 0)) + release.suppressed
    return np.bincount(class_of[class_of >= 0]).astype(np.int64), hidden


def _claimed(release: Release, sensitive: str | None) -> int:
    claimed = release.claim(sensitive or release.subjects[0]).l
    if claimed is None:
        raise ParameterError("additional_loss", "l", "must be given, because the claim of this release has none")
    return claimed


def _check_name(owner: str, release: Release, sensitive: str) -> str:
    if column_name(owner, "sensitive", sensitive) not in release.sensitive:
        raise ParameterError(owner, "sensitive", f"must be one of {name_some(release.sensitive)}", got=repr(sensitive))
    return sensitive

"""Whether a hidden attribute depends on published columns, or on another hidden one: a test with a known error rate."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.answers import Answer, fit_screen
from ldiversity.base.asked import asked_of
from ldiversity.base.checks import column_name, did_you_mean, name_some
from ldiversity.base.numbers import counted, number
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.estimation._by import ByLike, PlainColumn
from ldiversity.estimation._by_text import read_by
from ldiversity.estimation._coarse import ask_labels
from ldiversity.estimation._design import read_design
from ldiversity.estimation._exchange import instead_of_these_classes, why_not_by_chance
from ldiversity.estimation._independence import design_test, independence_test
from ldiversity.estimation._seen import selected_rows
from ldiversity.estimation._test_sides import Side, side_of_cells, side_of_values
from ldiversity.estimation._where import WhereLike, as_filters, nothing_selected
from ldiversity.release import check_release, check_values, load_release
from ldiversity.schema import Role
from ldiversity.sentences import Parameter, Sentence, Setting, say

if TYPE_CHECKING:
    from ldiversity.estimation._by import By
    from ldiversity.estimation._where import Filter
    from ldiversity.release import Release

__all__ = ["NOT_FOR_TESTS", "Association", "association", "not_for_tests"]

_NO_OTHER_TEST: Final = (
    "Do not put these counts into a chi-square test, or any other that is made for true counts: it takes their noise "
    "for an association."
)
NOT_FOR_TESTS: Final = (
    f"{_NO_OTHER_TEST} Test with association (on the command line: associate), which knows the noise."
)
"""A caveat of every estimate from sets."""

_OF_SETS: Final = "score test of the likelihood of the published sets"
_OF_CLASSES: Final = "test on the shares of the classes, which chance alone put records into"
_TOGETHER: Final = (
    "A person may have several records. The test takes every record as one of its own: "
    "where people have several records, it rejects too often."
)
_NOT_SHOWN: Final = (
    "A great p-value does not show that there is no association: dummies hide weak ones, and finding them takes more "
    "records than in the true table."
)


@dataclass(frozen=True, repr=False)
class Association(Answer, schema="association", version=1):
    """A test that a sensitive attribute does not depend on the columns of `by`.

    Attributes
    ----------
    sensitive
        The attribute.
    by
        The columns on which it may depend.
    where
        The filters that selected the records, as texts.
    statistic
        How far the cells differ; about `df` without an association.
    df
        Its degrees of freedom.
    pvalue
        How likely the statistic is to be at least as great without an association.
    method
        Which test it is.
    n_records
        The number of selected records.
    n_cells
        The number of cells that were compared, after small ones were put together.
    n_values
        The number of values, or groups of rare values, that were compared.
    caveats
        What the user should know, one sentence each.
    """

    sensitive: str
    by: tuple[str, ...]
    where: tuple[str, ...]
    statistic: float
    df: int
    pvalue: float
    method: str
    n_records: int
    n_cells: int
    n_values: int
    caveats: tuple[str, ...]

    def __str__(self) -> str:
        return fit_screen(
            [
                f"{self.sensitive} by {', '.join(self.by)}: {counted(self.n_records, 'record')}",
                f"statistic {number(self.statistic)}, df {self.df}, p {number(self.pvalue, 3)}",
                self.method,
                *self.caveats,
            ]
        )


@asked_of("association", "estimate")
def association(
    release: Release | str | os.PathLike[str],
    by: ByLike,
    *,
    sensitive: str | None = None,
    where: WhereLike = None,
    weights: str | None = None,
    strata: str | None = None,
) -> Association:
    """Test whether a sensitive attribute depends on other columns, from a release alone.

    Estimated counts must not be put into a chi-square test of your own: it takes the noise of the dummies for an
    association. This test knows the noise. It asks what Pearson's chi-square test asks of a true table, and is that
    test where nothing is hidden.

    Parameters
    ----------
    release
        What was published, or its folder.
    by
        Published columns, in the forms that `estimate` takes; or one other sensitive attribute.
    sensitive
        The attribute. May be left out when the release has no other.
    where
        Filters on published columns, as for `estimate`.
    weights
        A published column that says how many people each record stands for, where records are a sample.
    strata
        A published column with the strata of the sample.

    Returns
    -------
    Association
        With `statistic`, `df` and `pvalue`.

    Raises
    ------
    ParameterError
        When a column does not suit, or too few records are selected.
    UnsupportedError
        When the release cannot tell: its classes follow the quasi-identifiers, or it has single members of sets.

    Examples
    --------
    >>> import ldiversity as ld
    >>> release = ld.anonymize(
    ...     ld.datasets.patients(2000), quasi=["sex", "job"], sensitive="disease",
    ...     method=ld.RandomizedAddition(l=3), drop=["name", "age", "zip"],
    ... )
    >>> found = ld.association(release, "sex")
    >>> found.n_cells, 0 <= found.pvalue <= 1
    (2, True)
    """
    if isinstance(release, str | os.PathLike):
        release = load_release(release)
    check_release("association", release)
    check_values("association", release, "to test")
    divided, filters = read_by(by, release.schema.names()), as_filters(where)
    hidden = [part.column for part in divided if release.schema[part.column].role is Role.SENSITIVE]
    name = _sensitive(release, sensitive, hidden)
    _check(release, name, divided, filters, hidden)
    design = read_design("association", release, weights, strata)
    cells, filters = ask_labels(release, () if hidden else divided, filters)
    rows = _selected(release, [name, *hidden], filters)
    weighing = None if design is None else design.weights[rows]
    other = (
        side_of_values(release, hidden[0], rows, weighing) if hidden else side_of_cells(release, cells, rows, weighing)
    )
    own = side_of_values(release, name, rows, weighing, None if hidden else other.size)
    for side, what in ((other, f"values of {hidden[0]!r}" if hidden else "cells"), (own, f"values of {name!r}")):
        if side.size < 2:  # noqa: PLR2004 - nothing to compare
            raise _too_few(what, side, len(rows), weighted=design is not None)
    tested = (
        independence_test(own.rows, other.rows) if design is None else design_test(own.rows, other.rows, design, rows)
    )
    notes = [own.note, other.note, _TOGETHER if release.person else "", _NOT_SHOWN]
    method = _OF_CLASSES if release.grouped else _OF_SETS
    return Association(
        sensitive=name,
        by=tuple(part.column for part in divided),
        where=tuple(map(str, filters)),
        statistic=tested.statistic,
        df=tested.df,
        pvalue=tested.pvalue,
        method=method if design is None else f"{method}, with the covariance of the sample's design",
        n_records=len(rows),
        n_cells=other.size,
        n_values=own.size,
        caveats=tuple(note for note in notes if note),
    )


def not_for_tests(release: Release, names: Sequence[str]) -> str:
    """The caveat of an estimate: it names the test only where that takes the release."""
    reason = why_not_by_chance(release, names)
    return (
        NOT_FOR_TESTS
        if not reason
        else f"{_NO_OTHER_TEST} No test is offered for this release: {reason}. Sets can be tested."
    )


def _sensitive(release: Release, sensitive: str | None, hidden: Sequence[str]) -> str:
    left = [name for name in release.sensitive if name not in hidden]
    if sensitive is None and len(left) == 1:
        return left[0]
    name = None if sensitive is None else column_name("association", "sensitive", sensitive)
    if name not in left:
        another = "must be another attribute than by names"
        among = f"{another}: {name_some(left)}" if name in hidden else f"must name one of {name_some(left)}"
        raise ParameterError(
            "association",
            "sensitive",
            among if left else another,
            got=None if name is None else repr(name),
        ).with_hint(_another(name, left))
    return name


def _another(name: str | None, left: Sequence[str]) -> str | None:
    if not left:
        return say("Name published columns in {}: nothing is tested against itself.", Parameter("by"))
    return None if name is None else did_you_mean(name, left)


def _check(release: Release, name: str, by: tuple[By, ...], filters: tuple[Filter, ...], hidden: Sequence[str]) -> None:
    if not by:
        raise ParameterError("association", "by", "must name at least one column").with_hint(
            "Without one there is nothing to compare."
        )
    for part in filters:
        if release.schema[part.column].role is Role.SENSITIVE:
            raise ParameterError(
                "association", "where", f"must name published columns, but {part.column!r} is sensitive"
            ).with_hint(_instead_of_filter(part.column, name))
    if hidden and (len(by) > 1 or not isinstance(by[0], PlainColumn)):
        raise UnsupportedError(
            "association", f"{hidden[0]!r} is sensitive, so it must be the only column of by, with all of its values"
        ).with_hint(say("Give {}; {} can select groups of published columns.", _alone(hidden[0]), Parameter("where")))
    if release.rows_per_record > 1:
        raise UnsupportedError(
            "association",
            "the test needs published sets, but this release has single members, and does not tell whose they are",
        )
    reason = why_not_by_chance(release, (name, *hidden))
    if reason:
        raise UnsupportedError(
            "association", f"this release cannot tell whether columns are associated: {reason}"
        ).with_hint(instead_of_these_classes(release))


def _instead_of_filter(column: str, tested: str) -> Sentence:
    """A way out that works: nothing is tested against itself."""
    if column == tested:
        return say("Leave it out of {}: it is what is tested.", Parameter("where"))
    return say("To test whether the two attributes depend on each other, give it alone: {}.", _alone(column))


def _alone(column: str) -> Setting:
    """How it is the only column of by."""
    return Setting("by", column)


def _selected(release: Release, names: Sequence[str], filters: tuple[Filter, ...]) -> NDArray[np.int64]:
    """The rows that match, and that show something of every attribute."""
    columns = release.columns(tuple(dict.fromkeys(part.column for part in filters)))
    for part in filters:
        part.check(columns[part.column])
    matching = selected_rows(columns, filters, release.n_rows)
    for name in names:
        matching &= release.evidence(name).of_row >= 0
    if not matching.any():
        raise nothing_selected(filters, [part for part in filters if not part.mask(columns[part.column]).any()])
    return np.flatnonzero(matching)


def _too_few(what: str, side: Side, n: int, *, weighted: bool) -> ParameterError:
    counted_as = ", counted as many of equal weight" if weighted else ""
    return ParameterError(
        "association",
        f"at least two groups of {what} must have {number(side.least, 3)} records{counted_as}",
        got=f"one group of {counted(n, 'record')}",
    ).with_hint(side.way_out)

"""The same question to several releases: a figure for each, and how it changed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from ldiversity.base.answers import HIDDEN, Answer, fit_screen
from ldiversity.base.asked import asked_of
from ldiversity.base.checks import column_name, did_you_mean, name_some
from ldiversity.base.numbers import level, number
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.estimation._derived import half_a_bin, off_by_bins
from ldiversity.estimation._estimate import estimate
from ldiversity.estimation._exchange import why_not_by_chance
from ldiversity.release import Release, check_release, load_release
from ldiversity.sentences import Method, say
from ldiversity.tables import to_native

if TYPE_CHECKING:
    from ldiversity.estimation._base import Estimator
    from ldiversity.estimation._quantity import Quantity, ValuesLike
    from ldiversity.estimation._where import WhereLike

__all__ = ["Change", "Trend", "TrendPoint", "trend"]

ReleaseLike: TypeAlias = "Release | str | os.PathLike[str]"

_INDEPENDENT: Final = (
    "Intervals of changes take the noise of two releases as independent. Where a key drew the same set again for "
    "people whose value stayed the same, noise cancels, and the intervals are wider than needed. Where values change "
    "under a key, variances of shares may be greater, by 1 / (F - 2) at most if dummies are uniform over F values."
)


@dataclass(frozen=True)
class TrendPoint:
    """The figure of one release."""

    release: str
    records: int
    value: float
    std_error: float
    low: float
    high: float


@dataclass(frozen=True)
class Change:
    """The figure of a later release minus that of an earlier one; a p-value for "nothing changed"."""

    earlier: str
    later: str
    value: float
    std_error: float
    low: float
    high: float
    pvalue: float


@dataclass(frozen=True, repr=False)
class Trend(Answer, schema="trend", version=1):
    """A figure in several releases.

    Attributes
    ----------
    name
        What the figure is.
    points
        The figure of each release, in the given order.
    changes
        From each release to the next, and from the first to the last.
    confidence
        How often each interval should hold the truth.
    population
        Whether the figures are those of populations from which the records were drawn, or those of the tables.
    caveats
        What the user should know, one sentence each.
    """

    name: str
    points: tuple[TrendPoint, ...]
    changes: tuple[Change, ...]
    confidence: float
    population: bool
    caveats: tuple[str, ...]
    frame_kind: str = field(default="arrow", repr=False, metadata=HIDDEN)

    def to_frame(self) -> Any:  # noqa: ANN401 - the kind of frame of the first release
        """One row per release: the figure, and how it changed since the release before."""
        columns: dict[str, list[Any]] = {
            one.name: [getattr(point, one.name) for point in self.points] for one in fields(TrendPoint)
        }
        since = [None, *self.changes[: len(self.points) - 1]]
        for one in ("value", "std_error", "low", "high"):
            columns[f"change_{one}"] = [None if change is None else getattr(change, one) for change in since]
        columns["pvalue"] = [None if change is None else change.pvalue for change in since]
        return to_native(pa.table(columns), self.frame_kind)

    def __str__(self) -> str:
        values = [
            f"{one.release}: {number(one.value)} ({number(one.low)} to {number(one.high)})" for one in self.points
        ]
        steps = [
            f"{one.earlier} to {one.later}: {number(one.value)} ({number(one.low)} to {number(one.high)}), "
            f"p {number(one.pvalue, 3)}"
            for one in self.changes
        ]
        return fit_screen([f"{self.name}, intervals {level(self.confidence)}", *values, *steps, *self.caveats])


@asked_of("trend", "estimate", "Estimate")
def trend(
    releases: Mapping[str, ReleaseLike] | Sequence[ReleaseLike],
    value: ValuesLike | None = None,
    *,
    sensitive: str | None = None,
    where: WhereLike = None,
    estimator: str | Estimator = "linear",
    confidence: float = 0.95,
    population: bool = False,
) -> Trend:
    """Ask several releases for the share of a value, or for a mean, and say how it changed from one to the next.

    Parameters
    ----------
    releases
        In the order of time, with their names; without names they are called 1, 2, and so on.
    value
        A sensitive value, or several whose shares are added up; the mean of a sensitive attribute of numbers when None.
    sensitive
        The attribute, which every release has; needed where the first one has several.
    where
        As for `estimate`.
    estimator
        ``"linear"``, which is unbiased, so that changes are; or one that `estimate` takes.
    confidence
        How often each interval should hold the truth.
    population
        Whether the tables are samples, and changes of their populations are asked for.

    Examples
    --------
    >>> import ldiversity as ld
    >>> def published(seed):
    ...     table = ld.datasets.patients(2000, seed=seed)
    ...     return ld.anonymize(
    ...         table.select(["sex", "disease"]), quasi="sex", sensitive="disease", method=ld.RandomizedAddition(l=2)
    ...     )
    >>> found = ld.trend({"2024": published(1), "2025": published(2)}, "R21 asthma", population=True)
    >>> [point.release for point in found.points], len(found.changes)
    (['2024', '2025'], 1)
    """
    named = dict(releases) if isinstance(releases, Mapping) else {str(k): one for k, one in enumerate(releases, 1)}
    if len(named) < 2:  # noqa: PLR2004 - nothing changes in one
        raise ParameterError("trend", "releases", "must be at least two", got=len(named))
    loaded = {name: load_release(one) if isinstance(one, str | os.PathLike) else one for name, one in named.items()}
    for release in loaded.values():
        check_release("trend", release)
    attribute = _attribute(loaded, sensitive)
    for name, release in loaded.items():
        _check_tells(name, release, attribute)
    figures, records = {}, {}
    halves: list[float] = []
    for name, release in loaded.items():
        found = estimate(release, sensitive=attribute, where=where, estimator=estimator, confidence=confidence)
        figures[name] = (
            found.mean(population=population) if value is None else found.proportion(value, population=population)
        )
        records[name] = found.n_records
        if value is None and found.domains[0].edges is not None:
            halves.append(half_a_bin(found))
    names = list(named)
    steps = [*pairwise(names), *([(names[0], names[-1])] if len(names) > 2 else [])]  # noqa: PLR2004 - more than one step
    together = [off_by_bins(halves)] if halves else []
    apart = {off_by_bins([half]) for half in halves}
    caveats = dict.fromkeys([*together, *(caveat for one in figures.values() for caveat in one.caveats), _INDEPENDENT])
    return Trend(
        name=figures[names[0]].name,
        points=tuple(
            TrendPoint(name, records[name], one.value, one.std_error or 0.0, one.low, one.high)
            for name, one in figures.items()
        ),
        changes=tuple(_change(one, two, figures, confidence) for one, two in steps),
        confidence=confidence,
        population=population,
        caveats=tuple(caveat for caveat in caveats if caveat not in apart),
        frame_kind=loaded[names[0]].frame_kind,
    )


def _attribute(loaded: Mapping[str, Release], sensitive: str | None) -> str:
    """The sensitive attribute whose figures are compared: each release must have it."""
    first, *others = loaded
    known = loaded[first].sensitive
    if sensitive is None and len(known) > 1:
        raise ParameterError("trend", "sensitive", f"must name one of {name_some(known)}")
    attribute = known[0] if sensitive is None else column_name("trend", "sensitive", sensitive)
    for name in (first, *others):
        own = loaded[name].sensitive
        if attribute not in own:
            raise ParameterError(
                "trend",
                "sensitive",
                f"must name an attribute of every release, but {name!r} has {name_some(own)}",
                got=repr(attribute),
            ).with_hint(did_you_mean(attribute, own))
    return attribute


def _check_tells(name: str, release: Release, attribute: str) -> None:
    """Refuse a release whose classes give no standard errors, so that a change would have none."""
    reason = why_not_by_chance(release, (attribute,))
    if reason:
        raise UnsupportedError(
            "trend", f"figures of the release {name!r} have no standard errors, so changes have none: {reason}"
        ).with_hint(
            say(
                "Leave it out. Releases of sets can be compared, and those of {} with one attribute and no person "
                "column.",
                Method("Anatomy"),
            )
        )


def _change(earlier: str, later: str, figures: Mapping[str, Quantity], confidence: float) -> Change:
    one, two = figures[earlier], figures[later]
    value, error = two.value - one.value, float(np.hypot(one.std_error or 0.0, two.std_error or 0.0))
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * error
    pvalue = 2 * NormalDist().cdf(-abs(value) / error) if error else float(not value)
    return Change(earlier, later, value, error, value - reach, value + reach, pvalue)

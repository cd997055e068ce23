"""Risks of a report as gauges: a share from 0 to 1, and the threshold that it is held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from ldiversity.base.findings import Confirmed
from ldiversity.evaluation.audit import Audit
from ldiversity.faces.report._parts import Gauge, PublishedClasses, SizeBand, State
from ldiversity.release import Release

__all__ = ["class_sizes", "gauges"]

_ROUNDING: Final = 1e-9
_MOST_SIZES: Final = 12
_WITHOUT: Final = "what guessing the most frequent value reaches without the release"
_RISKS: Final = {
    "prosecutor": (
        "finding a person's record, at worst",
        "At worst, how surely someone who knows a person's quasi-identifiers finds that person's record.",
    ),
    "marketer": (
        "finding a person's record, on average",
        "The share of records that someone who links everybody would link correctly.",
    ),
    "journalist": (
        "finding a record of the population, at worst",
        "At worst, how surely someone who does not know who is in the table finds a record's person in the population.",
    ),
    "known": (
        "knowing the value, without prior knowledge",
        "At worst, how sure of one value of {} someone without prior knowledge is, once a person's record is found.",
    ),
    "guessed": (
        "guessing the value, once the record is found",
        (
            "How often someone who has found a person's record, and knows how frequent the values of {} are, guesses "
            "correctly, on average over all records. Finding the record is a separate risk."
        ),
    ),
    "informed": (
        "knowing the value, if frequencies are known",
        "How sure of {} someone is who knows how frequent each value is. Nothing is promised against that.",
    ),
}
"""Each risk and its meaning; the braces stand for the attribute."""


def gauges(
    audit: Audit, promised: Mapping[str, float] | None = None, guessed: Mapping[str, float | None] | None = None
) -> tuple[Gauge, ...]:
    """What can be recognized and learned, each with its threshold.

    Parameters
    ----------
    audit
        What was found.
    promised
        For each attribute how likely one value is at most; 1 when nothing is promised.
    guessed
        For each attribute the share of its most frequent value: the truth for the holder, an estimate for others.
    """
    risk, found = audit.risk, []
    by_column = [one for one in audit.confirmed if one.identifies]
    told = {one.attribute: one for one in audit.confirmed if not one.identifies}
    if by_column:
        found = [_by_column("prosecutor", None, by_column[0], risk.threshold)]
    elif audit.quasi:
        values = {"prosecutor": risk.prosecutor.max, "marketer": risk.marketer.mean}
        if risk.journalist.population:
            values["journalist"] = risk.journalist.max
        why = "the threshold of this report"
        found = [_gauge(kind, None, value, risk.threshold, why) for kind, value in values.items()]
    for name, one in audit.attribute_risk.items():
        limit = (promised or {}).get(name, 1.0)
        guess = (guessed or {}).get(name, one.largest_share_overall)
        informed = one.informed or one
        bound = limit if limit < 1 else None
        known = _gauge("known", name, one.largest_share, bound, "what the release promises")
        found += [
            _by_column("known", name, told[name], bound) if name in told else known,
            _gauge("guessed", name, informed.mean_largest_share, guess, _WITHOUT, bound=False),
        ]
        if one.informed is not None:
            found.append(_gauge("informed", name, informed.largest_share, None, ""))
    return tuple(found)


def _by_column(kind: str, attribute: str | None, confirmed: Confirmed, threshold: float | None) -> Gauge:
    """A risk that a published column makes certain, whatever else is hidden."""
    meaning = f"The column {confirmed.column!r} is published, and {confirmed.does}; the holder confirmed it."
    state: State = "no threshold" if threshold is None else "above"
    why = (
        ""
        if threshold is None
        else "the threshold of this report"
        if attribute is None
        else "what the release promises"
    )
    return Gauge(_RISKS[kind][0], attribute, 1.0, threshold, why, state, meaning)


def _gauge(
    kind: str, attribute: str | None, value: float, threshold: float | None, why: str, *, bound: bool = True
) -> Gauge:
    state: State = "no threshold"
    if threshold is not None:
        state = "compare" if not bound else "above" if value > threshold + _ROUNDING else "within"
    risk, meaning = _RISKS[kind]
    return Gauge(risk, attribute, value, threshold, why, state, meaning.format(repr(attribute)))


def class_sizes(release: Release) -> tuple[PublishedClasses, ...]:
    """How many classes of each size a grouped release has; none for releases of sets.

    More than a dozen different sizes are put into bands, each twice as wide as the one before.
    """
    found = []
    for column in dict.fromkeys(release.class_columns.values()):
        names = [name for name in release.subjects if release.class_columns[name] == column]
        sizes, counts = np.unique(release.evidence(names[0]).records, return_counts=True)
        bands = tuple(SizeBand(text, number) for text, number in _bands(sizes.tolist(), counts.tolist()))
        found.append(PublishedClasses(tuple(filter(None, names)), int(counts.sum()), bands))
    return tuple(found)


def _bands(sizes: Sequence[int], counts: Sequence[int]) -> list[tuple[str, int]]:
    """How many classes there are in bands of sizes, which ascend.

    Examples
    --------
    >>> _bands([3, 4], [10, 2])
    [('3', 10), ('4', 2)]
    >>> _bands(range(3, 16), [1] * 13)
    [('3-5', 3), ('6-11', 6), ('12-23', 4)]
    """
    if len(sizes) <= _MOST_SIZES:
        return [(str(size), count) for size, count in zip(sizes, counts, strict=True)]
    found, low = [], max(1, sizes[0])
    while low <= sizes[-1]:
        inside = sum(count for size, count in zip(sizes, counts, strict=True) if low <= size < 2 * low)
        found.append((f"{low}-{2 * low - 1}" if low > 1 else "1", inside))
        low *= 2
    return found

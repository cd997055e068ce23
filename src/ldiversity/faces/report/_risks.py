"""Risks of a report as gauges: a share from 0 to 1, and the threshold that it is held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from ldiversity.evaluation.audit import AttributeRisk, Audit
from ldiversity.faces.report._parts import Gauge, PublishedClasses, SizeBand, State
from ldiversity.release import Release

__all__ = ["class_sizes", "gauges"]

_ROUNDING: Final = 1e-9
_MOST_SIZES: Final = 12


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
    risk = audit.risk
    found = []
    if audit.quasi:
        limit, why = risk.threshold, "the threshold of this report"
        found = [
            _gauge(
                "finding a person's record, at worst",
                None,
                risk.prosecutor.max,
                limit,
                why,
                "How surely someone who knows a person's quasi-identifiers finds that person's record, at worst.",
            ),
            _gauge(
                "finding a person's record, on average",
                None,
                risk.marketer.mean,
                limit,
                why,
                "The share of records that someone who links everybody would link rightly.",
            ),
        ]
        if risk.journalist.population:
            found.append(
                _gauge(
                    "finding a record of the population, at worst",
                    None,
                    risk.journalist.max,
                    limit,
                    why,
                    "How surely someone who does not know who is in the table finds a record's person among the "
                    "population, at worst.",
                )
            )
    for name, one in audit.attribute_risk.items():
        guess = (guessed or {}).get(name, one.largest_share_overall)
        found += _learned(name, one, (promised or {}).get(name, 1.0), guess)
    return tuple(found)


def _learned(name: str, risk: AttributeRisk, promised: float, guessed: float | None) -> list[Gauge]:
    limit = promised if promised < 1 else None
    found = [
        _gauge(
            "knowing the value, at worst",
            name,
            risk.largest_share,
            limit,
            "what the release promises",
            f"How sure of one value of {name!r} someone without prior knowledge can be about a person whose record "
            "is found, at worst.",
        )
    ]
    informed = risk.informed or risk
    found.append(
        _gauge(
            "guessing the value, once the record is found",
            name,
            informed.mean_largest_share,
            guessed,
            "what guessing the most frequent value reaches without the release",
            f"How often someone who has found a person's record, and knows how frequent the values of {name!r} are, "
            "guesses rightly, on average over all records. Finding the record is a risk of its own.",
            bound=False,
        )
    )
    if risk.informed is not None:
        found.append(
            _gauge(
                "knowing it, if frequencies are known",
                name,
                informed.largest_share,
                None,
                "",
                f"The same certainty about {name!r} for someone who knows how frequent each value is. Nothing is "
                "promised against that.",
            )
        )
    return found


def _gauge(
    risk: str,
    attribute: str | None,
    value: float,
    threshold: float | None,
    threshold_is: str,
    meaning: str,
    *,
    bound: bool = True,
) -> Gauge:
    state: State = "no threshold"
    if threshold is not None:
        state = "compare" if not bound else "above" if value > threshold + _ROUNDING else "within"
    return Gauge(risk, attribute, value, threshold, threshold_is, state, meaning)


def class_sizes(release: Release) -> tuple[PublishedClasses, ...]:
    """How many classes of each size a grouped release has; none for releases of sets.

    More than a dozen different sizes are put into bands, each twice as wide as the one before.
    """
    found = []
    for column in dict.fromkeys(release.class_columns.values()):
        names = [name for name in release.sensitive if release.class_columns[name] == column]
        sizes, counts = np.unique(release.evidence(names[0]).records, return_counts=True)
        bands = tuple(SizeBand(text, number) for text, number in _bands(sizes.tolist(), counts.tolist()))
        found.append(PublishedClasses(tuple(names), int(counts.sum()), bands))
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

"""How likely people are to be found, and how much is then learned about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from ldiversity.base.answers import OPTIONAL
from ldiversity.base.typed import number_text
from ldiversity.evaluation.audit._found import Found, FoundOfAttribute
from ldiversity.evaluation.audit._sums import BANDS, BeliefSums, LinkSums, SizeCounts, from_units, sum_links
from ldiversity.evaluation.audit._views import View

__all__ = [
    "AttributeRisk",
    "Belief",
    "ClassSizes",
    "JournalistRisk",
    "LinkRisk",
    "MarketerRisk",
    "Recognized",
    "RecordRisk",
    "attribute_risk",
    "class_figures",
    "recognized",
    "reidentification_risk",
]


@dataclass(frozen=True)
class ClassSizes:
    """How many classes of records that look alike there are, and how large.

    Where a column says whose row it is, the rows of a person that look alike are one record.

    Attributes
    ----------
    count, records
        How many classes, and how many records in them.
    smallest, largest, mean, median
        Of the sizes of classes; 0 when there is no class.
    uniques
        How many records are alone in their class.
    sizes
        How many classes there are of each range of sizes.
    """

    count: int
    records: int
    smallest: int
    largest: int
    mean: float
    median: float
    uniques: int
    sizes: Mapping[str, int]


@dataclass(frozen=True)
class LinkRisk:
    """How likely an attacker links a record to its person.

    Attributes
    ----------
    max, mean
        The greatest probability of any record, and the mean over all records.
    records_above, classes_above
        How many are above the threshold.
    """

    max: float
    mean: float
    records_above: int
    classes_above: int


@dataclass(frozen=True)
class JournalistRisk(LinkRisk):
    """The same for someone who knows only the population.

    Attributes
    ----------
    population
        Whether something is known about the population; else the table replaces it.
    classes_not_in_population
        How many classes have more records than people of the population who look like them.
    uniques
        How many records are alone in the population too; the expected number where it is estimated.
    """

    population: bool
    classes_not_in_population: int
    uniques: float


@dataclass(frozen=True)
class MarketerRisk:
    """The expected share and number of right links by someone who links everybody."""

    mean: float
    expected_records: float


@dataclass(frozen=True)
class Recognized:
    """Whom the prosecutor recognizes: someone who knows that a person is in the table.

    Attributes
    ----------
    threshold
        A record with a greater probability counts as at risk.
    uniques, records
        How many records look like nobody else's, and how many records there are.
    prosecutor
        The risk.
    """

    threshold: float
    uniques: int
    records: int
    prosecutor: LinkRisk


@dataclass(frozen=True)
class RecordRisk(Recognized):
    """The risk that a record is linked to its person, for three attackers."""

    journalist: JournalistRisk
    marketer: MarketerRisk


@dataclass(frozen=True)
class Belief:
    """How sure an attacker is of the likeliest value of each class, or set.

    Attributes
    ----------
    classes, classes_with_one_value
        How many classes there are, and how many of them give their value away.
    records_read_off, records_at_least_50, records_at_least_90
        For how many records the value is certain, or has at least this probability in percent.
    mean_largest_share, largest_share
        The probability of the likeliest value: its mean over records, and the greatest.
    records_by_largest_share
        How many records have that probability in each quarter from 0 to 1.
    """

    classes: int
    classes_with_one_value: int
    records_read_off: int
    records_at_least_50: int
    records_at_least_90: int
    mean_largest_share: float
    largest_share: float
    records_by_largest_share: Mapping[str, int]

    @property
    def records(self) -> int:
        """How many records there are in all classes."""
        return sum(self.records_by_largest_share.values())


@dataclass(frozen=True)
class AttributeRisk(Belief):
    """How much an attacker learns about one sensitive attribute.

    Attributes
    ----------
    values, values_that_occur
        The size of the domain, and how many of its values occur.
    largest_share_overall
        How often the most frequent value is the right guess without the release.
    informed
        The same belief for someone who knows how frequent the values are; None where that changes nothing.
    """

    values: int
    values_that_occur: int
    largest_share_overall: float
    informed: Belief | None = field(default=None, metadata=OPTIONAL)


def class_figures(sizes: SizeCounts) -> ClassSizes:
    """The distribution of class sizes.

    Examples
    --------
    >>> figures = class_figures(SizeCounts.of(np.array([1, 1, 4])))
    >>> figures.count, figures.uniques, figures.sizes
    (3, 2, {'1': 2, '2': 0, '3': 0, '4': 1, '5-9': 0, '10-99': 0, '100+': 0})
    """
    bands = {"1": (1, 1), "2": (2, 2), "3": (3, 3), "4": (4, 4), "5-9": (5, 9), "10-99": (10, 99), "100+": (100, None)}
    return ClassSizes(
        count=sizes.n_classes,
        records=sizes.n_records,
        smallest=sizes.smallest or 0,
        largest=int(sizes.sizes.max(initial=0)),
        mean=sizes.n_records / sizes.n_classes if sizes.n_classes else 0.0,
        median=sizes.median,
        uniques=sizes.between(1, 1),
        sizes={name: sizes.between(low, high) for name, (low, high) in bands.items()},
    )


def reidentification_risk(found: Found, threshold: float, *, population: bool) -> RecordRisk:
    """The risk that a record is linked to its person; `population` says whether something is known about it.

    The prosecutor knows that someone is in the table: their risk is 1 over the size of the class. The journalist knows
    only the population: 1 over the size of the class there. The marketer links everybody: the mean of the journalist's
    risks is the expected share of right links. Without a population, the table replaces it.
    """
    records = found.sizes.n_records
    journalist = _link_risk(found.journalist, records)
    return RecordRisk(
        **vars(recognized(found.sizes, threshold)),
        journalist=JournalistRisk(
            **vars(journalist),
            population=population,
            classes_not_in_population=found.classes_not_in_population,
            uniques=from_units(found.unique_units),
        ),
        marketer=MarketerRisk(journalist.mean, journalist.mean * records),
    )


def recognized(sizes: SizeCounts, threshold: float) -> Recognized:
    """Say whom the prosecutor recognizes in classes of these sizes.

    Examples
    --------
    >>> found = recognized(SizeCounts.of(np.array([1, 4])), 0.5)
    >>> found.uniques, found.prosecutor.mean, found.prosecutor.records_above
    (1, 0.4, 1)
    """
    links = sum_links(1 / sizes.sizes, sizes.sizes, threshold, sizes.classes)
    return Recognized(threshold, sizes.between(1, 1), sizes.n_records, _link_risk(links, sizes.n_records))


def attribute_risk(found: FoundOfAttribute, view: View) -> AttributeRisk:
    """Say how much someone who finds a person's class, or set, learns about the sensitive value.

    Examples
    --------
    >>> from ldiversity.evaluation.audit._found import find_in_view
    >>> from ldiversity.evaluation.audit._views import ClassView
    >>> from ldiversity.models import count_classes
    >>> from ldiversity.schema import Domain
    >>> classes = count_classes(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]), 2, Domain(("flu", "cut")))
    >>> risk = attribute_risk(find_in_view(ClassView(classes), {}), ClassView(classes))
    >>> risk.classes_with_one_value, risk.records_read_off, risk.mean_largest_share
    (1, 2, 0.75)
    """
    return AttributeRisk(
        **vars(_belief(found.belief)),
        values=len(view.domain),
        values_that_occur=int(np.count_nonzero(view.marginal)),
        largest_share_overall=float(view.marginal.max(initial=0) / max(int(view.marginal.sum()), 1)),
        informed=None if found.informed is None else _belief(found.informed),
    )


def _belief(sums: BeliefSums) -> Belief:
    return Belief(
        classes=sums.classes,
        classes_with_one_value=sums.classes_with_one_value,
        records_read_off=sums.records_read_off,
        records_at_least_50=sums.records_at_least_50,
        records_at_least_90=sums.records_at_least_90,
        mean_largest_share=from_units(sums.units, max(sums.records, 1)),
        largest_share=sums.most,
        records_by_largest_share={
            f"{number_text(low)}-{number_text(high)}": of_band
            for (low, high), of_band in zip(pairwise(BANDS), sums.bands, strict=True)
        },
    )


def _link_risk(links: LinkSums, records: int) -> LinkRisk:
    return LinkRisk(links.most, from_units(links.units, max(records, 1)), links.records_above, links.classes_above)

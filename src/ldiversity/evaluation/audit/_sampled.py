"""What a table that is a sample says about the people it stands for: the answer as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ldiversity.evaluation.audit._asked import Asked
from ldiversity.evaluation.audit._figures import Figure
from ldiversity.evaluation.audit._looking_up import CONFIDENCE

__all__ = ["AlikeInTable", "PeopleEstimate", "Sampled", "SampledAttribute", "ShareOfValue"]


@dataclass(frozen=True)
class PeopleEstimate:
    """How many people of the population something holds for: those of the table, and an estimate for all others.

    Attributes
    ----------
    people, share
        How many, and which share of the population.
    low, high
        The interval of `people`; None where too few records tell about people outside the table.
    records
        How many records of equal weight tell about them.
    """

    people: float
    share: float
    low: float | None
    high: float | None
    records: float


@dataclass(frozen=True)
class AlikeInTable:
    """The classes of the table with fewer than so many records, and the people of the population who look like them.

    Attributes
    ----------
    below
        The classes have fewer records than this.
    classes, records
        How many classes there are, and how many records they have.
    people
        How many people of the population look like a record of these classes.
    right_link, right_link_low, right_link_high
        How likely the record is the right one, if any of these people is linked to a record that looks like them, with
        its interval; None where there is no such class.
    """

    below: int
    classes: int
    records: int
    people: PeopleEstimate
    right_link: float | None
    right_link_low: float | None
    right_link_high: float | None


@dataclass(frozen=True)
class ShareOfValue:
    """How frequent a sensitive value is in the table, and among the people that it stands for.

    Attributes
    ----------
    in_table
        The share of the records.
    share
        The share of the people.
    low, high
        Its interval; None where too few records have the value, or another one.
    """

    in_table: float
    share: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class SampledAttribute:
    """What is learned about a sensitive attribute of people of the population, who are looked up in the table.

    Attributes
    ----------
    shares
        How frequent each value is, in the order of the values. No value is named.
    largest_share
        The share of the people with the most frequent value: how often a guess without the table is right.
    guessed_right
        For how many people the commonest value of the records that look like them is theirs.
    read_off_right
        For how many people all records that look like them have one value, and it is theirs.
    """

    shares: tuple[ShareOfValue, ...]
    largest_share: float
    guessed_right: PeopleEstimate
    read_off_right: PeopleEstimate


@dataclass(frozen=True)
class Sampled:
    """What a sample says about the population that it was drawn from. Intervals are those of the design.

    Attributes
    ----------
    weights, strata
        The columns that say how the sample was drawn.
    people
        How many people the records stand for.
    effective_records
        How many records of equal weight would tell as much.
    confidence
        How often intervals hold the truth.
    like_nobody
        How many people of the population look like no record of the table.
    alike
        The people who look like classes of few records.
    attributes
        What is learned about each sensitive attribute.
    models
        The figures of models that compare classes with all records, here with the people of the population.
    asked
        Such models that were asked for, with their verdicts.
    meaning
        What the intervals assume, and what cannot be known.
    """

    weights: str
    strata: str | None
    people: float
    effective_records: float
    like_nobody: PeopleEstimate
    alike: tuple[AlikeInTable, ...]
    attributes: Mapping[str, SampledAttribute]
    models: Mapping[str, Figure]
    asked: tuple[Asked, ...]
    meaning: str
    confidence: float = CONFIDENCE

    @property
    def passed(self) -> bool:
        """Whether what was asked for holds, compared with the people of the population."""
        return all(one.verdict.passed for one in self.asked)

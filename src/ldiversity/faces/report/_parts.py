"""The parts of a report: what every face of it renders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ldiversity.base.answers import HIDDEN, OPTIONAL, Scalar
from ldiversity.base.findings import Confirmed

__all__ = [
    "Accuracy",
    "Cell",
    "Command",
    "Contingency",
    "Distribution",
    "Estimated",
    "Exactness",
    "Gauge",
    "LeftOut",
    "Promise",
    "Published",
    "PublishedClasses",
    "PublishedColumn",
    "ShownValue",
    "SizeBand",
]

Intervals: TypeAlias = Literal["exact", "bounds", "pointwise", "simultaneous"]
"""Counts are published; limits hold for certain; each interval holds at its confidence; or all of a cell do at once."""

State: TypeAlias = Literal["above", "within", "compare", "no threshold"]


@dataclass(frozen=True)
class PublishedColumn:
    """A column: its role, its type, and how it was published."""

    name: str
    role: str
    type: str
    published: str


@dataclass(frozen=True)
class Promise:
    """What is promised about a sensitive attribute, and how it was hidden.

    Attributes
    ----------
    attribute, statement
        The attribute, and the promise in words.
    model, l, d, posterior
        The promise in numbers: None for what it does not mention; a posterior of 1 bounds nothing.
    values
        The size of the public domain.
    method, parameters
        How it was hidden.
    """

    attribute: str
    statement: str
    model: str
    l: int | None
    d: float | None
    posterior: float
    values: int
    method: str
    parameters: Mapping[str, Scalar]


@dataclass(frozen=True)
class Published:
    """What was published.

    Attributes
    ----------
    name, layout, meaning
        What messages call it, its layout, and what that means.
    records, suppressed
        How many records it has, and how many were left out.
    columns, claims
        The columns, and the promise about each sensitive attribute.
    warnings
        What the publisher warns of.
    confirmed
        Columns about which the holder was warned, and which they chose to publish.
    person
        Whether the holder said whose row each is.
    overlaps
        What several sets of one person tell, where they are not always equal or disjoint.
    """

    name: str
    layout: str
    meaning: str
    records: int
    suppressed: int
    columns: tuple[PublishedColumn, ...]
    claims: tuple[Promise, ...]
    warnings: tuple[str, ...]
    confirmed: tuple[Confirmed, ...] = ()
    person: bool = False
    overlaps: tuple[str, ...] = field(default=(), metadata=HIDDEN)

    @property
    def unit(self) -> str:
        """What a promise is checked on: a set, or a class."""
        return "set" if self.layout in {"sets", "exploded"} else "class"


@dataclass(frozen=True)
class Exactness:
    """How far estimated shares are off, and how many intervals hold the truth.

    Attributes
    ----------
    shares
        How many shares were compared.
    rms_error, largest_error
        The root of the mean squared error, and the greatest error.
    held
        The share of intervals that hold the truth; None without intervals.
    """

    shares: int
    rms_error: float | None
    largest_error: float
    held: float | None


@dataclass(frozen=True)
class Accuracy(Exactness):
    """The same for the values that are shown, and for all values."""

    of_all: Exactness


@dataclass(frozen=True)
class LeftOut:
    """How many values are not shown, and their share together."""

    values: int
    share: float


@dataclass(frozen=True)
class ShownValue:
    """A value, or neighbors added up: estimated count, share and its limits; for the holder the truth."""

    value: str
    count: float
    share: float | None
    low: float | None
    high: float | None
    true_count: int | None = field(default=None, metadata=OPTIONAL)
    true_share: float | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, kw_only=True)
class Estimated:
    """What distributions and contingency tables have in common.

    Attributes
    ----------
    attribute
        The sensitive attribute.
    confidence, intervals
        How often intervals hold the truth, and in which sense.
    domain, grouped
        How many values there are, and whether neighbors were added up.
    accuracy
        How good the estimates are; for the holder alone.
    caveats
        What the reader should know.
    """

    attribute: str
    confidence: float
    intervals: Intervals
    domain: int
    grouped: bool
    accuracy: Accuracy | None
    caveats: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Whether the counts themselves are published."""
        return self.intervals == "exact"

    @property
    def what(self) -> str:
        """What it is about."""
        return self.attribute


@dataclass(frozen=True, kw_only=True)
class Distribution(Estimated):
    """How often each value occurs in all records.

    Attributes
    ----------
    records, estimator
        How many records, and how it was estimated.
    values, left_out
        What is shown, and what is not.
    largest_share, true_largest_share
        The share of the most frequent value; the true one for the holder alone.
    """

    records: int
    estimator: str
    values: tuple[ShownValue, ...]
    left_out: LeftOut
    largest_share: float | None
    true_largest_share: float | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True)
class Cell:
    """The records of one cell, and the share of each value among them; for the holder the truth."""

    cell: str
    records: float
    note: str
    estimator: str
    share: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    true_records: int | None = field(default=None, metadata=OPTIONAL)
    true_share: tuple[float | None, ...] | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, kw_only=True)
class Contingency(Estimated):
    """How often each value occurs in each cell.

    Attributes
    ----------
    by, by_text
        The columns that make the cells, and the same as the command line writes it.
    values, cells
        What is shown.
    cells_left_out, values_left_out
        How many are not shown.
    true_records_in_no_cell
        How many records of the original lie in no cell that is estimated.
    """

    by: tuple[str, ...]
    by_text: str
    values: tuple[str, ...]
    cells: tuple[Cell, ...]
    cells_left_out: int
    values_left_out: int
    true_records_in_no_cell: int

    @property
    def what(self) -> str:
        """What it is about."""
        return f"{self.attribute} by {' and '.join(self.by)}"


@dataclass(frozen=True)
class SizeBand:
    """How many classes have so many records."""

    records: str
    classes: int


@dataclass(frozen=True)
class PublishedClasses:
    """The classes of a grouped release, by their sizes."""

    attributes: tuple[str, ...]
    classes: int
    sizes: tuple[SizeBand, ...]


@dataclass(frozen=True)
class Gauge:
    """A risk and its threshold.

    Attributes
    ----------
    risk, attribute
        What may happen, and to which attribute; None for all.
    value, threshold, threshold_is
        How likely it is, how likely it may be, and what that limit is.
    state
        How the two compare; ``compare`` if the threshold is not a limit.
    meaning
        The risk in a sentence.
    """

    risk: str
    attribute: str | None
    value: float
    threshold: float | None
    threshold_is: str
    state: State
    meaning: str

    @property
    def name(self) -> str:
        """The risk, with its attribute."""
        return self.risk if self.attribute is None else f"{self.attribute}: {self.risk}"


@dataclass(frozen=True)
class Command:
    """A command that makes the report, or a part of it, again."""

    what: str
    line: str

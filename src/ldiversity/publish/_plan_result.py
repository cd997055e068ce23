"""What a plan says, as data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ldiversity.base.answers import BESIDE, LAST, OPTIONAL, Answer, fact, fit_screen, keyed
from ldiversity.base.findings import Finding
from ldiversity.base.numbers import counted
from ldiversity.base.usual_l import usual_l
from ldiversity.publish._uniqueness import ColumnUniqueness

__all__ = [
    "AttributePlan",
    "ClassAttributePlan",
    "ClassOutlook",
    "ClassPlan",
    "Outlook",
    "Plan",
    "SeveralSets",
    "UniformViolation",
]


@dataclass(frozen=True)
class Outlook:
    """What one choice of parameters promises and costs on one attribute of this table.

    Attributes
    ----------
    l, d
        The choice; None where the method has no such parameter.
    reason, hint, nearest
        Why it is not feasible, the way out, and feasible choices nearby; None and empty when it is.
    posterior, posterior_informed
        The greatest probability that a set can give to one value: for someone without prior knowledge, and for
        someone who knows how frequent each value is in this table.
    mse, mse_table
        Expected mean squared error of the estimated shares over all records: if all values were equally frequent,
        and with the frequencies of this table.
    condition
        How much estimation magnifies noise.
    epsilon
        The bound of local differential privacy; None where sets always hold the true value.
    """

    l: int | None
    d: float | None
    reason: str | None = None
    hint: str | None = None
    nearest: tuple[Mapping[str, float], ...] = ()
    posterior: float | None = field(default=None, metadata=keyed("worst_posterior"))
    posterior_informed: float | None = field(default=None, metadata=keyed("worst_posterior_informed"))
    mse: float | None = field(default=None, metadata=keyed("expected_mse_uniform"))
    mse_table: float | None = field(default=None, metadata=keyed("expected_mse"))
    condition: float | None = None
    epsilon: float | None = field(default=None, metadata=OPTIONAL)

    @fact
    def feasible(self) -> bool:
        """Whether it can be published."""
        return self.reason is None

    @fact
    def std_error(self) -> float | None:
        """Typical standard error of an estimated share over all records, from 0 to 1."""
        return None if self.mse_table is None else math.sqrt(self.mse_table)


@dataclass(frozen=True)
class UniformViolation:
    """How often plain randomized addition would publish a set with two values closer than d.

    Attributes
    ----------
    least, average, greatest
        Over the true values; the average by their frequencies in the table.
    bound
        The bound of the paper; None where it says nothing.
    any_record
        How likely this happens to at least one record.
    """

    least: float
    average: float
    greatest: float
    bound: float | None
    any_record: float | None


@dataclass(frozen=True)
class SeveralSets:
    """What several sets of one person tell: in rows with different values, or in releases between which it changed.

    Attributes
    ----------
    partitions
        Whether a person's sets come from one partition of the values, so that they are equal or disjoint.
    divides
        Whether l divides the number of values, so that this holds without exception.
    overlapping
        At most this share of changes gives two sets that overlap.
    posterior
        How sure someone can be of a value after two different sets of a person, without prior knowledge; 1/l when a
        second set tells nothing. None where sets favor some of their members: no bound is known then.
    dividing
        The nearest l that divide the number of values, if this one does not.
    text
        The same in words.
    """

    partitions: bool
    divides: bool
    overlapping: float
    posterior: float | None
    dividing: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class AttributePlan:
    """The plan for one sensitive attribute.

    Attributes
    ----------
    attribute, method, selection
        What is hidden, and how.
    n_values
        Size of the public domain.
    largest_share
        How often a guess of the most frequent value is right without any release.
    outlook
        What the choice promises and costs.
    claim
        The promise in words.
    cell_errors
        Typical standard error of a share in cells of `CELL_SIZES` records.
    violation
        For semantic diversity: how often plain randomized addition with the same l would publish a set with two
        values closer than d.
    cautions
        What the holder should know.
    choices
        The same for neighboring l.
    several_sets
        What several sets of one person tell, under a key or with a person column; None when it is not feasible.
    least_error_l
        With an epsilon: the l that gives the least expected error at it, on a table with these frequencies.
    """

    attribute: str
    method: str
    selection: str | None
    n_values: int = field(metadata=keyed("values"))
    largest_share: float
    outlook: Outlook = field(metadata=BESIDE)
    claim: str | None = None
    cell_errors: Mapping[int, float] = field(default_factory=dict, metadata=keyed("std_error_by_cell_size"))
    violation: UniformViolation | None = field(default=None, metadata=keyed("violation_if_uniform"))
    cautions: tuple[str, ...] = ()
    choices: tuple[Outlook, ...] = ()
    several_sets: SeveralSets | None = field(default=None, metadata=OPTIONAL)
    least_error_l: int | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, repr=False, kw_only=True)
class AnyPlan(Answer):
    """What every plan says, whatever the method."""

    table: str
    n_rows: int = field(metadata=keyed("records"))
    notes: tuple[str, ...] = field(metadata=LAST)
    not_protected: tuple[str, ...] = field(metadata=LAST)
    uniqueness: tuple[ColumnUniqueness, ...] = field(default=(), metadata=LAST)
    findings: tuple[Finding, ...] = field(default=(), metadata=LAST)

    @fact
    def refused(self) -> bool:
        """Whether nothing would be published until a column is dropped or confirmed."""
        return any(one.blocking for one in self.findings)

    def _shown(self, by: str, told: list[str]) -> str:
        """The text of a plan for one screen: the table, what the plan told, findings and notes."""
        head = f"{self.table}: {counted(self.n_rows, 'record')}{by}"
        return fit_screen([head, *told, *map(str, self.findings), *self.notes])


@dataclass(frozen=True, repr=False)
class Plan(AnyPlan, schema="plan", version=1):
    """What `plan` found. It shows true frequencies: for the data holder, not for publication."""

    attributes: tuple[AttributePlan, ...]
    n_bytes: int | None = field(metadata=keyed("bytes"))

    @fact
    def feasible(self) -> bool:
        """Whether the table can be published so."""
        return all(attribute.outlook.feasible for attribute in self.attributes)

    def __str__(self) -> str:
        told = [
            f"{one.attribute}: {one.claim if one.outlook.feasible else one.outlook.reason}" for one in self.attributes
        ]
        return self._shown("", told)


@dataclass(frozen=True)
class ClassOutlook:
    """What one choice of l can give on this table.

    Attributes
    ----------
    l
        The choice; None for a privacy model without one.
    reason, hint, nearest
        Why it is not feasible, the way out, and feasible choices nearby; None and empty when it is.
    most_classes
        No grouping has more classes; None when that is not known before.
    least_suppressed
        No grouping leaves out fewer records.
    """

    l: int | None
    reason: str | None = None
    hint: str | None = None
    nearest: tuple[Mapping[str, float], ...] = ()
    most_classes: int | None = None
    least_suppressed: int = 0

    @fact
    def feasible(self) -> bool:
        """Whether nothing speaks against it."""
        return self.reason is None


@dataclass(frozen=True)
class ClassAttributePlan:
    """The plan for one sensitive attribute.

    Attributes
    ----------
    attribute
        What is hidden.
    n_values, n_occurring
        Size of the public domain, and how many of its values occur.
    largest_count, largest_share
        How often the most frequent value occurs; a guess of it is right so often without any release.
    largest_l
        Records over those of the most frequent value, rounded down: the largest l without leaving records out. None
        when the promise is not about how often a value occurs.
    claims
        The promises in words.
    posterior
        No value has a greater share of a class; 1.0 when nothing bounds it.
    cautions
        What the holder should know.
    """

    attribute: str
    n_values: int = field(metadata=keyed("values"))
    n_occurring: int = field(metadata=keyed("occurring"))
    largest_count: int
    largest_share: float
    largest_l: int | None
    claims: tuple[str, ...]
    posterior: float = field(metadata=keyed("worst_posterior"))
    cautions: tuple[str, ...] = ()

    @fact
    def claim(self) -> str:
        """All promises in words."""
        return " ".join(self.claims)


@dataclass(frozen=True, repr=False)
class ClassPlan(AnyPlan, schema="class-plan", version=1):
    """What `plan` found for a method that groups records. It shows true counts: for the data holder alone.

    Attributes
    ----------
    table, n_rows
        What would be published.
    method, layout, parameters
        How.
    attributes
        Each sensitive attribute.
    outlook
        What the choice can give.
    choices
        The same for neighboring l, where that is known before.
    exact
        Whether feasibility was decided, and not only what can be decided before the table is grouped.
    notes, not_protected
        What the holder should know.
    uniqueness
        How many are unique at each level of each quasi-identifier, where records keep their own.
    findings
        What the table would give away.
    """

    method: str
    layout: str
    parameters: Mapping[str, object]
    attributes: tuple[ClassAttributePlan, ...]
    outlook: ClassOutlook = field(metadata=BESIDE)
    choices: tuple[ClassOutlook, ...]
    exact: bool

    @property
    def feasible(self) -> bool:  # a part of the outlook, which stands beside it
        """Whether nothing speaks against publishing the table so."""
        return self.outlook.feasible

    @fact
    def largest_l(self) -> int | None:
        """The largest l that every sensitive attribute allows without leaving records out; below 2 there is none."""
        reached = [attribute.largest_l for attribute in self.attributes if attribute.largest_l is not None]
        return min(reached, default=None)

    @fact
    def suggested_l(self) -> int | None:
        """An l to start with: 3 or the largest possible, and at least 2."""
        return None if self.largest_l is None else usual_l(self.largest_l)

    def __str__(self) -> str:
        told = [one.claim for one in self.attributes] if self.feasible else [f"Not feasible. {self.outlook.reason}"]
        return self._shown(f" by {self.method}", told)

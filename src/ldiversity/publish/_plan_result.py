"""What a plan says, as data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ldiversity.base.answers import BESIDE, Answer, fact, fit_screen, keyed
from ldiversity.base.numbers import counted
from ldiversity.release import NOT_PROTECTED

__all__ = ["AttributePlan", "Outlook", "Plan", "UniformViolation"]


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


@dataclass(frozen=True, repr=False)
class Plan(Answer, schema="plan", version=1):
    """What `plan` found. It shows true frequencies: for the data holder, not for publication."""

    table: str
    n_rows: int = field(metadata=keyed("records"))
    attributes: tuple[AttributePlan, ...]
    n_bytes: int | None = field(metadata=keyed("bytes"))
    notes: tuple[str, ...]

    @fact
    def feasible(self) -> bool:
        """Whether the table can be published so."""
        return all(attribute.outlook.feasible for attribute in self.attributes)

    @fact
    def not_protected(self) -> tuple[str, ...]:
        """What the release would not protect."""
        return NOT_PROTECTED

    def __str__(self) -> str:
        told = [
            f"{one.attribute}: {one.claim if one.outlook.feasible else one.outlook.reason}" for one in self.attributes
        ]
        return fit_screen([f"{self.table}: {counted(self.n_rows, 'record')}", *told, *self.notes])

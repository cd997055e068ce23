"""What a plan says, as data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ldiversity.release import NOT_PROTECTED

__all__ = ["AttributePlan", "Outlook", "Plan"]


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
        The greatest probability with which a set can point at one value: for someone to whom all values are
        equally likely before, and for someone who knows how frequent each value is in this table.
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
    posterior: float | None = None
    posterior_informed: float | None = None
    mse: float | None = None
    mse_table: float | None = None
    condition: float | None = None

    @property
    def feasible(self) -> bool:
        """Whether it can be published."""
        return self.reason is None

    @property
    def std_error(self) -> float | None:
        """Typical standard error of an estimated share over all records, from 0 to 1."""
        return None if self.mse_table is None else math.sqrt(self.mse_table)

    def to_dict(self) -> dict[str, Any]:
        """Describe it in JSON's types."""
        return {
            "l": self.l,
            "d": self.d,
            "feasible": self.feasible,
            "reason": self.reason,
            "hint": self.hint,
            "nearest": [dict(choice) for choice in self.nearest],
            "worst_posterior": self.posterior,
            "worst_posterior_informed": self.posterior_informed,
            "expected_mse_uniform": self.mse,
            "expected_mse": self.mse_table,
            "std_error": self.std_error,
            "condition": self.condition,
        }


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
        values closer than d; see `ldiversity.mechanisms.Violation`.
    cautions
        What the holder should know.
    choices
        The same for neighboring l.
    """

    attribute: str
    method: str
    selection: str | None
    n_values: int
    largest_share: float
    outlook: Outlook
    claim: str | None = None
    cell_errors: Mapping[int, float] | None = None
    violation: Mapping[str, float | None] | None = None
    cautions: tuple[str, ...] = ()
    choices: tuple[Outlook, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Describe it in JSON's types."""
        return {
            "attribute": self.attribute,
            "method": self.method,
            "selection": self.selection,
            "values": self.n_values,
            "largest_share": self.largest_share,
            **self.outlook.to_dict(),
            "claim": self.claim,
            "std_error_by_cell_size": {str(size): error for size, error in (self.cell_errors or {}).items()},
            "violation_if_uniform": None if self.violation is None else dict(self.violation),
            "cautions": list(self.cautions),
            "choices": [choice.to_dict() for choice in self.choices],
        }


@dataclass(frozen=True)
class Plan:
    """What `plan` found. It shows true frequencies: for the data holder, not for publication."""

    table: str
    n_rows: int
    attributes: tuple[AttributePlan, ...]
    n_bytes: int | None
    notes: tuple[str, ...]

    @property
    def feasible(self) -> bool:
        """Whether the table can be published so."""
        return all(attribute.outlook.feasible for attribute in self.attributes)

    def to_dict(self) -> dict[str, Any]:
        """Describe it in JSON's types.

        Keys: ``table``, ``records``, ``feasible``, ``bytes`` (estimated size of the release; null when not feasible),
        ``notes``, ``not_protected`` and ``attributes``. An attribute has ``attribute``, ``method``, ``selection``,
        ``values``, ``largest_share``, the keys of a choice, ``claim``, ``std_error_by_cell_size``,
        ``violation_if_uniform`` (``least``, ``average``, ``greatest``, ``bound``, ``any_record``), ``cautions`` and
        ``choices`` for neighboring l. A choice has ``l``, ``d``, ``feasible``, ``reason``, ``hint``, ``nearest``,
        ``worst_posterior``, ``worst_posterior_informed``, ``expected_mse_uniform``, ``expected_mse``, ``std_error`` and
        ``condition``. Probabilities and errors of shares are from 0 to 1.
        """
        return {
            "table": self.table,
            "records": self.n_rows,
            "feasible": self.feasible,
            "bytes": self.n_bytes,
            "notes": list(self.notes),
            "not_protected": list(NOT_PROTECTED),
            "attributes": [attribute.to_dict() for attribute in self.attributes],
        }

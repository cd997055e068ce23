"""What a plan for a method that groups records says, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ClassAttributePlan", "ClassOutlook", "ClassPlan"]


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

    @property
    def feasible(self) -> bool:
        """Whether nothing speaks against it."""
        return self.reason is None

    def to_dict(self) -> dict[str, Any]:
        """Describe it in JSON's types."""
        return {
            "l": self.l,
            "feasible": self.feasible,
            "reason": self.reason,
            "hint": self.hint,
            "nearest": [dict(choice) for choice in self.nearest],
            "most_classes": self.most_classes,
            "least_suppressed": self.least_suppressed,
        }


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
    n_values: int
    n_occurring: int
    largest_count: int
    largest_share: float
    largest_l: int | None
    claims: tuple[str, ...]
    posterior: float
    cautions: tuple[str, ...] = ()

    @property
    def claim(self) -> str:
        """All promises in words."""
        return " ".join(self.claims)

    def to_dict(self) -> dict[str, Any]:
        """Describe it in JSON's types."""
        return {
            "attribute": self.attribute,
            "values": self.n_values,
            "occurring": self.n_occurring,
            "largest_count": self.largest_count,
            "largest_share": self.largest_share,
            "largest_l": self.largest_l,
            "claim": self.claim,
            "claims": list(self.claims),
            "worst_posterior": self.posterior,
            "cautions": list(self.cautions),
        }


@dataclass(frozen=True)
class ClassPlan:
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
    """

    table: str
    n_rows: int
    method: str
    layout: str
    parameters: Mapping[str, Any]
    attributes: tuple[ClassAttributePlan, ...]
    outlook: ClassOutlook
    choices: tuple[ClassOutlook, ...]
    exact: bool
    notes: tuple[str, ...]
    not_protected: tuple[str, ...]

    @property
    def feasible(self) -> bool:
        """Whether nothing speaks against publishing the table so."""
        return self.outlook.feasible

    @property
    def largest_l(self) -> int | None:
        """The largest l that every sensitive attribute allows without leaving records out; below 2 there is none."""
        reached = [attribute.largest_l for attribute in self.attributes if attribute.largest_l is not None]
        return min(reached, default=None)

    @property
    def suggested_l(self) -> int | None:
        """An l to start with: the largest possible, and at least 2."""
        return None if self.largest_l is None else max(2, self.largest_l)

    def to_dict(self) -> dict[str, Any]:
        """Describe it in JSON's types.

        Keys: ``table``, ``records``, ``method``, ``layout``, ``parameters``, the keys of a choice, ``exact``,
        ``largest_l``, ``suggested_l``, ``attributes``, ``choices`` for neighboring l, ``notes`` and ``not_protected``.
        An attribute has ``attribute``, ``values``, ``occurring``, ``largest_count``, ``largest_share``, ``largest_l``,
        ``claim``, ``claims`` (one sentence for each promise), ``worst_posterior`` and ``cautions``. A choice has
        ``l``, ``feasible``, ``reason``, ``hint``, ``nearest``, ``most_classes`` and ``least_suppressed``.
        """
        return {
            "table": self.table,
            "records": self.n_rows,
            "method": self.method,
            "layout": self.layout,
            "parameters": dict(self.parameters),
            **self.outlook.to_dict(),
            "exact": self.exact,
            "largest_l": self.largest_l,
            "suggested_l": self.suggested_l,
            "attributes": [attribute.to_dict() for attribute in self.attributes],
            "choices": [choice.to_dict() for choice in self.choices],
            "notes": list(self.notes),
            "not_protected": list(self.not_protected),
        }

"""What the data holder says about a sensitive column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ldiversity.base.arrays import Scalar
from ldiversity.base.checks import check_choice, column_names
from ldiversity.errors import ParameterError
from ldiversity.schema import Domain
from ldiversity.tables._bins import Bins

__all__ = ["MISSING_POLICIES", "Sensitive", "as_sensitive"]

MISSING_POLICIES: Final = ("refuse", "category", "drop")
"""What to do with rows whose sensitive value is missing."""


@dataclass(frozen=True)
class Sensitive:
    """A sensitive column: its public domain, and what to do with missing values.

    Parameters
    ----------
    name
        The column.
    domain
        The public values in order; may be wider than what occurs. Without it, the domain consists of the values that
        occur, which reveals them: in the order of the column's categories if they are ordered, otherwise sorted.
    missing
        ``"refuse"`` a table with missing values, make them a separate ``"category"``, or ``"drop"`` their rows. The
        category is in the domain whether cells are missing or not, so that the domain does not tell.
    width, edges, quantiles, low, high
        Bin a column of numbers; see `Bins`. At most one of the first three.

    Examples
    --------
    >>> Sensitive("income", width=10_000, low=0, high=200_000).bins.fixed_edges[:3]
    (0.0, 10000.0, 20000.0)
    """

    name: str
    domain: Sequence[Scalar] | None = None
    missing: Literal["refuse", "category", "drop"] = "refuse"
    width: float | None = None
    edges: Sequence[float] | None = None
    quantiles: int | None = None
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ParameterError("Sensitive", "name", "must be the name of a column", got=type(self.name).__name__)
        check_choice("Sensitive", "missing", self.missing, MISSING_POLICIES)
        if self.domain is not None:
            if isinstance(self.domain, str) or not isinstance(self.domain, Iterable) or not self.domain:
                raise ParameterError("Sensitive", "domain", "must be a list of at least one value").with_hint(
                    _listed(self.domain)
                )
            object.__setattr__(self, "domain", tuple(self.domain))
        if self.edges is not None:
            object.__setattr__(self, "edges", tuple(self.edges))
        binned = self.bins is not None  # this also checks the bins
        if self.domain is not None and binned:
            raise ParameterError("Sensitive", "domain", f"must be left out when {self.name!r} is binned").with_hint(
                "The bins are the domain; declare edges instead."
            )
        if self.domain is not None and None in self.domain and self.missing != "category":
            raise ParameterError(
                "Sensitive", "missing", "must be 'category' when the domain holds None", got=repr(self.missing)
            )

    @property
    def bins(self) -> Bins | None:
        """How the column is binned, or None."""
        ways = (self.width, self.edges, self.quantiles)
        if all(way is None for way in (*ways, self.low, self.high)):
            return None
        edges = None if self.edges is None else tuple(self.edges)
        return Bins(width=self.width, edges=edges, quantiles=self.quantiles, low=self.low, high=self.high)


def _listed(given: object) -> str | None:
    """How to declare what a `Domain` holds: its order and numbers follow from the list again."""
    if not isinstance(given, Domain):
        return None
    if given.edges is not None:
        return "Give edges=domain.edges instead: bins are declared by their edges."
    return "Give its values: domain=domain.values."


def as_sensitive(owner: str, given: object) -> list[Sensitive]:
    """Return one or several names or `Sensitive` as a list of `Sensitive`, or raise `ParameterError`.

    Examples
    --------
    >>> [column.name for column in as_sensitive("audit", ["job", Sensitive("disease", missing="drop")])]
    ['job', 'disease']
    """
    if isinstance(given, Sensitive):
        return [given]
    if isinstance(given, list | tuple) and any(isinstance(part, Sensitive) for part in given):
        return [column for part in given for column in as_sensitive(owner, part)]
    return [Sensitive(name) for name in column_names(owner, "sensitive", given)]

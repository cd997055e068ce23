"""The estimators of grouped releases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ldiversity.errors import UnsupportedError
from ldiversity.estimation._projection import project
from ldiversity.estimation._returned import checks_names
from ldiversity.mechanisms import SINGULAR_CONDITION

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._class_cells import ClassCells
    from ldiversity.estimation._exchange import Exchange

__all__ = ["ClassEstimator", "ClassSolution"]

WELL_CONDITIONED: Final = 100.0
"""Up to this condition number of the mixing, auto takes linear."""

_MIXED: Final = (
    "Every record counts with the shares of its class, whatever its quasi-identifiers are. Grouping hid how values "
    "depend on them, so counts are too close to the mix of the classes. Nothing published tells by how much."
)
_SPREAD: Final = (
    "Every class is spread over its region. Counts are as good as the assumption that records, whatever their value, "
    "lie in the region as the spread says. Nothing published tells how good that is."
)
_NEGATIVE: Final = (
    "linear undoes the mixing within classes without bias; single counts may be negative or too large. Intervals hold "
    "possible counts only."
)


@dataclass(frozen=True, eq=False)
class ClassSolution:
    """The reported counts, the centers of the intervals, the standard errors, and what the user should know.

    An estimator without a formula for its errors gives None. Then standard errors stay empty, intervals are the limits
    that hold for certain, and the estimate says so.
    """

    counts: FloatArray
    centers: FloatArray
    errors: FloatArray | None
    estimator: str
    caveats: tuple[str, ...]
    covariance: Callable[[int], FloatArray] | None = None


class ClassEstimator(ABC):
    """Turns classes, spread over cells, into the counts of the true values. Stateless."""

    name: ClassVar[str]
    """How users ask for it."""

    summary: ClassVar[str]
    """What it does, in one sentence."""

    meaning: ClassVar[str] = ""
    """The same for people who know no statistics; glossaries of reports show it."""

    def __init_subclass__(cls, **given: Any) -> None:  # noqa: ANN401 - what a base class takes
        """See to it that an estimator names itself, or one that it asked."""
        super().__init_subclass__(**given)
        if "solve" in vars(cls):
            cls.solve = checks_names(vars(cls)["solve"])  # type: ignore[method-assign]

    @abstractmethod
    def solve(self, cells: ClassCells) -> ClassSolution:
        """Estimate the counts of every cell; the solution names this estimator, or one whose `solve` it called."""


class ClassShares(ClassEstimator):
    """Count every record with the shares that the values have in its class.

    It works for every grouped release. Grouping hid how values depend on quasi-identifiers, so the counts of a cell are
    too close to the mix of its classes.
    """

    name: ClassVar[str] = "classes"
    summary: ClassVar[str] = "Every record counts with the shares of its class; for all grouped releases."

    def solve(self, cells: ClassCells) -> ClassSolution:
        """Give the sums of shares."""
        caveat = _SPREAD if cells.generalized else _MIXED
        return ClassSolution(cells.counts, cells.counts, None, self.name, (caveat,))


class ClassLinear(ClassEstimator):
    """Undo the mixing of values within classes that were formed without looking at quasi-identifiers.

    Unbiased; single counts may be negative.
    """

    name: ClassVar[str] = "linear"
    summary: ClassVar[str] = "Unbiased where classes were formed blindly; counts may be negative."
    meaning: ClassVar[str] = (
        "An estimate that is right on average over what chance may draw; a single one may be off, or even negative."
    )

    def solve(self, cells: ClassCells) -> ClassSolution:
        """Multiply the sums of shares by the inverse of the mixing."""
        exchange = _exchange(cells, self.name)
        counts = exchange.undo(cells.counts)
        errors = exchange.standard_errors(counts, cells.records)

        def covariance(cell: int) -> FloatArray:
            return exchange.covariance(counts[cell], float(cells.records[cell]))

        return ClassSolution(counts, counts, errors, self.name, (_NEGATIVE,), covariance=covariance)


class ClassSimplex(ClassEstimator):
    """Move the unbiased counts to the nearest ones that are not negative and sum to the records."""

    name: ClassVar[str] = "simplex"
    summary: ClassVar[str] = "The nearest counts to linear that are not negative and sum to the records."

    def solve(self, cells: ClassCells) -> ClassSolution:
        """Project the unbiased counts."""
        _exchange(cells, self.name)
        linear = ClassLinear().solve(cells)
        counts = project(linear.counts, cells.records)
        caveats = (
            "Standard errors and intervals are those of linear, widened to the reported count where it is possible.",
        )
        return ClassSolution(counts, linear.counts, linear.errors, self.name, caveats, covariance=linear.covariance)


class ClassAuto(ClassEstimator):
    """``linear`` where the mixing of values can be undone well, else ``classes``."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "linear where classes were formed blindly and mix values well, else classes."

    def solve(self, cells: ClassCells) -> ClassSolution:
        """Choose one estimator for all cells."""
        if cells.exchange is not None and cells.exchange.condition <= WELL_CONDITIONED:
            return ClassLinear().solve(cells)
        reason = cells.reason
        if cells.exchange is not None:
            reason = "classes mix some values so evenly that it would be very noisy; you can ask for it by name"
        shares = ClassShares().solve(cells)
        return replace(shares, caveats=(*shares.caveats, f"The unbiased linear was not used, because {reason}."))


def _exchange(cells: ClassCells, name: str) -> Exchange:
    reason = cells.reason
    if cells.exchange is not None and not cells.exchange.condition < SINGULAR_CONDITION:
        reason = "the classes of this release mix some values so evenly that nothing can separate them"
    elif cells.exchange is not None:
        return cells.exchange
    raise UnsupportedError("estimate", f"{name} is not offered here, because {reason}", hint="Use 'classes'.")

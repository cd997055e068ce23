"""Entries of a stranger that say more than they keep; each must be found out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ldiversity import Attack, PrivacyRisk, Release, RiskAttack
from ldiversity.estimation import ESTIMATORS, CellData, ClassCells, ClassEstimator, ClassSolution, Estimator, Solution
from ldiversity.evaluation.attacks import Beliefs, Targets
from ldiversity.mechanisms import SetMechanism, UniformSelection
from ldiversity.methods import CodedTable, Grouping, GroupingMethod, GroupingRun, Partition, RandomizingMethod
from ldiversity.models import DistinctDiversity, KAnonymity, Measured, Population, PrivacyModel
from ldiversity.schema import Domain

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Boast(PrivacyModel):
    """Counts different values, and says that this bounds the share of one."""

    name: ClassVar[str] = "boast"
    monotone: ClassVar[bool] = True
    scale: ClassVar[str] = "m"
    example: ClassVar[str] = "boast:3"
    measured: ClassVar[Measured] = Measured("boast_m", "different values in the worst class", "whole")

    m: int

    def reached(self, counts: Counts, population: Population) -> NDArray[np.float64]:  # noqa: ARG002
        """How many values a class has."""
        reached: NDArray[np.float64] = (counts > 0).sum(axis=1).astype(np.float64)
        return reached

    def holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        """Whether these are m."""
        holds: NDArray[np.bool_] = self.reached(counts, population) >= self.m
        return holds

    @property
    def posterior(self) -> float:
        """What does not follow."""
        return 1 / self.m

    def statement(self, attribute: str) -> str:
        """The rule in plain words."""
        return f"Every class has {self.m} different values of {attribute!r}."


@dataclass(frozen=True)
class Always(Boast):
    """Holds whatever is reached."""

    name: ClassVar[str] = "always"
    example: ClassVar[str] = "always:3"

    def holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:  # noqa: ARG002
        """Yes."""
        return np.ones(len(counts), dtype=np.bool_)

    @property
    def posterior(self) -> float:
        """Nothing is bounded."""
        return 1.0


@dataclass(frozen=True)
class Crowd(Boast):
    """Says that it is about records, and looks at values."""

    name: ClassVar[str] = "crowd"
    of_people: ClassVar[bool] = True
    example: ClassVar[str] = "crowd:3"

    def reached(self, counts: Counts, population: Population) -> NDArray[np.float64]:
        """How many values a class has."""
        return super().reached(counts, population)

    def holds(self, counts: Counts, population: Population) -> NDArray[np.bool_]:
        """Whether these are m."""
        return super().holds(counts, population)

    @property
    def posterior(self) -> float:
        """Nothing is bounded."""
        return 1.0


def in_order(values: NDArray[np.float64], size: int) -> Grouping:
    """Neighbors, so many at a time."""
    n_classes = max(1, len(values) // size)
    class_of = np.empty(len(values), dtype=np.int32)
    class_of[np.argsort(values, kind="stable")] = np.minimum(np.arange(len(values)) // size, n_classes - 1)
    return Grouping((Partition(class_of, n_classes),))


@dataclass(frozen=True)
class Buckets(GroupingMethod):
    """Promises look-alikes, while every record keeps its quasi-identifiers; and says that it is blind to them."""

    name: ClassVar[str] = "buckets"
    layout: ClassVar[Literal["generalized", "bucketized"]] = "bucketized"
    blind: ClassVar[bool] = True

    size: int = 8
    values_too: bool = True

    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:  # noqa: ARG002 - one pass
        """Neighbors by the first number."""
        return in_order(table.numbers[0].values, self.size)

    def promises(self, domain: Domain) -> tuple[PrivacyModel, ...]:  # noqa: ARG002 - the same for every domain
        """Values first, or people alone."""
        people = KAnonymity(self.size)
        return (DistinctDiversity(2), people) if self.values_too else (people,)


@dataclass(frozen=True)
class Dropper(GroupingMethod):
    """Leaves half of the records out, and says nothing."""

    name: ClassVar[str] = "dropper"
    layout: ClassVar[Literal["generalized", "bucketized"]] = "generalized"

    size: int = 4

    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:  # noqa: ARG002 - one pass
        """The first half."""
        (kept,) = in_order(np.zeros(table.n_rows // 2), self.size).partitions
        class_of = np.full(table.n_rows, -1, dtype=np.int32)
        class_of[: len(kept.class_of)] = kept.class_of
        return Grouping((Partition(class_of, kept.n_classes),))

    def promises(self, domain: Domain) -> tuple[PrivacyModel, ...]:  # noqa: ARG002 - the same for every domain
        """A class has so many records."""
        return (KAnonymity(self.size),)


@dataclass(frozen=True)
class Silent(Dropper):
    """Promises nothing."""

    name: ClassVar[str] = "silent"

    def promises(self, domain: Domain) -> tuple[PrivacyModel, ...]:  # noqa: ARG002 - the same for every domain
        """Nothing."""
        return ()


class Couples(UniformSelection):
    """Every value always with the same other, so that nobody can tell which of the two is how frequent."""

    kind: ClassVar[str] = "couples"

    @property
    def inclusion(self) -> NDArray[np.float64]:
        """Ones for both."""
        couple = np.arange(self.n_values) // 2
        return np.equal.outer(couple, couple).astype(np.float64)

    @property
    def condition(self) -> float:
        """Without end."""
        return float(np.linalg.cond(self.inclusion))


@dataclass(frozen=True)
class Coupling(RandomizingMethod):
    """Hides each value beside its other half."""

    name: ClassVar[str] = "coupling"
    strength: ClassVar[str | None] = "l"

    l: int = 2

    def fit(self, domain: Domain) -> SetMechanism:
        """Couples."""
        return Couples(len(domain), self.l)


class _Told(Estimator):
    """Returns what it is told, whatever was published."""

    summary: ClassVar[str] = "Nothing that was published."


class Borrowed(_Told):
    """Names an estimator that it never asked."""

    name: ClassVar[str] = "borrowed"

    def _solve(self, cells: CellData) -> Solution:
        return Solution(np.ones(cells.counts.shape), ("linear",) * cells.n_cells)


class Unnamed(_Told):
    """Names too few."""

    name: ClassVar[str] = "unnamed"

    def _solve(self, cells: CellData) -> Solution:
        return Solution(np.ones(cells.counts.shape), (self.name,))


class Turned(_Told):
    """Has cells for values."""

    name: ClassVar[str] = "turned"

    def _solve(self, cells: CellData) -> Solution:
        return Solution(cells.linear.T.copy(), (self.name,) * cells.n_cells)


class Missing(_Told):
    """Has no numbers."""

    name: ClassVar[str] = "missing"

    def _solve(self, cells: CellData) -> Solution:
        return Solution(np.full(cells.counts.shape, np.nan), (self.name,) * cells.n_cells)


class Asking(_Told):
    """Asks another estimator, and says so, as it may."""

    name: ClassVar[str] = "asking"

    def _solve(self, cells: CellData) -> Solution:
        return ESTIMATORS["simplex"]().solve(cells)


class FalseClasses(ClassEstimator):
    """Names an estimator that it never asked."""

    name: ClassVar[str] = "false-classes"
    summary: ClassVar[str] = "Nothing that was published."

    def solve(self, cells: ClassCells) -> ClassSolution:
        """Ones."""
        ones = np.ones(cells.counts.shape)
        return ClassSolution(ones, ones, None, "linear", ())


class TurnedClasses(FalseClasses):
    """Has cells for values."""

    name: ClassVar[str] = "turned-classes"

    def solve(self, cells: ClassCells) -> ClassSolution:
        """Ones."""
        ones = np.ones(cells.counts.T.shape)
        return ClassSolution(ones, ones, None, self.name, ())


@dataclass(frozen=True)
class Overfull(Attack):
    """Believes in every value more than is possible."""

    name: ClassVar[str] = "overfull"

    @property
    def knowledge(self) -> str:
        """What they know."""
        return "They know nothing."

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """Seven for each value."""
        return Beliefs(np.full((1, len(release.domain(attribute))), 7.0), np.zeros(targets.n, dtype=np.int64))


@dataclass(frozen=True)
class Crash(Overfull):
    """Fails, and quotes a cell."""

    name: ClassVar[str] = "crash"
    compared: ClassVar[bool] = True

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:  # noqa: ARG002 - it fails
        """No beliefs."""
        raise ZeroDivisionError("a cell of somebody")


@dataclass(frozen=True)
class Misplaced(Overfull):
    """Points at beliefs that are not there."""

    name: ClassVar[str] = "misplaced"

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """The second row of one."""
        even = np.full((1, len(release.domain(attribute))), 0.1)
        return Beliefs(even, np.ones(targets.n, dtype=np.int64))


@dataclass(frozen=True)
class CrashingRisk(RiskAttack):
    """Fails, and quotes a cell."""

    name: ClassVar[str] = "crashing-risk"
    meaning: ClassVar[str] = "fail"

    @property
    def knowledge(self) -> str:
        """What they know."""
        return "They know nothing."

    def measure(self, *given: object) -> PrivacyRisk:  # type: ignore[override]
        """No risk."""
        raise KeyError("a cell of somebody", len(given))

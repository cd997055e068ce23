"""Methods that group in the simplest way, to see what the pipeline makes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import pytest

import ldiversity as ld
from ldiversity.methods import CodedTable, Grouping, GroupingMethod, GroupingRun, Partition
from ldiversity.schema import Domain


@dataclass(frozen=True)
class Neighbors(GroupingMethod):
    """Every two records that follow each other in the order of the first number share a class."""

    name: ClassVar[str] = "neighbors"
    leaves_out: ClassVar[bool] = True
    layout: ClassVar[Literal["generalized", "bucketized"]] = "generalized"

    extra: dict[str, Any] = field(default_factory=dict)
    left_out: int = 0

    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:
        run.progress(0.5, "pairing")
        order = np.argsort(table.numbers[0].values, kind="stable")
        class_of = np.empty(table.n_rows, dtype=np.int32)
        class_of[order] = (np.arange(table.n_rows) - self.left_out) // 2
        class_of[order[: self.left_out]] = -1
        n_classes = int(class_of.max()) + 1
        return Grouping((Partition(class_of, n_classes),), **self.extra)

    def promises(self, domain: Domain) -> tuple[ld.PrivacyModel, ...]:  # noqa: ARG002 - any
        return (ld.KAnonymity(k=2),)


@dataclass(frozen=True)
class NeighborsApart(Neighbors):
    """The same, with values in a table of their own."""

    layout: ClassVar[Literal["generalized", "bucketized"]] = "bucketized"

    def promises(self, domain: Domain) -> tuple[ld.PrivacyModel, ...]:  # noqa: ARG002 - any
        return (ld.AlphaK(alpha=1.0, k=2),)


@dataclass(frozen=True)
class Given(GroupingMethod):
    """Whatever a test gives."""

    name: ClassVar[str] = "given"
    layout: ClassVar[Literal["generalized", "bucketized"]] = "bucketized"

    classes: tuple[Any, ...] = ()
    rule: Any = None

    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:  # noqa: ARG002 - nothing to do
        by_value = np.argsort(table.sensitive[0].codes, kind="stable")
        partitions = []
        for listed in self.classes:
            class_of = np.empty(table.n_rows, dtype=np.int32)
            class_of[by_value] = listed
            partitions.append(Partition(class_of, max(listed) + 1))
        return Grouping(tuple(partitions))

    def promises(self, domain: Domain) -> tuple[ld.PrivacyModel, ...]:  # noqa: ARG002 - any
        rule: ld.PrivacyModel = self.rule or ld.AlphaK(alpha=1.0, k=2)
        return (rule,)


@pytest.fixture
def methods() -> dict[str, Any]:
    """The methods by name; a fixture, because test files cannot import each other."""
    return {"neighbors": Neighbors, "apart": NeighborsApart, "given": Given}

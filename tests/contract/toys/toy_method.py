"""Methods as a stranger writes them: one file, and one registration each. Neither has an l."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from ldiversity.mechanisms import SetMechanism, UniformSelection
from ldiversity.methods import CodedTable, Grouping, GroupingMethod, GroupingRun, Partition, RandomizingMethod
from ldiversity.models import KAnonymity
from ldiversity.schema import Domain


@dataclass(frozen=True)
class Blocks(GroupingMethod):
    """Neighbors by the first number, or records as they come, so many at a time."""

    name: ClassVar[str] = "toy-blocks"
    layout: ClassVar[Literal["generalized", "bucketized"]] = "generalized"

    size: int = field(default=4, metadata={"help": "Records in a block.", "minimum": 2})
    descending: bool = field(default=False, metadata={"help": "Begin with the greatest."})

    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:  # noqa: ARG002 - one pass
        """Cut the order of the first number into blocks; what is left joins the last."""
        values = table.numbers[0].values if table.numbers else np.zeros(table.n_rows)
        order = np.argsort(-values if self.descending else values, kind="stable")
        n_classes = max(1, table.n_rows // self.size)
        class_of = np.empty(table.n_rows, dtype=np.int32)
        class_of[order] = np.minimum(np.arange(table.n_rows) // self.size, n_classes - 1)
        return Grouping((Partition(class_of, n_classes),))

    def promises(self, domain: Domain) -> tuple[KAnonymity]:  # noqa: ARG002 - the same for every domain
        """A block has so many records."""
        return (KAnonymity(self.size),)


@dataclass(frozen=True)
class Thirds(RandomizingMethod):
    """Each value among two others, always."""

    name: ClassVar[str] = "toy-thirds"

    def fit(self, domain: Domain) -> SetMechanism:
        """The uniform mechanism for sets of three."""
        return UniformSelection.fit(domain, 3)

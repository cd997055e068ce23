"""What an attacker sees of a table or release: who looks alike, and what that says about sensitive values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.findings import Confirmed
from ldiversity.evaluation.audit._unit import RECORDS, Unit
from ldiversity.evaluation.audit._views import View
from ldiversity.models import PrivacyModel
from ldiversity.release import Region
from ldiversity.tables import RowsPerId

__all__ = ["AttackerView"]


@dataclass(frozen=True, eq=False)
class AttackerView:
    """A table or release as seen by an attacker who knows people's quasi-identifiers.

    Parameters
    ----------
    kind
        ``"table"``, or the layout of a release: ``"sets"``, ``"exploded"``, ``"generalized"``, ``"bucketized"``.
    name
        Its name in messages.
    keys
        One row per class: its quasi-identifiers that are not generalized. Never shown.
    regions
        What is published about each generalized one, and the cell that each class shows.
    sizes
        Shape (classes,): how many records look alike.
    views
        What they see of each sensitive attribute.
    by_class_id
        The same for classes as the release numbers them; `views` merges classes with equal regions.
    n_dropped, n_suppressed
        How many rows the audit left out, and how many records the holder did not publish.
    joint
        Whether the attacker knows the other sensitive attributes when they ask for one.
    confirmed
        Columns of a release that name people or give a value away, and were published knowingly.
    unseen
        How many rows show no value of an attribute.
    n_rows, n_people, person
        Where people are counted: how many rows there are, of how many people, and the column that says whose they are.
        `sizes` and `views` then count people. None where rows are counted.
    largest
        Where regions are published: of the classes that show the same region, the size of the largest.
    smallest
        The size of the smallest class, where `sizes` does not have all; None where it does.
    several_rows
        A column that looks like a person's id and has several rows per value, although rows are counted.
    """

    kind: str
    name: str
    quasi: tuple[str, ...]
    keys: pa.Table = field(repr=False)
    sizes: NDArray[np.int64]
    views: Mapping[str, View]
    by_class_id: Mapping[str, View] = field(default_factory=dict)
    regions: Mapping[str, tuple[Region, NDArray[np.int64]]] = field(default_factory=dict, repr=False)
    n_dropped: int = 0
    n_suppressed: int = 0
    frame_kind: str = "arrow"
    notes: tuple[str, ...] = ()
    joint: bool = False
    unseen: Mapping[str, int] = field(default_factory=dict)
    n_rows: int | None = None
    n_people: int | None = None
    person: str | None = None
    confirmed: tuple[Confirmed, ...] = ()
    several_rows: RowsPerId | None = None
    largest: NDArray[np.int64] | None = None
    smallest: int | None = None

    def view(self, attribute: str, model: type[PrivacyModel]) -> View:
        """What a kind of model looks at.

        Classes with equal regions look alike, so they count as one. Merging classes does not change whether monotone
        models hold; other models look at the classes as the release numbers them.
        """
        if not model.monotone and attribute in self.by_class_id:
            return self.by_class_id[attribute]
        return self.views[attribute]

    def unit(self, n: int) -> Unit:
        """What `n`, a sum over classes, counts."""
        return Unit.of(n, self.n_people) if self.exact_people else RECORDS

    @property
    def exact_people(self) -> bool:
        """Whether the people of each class are known exactly.

        Where regions overlap, or records were left out, nothing says which rows of a person a class of a release holds.
        """
        return self.kind == "table" or (not self.regions and not self.n_suppressed)

    @property
    def n_records(self) -> int:
        """The number of records."""
        return int(self.sizes.sum())

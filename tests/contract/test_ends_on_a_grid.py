"""Whatever method groups the records, a stranger's too, intervals end on the public grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.methods import METHODS, CodedTable, Grouping, GroupingMethod, GroupingRun, Partition
from ldiversity.models import KAnonymity
from ldiversity.publish import ChosenMethod
from ldiversity.release import grid_of
from ldiversity.schema import Domain

N = 300
WEIGHTS = np.random.default_rng(6).permutation(np.arange(N) * 330 + 7)  # none is on any grid
TABLE = pa.table({"weight": WEIGHTS, "height": WEIGHTS + 0.37, "disease": (np.arange(N) % 6).astype(str)})


@dataclass(frozen=True)
class Tens(GroupingMethod):
    """Put every ten rows into a class, as a stranger's method might, without a thought of grids."""

    name: ClassVar[str] = "tens"
    layout: ClassVar[Literal["generalized", "bucketized"]] = "generalized"

    def promises(self, domain: Domain) -> tuple[KAnonymity]:  # noqa: ARG002 - the same for every domain
        """Ten records in every class."""
        return (KAnonymity(10),)

    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:  # noqa: ARG002 - quick
        """The rows in their order."""
        return Grouping((Partition((np.arange(table.n_rows) // 10).astype(np.int32), table.n_rows // 10),))


def rounding() -> list[Any]:
    kinds = [kind for kind in METHODS.values() if issubclass(kind, GroupingMethod) and kind.layout == "generalized"]
    made = [kind.of_level(2) for kind in kinds]
    return [*(one for one in made if ChosenMethod.of(one).rounds), Tens()]


@pytest.mark.parametrize("grid", [None, {"weight": 2500, "height": 250}])
@pytest.mark.parametrize("method", rounding(), ids=lambda method: method.name)
def test_intervals_of_every_method_end_on_the_grid(method: Any, grid: Any) -> None:
    release = ld.anonymize(TABLE, quasi=["weight", "height"], sensitive="disease", method=method, grid=grid)

    for name in ("weight", "height"):
        region = release.region(name)
        form = region.form
        ends = [np.asarray(end.drop_null()) for end in region.ends]
        assert form.grid is not None
        assert grid is None or form.grid == grid[name]
        assert grid_of(form.grid, region.kind).holds(*ends)
        assert not np.isin(ends[0], TABLE[name].to_numpy()).any()

"""Classes that an engine checks where their rows are: the same result as checking all rows at once."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.engines import LocalEngine, Part, Secrets
from ldiversity.engines import Rows as EngineRows
from ldiversity.release import RANGE, CheckRange, RangeNote, RangeRows, Ranges, refuse_ranges
from tests.unit.release.several_files import save

KINDS = ["generalized", "bucketized", "separate"]


@dataclass(frozen=True)
class Given(EngineRows):
    """Rows that are given."""

    table: pa.Table

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        return self.table.schema

    def __iter__(self) -> Any:
        """The rows."""
        return iter(self.table.to_batches())


@dataclass(frozen=True)
class Checking:
    """What an engine applies to a part."""

    check: CheckRange

    @property
    def schema(self) -> pa.Schema:
        """Nothing is returned but a note."""
        return pa.schema([(RANGE, pa.int64())])

    def __call__(self, _: Secrets) -> Any:
        """The function of a worker."""

        def run(part: Part) -> tuple[pa.Table, bytes]:
            return self.schema.empty_table(), self.check(part.number, part.rows).to_json().encode()

        return run


def check(release: ld.ClassRelease, folder: Path, n_ranges: int) -> None:
    """Check all classes as an engine would, from the published files."""
    for class_column in dict.fromkeys(release.class_columns.values()):
        n_classes = {column: release._rows.n_classes(column) for column in release.class_columns.values()}
        ranges = Ranges(release._description, class_column, n_classes, n_ranges)
        sources: dict[str | None, str] = {None: "data"}
        if release.layout == "bucketized":
            sources |= {name: f"sensitive_{release.sensitive.index(name) + 1}" for name in ranges.subjects}
        parts = []
        for attribute, stem in sources.items():
            mapped: RangeRows = pickle.loads(pickle.dumps(RangeRows(ranges, "parquet", attribute)))  # noqa: S301 - made here
            for file in sorted(folder.glob(f"{stem}_[0-9].parquet")) or [folder / f"{stem}.parquet"]:
                batch = mapped(pq.read_table(file).select(mapped.columns))
                assert batch.schema == mapped.schema
                parts.append(pa.Table.from_batches([batch]))
        everyone = {name: tuple(release.classes(name).population.counts.tolist()) for name in ranges.subjects}
        factory = pickle.loads(pickle.dumps(Checking(CheckRange(ranges, everyone))))  # noqa: S301 - made here
        rows = Given(pa.concat_tables(parts).combine_chunks())
        checked = LocalEngine(workers=1).partition(
            factory, rows, by=RANGE, n_parts=n_ranges, secrets=Secrets(), scratch=None
        )
        list(checked)
        refuse_ranges(ranges, [RangeNote.from_json(note) for note in checked.notes()])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_ranges", [1, 2, 7])
def test_an_engine_finds_what_checking_at_once_finds(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, n_ranges: int
) -> None:
    release: ld.ClassRelease = request.getfixturevalue(kind)
    folder = save(release, tmp_path / "release", 2)

    check(release, folder, n_ranges)
    for rule in (ld.UniqueDiversity(l=3), ld.TCloseness(t=0.01), ld.KAnonymity(3)):
        claiming = replace(release, claims=tuple(replace(claim, rule=rule) for claim in release.claims))
        with pytest.raises(ld.ClaimError) as expected:
            claiming.verify()
        with pytest.raises(ld.ClaimError) as found:
            check(claiming, folder, n_ranges)
        assert str(found.value) == str(expected.value)


def test_a_range_without_rows_has_classes_without_rows(bucketized: ld.ClassRelease) -> None:
    ranges = Ranges(bucketized._description, "class_id", {"class_id": 2}, 2)
    rows = RangeRows(ranges, "parquet")(pa.table({"class_id": [1, 1]}))
    note = CheckRange(ranges, {"disease": (1, 2, 1)})(0, pa.Table.from_batches([rows]))

    with pytest.raises(ld.ClaimError, match="1 of 2 published classes has different numbers of rows and values"):
        refuse_ranges(ranges, [note])
    with pytest.raises(ld.ClaimError, match="every class must have a row"):
        refuse_ranges(ranges, [])
    with pytest.raises(ld.ClaimError, match="there must be 4 records, got 2"):
        refuse_ranges(ranges, [note], n_rows=4)


@pytest.mark.parametrize("column", ["age", "place", "job"])
def test_rows_of_a_class_that_differ_are_noticed(generalized: ld.ClassRelease, tmp_path: Path, column: str) -> None:
    folder = save(generalized, tmp_path / "release", 1)
    table = pq.read_table(folder / "data.parquet")
    place = table.column_names.index(column)
    turned = pa.array([1, *range(1, table.num_rows)])
    pq.write_table(table.set_column(place, column, table[column].take(turned)), folder / "data.parquet")

    with pytest.raises(ld.ClaimError, match=f"rows of one class must share '{column}'"):
        check(generalized, folder, 2)


@pytest.mark.parametrize(
    ("table", "rule"),
    [
        ({"class_id": [1, 3]}, "numbers of classes"),
        ({"class_id": [1, None]}, "a number in every row"),
    ],
)
def test_rows_that_are_damaged_are_refused_where_they_are(
    bucketized: ld.ClassRelease, table: dict[str, Any], rule: str
) -> None:
    ranges = Ranges(bucketized._description, "class_id", {"class_id": 2}, 2)

    with pytest.raises(ld.ReleaseFormatError, match=rule):
        RangeRows(ranges, "parquet")(pa.table(table))


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"class_id": [1], "value": ["plague"], "count": [1]}, "values of its domain"),
        ({"class_id": [1], "value": ["flu"], "count": [0]}, "positive counts"),
        ({"class_id": [1, None], "value": ["flu", "flu"], "count": [1, 1]}, "a class and a count"),
    ],
)
def test_values_that_are_damaged_are_refused_where_they_are(
    bucketized: ld.ClassRelease, values: dict[str, Any], rule: str
) -> None:
    ranges = Ranges(bucketized._description, "class_id", {"class_id": 2}, 2)

    with pytest.raises(ld.ReleaseFormatError, match=rule):
        RangeRows(ranges, "parquet", "disease")(pa.table(values))

"""The order of rows, the numbers of classes and the order of values tell nothing of the source.

Each test plants a table in which an order that leaked would show, and compares with what chance allows. The bound of
4.9 standard errors is passed by chance less than once in a million runs; the seeds are fresh every time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld

N: Final = 4000
BOUND: Final = 4.9

# Record i has age i; neighbors share a class, the first of each has value 0 and the second value 1, in both columns.
TABLE = pa.table({"age": range(N), "id": range(N), "a": [i % 2 for i in range(N)], "b": [i % 2 for i in range(N)]})


def correlation(x: Any, y: Any) -> float:
    """Correlation times the root of n - 1: standard normal when one of them is in a random order."""
    return float(np.corrcoef(x, y)[0, 1] * np.sqrt(len(x) - 1))


def balance(hits: Any) -> float:
    """Standard normal when each of the hits has probability one half."""
    return float((2 * np.sum(hits) - len(hits)) / np.sqrt(len(hits)))


@pytest.fixture(params=["neighbors", "apart"])
def release(request: pytest.FixtureRequest, methods: dict[str, Any], tmp_path: Path) -> ld.ClassRelease:
    made = ld.anonymize(
        TABLE,
        quasi="age",
        plain="id",
        confirm="id",
        sensitive=["a", "b"],
        method=methods[request.param](),
        output=tmp_path / "release",
    )
    assert isinstance(made, ld.ClassRelease)
    return made


@pytest.fixture
def rows(methods: dict[str, Any]) -> pa.Table:
    """Rows class by class, in the order in which they were published."""
    # On a grid, the method would see several people at one place, and could not tell who are neighbors.
    roles: dict[str, Any] = {"quasi": "age", "plain": "id", "confirm": "id", "sensitive": ["a", "b"], "grid": "exact"}
    made = ld.anonymize(TABLE, **roles, method=methods["neighbors"]())
    numbered = made.table.append_column("place", pa.array(np.arange(N)))
    return numbered.sort_by([("class_id", "ascending"), ("place", "ascending")])


def test_the_order_of_rows_does_not_follow_the_source(release: ld.ClassRelease) -> None:
    ids = release.table["id"].to_numpy()

    assert abs(correlation(np.arange(N), ids)) < BOUND
    assert abs(balance(np.diff(ids.astype(np.int64)) > 0)) < BOUND


def test_the_numbers_of_classes_do_not_follow_the_source(release: ld.ClassRelease) -> None:
    ids, classes = release.table["id"].to_numpy(), release.table["class_id"].to_numpy()
    first = ids % 2 == 0

    assert abs(correlation(classes[first], ids[first])) < BOUND


def test_the_numbers_of_classes_do_not_follow_the_rows(release: ld.ClassRelease) -> None:
    classes = release.table["class_id"].to_numpy()

    assert abs(correlation(np.arange(N), classes)) < BOUND


def test_within_a_class_the_first_row_is_either_record(rows: pa.Table) -> None:
    assert abs(balance(rows["id"].to_numpy()[::2] % 2)) < BOUND


@pytest.mark.parametrize("attribute", ["a", "b"])
def test_within_a_class_values_do_not_follow_the_rows(rows: pa.Table, attribute: str) -> None:
    assert abs(balance(rows[attribute].to_numpy()[::2])) < BOUND


@pytest.mark.parametrize("attribute", ["a", "b"])
def test_within_a_class_values_are_not_linked_to_plain_columns(rows: pa.Table, attribute: str) -> None:
    linked = rows[attribute].to_numpy() == rows["id"].to_numpy() % 2

    assert abs(balance(linked[::2])) < BOUND


def test_within_a_class_values_of_two_attributes_are_not_linked(rows: pa.Table) -> None:
    linked = rows["a"].to_numpy() == rows["b"].to_numpy()

    assert abs(balance(linked[::2])) < BOUND


def test_every_class_still_has_its_values(rows: pa.Table) -> None:
    assert (rows["a"].to_numpy()[::2] + rows["a"].to_numpy()[1::2] == 1).all()
    assert (rows["id"].to_numpy()[::2] // 2 == rows["id"].to_numpy()[1::2] // 2).all()


def test_the_order_that_methods_see_does_not_follow_the_source(methods: dict[str, Any]) -> None:
    seen: list[Any] = []

    class Watching(methods["neighbors"]):  # type: ignore[misc]
        def group(self, table: Any, run: Any) -> Any:
            seen.append(table.numbers[0].values.copy())
            return super().group(table, run)

    ld.anonymize(TABLE, quasi="age", sensitive="a", method=Watching())
    ld.anonymize(TABLE, quasi="age", sensitive="a", method=Watching())

    assert abs(correlation(np.arange(N), seen[0])) < BOUND
    assert not np.array_equal(seen[0], seen[1])


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("method", "person"), [(ld.BSGI(l=2), "holder_id"), (ld.Anatomy(l=2), None), (ld.Mondrian(l=2), None)]
)
def test_nothing_of_dropped_columns_and_of_the_person_is_in_the_bytes(
    people: pa.Table, tmp_path: Path, method: ld.Method, person: str | None, data_format: Any
) -> None:
    named = people.append_column("holder_id", pa.array([f"holder-{i:03d}" for i in range(people.num_rows)]))
    described = named.replace_schema_metadata({"secret": "metadata-of-the-source"})
    roles: dict[str, Any] = {
        "quasi": ["age", "sex"],
        "sensitive": "disease",
        "drop": ["name", "holder_id"],
        "person": person,
    }

    ld.anonymize(described, **roles, method=method, output=tmp_path / "release", data_format=data_format)

    content = b"".join(path.read_bytes() for path in sorted((tmp_path / "release").iterdir()))
    assert b"angina" in content
    assert not any(secret in content for secret in (b"person-0", b"holder-0", b"metadata-of-the-source", b"holder_id"))

"""Two tables that differ only in cells of people who are not published give the same release, byte by byte.

Draws are those of one seed. Every method of the catalog is run on rows that are dropped because a sensitive value is
missing; every method that groups records, with every option that can leave records out, on the records it leaves out.

What differs by right is who is left out: methods that look at quasi-identifiers (`bsgi`, `incognito`) may choose others
when those of a record change, and then the tables are not compared. Methods that are blind to them may not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.catalog import CATALOG, OPTIONS
from ldiversity.methods import GroupingMethod
from ldiversity.publish import _grouping, _prepare
from tests.contract.test_left_out_records import LEAVE_OUT, make_table, method_of, publish, settings, table_for

pytestmark = pytest.mark.filterwarnings("ignore::ldiversity.errors.LDiversityWarning")

OTHER: Final[Mapping[str, Any]] = {
    "id": 777_001,
    "age": 9_999_999,
    "zip": "0other",
    "job": "other",
    "t": "other",
    "pay": 99_999_999,
}
"""Cells that no other record has."""


def changed(table: pa.Table, ids: set[int], columns: Mapping[str, Any]) -> pa.Table:
    """The table with other cells in the rows of some people."""
    rows = table.to_pylist()
    return pa.Table.from_pylist([{**row, **columns} if row["id"] in ids else row for row in rows], table.schema)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


# --- rows that are dropped because a sensitive value is missing ------------------------------------------------------


def any_method(name: str, values: list[str]) -> ld.Method:
    entry = CATALOG[name]
    if entry.family == "classes":
        return method_of(name, {k: v for k, v in LEAVE_OUT.items() if k in entry.options}, values)
    module, _, home = entry.home.partition(":")
    given: dict[str, Any] = {"d": 1, "distance": "discrete"} if "d" in OPTIONS and "d" in entry.options else {}
    made: ld.Method = getattr(import_module(module), home).of_level(2, **given)
    return made


def with_dropped_rows(seed: int) -> tuple[pa.Table, set[int]]:
    table = make_table(seed, frequent=30)
    out = {row["id"] for row in table.to_pylist() if row["pay"] > 1_000_000}
    return changed(table, out, {"s": None}), out


MORE: Final[Mapping[str, list[ld.Sensitive]]] = {
    "one": [],
    "values": [ld.Sensitive("t")],
    "quantiles": [ld.Sensitive("pay", quantiles=4)],
    "width": [ld.Sensitive("pay", width=1000)],
}


@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("name", CATALOG)
def test_cells_of_a_dropped_row_change_no_byte(name: str, more: str, tmp_path: Path) -> None:
    table, out = with_dropped_rows(11)
    method = any_method(name, sorted({value for value in table["s"].to_pylist() if value is not None}))
    arguments: dict[str, Any] = {"quasi": ["age", "zip", "job"], "plain": "id", "method": method, "insecure_seed": 3}
    arguments |= {"confirm": "id"}
    if isinstance(method, GroupingMethod):
        arguments["hierarchies"] = {"age": "quantiles:4/2", "zip": "prefix:3/2"}
    arguments["sensitive"] = [ld.Sensitive("s", missing="drop"), *MORE[more]]

    found = []
    for place, one in enumerate((table, changed(table, out, OTHER))):
        folder = tmp_path / str(place)
        try:
            ld.anonymize(one, output=folder, **arguments)
        except ld.LDiversityError as refusal:  # some take one sensitive column only; both are refused alike
            found.append({"": str(refusal).encode()})
        else:
            found.append(bytes_of(folder))

    assert found[0] == found[1]
    assert more != "one" or "release.json" in found[0]


# --- records that a method leaves out ---------------------------------------------------------------------------------


def compare(name: str, options: Mapping[str, Any], seed: int, folder: Path, **given: Any) -> bool | None:
    """Whether those left out may have other quasi-identifiers and nothing changes; None when others are left out."""
    table = table_for(name, seed)
    first = publish(name, options, table, insecure_seed=seed, **given)
    published = set(first.table["id"].to_pylist())
    out = set(table["id"].to_pylist()) - published
    if not out:
        return None
    other = changed(table, out, {column: OTHER[column] for column in ("age", "zip", "job")})
    second = publish(name, options, other, insecure_seed=seed, **given)
    if not method_of(name, options, sorted(set(table["s"].to_pylist()))).blind and not same_classes(first, second):
        return None
    found = []
    for place, release in enumerate((first, second)):
        release.save(folder / f"{seed}-{place}")
        found.append(bytes_of(folder / f"{seed}-{place}"))
    return found[0] == found[1]


def same_classes(first: ld.ClassRelease, second: ld.ClassRelease) -> bool:
    return all(
        first.table.select(["id", column]).equals(second.table.select(["id", column]))
        for column in set(first.class_columns.values())
    )


MADE: Final = {"none": {}, "made": {"hierarchies": {"age": "quantiles:4/2"}}}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize(("name", "options"), [*settings()])
def test_quasi_identifiers_of_a_record_that_is_left_out_change_no_byte(
    name: str, options: Mapping[str, Any], made: str, tmp_path: Path
) -> None:
    same = [compare(name, options, seed, tmp_path, **MADE[made]) for seed in range(1, 5)]

    assert False not in same


def test_most_methods_that_leave_records_out_are_compared(tmp_path: Path) -> None:
    compared = {
        str(param.values[0])
        for place, param in enumerate(settings())
        if compare(param.values[0], param.values[1], 1, tmp_path / str(place), **MADE["made"]) is not None  # type: ignore[arg-type]
    }

    assert compared >= {"anatomy", "bsgi", "incognito", "le-anatomy", "llmsu", "mbf"}


# --- planted violations: what the contract must find ----------------------------------------------------------------


def test_bins_of_dropped_rows_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def all_rows(source: Any, *_: Any, **__: Any) -> Any:
        return source, None

    monkeypatch.setattr(_prepare, "_with_values", all_rows)

    with pytest.raises(AssertionError):
        test_cells_of_a_dropped_row_change_no_byte("mbf", "quantiles", tmp_path)


def test_hierarchies_of_records_that_are_left_out_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told: Callable[..., bool] = lambda *_: True  # noqa: E731 - one line says it
    monkeypatch.setattr(_grouping, "tells_nothing", told)
    given = {"hierarchies": {"age": "quantiles:4/2"}}

    same = [compare("incognito", {"suppression": 0.3}, seed, tmp_path, **given) for seed in range(1, 5)]

    assert False in same

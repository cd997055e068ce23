"""What is checked over all rows gives the same whether or not it fits in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.base import combinations
from ldiversity.base.budget import Budget
from ldiversity.base.combinations import sizes_of
from ldiversity.errors import ClaimError, SchemaError, UnsupportedError
from ldiversity.models import KAnonymity
from ldiversity.publish._alike import check_people_alike
from ldiversity.publish._identities import DIGEST, DistinctIds, key_column
from ldiversity.publish._level_texts import as_level
from ldiversity.publish._raising import raise_levels
from ldiversity.publish._uniqueness import LookAlikes, people_alike
from ldiversity.release import AlikeClaim, Claim, verify_exploded
from ldiversity.release._check_alike import count_alike, verify_alike
from ldiversity.tables import SelectedRows, open_source, rows_per_id, with_values


@pytest.fixture(params=["in memory", "on disk"])
def _either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "on disk":
        made = combinations.Combinations.__init__
        monkeypatch.setattr(combinations.Combinations, "__init__", lambda *said, **more: made(*said, **more, most=20))


def batches_with_ids(identities: np.ndarray, size: int) -> list[pa.RecordBatch]:
    cells = key_column(identities)
    return [
        pa.record_batch({"row": range(start, min(start + size, len(cells))), DIGEST: cells.slice(start, size)})
        for start in range(0, len(cells), size)
    ]


@pytest.mark.parametrize("most", [100, 1 << 20])
def test_ids_that_repeat_are_found_wherever_they_are(tmp_path: Path, most: int) -> None:
    rng = np.random.default_rng(3)
    identities = rng.integers(0, 1 << 63, (5000, 2), dtype=np.uint64)
    identities[100:200, 0] = identities[0, 0]  # half of a digest alone is no id
    ids = DistinctIds(tmp_path, most=most)
    assert sum(len(batch) for batch in ids.taken_off(batches_with_ids(identities, 300))) == 5000
    ids.check()

    identities[4000] = identities[7]
    identities[4999] = identities[7]
    again = DistinctIds(tmp_path, most=most)
    list(again.taken_off(batches_with_ids(identities, 300)))
    with pytest.raises(SchemaError, match="2 repeated among 5000 records"):
        again.check()
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("_either")
def test_people_who_look_alike_are_counted_once() -> None:
    rng = np.random.default_rng(4)
    table = pa.table({"a": rng.integers(0, 40, 2000), "b": rng.integers(0, 9, 2000), "who": rng.integers(0, 300, 2000)})
    source = open_source(table)

    looks = LookAlikes.read(source, ["a", "b"], person="who").alike()
    found = people_alike(source, ["a", "b"], "who")
    assert [part.tolist() for part in found] == [part.tolist() for part in sizes_of([looks])]
    assert [part.tolist() for part in people_alike(source, ["a", "who"], "who")] == [[1], [len(_pairs(table))]]

    least = int(found.sizes[0])
    check_people_alike([KAnonymity(max(least, 2))] if least > 1 else [], found)
    with pytest.raises(ClaimError, match=rf"^person: {found.numbers[0]} of {found.n_combinations} combinations"):
        check_people_alike([KAnonymity(least + 1)], found)


def _pairs(table: pa.Table) -> set[tuple[int, int]]:
    return set(zip(table["a"].to_pylist(), table["who"].to_pylist(), strict=True))


@pytest.mark.usefixtures("_either")
@pytest.mark.parametrize("person", [None, "who"])
def test_levels_are_raised_as_high_by_counts_as_by_rows(person: str | None) -> None:
    rng = np.random.default_rng(4)
    table = pa.table(
        {
            "age": pa.array(rng.integers(10, 90, 3000), mask=np.arange(3000) % 17 == 0),
            "zip": [f"{number:05d}" for number in rng.integers(13000, 13020, 3000)],
            "weight": rng.integers(0, 4, 3000) / 2,
            "who": rng.integers(0, 900, 3000),
        }
    )
    source, quasi = open_source(table), ["age", "zip", "weight"]
    rows = LookAlikes.read(source, quasi, person=person)
    counted = LookAlikes.counted(source, quasi, person=person, memory=Budget("400MB"), chunk_rows=500)

    assert counted.n_records == rows.n_records == 3000 >= counted.n_rows
    for declared in ({}, {"age": as_level("age", "width:5")}):
        models = [KAnonymity(7)]
        assert raise_levels(counted, declared, {}, models) == raise_levels(rows, declared, {}, models)


def test_more_combinations_than_the_memory_allows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Budget, "rows", lambda *_: 100)
    source = open_source(pa.table({"age": range(101)}))

    with pytest.raises(UnsupportedError, match=r"^memory allows a search among 100 different combinations"):
        LookAlikes.counted(source, ["age"], person=None, memory=Budget("400MB"), chunk_rows=500)


@pytest.mark.usefixtures("_either")
def test_records_who_look_like_too_few_others_are_found() -> None:
    rows = pa.table({"a": np.arange(3000) % 500, "b": [f"t{i % 250}" for i in range(3000)]})
    batches = [rows.slice(start, 700) for start in range(0, 3000, 700)]
    claim = AlikeClaim("x", KAnonymity(6), people=False)

    verify_alike([claim], batches)
    assert count_alike(batches, rows_per_record=3).sizes.tolist() == [2]
    with pytest.raises(ClaimError, match="1 of 500 groups"):
        verify_alike([claim], [*batches[:-1], batches[-1].slice(0, batches[-1].num_rows - 1)])


@pytest.mark.usefixtures("_either")
def test_exploded_rows_that_break_the_claim_are_found() -> None:
    people = np.repeat(np.arange(600), 2)
    members = np.tile([0, 1, 1, 2], 300).astype(np.int32)
    columns = pa.table({"who": people, "text": [f"t{i}" for i in people]})
    claim = Claim(attribute="x", model="l-diversity", l=2, d=None, posterior=0.5)

    def parts(codes: np.ndarray) -> list[tuple[pa.Table, np.ndarray]]:
        return [(columns.slice(start, 250), codes[start : start + 250]) for start in range(0, 1200, 250)]

    verify_exploded(claim, parts(members), 3)
    planted = members.copy()
    planted[[401, 803]] = planted[[400, 802]]
    with pytest.raises(ClaimError, match="2 of 600 published sets break the claim that no value has more than 1/2"):
        verify_exploded(claim, parts(planted), 3)


@pytest.mark.usefixtures("_either")
def test_rows_of_an_id_are_counted() -> None:
    ids = [f"p{i % 700}" for i in range(1000)] + [None] * 5
    (found,) = rows_per_id(open_source(pa.table({"patient_id": ids})))

    assert (found.rows, found.people, found.most, found.several) == (1000, 700, 2, 300 / 700)


def test_rows_with_values_are_those_that_a_mask_selects() -> None:
    a = pa.array([None if i % 3 == 0 else i for i in range(900)])
    b = pa.array([float("nan") if i % 5 == 0 else 1.5 for i in range(900)])
    whole = open_source(pa.table({"a": a, "row": range(900), "b": b}))
    mask = np.array([i % 3 > 0 and i % 5 > 0 for i in range(900)])
    rows, missing = with_values(whole, ["a", "b"])

    assert missing == (900, {"a": 300, "b": 180}, mask.sum())
    assert rows.n_rows == mask.sum()
    for columns in (["row"], ["b", "row"], None):
        for chunk_rows in (7, 500):
            found, expected = (
                list(one.batches(columns, chunk_rows=chunk_rows)) for one in (rows, SelectedRows(whole, mask))
            )
            assert all(one.equals(other) for one, other in zip(found, expected, strict=True))
    assert with_values(whole, ["row"])[0] is whole

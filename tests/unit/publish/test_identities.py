"""Whom draws belong to: ids are hashed alike whatever their type, persons share partitions, orders are stable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.base.randomness import Key
from ldiversity.datasets import patients, patients_tree
from ldiversity.engines import LocalEngine
from ldiversity.publish._identities import HashedIds

KEY = Key(bytes(range(32)))
DISEASE = ld.Sensitive("disease", domain=patients_tree().leaves)


def identities(*columns: pa.Array | list[Any], role: str = "record_id", key: Key = KEY) -> list[list[int]]:
    names = [f"c{i}" for i in range(len(columns))]
    hashed = HashedIds(key, names, role).identities(pa.record_batch(dict(zip(names, columns, strict=True))))
    return hashed.tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 0, -7], pa.int64()),
        pa.array([1, 0, -7], pa.int8()),
        pa.array([1.0, 0.0, -7.0]),
        pa.array(["1", "0", "-7"]),
        pa.array(["1", "0", "-7"], pa.large_string()),
        pa.array(["1", "0", "-7"]).dictionary_encode(),
        pa.array(["x", "1", "0", "-7"]).slice(1),
    ],
    ids=str,
)
def test_a_whole_number_is_the_same_id_in_every_type(column: pa.Array) -> None:
    assert identities(column) == identities([1, 0, -7])


@pytest.mark.parametrize("other", ["01", "+1", "1.0", " 1", "-0", "", "9" * 18 + "0"])
def test_a_text_that_no_number_is_written_as_is_another_id(other: str) -> None:
    assert len({tuple(one) for one in identities([other, "1", "0", "9" * 18])}) == 4


def test_very_large_numbers_are_ids_too() -> None:
    large = pa.array([2**64 - 1, 2**63, 5], pa.uint64())

    assert identities(large) == identities([str(2**64 - 1), str(2**63), "5"])


@pytest.mark.parametrize("number", [10**18 - 1, 10**18, 1234567890123456789, 2**63 - 1, -(10**18), -(2**63)])
def test_a_long_number_is_the_same_id_in_every_type_and_beside_any_other(number: int) -> None:
    alone = identities(pa.array([number], pa.int64()))

    assert identities([str(number)]) == alone
    assert identities(pa.array([number, 5], pa.int64())) == [*alone, *identities([5])]
    if number > 0:
        assert identities(pa.array([number, 2**64 - 1], pa.uint64()))[:1] == alone


def test_texts_of_all_lengths_are_told_apart_wherever_they_stand() -> None:
    texts = ["", *("x" * n for n in range(1, 40)), "ä" * 8, "x" * 15 + "\0", "x" * 15]
    found = identities(texts)

    assert len({tuple(one) for one in found}) == len(set(texts))
    assert identities(pa.array(["before", *texts, "behind"]).slice(1, len(texts))) == found
    assert identities(texts[::-1]) == found[::-1]


def test_parts_of_an_id_do_not_run_together() -> None:
    assert identities(["a", "ab", "1"], ["bc", "c", "2"])[0] != identities(["a", "ab", "1"], ["bc", "c", "2"])[1]
    assert identities([1], [23]) != identities([12], [3])
    assert identities([1], ["x"]) == identities(["1"], ["x"])


def test_midnight_of_a_day_is_the_day() -> None:
    day = pa.array([19000], pa.date32())

    assert identities(day) == identities(day.cast(pa.timestamp("us")))


def test_an_instant_is_the_same_id_in_every_zone() -> None:
    instants = pa.array([1_600_000_000_000_000, 1_700_000_000_000_001], pa.timestamp("us", "UTC"))
    found = identities(instants)

    for zone in ("Asia/Tokyo", "America/New_York", "+05:30"):
        assert identities(instants.cast(pa.timestamp("us", zone))) == found
        assert identities(instants.cast(pa.timestamp("us", zone)), ["x", "y"]) == identities(instants, ["x", "y"])


def test_an_instant_is_the_same_id_in_every_unit() -> None:
    instants = pa.array([1_580_439_845, -1, 0], pa.timestamp("s", "UTC"))
    found = identities(instants)
    assert found == identities(
        pa.array(["2020-01-31 03:04:05.000000Z", "1969-12-31 23:59:59.000000Z", "1970-01-01 00:00:00.000000Z"])
    )
    for unit in ("ms", "us", "ns"):
        assert identities(instants.cast(pa.timestamp(unit, "Asia/Tokyo"))) == found
    finer = pa.array(
        [1_580_439_845_000_000_000, 1_580_439_845_000_001_000, 1_580_439_845_000_001_001, -1], pa.timestamp("ns", "UTC")
    )
    several = identities(finer)
    assert several[0] == found[0]
    assert several[1] == identities(pa.array([1_580_439_845_000_001], pa.timestamp("us", "UTC")))[0]
    assert len({tuple(one) for one in several}) == len(finer)


def test_an_instant_that_no_calendar_has_is_refused() -> None:
    with pytest.raises(ld.SchemaError, match="must hold texts, whole numbers or dates"):
        identities(pa.array([2**62], pa.timestamp("s", "UTC")))


def test_ids_are_hashed_under_the_key() -> None:
    assert identities([1, "x"][:1]) != identities([1], key=Key(bytes(32)))


@pytest.mark.parametrize("role", ["record_id", "person"])
@pytest.mark.parametrize(
    ("column", "rule"),
    [
        ([1, None], "must not have missing values"),
        ([0.5, 1.0], "must hold texts, whole numbers or dates, got numbers with fractions"),
        ([[1], [2]], "must hold texts, whole numbers or dates"),
    ],
)
def test_what_is_no_id_is_refused(column: list[Any], rule: str, role: str) -> None:
    with pytest.raises(ld.SchemaError, match=rule) as caught:
        identities(column, role=role)
    assert str(caught.value).startswith(role)


# --- publications ----------------------------------------------------------------------------------


def visits(n: int = 400) -> pa.Table:
    """A table in which every person has four rows, not next to each other."""
    return patients(n, seed=2).append_column("whose", pa.array(np.arange(n) % (n // 4)))


def publish(table: pa.Table, **given: Any) -> ld.Release:
    """Publish with a plain column that names people, which tests need to tell rows apart."""
    how = {"quasi": ["age", "sex"], "plain": "whose", "sensitive": DISEASE, "method": ld.RandomizedAddition(l=2)}
    how |= given
    return ld.anonymize(table, **how, confirm=how["plain"])


def overlaps(release: ld.Release) -> int:
    """How many pairs of rows of one person have sets that overlap without being equal."""
    whose, sets = np.asarray(release.table["whose"]), release.sets("disease")
    found = 0
    for person in np.unique(whose):
        own = [set(row) for row in sets[whose == person].tolist()]
        found += sum(bool(a & b) and a != b for i, a in enumerate(own) for b in own[:i])
    return found


def test_the_sets_of_a_person_are_equal_or_disjoint() -> None:
    assert len(patients_tree().leaves) % 2 == 0
    release = publish(visits(), person="whose", plain=())
    assert "whose" not in release.schema.names()

    assert overlaps(publish(visits(), person="whose")) == 0
    assert overlaps(publish(visits(), person="whose", key=KEY)) == 0
    assert overlaps(publish(visits())) > 0  # planted: drawn row by row


def test_a_person_takes_the_place_of_a_record_id_under_a_key() -> None:
    first, second = (publish(visits(), person="whose", key=KEY, plain="name") for _ in range(2))

    assert sorted(map(repr, first.table.to_pylist())) == sorted(map(repr, second.table.to_pylist()))


def test_sets_of_a_person_and_of_a_record_with_the_same_id_are_the_same() -> None:
    one_row = patients(100, seed=2)

    by_person, by_record = (
        publish(one_row, key=KEY, plain="name", **{role: "name"}) for role in ("person", "record_id")
    )

    assert sorted(map(repr, by_person.table.to_pylist())) == sorted(map(repr, by_record.table.to_pylist()))


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"key": KEY}, "'record_id' or 'person' must be given with 'key'"),
        ({"record_id": "name"}, "'key' must be given with 'record_id'"),
        ({"key": KEY, "record_id": "name", "person": "whose"}, "'record_id' must be left out when 'person' is given"),
        ({"person": "whose", "stable_order": True}, "stable_order must be left out without a key"),
        ({"person": "nobody"}, "nobody"),
    ],
)
def test_what_does_not_go_together_is_refused(given: dict[str, Any], rule: str) -> None:
    with pytest.raises(ld.LDiversityError) as caught:
        publish(visits(), **given)
    assert rule.replace("'", "") in str(caught.value).replace("'", "")


def test_notes_say_what_several_sets_of_a_person_tell() -> None:
    tree = ld.SemanticDiversity(l=2, d=2, distance=ld.TreeDistance(patients_tree()))

    divides = " ".join(publish(visits(), person="whose").notes)
    left_over = " ".join(publish(visits(), person="whose", method=ld.RandomizedAddition(l=5)).notes)
    no_partitions = " ".join(publish(visits(), person="whose", method=tree).notes)

    assert "equal or disjoint. Disjoint sets" in divides
    assert "with exceptions, because l=5 does not divide" in left_over
    assert "three or more different sets can tell a value for certain" in left_over
    assert "for certain" not in divides
    assert "l/(l*l - l + 1)" in no_partitions
    assert "equal or disjoint" not in no_partitions


# --- a stable order --------------------------------------------------------------------------------


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.mark.parametrize("whose", [{"record_id": "name"}, {"person": "whose"}], ids=["record", "person"])
@pytest.mark.parametrize("data_format", ["parquet", "csv"])
@pytest.mark.parametrize("layout", ["sets", "exploded"])
def test_a_stable_order_gives_the_same_bytes(
    whose: dict[str, str], data_format: str, layout: str, tmp_path: Path
) -> None:
    given = {"key": KEY, "plain": (), "data_format": data_format, "layout": layout, **whose}
    engines = {
        "a": LocalEngine(),
        "b": LocalEngine(workers=1, chunk_rows=37),
        "c": LocalEngine(workers=3, chunk_rows=90),
    }
    for name, engine in engines.items():
        publish(visits(), **given, stable_order=True, output=tmp_path / name, engine=engine)
    publish(visits(), **given, output=tmp_path / "random")

    assert files(tmp_path / "a") == files(tmp_path / "b") == files(tmp_path / "c")
    assert files(tmp_path / "a") != files(tmp_path / "random")


def test_a_stable_order_of_records_does_not_depend_on_the_order_of_the_table(tmp_path: Path) -> None:
    for name, table in {"a": visits(), "b": visits().take(np.random.default_rng(1).permutation(400))}.items():
        publish(table, key=KEY, record_id="name", stable_order=True, output=tmp_path / name)

    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_a_stable_order_is_not_that_of_the_table_and_keeps_rows_of_a_person_apart() -> None:
    release = publish(visits(), key=KEY, person="whose", stable_order=True)

    whose = np.asarray(release.table["whose"])
    together = int((whose[1:] == whose[:-1]).sum())
    # 399 neighbors, each of one person with probability 3/399: mean 3, nearly Poisson. Above 15 in 1e-7 of runs.
    assert together <= 15
    assert not np.array_equal(whose, np.arange(400) % 100)
    assert any("can be linked between releases" in note for note in release.notes)


@pytest.mark.parametrize("role", ["person", "record_id"])
def test_an_id_that_would_be_read_at_a_coarser_level_is_refused(role: str) -> None:
    """Otherwise all people whose ids begin alike would share their draws."""
    ids = {"record_id": ["zip"], "key": "holder.key"} if role == "record_id" else {"person": "zip"}
    with pytest.raises(ld.ParameterError, match=f"{role}.* must be read as it is") as refused:
        ld.Publication(
            quasi="zip", sensitive="disease", method="randomized-addition:l=2", levels={"zip": "prefix:3"}, **ids
        )
    assert refused.value.column == "zip"

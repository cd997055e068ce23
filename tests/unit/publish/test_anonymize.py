"""From a table to a release."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.engines import LocalEngine
from ldiversity.mechanisms import UniformSelection
from ldiversity.publish import draw_sets

L3 = ld.RandomizedAddition(l=3)


def test_every_true_value_is_in_its_set(people: pa.Table) -> None:
    rows = people.append_column("row", pa.array(range(60)))
    release = ld.anonymize(rows, quasi="row", sensitive="disease", method=L3)

    sets = dict(zip(release.table["row"].to_pylist(), release.table["disease"].to_pylist(), strict=True))

    assert all(truth in sets[row] for row, truth in enumerate(people["disease"].to_pylist()))


def test_quasi_identifiers_are_as_they_were(people: pa.Table) -> None:
    release = ld.anonymize(people, quasi=["age", "sex"], sensitive="disease", method=L3)

    published = release.table.select(["age", "sex"]).sort_by([("age", "ascending"), ("sex", "ascending")])
    assert published.equals(people.select(["age", "sex"]).sort_by([("age", "ascending"), ("sex", "ascending")]))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_the_frame_that_came_in_is_the_frame_that_goes_out(people: pa.Table, make: type) -> None:
    frame = make(people.to_pydict())

    release = ld.anonymize(frame, quasi=["age"], sensitive="disease", method=L3)

    assert type(release.table) is type(frame)


def test_columns_without_a_role_are_dropped_and_named(people: pa.Table) -> None:
    release = ld.anonymize(people, quasi="age", sensitive="disease", method=L3)

    assert release.table.column_names == ["age", "disease"]
    assert "Not published, because they were given no role: 'name', 'sex'." in release.notes


def test_plain_columns_are_kept(people: pa.Table) -> None:
    release = ld.anonymize(people, plain="sex", quasi="age", sensitive="disease", method=L3)

    assert [release.schema[name].role for name in ("age", "sex")] == ["quasi", "plain"]


def test_a_release_may_have_no_quasi_identifiers(people: pa.Table, tmp_path: Path) -> None:
    release = ld.anonymize(people, sensitive="disease", method=L3, output=tmp_path / "release")

    assert release.table.column_names == ["disease"]
    assert release.table.num_rows == 60


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
def test_a_file_is_streamed_into_a_folder(people: pa.Table, tmp_path: Path, data_format: str) -> None:
    pq.write_table(people, tmp_path / "people.parquet")

    release = ld.anonymize(
        tmp_path / "people.parquet",
        quasi=["age", "sex"],
        sensitive="disease",
        method=L3,
        output=tmp_path / "release",
        data_format=data_format,
        engine=LocalEngine(chunk_rows=7),
    )

    assert release.n_rows == 60
    assert sorted(release.table["age"].to_pylist()) == sorted(people["age"].to_pylist())


def test_several_sensitive_columns_have_a_set_each(people: pa.Table, tmp_path: Path) -> None:
    release = ld.anonymize(
        people,
        quasi="sex",
        sensitive=["disease", ld.Sensitive("age", width=10)],
        method={"disease": L3, "age": ld.RandomizedAddition(l=2)},
        output=tmp_path / "release",
    )

    assert release.sets("disease").shape == (60, 3)
    assert release.sets("age").shape == (60, 2)
    assert release.domain("age").labels == ("[20, 30)", "[30, 40)", "[40, 50)", "[50, 60]")


def test_the_domain_may_be_wider_than_the_table(people: pa.Table) -> None:
    domain = [*sorted(set(people["disease"].to_pylist())), "plague"]

    release = ld.anonymize(people, sensitive=ld.Sensitive("disease", domain=domain), method=L3)

    assert "plague" in release.domain("disease").values


def test_rows_with_missing_values_are_dropped_on_request(people: pa.Table, tmp_path: Path) -> None:
    gaps = people.set_column(3, "disease", pa.array([None] * 5 + people["disease"].to_pylist()[5:]))

    release = ld.anonymize(
        gaps,
        quasi="age",
        sensitive=ld.Sensitive("disease", missing="drop"),
        method=L3,
        output=tmp_path / "release",
        engine=LocalEngine(chunk_rows=4),
    )

    assert release.n_rows == 55


def test_missing_values_are_refused_unless_a_policy_is_declared(people: pa.Table) -> None:
    gaps = people.set_column(3, "disease", pa.array([None, *people["disease"].to_pylist()[1:]]))

    with pytest.raises(ld.SchemaError, match="disease"):
        ld.anonymize(gaps, quasi="age", sensitive="disease", method=L3)


def test_missing_quasi_identifiers_stay_missing() -> None:
    table = pa.table({"age": [None, 30, None, 40], "disease": ["a", "b", "c", "d"]})

    release = ld.anonymize(table, quasi="age", sensitive="disease", method=L3)

    assert release.table["age"].null_count == 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"quasi": "agee"}, "'agee'"),
        ({"quasi": "disease"}, "one role"),
        ({"sensitive": []}, "sensitive must name at least one column"),
        ({"method": {"other": L3}}, "must name every sensitive column"),
        ({"method": "random"}, "method must"),
        ({"layout": "wide"}, "layout must be one of"),
        ({"data_format": "xlsx"}, "data_format must be one of"),
        ({"key": ld.Key(bytes(32))}, "record_id or person must be given with key"),
        ({"record_id": "name"}, "key must be given with record_id"),
        ({"key": ld.Key(bytes(32)), "record_id": "sex"}, "ids must be unique, got 58 repeated"),
        ({"key": ld.Key(bytes(32)), "record_id": "disease"}, "one role"),
        ({"key": ld.Key(bytes(32)), "record_id": "name", "insecure_seed": 1}, "insecure_seed must be left out"),
        ({"method": ld.RandomizedAddition(l=7)}, "7"),
    ],
)
def test_a_bad_request_is_refused_in_one_sentence(
    people: pa.Table, tmp_path: Path, options: dict[str, object], sentence: str
) -> None:
    request = {"quasi": ["age"], "sensitive": "disease", "method": L3, "output": tmp_path / "release", **options}

    with pytest.raises(ld.LDiversityError, match=sentence):
        ld.anonymize(people, **request)

    assert not list(tmp_path.iterdir())


def test_an_id_may_be_made_of_several_columns(people: pa.Table) -> None:
    release = ld.anonymize(
        people, quasi="age", sensitive="disease", method=L3, key=ld.Key.new(), record_id=["name", "age"]
    )

    assert release.table.column_names == ["age", "disease"]


def test_a_missing_id_is_refused_without_naming_anyone(people: pa.Table) -> None:
    gaps = people.set_column(0, "name", pa.array([None, *people["name"].to_pylist()[1:]]))

    with pytest.raises(ld.SchemaError, match="'name' must not have missing values, got 1") as caught:
        ld.anonymize(gaps, quasi="age", sensitive="disease", method=L3, key=ld.Key.new(), record_id="name")

    assert "person" not in str(caught.value)


def test_exploded_rows_need_a_single_sensitive_column(people: pa.Table) -> None:
    with pytest.raises(ld.UnsupportedError, match="several sensitive columns"):
        ld.anonymize(people, sensitive=["disease", "age"], method=L3, layout="exploded")


def test_a_seed_repeats_a_release_of_many_chunks() -> None:
    n = 600_000  # more rows than a chunk has, so that threads would take them in any order
    table = pa.table({"row": np.arange(n), "disease": np.arange(n) % 11})

    first, second = (
        ld.anonymize(table, quasi="row", sensitive="disease", method=L3, insecure_seed=4).sets("disease")
        for _ in range(2)
    )

    np.testing.assert_array_equal(first, second)


def test_without_a_seed_no_two_releases_are_alike(people: pa.Table) -> None:
    first, second = (ld.anonymize(people, quasi="age", sensitive="disease", method=L3).table for _ in range(2))

    assert not first.equals(second)


def test_rare_types_are_published_as_values_and_categories_come_back() -> None:
    table = pa.table(
        {
            "sex": pa.array(["F", "M", "F", "M"]).dictionary_encode(),
            "price": pa.array(map(Decimal, range(1, 5)), pa.decimal128(10, 2)),
            "disease": ["a", "b", "c", "d"],
        }
    )

    release = ld.anonymize(table, quasi=["sex", "price"], sensitive="disease", method=L3)

    assert release.table.schema.field("sex").type == table.schema.field("sex").type
    assert sorted(release.table["price"].to_pylist()) == ["1.00", "2.00", "3.00", "4.00"]


@pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.binary(), pa.struct({"a": pa.int64()})])
def test_columns_that_hold_no_single_values_are_refused(kind: pa.DataType) -> None:
    table = pa.table({"odd": pa.nulls(4, kind), "disease": ["a", "b", "c", "d"]})

    with pytest.raises(ld.SchemaError, match="odd"):
        ld.anonymize(table, quasi="odd", sensitive="disease", method=L3)


def test_a_leaking_mechanism_is_used_only_with_a_warning() -> None:
    table = pa.table({"income": np.arange(14)})
    method = ld.SemanticDiversity(l=3, d=3, distance=ld.OrderedDistance(), selection="ring")

    with pytest.warns(ld.LDiversityWarning, match="leak"):
        release = ld.anonymize(table, sensitive="income", method=method)

    assert release.claim("income").posterior == 1.0


def test_rejected_draws_are_repeated_until_they_succeed() -> None:
    class Stubborn:
        """Words of which the last record's are rejected at first."""

        calls = 0

        def for_records(self, identities: np.ndarray, n_words: int) -> np.ndarray:
            self.calls += 1
            words = np.full((len(identities), n_words), 2**63 + 12345, dtype=np.uint64)
            if self.calls < 3:
                words[-1] = 0
            return words

    words, mechanism = Stubborn(), UniformSelection(10, 3)
    sets = draw_sets(mechanism, np.full(4, 7, np.int32), words)

    assert words.calls == 3
    assert (sets == sets[0]).all()
    assert mechanism.admits(sets).all()


# --- what the holder is told ---------------------------------------------------------------------------


def notes_of(table: pa.Table, **options: object) -> str:
    request = {"quasi": "age", "drop": ["name", "sex"], "sensitive": "disease", "method": L3, **options}
    return " ".join(ld.anonymize(table, **request).notes)


def test_the_holder_is_told_that_an_inferred_domain_tells_what_occurs(people: pa.Table) -> None:
    assert "read off the table" in notes_of(people)


def test_nothing_is_said_against_a_declared_domain(people: pa.Table) -> None:
    declared = ld.Sensitive("disease", domain=sorted(set(people["disease"].to_pylist())))

    assert notes_of(people, sensitive=declared) == ""


def test_the_holder_is_told_how_many_rows_were_dropped(people: pa.Table) -> None:
    gaps = people.set_column(3, "disease", pa.array([None] * 5 + people["disease"].to_pylist()[5:]))

    assert "5 rows are not published" in notes_of(gaps, sensitive=ld.Sensitive("disease", missing="drop"))


def test_the_holder_is_asked_about_values_that_look_like_identifiers(people: pa.Table) -> None:
    release = ld.anonymize(people, sensitive="name", quasi="age", drop=["sex", "disease"], method=L3)

    (found,) = [one for one in release.findings if one.column == "name"]
    assert found.kind == "near-unique"
    assert "60 different values in 60 rows" in found.text
    assert "person" not in found.text


def test_the_holder_is_told_when_a_key_cannot_keep_its_promise(people: pa.Table) -> None:
    keyed = {"key": ld.Key.new(), "record_id": "name", "drop": "sex"}

    assert "One new value changes the domain" in notes_of(people, **keyed)


def test_the_holder_is_told_that_draws_were_keyed(people: pa.Table) -> None:
    declared = ld.Sensitive("disease", domain=sorted(set(people["disease"].to_pylist())))

    assert notes_of(people, sensitive=declared, key=ld.Key.new(), record_id="name", drop="sex").startswith(
        "Draws are keyed:"
    )


def test_an_infeasible_goal_names_the_column(people: pa.Table) -> None:
    with pytest.raises(ld.InfeasibleError, match=r"^disease: "):
        ld.anonymize(people, sensitive="disease", method=ld.RandomizedAddition(l=7))


@pytest.mark.parametrize("to_folder", [False, True])
def test_a_table_of_which_no_row_is_left_is_refused(tmp_path: Path, to_folder: bool) -> None:  # noqa: FBT001
    table = pa.table({"a": ["x", "y", "z", None, None, None], "b": [None, None, None, "x", "y", "z"]})
    sensitive = [ld.Sensitive("a", missing="drop"), ld.Sensitive("b", missing="drop")]

    with pytest.raises(ld.SchemaError, match="no record is left"):
        ld.anonymize(
            table,
            sensitive=sensitive,
            method=ld.RandomizedAddition(l=2),
            output=tmp_path / "release" if to_folder else None,
        )


# --- ids -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pa.array(["1", "2", "3", "4"]), pa.array([1, 2, 3, 4])),
        (pa.array([1.0, 2.0, 3.0, 4.0]), pa.array([1, 2, 3, 4])),
        (
            pa.array([date(2020, 1, day) for day in (1, 2, 3, 4)]),
            pa.array([datetime(2020, 1, day) for day in (1, 2, 3, 4)]),  # noqa: DTZ001 - a naive column
        ),
        (pa.array([f"2020-01-0{day}" for day in (1, 2, 3, 4)]), pa.array([date(2020, 1, day) for day in (1, 2, 3, 4)])),
        (pa.array([1e10, 2e10, 3e15, 4e15]), pa.array([10**10, 2 * 10**10, 3 * 10**15, 4 * 10**15])),
        (
            pa.array([1500, 2500, 3500, 4000], pa.timestamp("ms")),
            pa.array([1_500_000_000, 2_500_000_000, 3_500_000_000, 4_000_000_000], pa.timestamp("ns")),
        ),
        (
            pa.array([f"2020-01-0{day} 00:00:00" for day in (1, 2, 3, 4)]),
            pa.array([date(2020, 1, day) for day in (1, 2, 3, 4)]),
        ),
    ],
    ids=[
        "text and integer",
        "float and integer",
        "date and timestamp",
        "text and date",
        "wide",
        "fraction",
        "midnight",
    ],
)
def test_an_id_is_the_same_whichever_type_a_file_gives_it(one: pa.Array, other: pa.Array) -> None:
    key = ld.Key.new()

    def published(ids: pa.Array) -> list[object]:
        table = pa.table({"id": ids, "row": [0, 1, 2, 3], "disease": ["a", "b", "c", "d"]})
        release = ld.anonymize(table, quasi="row", sensitive="disease", method=L3, key=key, record_id="id")
        return release.table.sort_by("row")["disease"].to_pylist()

    assert published(one) == published(other)


@pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.struct({"a": pa.int64()})])
def test_an_id_must_be_a_single_value(kind: pa.DataType) -> None:
    cell = [1] if pa.types.is_list(kind) else {"a": 1}
    table = pa.table({"id": pa.array([cell] * 4, kind), "disease": ["a", "b", "c", "d"]})

    with pytest.raises(ld.SchemaError, match="record_id: column 'id' must hold texts"):
        ld.anonymize(table, sensitive="disease", method=L3, key=ld.Key.new(), record_id="id")


def test_an_id_with_a_fraction_is_refused() -> None:
    table = pa.table({"id": [0.1, 0.2, 0.3, 0.4], "disease": ["a", "b", "c", "d"]})

    with pytest.raises(ld.SchemaError, match="numbers with fractions"):
        ld.anonymize(table, sensitive="disease", method=L3, key=ld.Key.new(), record_id="id")


def test_an_engine_that_is_used_twice_shuffles_anew(people: pa.Table) -> None:
    engine = LocalEngine(workers=1)
    rows = people.append_column("row", pa.array(range(60)))

    first, second = (
        ld.anonymize(rows, quasi="row", sensitive="disease", method=L3, engine=engine).table["row"] for _ in range(2)
    )

    assert first != second


# --- odd tables ----------------------------------------------------------------------------------------


def test_a_table_of_one_row_is_published_under_a_declared_domain(tmp_path: Path) -> None:
    domain = ld.Sensitive("disease", domain=["a", "b", "c", "d"])

    release = ld.anonymize(
        pa.table({"age": [41], "disease": ["b"]}), quasi="age", sensitive=domain, method=L3, output=tmp_path / "release"
    )

    assert "b" in release.table["disease"].to_pylist()[0]


@pytest.mark.parametrize("cells", [["flu"], ["flu"] * 50], ids=["one row", "constant column"])
def test_a_domain_of_one_value_hides_nothing_and_is_refused(cells: list[str]) -> None:
    with pytest.raises(ld.InfeasibleError, match=r"^disease: .*domain") as caught:
        ld.anonymize(pa.table({"disease": cells}), sensitive="disease", method=ld.RandomizedAddition(l=2))

    assert caught.value.hint
    assert "flu" not in str(caught.value)


def test_a_constant_quasi_identifier_is_published(people: pa.Table) -> None:
    constant = people.append_column("country", pa.array(["here"] * 60))

    release = ld.anonymize(constant, quasi="country", sensitive="disease", method=L3)

    assert set(release.table["country"].to_pylist()) == {"here"}


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
def test_unicode_names_and_values_are_published_and_estimated(tmp_path: Path, data_format: str) -> None:
    table = pa.table({"年齢, «âge»": ["若い", "老い", "若い", "老い"] * 5, "病気 🤒": ["風邪", "naïve", "Ω", "ß"] * 5})

    release = ld.anonymize(
        table,
        quasi="年齢, «âge»",
        sensitive="病気 🤒",
        method=L3,
        output=tmp_path / "発表",
        data_format=data_format,
    )

    estimate = ld.estimate(release, by="年齢, «âge»").to_frame()
    assert set(estimate["value"].to_pylist()) == {"風邪", "naïve", "Ω", "ß"}

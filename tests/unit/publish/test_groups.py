"""`anonymize` with methods that group records."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.engines import LocalEngine

TABLE = pa.table(
    {
        "name": [f"person-{i}" for i in range(8)],
        "age": [20, 21, 30, 31, 40, 41, 50, 51],
        "place": ["a", "b", "a", "a", "c", "c", "b", None],
        "ward": [f"w{i}" for i in range(8)],
        "job": ["j1", "j2"] * 4,
        "disease": ["flu", "cut", "flu", "cold", "cut", "flu", "cold", "flu"],
    }
)
ROLES: dict[str, Any] = {"quasi": ["age", "place"], "sensitive": "disease", "drop": "name"}


def test_records_of_a_class_share_their_region(methods: dict[str, Any]) -> None:
    release = ld.anonymize(TABLE, **ROLES, method=methods["neighbors"]())

    assert isinstance(release, ld.ClassRelease)
    rows = sorted(release.table.to_pylist(), key=lambda row: row["age"]["low"])
    assert [row["age"]["low"] for row in rows] == [20, 20, 30, 30, 40, 40, 50, 50]
    assert [row["place"] for row in rows[::2]] == [["a", "b"], ["a"], ["c"], ["(missing)", "b"]]
    assert sorted(row["disease"] for row in rows[:2]) == ["cut", "flu"]


def test_records_of_a_bucket_keep_their_quasi_identifiers(methods: dict[str, Any]) -> None:
    release = ld.anonymize(TABLE, **ROLES, method=methods["apart"]())

    assert isinstance(release, ld.ClassRelease)
    published = release.table.sort_by("age")
    assert published.select(["age", "place"]).equals(TABLE.select(["age", "place"]))
    first = published["class_id"][0].as_py()
    values = release.sensitive_table.filter(pa.compute.field("class_id") == first)
    assert values["value"].to_pylist() == ["cut", "flu"]


def test_hierarchies_are_given_as_objects_or_files(methods: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "place.csv").write_text("a;ab;*\nb;ab;*\nc;c;*\n", encoding="utf-8")
    tree = ld.Hierarchy.read(tmp_path / "place.csv")
    given: dict[str, Any] = {**ROLES, "method": methods["neighbors"](), "insecure_seed": 1}

    by_object = ld.anonymize(TABLE, **given, hierarchies={"place": tree})
    by_file = ld.anonymize(TABLE, **given, hierarchies={"place": str(tmp_path / "place.csv")})

    assert by_object.table.equals(by_file.table)
    assert set(by_object.table["place"].to_pylist()) == {"ab", "a", "c", "*"}


@pytest.mark.parametrize("column", ["disease", "name", "nowhere"])
def test_hierarchies_are_for_quasi_identifiers(methods: dict[str, Any], column: str) -> None:
    tree = ld.Hierarchy.from_rows([("a",), ("b",)])

    with pytest.raises(ld.ParameterError, match=f"must be a quasi-identifier, got '{column}'"):
        ld.anonymize(TABLE, **ROLES, method=methods["neighbors"](), hierarchies={column: tree})


@pytest.mark.parametrize(
    "given", [{"key": ld.Key.new(), "record_id": "name"}, {"record_id": "name"}, {"layout": "sets"}]
)
def test_what_belongs_to_sets_is_refused(methods: dict[str, Any], given: dict[str, Any]) -> None:
    with pytest.raises(ld.ParameterError, match=f"{[*given][-1]} must be left out with .*, a method that groups"):
        ld.anonymize(TABLE, **ROLES, method=methods["neighbors"](), **given)


@pytest.mark.parametrize("given", [{"hierarchies": {"age": "auto"}}, {"marginals": True}])
def test_what_belongs_to_groups_is_refused_for_sets(given: dict[str, Any]) -> None:
    with pytest.raises(ld.ParameterError, match=f"{next(iter(given))} must be left out with .*, a method that hides"):
        ld.anonymize(TABLE, **ROLES, method=ld.RandomizedAddition(l=2), **given)


def test_a_method_that_groups_is_not_given_by_column(methods: dict[str, Any]) -> None:
    mixed = {"disease": methods["neighbors"](), "job": ld.RandomizedAddition(l=2)}

    with pytest.raises(ld.ParameterError, match="must serve all sensitive columns together"):
        ld.anonymize(TABLE, quasi="age", sensitive=["disease", "job"], drop="name", method=mixed)


@pytest.mark.parametrize("name", ["class_id", "class_id_disease"])
def test_columns_with_the_names_of_classes_are_refused(methods: dict[str, Any], name: str) -> None:
    table = TABLE.rename_columns(["name", "age", name, "ward", "job", "disease"])

    with pytest.raises(ld.SchemaError, match=f"'{name}' has a name that a grouped release needs"):
        ld.anonymize(table, quasi=["age", name], sensitive="disease", method=methods["neighbors"]())


def test_records_left_out_are_counted(methods: dict[str, Any], tmp_path: Path) -> None:
    method = methods["neighbors"](left_out=2)

    release = ld.anonymize(TABLE, **ROLES, method=method, output=tmp_path / "release")

    assert isinstance(release, ld.ClassRelease)
    assert (release.n_rows, release.suppressed) == (6, 2)
    assert release.forms["age"].low == 30


def test_plain_columns_stay_row_by_row_and_are_noted(methods: dict[str, Any]) -> None:
    release = ld.anonymize(TABLE, **ROLES, plain="ward", method=methods["neighbors"]())

    assert sorted(release.table["ward"].to_pylist()) == TABLE["ward"].to_pylist()
    assert any("row by row: 'ward'" in note for note in release.notes)


def test_what_a_method_warns_of_is_said_and_published(methods: dict[str, Any], tmp_path: Path) -> None:
    method = methods["neighbors"](extra={"warnings": ("Beware.",), "notes": ("A note.",), "facts": {"loss": 0.5}})

    with pytest.warns(ld.LDiversityWarning, match="Beware"):
        release = ld.anonymize(TABLE, **ROLES, method=method, output=tmp_path / "release")

    assert isinstance(release, ld.ClassRelease)
    assert release.warnings == ("Beware.",)
    assert release.mechanism("disease").facts == {"loss": 0.5}
    assert "A note." in release.notes
    assert "A note." not in (tmp_path / "release" / "release.json").read_text()


def test_progress_and_workers_reach_the_method(methods: dict[str, Any]) -> None:
    said: list[tuple[float, str]] = []

    ld.anonymize(
        TABLE,
        **ROLES,
        method=methods["neighbors"](),
        progress=lambda *now: said.append(now),
        engine=LocalEngine(workers=1),
    )

    shares = [share for share, _ in said]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert "pairing" in {what for _, what in said}


def test_marginals_are_published_on_request_alone(methods: dict[str, Any]) -> None:
    method = methods["neighbors"]()

    with_counts = ld.anonymize(TABLE, **ROLES, method=method, marginals=True)
    without = ld.anonymize(TABLE, **ROLES, method=method)

    assert isinstance(with_counts, ld.ClassRelease)
    assert isinstance(without, ld.ClassRelease)
    assert with_counts.forms["place"].marginal is not None
    assert with_counts.forms["place"].marginal.counts.tolist() == [1, 3, 2, 2]
    assert any("readers see which values are rare" in note for note in with_counts.notes)
    assert without.forms["place"].marginal is None


def test_marginals_of_exact_columns_are_not_needed(methods: dict[str, Any]) -> None:
    release = ld.anonymize(TABLE, **ROLES, method=methods["apart"](), marginals=True)

    assert any("No counts of exact values are published for 'age', 'place'" in note for note in release.notes)


def test_a_table_of_which_no_class_can_be_formed_is_refused(methods: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ld.InfeasibleError, match="no class can be formed"):
        ld.anonymize(TABLE, **ROLES, method=methods["given"](classes=((-1,) * 8,)), output=tmp_path / "release")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("missing", "n_rows"), [("category", 8), ("drop", 6)])
def test_missing_sensitive_values_follow_their_policy(methods: dict[str, Any], missing: Any, n_rows: int) -> None:
    diseases = ["flu", None, None, "cold", "cut", "flu", "cold", "flu"]
    table = TABLE.set_column(5, "disease", pa.array(diseases))
    given = {**ROLES, "sensitive": ld.Sensitive("disease", missing=missing)}

    release = ld.anonymize(table, **given, method=methods["neighbors"]())

    assert release.n_rows == n_rows
    assert release.table["disease"].null_count == n_rows - 6


def test_missing_sensitive_values_are_refused_unless_told(methods: dict[str, Any]) -> None:
    table = TABLE.set_column(5, "disease", pa.array(["flu", None] * 4))

    with pytest.raises(ld.SchemaError, match="must have a value in every row, got 4"):
        ld.anonymize(table, **ROLES, method=methods["neighbors"]())


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
def test_attributes_with_classes_of_their_own(methods: dict[str, Any], tmp_path: Path, data_format: Any) -> None:
    method = methods["given"](classes=((0, 0, 0, 0, 1, 1, -1, -1), (0, 0, 1, 1, 2, 2, 2, 2)))

    release = ld.anonymize(
        TABLE,
        quasi="age",
        sensitive=["disease", "job"],
        drop="name",
        method=method,
        output=tmp_path / "release",
        data_format=data_format,
    )

    assert isinstance(release, ld.ClassRelease)
    assert release.class_columns == {"disease": "class_id_disease", "job": "class_id_job"}
    assert release.table["class_id_job"].null_count == 2
    assert sorted(release.classes("job").sizes.tolist()) == [2, 4]
    assert release.suppressed == 0


def test_a_method_that_breaks_its_promise_publishes_nothing(methods: dict[str, Any], tmp_path: Path) -> None:
    method = methods["given"](classes=((0, 0, 1, 1, 2, 2, 2, 2),), rule=ld.UniqueDiversity(l=2))

    with pytest.raises(ld.ClaimError, match=r"published class(es)? breaks? the claim"):
        ld.anonymize(TABLE, **ROLES, method=method, output=tmp_path / "release")
    with pytest.raises(ld.ClaimError, match=r"published class(es)? breaks? the claim"):
        ld.anonymize(TABLE, **ROLES, method=method)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("classes", [((0, 0, 1, 1),), ((0, 0, 2, 2, 3, 3, 1, 5),), ((0,) * 8, (0,) * 8, (0,) * 8)])
def test_a_method_that_makes_no_partition_is_a_fault(methods: dict[str, Any], classes: Any) -> None:
    with pytest.raises((ld.InternalError, ValueError), match=r"must|shape"):
        ld.anonymize(TABLE, **ROLES, method=methods["given"](classes=classes))


def test_two_rows_of_one_person_in_a_class_are_never_published(methods: dict[str, Any]) -> None:
    table = TABLE.append_column("who", pa.array(["p", "q", "p", "r", "s", "t", "u", "v"]))
    honest = methods["given"](classes=((0, 1, 1, 0, 2, 2, 3, 3),), rule=ld.AlphaK(alpha=1.0, k=2))
    by_value = ["r", "u", "q", "s", "p", "p", "t", "v"]  # cold cold cut cut flu flu flu flu

    assert by_value.count("p") == 2
    with pytest.raises(ld.ClaimError, match="two rows of one person"):
        ld.anonymize(table, **ROLES, person="who", method=methods["given"](classes=((0,) * 8,)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ld.anonymize(TABLE, **ROLES, person="name", method=honest)


@pytest.mark.parametrize(("person", "blind"), [({}, True), ({"person": "name"}, False)])
def test_classes_that_keep_people_apart_are_not_formed_blindly(person: dict[str, str], blind: bool) -> None:  # noqa: FBT001
    release = ld.anonymize(TABLE, **ROLES, **person, method=ld.MBF(l=2))

    assert release.mechanisms["disease"].blind is blind


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_come_back_as_they_came(methods: dict[str, Any], kind: str) -> None:
    frame = TABLE.to_pandas() if kind == "pandas" else pytest.importorskip("polars").from_arrow(TABLE)

    release = ld.anonymize(frame, **ROLES, method=methods["neighbors"]())

    assert kind in type(release.table).__module__
    assert kind in type(release.sensitive_table).__module__


def test_files_are_read(methods: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,disease\n1,flu\n2,cut\n3,flu\n4,cut\n")

    release = ld.anonymize(tmp_path / "t.csv", quasi="age", sensitive="disease", method=methods["neighbors"]())

    assert release.n_rows == 4


def test_a_table_without_quasi_identifiers_is_one_to_publish() -> None:
    release = ld.anonymize(TABLE.select(["disease"]), sensitive="disease", method=ld.Anatomy(l=2))

    assert release.table.column_names == ["class_id"]


def test_the_claim_is_the_methods_promise(methods: dict[str, Any]) -> None:
    release = ld.anonymize(TABLE, **ROLES, method=methods["neighbors"]())

    assert release.claim("disease").rule == ld.KAnonymity(k=2)
    assert np.array_equal(release.classes("disease").sizes, [2, 2, 2, 2])


@pytest.mark.parametrize("method", [ld.BSGI(l=2), ld.Mondrian(l=2), ld.TP(l=2), ld.Incognito(l=2)])
def test_a_table_without_quasi_identifiers_can_be_grouped(method: ld.Method) -> None:
    release = ld.anonymize(TABLE, quasi=[], sensitive="disease", method=method)

    release.verify()
    assert release.table.column_names == ["class_id", "disease"]


def test_what_absence_tells_is_said_when_records_are_left_out() -> None:
    table = pa.table({"age": range(6), "disease": ["flu"] * 4 + ["cut", "cold"]})
    release = ld.anonymize(table, quasi="age", sensitive="disease", method=ld.Anatomy(l=2, overflow="suppress"))

    assert release.suppressed == 2
    assert any("left out because of their values" in sentence for sentence in release.not_protected)
    assert any("2 records are left out because of their values" in note for note in release.notes)


def test_that_classes_of_one_person_can_be_intersected_is_said() -> None:
    release = ld.anonymize(TABLE, **ROLES, person="name", method=ld.MBF(l=2))

    assert any("intersect them. The promise is for a record" in sentence for sentence in release.not_protected)

"""Comparisons from a table to a recommendation."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.base.numbers import points
from ldiversity.errors import ParameterError, SchemaError, UnsupportedError
from ldiversity.evaluation.compare import ASSOCIATION, _measure, association_table

ROLES: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease"}


def row_of(found: ld.Comparison, label: str) -> Any:
    return next(row for row in found.rows if row.label == label)


def test_there_is_a_row_for_every_method_and_l(found: ld.Comparison) -> None:
    assert [row.label for row in found.rows] == [
        "randomized-addition l=2",
        "randomized-addition l=3",
        "anatomy l=2",
        "anatomy l=3",
        "bsgi l=2",
        "bsgi l=3",
    ]


def test_every_run_is_measured_in_full(found: ld.Comparison) -> None:
    figures = ("ncp", "suppression", "relative_error", "distribution_mse", "cpu_seconds", "risk", "claim")

    assert not [(row.label, name) for row in found.rows for name in figures if getattr(row, name) is None]


def test_sets_and_classes_are_both_attacked_by_someone_who_learns(found: ld.Comparison) -> None:
    assert not [row.label for row in found.rows if "definetti" not in {one.attack for one in row.attacks}]


def test_the_figures_are_those_of_the_measures_on_the_same_release(people: pa.Table, found: ld.Comparison) -> None:
    release = ld.anonymize(people, **ROLES, method=ld.BSGI(l=3), insecure_seed=1)
    row = row_of(found, "bsgi l=3")

    assert row.ncp == pytest.approx(ld.ncp(people, release))
    assert row.distribution_mse == pytest.approx(ld.distribution_mse(people, release))
    assert row.models["frequency"] == ld.audit(release).models["frequency"].value


def test_what_a_classifier_gets_right_has_the_error_of_the_records_it_was_tested_on() -> None:
    table, methods = pa.table(ld.datasets.patients(700, seed=1)), ["randomized-addition", "anatomy", "bsgi"]
    found = ld.compare(table, **ROLES, l=2, methods=methods, queries=5, attacks=["mechanism", "homogeneity"], seed=1)
    shown = association_table(found)
    heads, rows = shown.heads, {row[0]: row for row in shown.rows}
    place = heads.index("std. error (points)")

    for run in found.rows:
        right, tested = run.classifier, run.classifier_tested
        assert right is not None
        assert tested == 350  # the other half of the records learns
        whole = right.release * tested
        assert whole == pytest.approx(round(whole))
        assert run.classifier_error == pytest.approx((right.release * (1 - right.release) / tested) ** 0.5)
        assert rows[run.label][place] == points(run.classifier_error)
    kept = found.rows[0].classifier
    assert kept is not None
    assert rows["original table"][place] == points((kept.original * (1 - kept.original) / 350) ** 0.5)
    assert found.to_frame()["classifier_error"].to_pylist() == [run.classifier_error for run in found.rows]
    assert "standard error" in ASSOCIATION


def test_the_query_error_is_that_of_the_workload(people: pa.Table) -> None:
    workload = ld.QueryWorkload.random(people, ["age", "sex"], "disease", qd=1, n_queries=30, seed=5)
    found = ld.compare(people, **ROLES, l=3, methods="bsgi", queries=workload, seed=1)
    release = ld.anonymize(people, **ROLES, method=ld.BSGI(l=3), insecure_seed=1)

    assert found.rows[0].relative_error == pytest.approx(workload.relative_error(people, release, sanity=1))


def test_of_two_estimators_the_better_counts_and_is_named(people: pa.Table) -> None:
    workload = ld.QueryWorkload.random(people, ["sex"], "disease", qd=1, n_queries=30, seed=5)
    found = ld.compare(people, **ROLES, l=3, methods="anatomy", queries=workload, seed=1)
    release = ld.anonymize(people, **ROLES, method=ld.Anatomy(l=3), insecure_seed=1)
    errors = {
        kind: workload.relative_error(people, release, estimator=kind, sanity=1) for kind in ("classes", "linear")
    }

    assert found.rows[0].relative_error == pytest.approx(min(errors.values()))
    assert found.rows[0].estimator == min(errors, key=lambda kind: errors[kind])


def test_a_goal_that_cannot_be_met_is_a_row_that_says_why() -> None:
    table = pa.table({"age": list(range(20)), "disease": ["flu"] * 15 + ["cut"] * 5})
    found = ld.compare(table, quasi="age", sensitive="disease", l=2, methods=["anatomy"], queries=5)

    assert "l cannot be reached with all records, because the most frequent value of" in str(found.rows[0].reason)
    assert found.command is None


def test_a_method_that_takes_one_sensitive_column_is_a_row_that_says_so(people: pa.Table) -> None:
    found = ld.compare(
        people, quasi=["age"], sensitive=["disease", "job"], l=2, methods=["tp", "bsgi"], queries=10, seed=1
    )

    assert found.rows[0].failed
    assert "TP" in str(found.rows[0].reason)
    assert not found.rows[1].failed


def test_with_several_sensitive_columns_every_one_is_attacked(people: pa.Table) -> None:
    found = ld.compare(people, quasi=["age"], sensitive=["disease", "job"], l=2, methods="bsgi", queries=10, seed=1)

    assert {one.attribute for one in found.rows[0].attacks} == {"disease", "job"}


def test_rows_of_one_person_are_attacked_together(people: pa.Table) -> None:
    twice = pa.concat_tables([people, people])

    found = ld.compare(twice, **ROLES, person="name", l=2, methods=["randomized-addition", "bsgi"], queries=5, seed=1)

    assert all("several-rows" in {one.attack for one in row.attacks} for row in found.rows)


def test_sets_are_compared_where_a_person_has_several_rows(people: pa.Table) -> None:
    found = ld.compare(people, **ROLES, person="name", l=2, methods=["randomized-addition", "bsgi"], queries=5, seed=1)

    assert [row.failed for row in found.rows] == [False, False]
    assert [any("equal or disjoint" in note for note in row.notes) for row in found.rows] == [True, False]
    assert found.command is not None
    assert found.command[found.command.index("--person") + 1] == "name"


def test_an_unexpected_fault_of_a_method_is_a_row_without_its_words(
    people: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("Ann has the flu")

    monkeypatch.setattr(_measure, "_publish", fail)
    found = ld.compare(people, **ROLES, l=2, methods="bsgi", queries=5)

    assert found.rows[0].reason == "bsgi: an internal error of this package (ValueError)."


def test_a_measure_that_fails_is_a_note_and_the_rest_is_measured(
    people: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise UnsupportedError("ncp: not here.")

    monkeypatch.setattr(_measure, "ncp", fail)
    found = ld.compare(people, **ROLES, l=2, methods="bsgi", queries=5)

    assert found.rows[0].notes == ("Not measured: ncp. ncp: not here.",)
    assert found.rows[0].measured


def test_a_seed_makes_all_figures_but_time_repeatable(people: pa.Table, found: ld.Comparison) -> None:
    again = ld.compare(
        people, **ROLES, l=[2, 3], methods=["randomized-addition", "anatomy", "bsgi"], queries=40, seed=1
    )

    assert again.to_frame().drop(["cpu_seconds"]).equals(found.to_frame().drop(["cpu_seconds"]))


def test_progress_rises_from_nothing_to_all(people: pa.Table) -> None:
    told: list[tuple[float, str]] = []
    ld.compare(
        people, **ROLES, l=[2, 3], methods="anatomy", queries=5, progress=lambda share, what: told.append((share, what))
    )

    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert (told[0], told[-1]) == ((0.0, "reading"), (1.0, "comparing"))
    assert {"anatomy l=2", "anatomy l=3", "grouping"} <= {what for _, what in told}


def test_the_command_publishes_the_recommended_run(
    people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner
    from pyarrow import csv

    from ldiversity.faces.cli import cli

    monkeypatch.chdir(tmp_path)
    csv.write_csv(people, "people.csv")
    sensitive = ld.Sensitive("disease", missing="drop")
    found = ld.compare("people.csv", quasi=["age", "sex"], sensitive=sensitive, l=3, methods="bsgi", queries=5)
    assert found.command is not None
    result = CliRunner().invoke(cli, found.command[1:])

    assert result.exit_code == 0, result.stderr
    assert ld.load_release("release").claim("disease").l == 3


def test_names_with_commas_are_quoted_in_the_command() -> None:
    table = pa.table({"age, sex": [1, 2, 3, 4] * 4, "a=b": ["x", "y"] * 8})
    sensitive = ld.Sensitive("a=b", missing="drop")
    found = ld.compare(table, quasi="age, sex", sensitive=sensitive, l=2, methods="anatomy", queries=5)

    assert found.command is not None
    assert found.command[3:9] == ["--quasi", '"age, sex"', "--sensitive", "a=b", "--missing", '"a=b"=drop']


def test_the_dict_is_json_with_a_version(found: ld.Comparison) -> None:
    facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))

    assert facts["version"] == 1
    assert facts["recommended"] == found.choice.run.label  # type: ignore[union-attr]
    assert "for its holder only" in facts["holder_only"]


def test_one_row_is_recommended_and_it_is_in_the_pareto_set(found: ld.Comparison) -> None:
    rows = [row for row in found.to_dict()["rows"] if row["recommended"]]

    assert [row["pareto"] for row in rows] == [True]


def test_the_frame_is_of_the_kind_that_came_in(people: pa.Table) -> None:
    import pandas as pd

    found = ld.compare(people.to_pandas(), **ROLES, l=2, methods="anatomy", queries=5)

    assert isinstance(found.to_frame(), pd.DataFrame)


def test_text_has_the_command_and_whose_it_is(found: ld.Comparison) -> None:
    lines = str(found).splitlines()

    assert f"  $ {shlex.join(found.command or [])}" in lines
    assert any(line.startswith("Computed with the original table") for line in lines)


def test_the_picture_is_written_and_its_words_name_the_recommended_run(found: ld.Comparison, tmp_path: Path) -> None:
    assert found.plot(tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert found.alt.endswith(f"Marked as recommended: {found.choice.run.label}.")  # type: ignore[union-attr]


def test_html_escapes_names_from_the_data() -> None:
    table = pa.table({"<b>age": [1, 2, 3, 4] * 4, "<script>": ["x", "y"] * 8})
    html = ld.compare(table, quasi="<b>age", sensitive="<script>", l=[2, 9], methods="anatomy", queries=5)._repr_html_()

    assert "<script>" not in html
    assert "<b>age" not in html
    assert 'alt="Map of' in html


def test_there_is_no_picture_without_a_measured_run(tmp_path: Path) -> None:
    table = pa.table({"age": list(range(20)), "disease": ["flu"] * 15 + ["cut"] * 5})
    found = ld.compare(table, quasi="age", sensitive="disease", l=2, methods=["anatomy"], queries=5)

    with pytest.raises(UnsupportedError, match="no run was measured"):
        found.plot(tmp_path / "map.png")
    assert "<img" not in found._repr_html_()


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"quasi": []}, ParameterError, "quasi must name at least one column"),
        ({"quasi": ["shoe"]}, SchemaError, "shoe"),
        ({"attacks": "magic"}, ParameterError, "attacks must name known attacks, got 'magic'"),
        ({"attacks": []}, ParameterError, "attacks must name at least one"),
        ({"queries": 0}, ParameterError, "queries must be an integer of at least 1"),
        ({"targets": 0}, ParameterError, "targets must be an integer of at least 1"),
        ({"risk": 2}, ParameterError, "risk must be"),
        ({"seed": -1}, ParameterError, "seed must be"),
        ({"confirm": "nobody"}, SchemaError, "column 'nobody' does not exist"),
        ({"confirm": 3}, ParameterError, "confirm must"),
        ({"hierarchies": {"zip": "zip.csv"}}, ParameterError, "the column must be a quasi-identifier"),
    ],
)
def test_wrong_requests_are_refused_before_anything_is_run(
    people: pa.Table, change: dict[str, Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        ld.compare(people, **{**ROLES, "l": 2, "methods": "anatomy", **change})


def test_the_order_of_categories_is_that_of_the_domain() -> None:
    stages = pa.array(["mild", "grave", "fatal", "mild", "grave", "fatal"] * 5)
    ordered = pa.DictionaryArray.from_arrays(
        pa.array([["mild", "grave", "never", "fatal"].index(stage) for stage in stages.to_pylist()]),
        pa.array(["mild", "grave", "never", "fatal"]),
        ordered=True,
    )
    table = pa.table({"age": list(range(30)), "stage": ordered})

    found = ld.compare(table, quasi="age", sensitive="stage", l=2, methods="anatomy", seed=1)

    assert found.publication is not None
    assert found.publication.publish(table).domain("stage").values == ("mild", "grave", "fatal")
    assert "mild" not in f"{found.command}"  # the table itself says the order: no value need be declared

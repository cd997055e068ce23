"""What every run is measured by, and what is said when something is missing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.evaluation.attacks import SeveralRows

ROLES: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease"}


@pytest.fixture(scope="module")
def two_columns() -> pa.Table:
    """'disease' follows age, 'noise' follows nothing, so that attackers gain from one of them alone."""
    rng = np.random.default_rng(3)
    group = rng.integers(0, 6, 400)
    return pa.table(
        {
            "age": 20 + group,
            "noise": rng.choice(list("abcdef"), 400),
            "disease": [f"d{g}" for g in ((group + (rng.random(400) < 0.2)) % 6).tolist()],
        }
    )


class Missing(ld.Homogeneity):
    """An attack whose package is not installed."""

    name: ClassVar[str] = "missing"

    def why_not(self, *_: object) -> str:
        return "it needs a package: install ldiversity[missing]"


def test_an_attack_that_needs_a_missing_package_is_a_caution(people: pa.Table) -> None:
    attacks = ["homogeneity", Missing()]
    found = ld.compare(people, **ROLES, l=2, methods="anatomy", queries=5, seed=1, attacks=attacks)

    assert [text for text in found.choice.cautions if text.startswith("Not run: the attack 'missing', so the")]


def test_a_run_without_a_missing_package_is_not_reused_when_it_is_there(
    people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments: dict[str, Any] = {**ROLES, "l": 2, "methods": "anatomy", "queries": 5, "seed": 1, "folder": tmp_path}
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "sklearn", None)
        ld.compare(people, **arguments)

    assert not ld.compare(people, **arguments).rows[0].reused


def test_guessing_is_from_the_true_shares_for_all_runs(people: pa.Table, found: ld.Comparison) -> None:
    commonest = max(people["disease"].value_counts().to_pylist(), key=lambda one: one["counts"])["counts"]

    assert {one.baseline for row in found.rows for one in row.attacks} == {commonest / people.num_rows}


def test_who_is_left_out_does_not_make_guessing_about_the_others_better() -> None:
    # 12 of 20 have the same value; with l = 2 at most half of those published may.
    table = pa.table({"age": list(range(20)), "disease": ["flu"] * 12 + ["cut", "burn"] * 4})
    method = ld.Anatomy(l=2, overflow="suppress")
    found = ld.compare(table, quasi="age", sensitive="disease", methods=[method], queries=5, seed=1)

    assert found.rows[0].suppression == pytest.approx(4 / 20)
    assert {one.baseline for one in found.rows[0].attacks} == {0.5}


def test_the_best_attack_is_given_with_its_attribute(two_columns: pa.Table) -> None:
    found = ld.compare(
        two_columns, quasi="age", sensitive=["noise", "disease"], l=2, methods="llmsu", queries=10, seed=1
    )
    best = found.to_dict()["rows"][0]["best_attack"]

    assert best["attribute"] == "disease"
    assert found.rows[0].risk == best["success"] - best["baseline"]


def test_the_frame_names_the_attribute_of_the_best_attack(two_columns: pa.Table) -> None:
    found = ld.compare(
        two_columns, quasi="age", sensitive=["noise", "disease"], l=2, methods="llmsu", queries=10, seed=1
    )

    assert found.to_frame()["attribute"].to_pylist() == ["disease"]


def test_a_release_with_certain_values_is_recommended_with_a_caution_alone() -> None:
    table = pa.table({"age": [1, 1, 2, 2, 3, 3] * 4, "disease": ["a", "a", "b", "c", "b", "c"] * 4})
    found = ld.compare(
        table, quasi="age", sensitive="disease", methods=[ld.Mondrian(model="k-anonymity:2")], queries=5, seed=1
    )

    assert found.rows[0].disclosed == pytest.approx(1 / 3)
    assert found.to_dict()["rows"][0]["flaws"]


def _visits(*, steady: bool) -> pa.Table:
    """Two rows of each of 150 people, of different ages; `steady`: with the same value in both."""
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(150), 2)
    codes = rng.integers(0, 20, 150)[who] if steady else rng.integers(0, 20, len(who))
    values = np.array([f"v{code:02d}" for code in range(20)])
    return pa.table({"who": who, "age": rng.permutation(len(who)), "disease": values[codes]})


@pytest.mark.parametrize("method", [ld.BSGI(l=3), ld.Mondrian(model="frequency:3")])
def test_an_attack_that_wrongly_joins_rows_makes_no_run_unsound(method: Any) -> None:
    table = _visits(steady=False)
    found = ld.compare(table, quasi="age", sensitive="disease", person="who", methods=[method], queries=5, seed=1)
    (run,) = found.rows
    (joined,) = (one for one in run.attacks if one.attack == "several-rows")

    # People have several values, so what fits all rows of a person is a mistake.
    assert joined.certain > 0
    assert (joined.broken, run.disclosed, found.judged[0].flaws) == (False, 0.0, ())


def test_a_release_that_gives_values_away_through_several_rows_is_unsound() -> None:
    # All rows of a person have one value. Nothing says whose they are, so the set of each is drawn afresh.
    table = _visits(steady=True)
    found = ld.compare(
        table, quasi="who", sensitive="disease", drop="age", l=2, methods="randomized-addition",
        attacks=["mechanism", SeveralRows()], queries=5, seed=1,
    )  # fmt: skip
    (run,) = found.rows

    assert run.broken == ("several-rows",)
    assert run.disclosed is not None
    assert run.disclosed > 0.5
    assert any(said.startswith("It gives away values for certain") for said in found.judged[0].flaws)


def test_records_without_a_value_that_are_dropped_are_left_out(people: pa.Table) -> None:
    values = [None if place < 30 else value for place, value in enumerate(people["disease"].to_pylist())]
    table = people.set_column(people.column_names.index("disease"), "disease", pa.array(values))
    found = ld.compare(
        table, quasi="age", sensitive=ld.Sensitive("disease", missing="drop"), l=2, methods="bsgi", queries=5, seed=1
    )

    assert found.rows[0].suppression == pytest.approx(30 / people.num_rows)


def test_records_and_people_are_counted_apart(people: pa.Table) -> None:
    whose = pa.array([str(place // 2) for place in range(people.num_rows)])
    table = people.append_column("who", whose)
    found = ld.compare(table, **ROLES, person="who", l=2, methods="bsgi", queries=5, seed=1)

    assert found.notes[0].startswith("Risk: 300 records of 150 people were attacked")


def test_unique_records_are_counted_where_quasi_identifiers_are_exact(people: pa.Table) -> None:
    found = ld.compare(people, quasi=["age", "sex", "zip"], sensitive="disease", l=2, methods="anatomy", queries=5)
    combinations = people.group_by(["age", "sex", "zip"]).aggregate([([], "count_all")])["count_all"].to_pylist()

    assert found.rows[0].uniques == combinations.count(1)


def test_small_answers_are_not_less_than_a_record(people: pa.Table) -> None:
    found = ld.compare(people, **ROLES, l=2, methods="bsgi", queries=5, seed=1)

    assert found.notes[1].endswith("relative to the true answer, or to 1 record where that is more.")


def test_edges_of_bins_are_written_in_full() -> None:
    table = pa.table({"age": [1, 2, 3, 4] * 6, "income": [1.0, 2e6, 3e6] * 8})
    sensitive = ld.Sensitive("income", edges=[0, 1234567, 2345678, 4000000])
    found = ld.compare(table, quasi="age", sensitive=sensitive, l=2, methods="randomized-addition", queries=5, seed=1)

    assert "income=edges:0/1234567/2345678/4000000" in " ".join(found.publications["randomized-addition l=2"].words)


def test_what_is_recommended_declares_no_value_of_the_table() -> None:
    """A value that only a dropped record has is in no command, no policy and no release that follows from it."""
    rng = np.random.default_rng(1)  # no column tells another, so that publishing is not refused
    stages = rng.permutation(["low", "mid", "high"] * 20).tolist()
    stages[7] = "rare-secret"
    others = rng.permutation(["v0", "v1", "v2"] * 20).tolist()
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 29, 60),
            "stage": pd.Categorical(stages, ["low", "mid", "rare-secret", "high"], ordered=True),
            "other": [None if place == 7 else one for place, one in enumerate(others)],
        }
    )
    sensitive = ["stage", ld.Sensitive("other", missing="drop")]
    found = ld.compare(
        table, quasi="age", sensitive=sensitive, l=2, methods="randomized-addition", queries=5, attacks="homogeneity"
    )
    (publication,) = found.publications.values()

    assert not [one for one in found.findings if one.blocking]
    assert publication.publish(table).domain("stage").values == ("low", "mid", "high")
    assert "rare-secret" not in f"{publication} {publication.command()} {found.to_dict()}"


def test_a_comparison_says_first_that_what_it_recommends_would_be_refused() -> None:
    rng = np.random.default_rng(1)
    diseases = rng.choice(["flu", "cut", "burn"], 90)
    table = pa.table({"age": rng.integers(20, 29, 90), "code": [one[0] for one in diseases], "disease": diseases})
    found = ld.compare(
        table, quasi=["age", "code"], sensitive="disease", l=2, methods="randomized-addition", queries=5,
        attacks="homogeneity", seed=1,
    )  # fmt: skip

    assert found.cautions[0].startswith("It is refused until this is settled: code:")
    assert "tells 'disease'" in found.cautions[0]
    assert [one["column"] for one in found.to_dict()["findings"] if one["blocking"]] == ["code"]
    assert found.publication is not None
    with pytest.raises(ld.SchemaError, match="'code' must be dropped or confirmed"):
        found.publication.publish(table)


def test_what_is_recommended_is_published_when_the_comparison_was_told_what_is_confirmed(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    diseases = rng.choice(["flu", "cut", "burn"], 90)
    table = pa.table({"age": rng.integers(20, 29, 90), "code": [one[0] for one in diseases], "disease": diseases})
    roles = {"quasi": ["age", "code"], "sensitive": "disease"}
    asked = {"l": 2, "methods": "randomized-addition", "queries": 5, "attacks": "homogeneity", "seed": 1}
    refused = ld.compare(table, **roles, **asked, folder=tmp_path)
    found = ld.compare(table, **roles, **asked, folder=tmp_path, confirm="code")

    assert found.rows[0].cpu_seconds == refused.rows[0].cpu_seconds  # the run was kept: no figure depends on it
    assert found.cautions == refused.cautions[1:]
    assert found.command is not None
    assert found.command[found.command.index("--confirm") + 1] == "code"
    assert found.publication is not None
    assert [one.column for one in found.publication.publish(table).confirmed] == ["code"]


def test_the_command_in_json_is_a_line_for_a_shell(found: ld.Comparison) -> None:
    assert found.to_dict()["command"].startswith("ldiversity anonymize TABLE --quasi age,sex")


def test_notebooks_show_points_marks_failures_and_notes(people: pa.Table) -> None:
    html = ld.compare(people, **ROLES, l=[2, 40], methods="anatomy", queries=5, seed=1)._repr_html_()

    assert [text for text in ("in percentage points", "&lt;-", "Not possible here", "Notes") if text not in html] == []


def test_runs_of_one_method_and_l_have_different_labels_on_the_map(people: pa.Table) -> None:
    methods = [ld.Mondrian(l=2), ld.Mondrian(l=2, strict=False)]
    figure = ld.compare(people, **ROLES, methods=methods, queries=5, seed=1).figure()

    # The recommended run says so beside its label, and an arrow says where it is better.
    assert {text.get_text() for text in figure.axes[0].texts} == {"better", "recommended (l=2)", "l=2 no strict"}


def test_people_of_a_population_are_found_in_sets_and_in_regions(people: pa.Table) -> None:
    """Everybody of the table four times: who searches there is at least four times less sure."""
    town = pa.concat_tables([people.select(["age", "sex"])] * 4)
    asked: dict[str, Any] = {**ROLES, "l": 2, "methods": ["anatomy", "mondrian"], "queries": 5, "seed": 1}

    alone, among = ld.compare(people, **asked), ld.compare(people, **asked, population=town)

    for one, other in zip(alone.rows, among.rows, strict=True):
        assert one.recognized is not None
        assert other.recognized is not None
        assert other.recognized <= one.recognized / 4 + 1e-12
        assert not any("population" in note for note in other.notes)


def test_releases_are_audited_by_people_however_the_table_was_read(people: pa.Table, tmp_path: Path) -> None:
    table = people.append_column("who", pa.array([str(place // 2) for place in range(people.num_rows)]))
    file = tmp_path / "people.csv"
    lines = [";".join(table.column_names), *(";".join(map(str, row.values())) for row in table.to_pylist())]
    file.write_text("\n".join(lines), encoding="cp1252")
    read = {"encoding": "cp1252", "decimal": ",", "date_format": "dmy"}
    (row,) = ld.compare(file, **ROLES, person="who", read=read, l=2, methods="bsgi", queries=5, seed=1).rows

    assert row.audit_passed
    assert not [note for note in row.notes if "audit" in note]

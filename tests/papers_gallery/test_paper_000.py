from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.mechanisms import UniformSelection
from papers import Setting
from papers.paper_000.adult import judge_adult, overview_exhibit
from papers.paper_000.cells import cells_exhibit, judge_cells, measure_cells
from papers.paper_000.census import Census
from papers.paper_000.formulas import _errors, estimators_exhibit, formulas_exhibit, judge_formulas
from papers.paper_000.queries import PAPER_METHODS, Asked, publish
from papers.paper_000.relationship import Relationship, judge_relationship, judge_time
from papers.paper_000.study import Paper000

# --- Fig. 1 ----------------------------------------------------------------------------------------------


def simulated(factor: float = 1.0, likely: float = 0.5) -> pa.Table:
    rows = []
    for values, l in ((20, 2), (20, 5), (100, 5)):
        mechanism = UniformSelection(values, l)
        exact = mechanism.expected_mse(1000)
        rows += [
            {
                "part": "a", "|S|": values, "l": l, "N": 1000, "distribution": name,
                "Eq. 19": mechanism.expected_mse_paper(1000), "exact formula": exact, "simulation": factor * exact,
                "standard error": 0.01 * exact, "maximum likelihood": likely * exact, "repetitions": 30,
            }
            for name in ("uniform", "Gaussian", "Poisson")
        ]  # fmt: skip
    return pa.Table.from_pylist(rows)


def test_a_simulation_on_the_exact_formula_contradicts_eq_19() -> None:
    outcome, words = judge_formulas(simulated())

    assert outcome == "differs"
    assert "In 100 % of the 9 simulated settings the exact formula" in words
    assert "1.90 at |S| = 20, l = 2" in words


def test_a_simulation_on_eq_19_would_agree() -> None:
    data = simulated()

    outcome, _ = judge_formulas(data.set_column(7, "simulation", data["Eq. 19"]))

    assert outcome == "agrees"


def test_maximum_likelihood_is_called_better_only_where_it_is() -> None:
    assert estimators_exhibit(simulated(likely=0.5)).outcome == "better"
    assert estimators_exhibit(simulated(likely=1.5)).outcome == "differs"


def test_the_simulated_error_is_that_of_the_exact_formula() -> None:
    mechanism = UniformSelection(10, 3)

    errors, _ = _errors(mechanism, np.full(10, 0.1), 200, 300, np.random.default_rng(1))

    # A z-test at 4.5 standard errors: false alarm below 1e-5.
    deviation = errors.mean() - mechanism.expected_mse(200)
    assert abs(deviation) < 4.5 * errors.std(ddof=1) / np.sqrt(300)


@pytest.mark.parametrize("make", [formulas_exhibit, estimators_exhibit])
def test_the_pictures_of_fig_1_can_be_drawn(make: Any) -> None:
    assert len(make(simulated()).draw().axes) == 4


# --- queries ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return ld.datasets.patients(3000, seed=1).select(["age", "sex", "job", "disease"])


@pytest.mark.parametrize("name", PAPER_METHODS)
def test_errors_of_queries_are_those_of_the_public_measures(table: pa.Table, name: str) -> None:
    quasi = ["age", "sex", "job"]
    release = publish(table, quasi, "disease", name, 3, 1)
    assert not isinstance(release, str)
    asked = Asked(table, quasi, "disease", qd=2, selectivity=0.2, n_queries=20, seed=4)

    found = asked.answers(name, release, improved=False)[name]

    public = ld.QueryWorkload.random(table, quasi, "disease", qd=2, selectivity=0.2, n_queries=20, seed=4)
    assert found.mse == pytest.approx(public.mean_squared_error(table, release))
    assert found.relative == pytest.approx(public.relative_error(table, release))


def test_a_method_that_cannot_publish_gives_its_reason(table: pa.Table) -> None:
    assert isinstance(publish(table, ["age"], "disease", "Anatomy", 40, 1), str)


def test_the_expected_error_is_the_exact_formula_over_the_records_of_each_query(table: pa.Table) -> None:
    asked = Asked(table, ["age"], "disease", qd=1, selectivity=0.2, n_queries=1, seed=4)
    n_values, records = len(asked.workload.domain), asked.truth.sum()

    assert asked.expected(3) == pytest.approx(UniformSelection(n_values, 3).expected_mse(records))


# --- Adult -----------------------------------------------------------------------------------------------


def published(proposal: float, other: float, *, together: bool = True) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {
                "d": d, "sensitive": "sex", "values": 10, "most frequent": 0.5, "l": 2, "queries": 10, "method": method,
                "published": method == "Proposal" or d == 1 or together,
                "MSE (Eq. 2)": error if d == 1 else error / 10, "note": "",
            }
            for d in (1, 2)
            for method, error in {"Proposal": proposal, "TP": other, "Anatomy": other}.items()
        ]
    )  # fmt: skip


def test_fig_5_agrees_where_the_proposal_publishes_most_with_the_least_error() -> None:
    assert judge_adult(published(1.0, 2.0))[0] == "agrees"


def test_fig_5_differs_where_the_proposal_is_least_over_other_settings_only() -> None:
    outcome, words = judge_adult(published(1.0, 0.9, together=False))

    assert outcome == "differs"
    assert "does not have the smallest average MSE for every l" in words


def test_fig_5_agrees_though_the_proposal_publishes_what_others_refuse() -> None:
    rows = published(1.0, 2.0, together=False).to_pylist()
    hard = [{**row, "MSE (Eq. 2)": row["MSE (Eq. 2)"] * (100 if row["d"] == 2 else 1)} for row in rows]

    outcome, words = judge_adult(pa.Table.from_pylist(hard))

    assert outcome == "agrees"
    assert "hold the hard tables that others refuse against the proposal" in words


def changed(data: pa.Table, **columns: Any) -> list[dict[str, Any]]:
    return [{**row, **columns} for row in data.to_pylist()]


def test_fig_5_differs_where_one_l_does_and_names_it() -> None:
    rows = changed(published(1.0, 20.0)) + changed(published(6.0, 2.0), l=9)

    outcome, words = judge_adult(pa.Table.from_pylist(rows))

    assert outcome == "differs"
    assert "least at 1 of 2 values of l, not at l = 9 (Anatomy has the least, the proposal 3.0 to 3.0 times" in words


def ours(error: float) -> dict[str, Any]:
    return {**published(1.0, 2.0).to_pylist()[0], "method": "Proposal, MAP (ours)", "MSE (Eq. 2)": error}


def test_fig_5_compares_map_on_the_releases_that_it_was_tried_on() -> None:
    outcome, words = judge_adult(pa.Table.from_pylist([*changed(published(1.0, 2.0)), ours(0.5)]))

    assert outcome == "better"
    assert "Proposal, MAP (ours) has 0.50 of the average error of Proposal on 1 of its 2 (" in words


def test_fig_5_is_not_better_where_map_has_more_error_on_the_same_releases() -> None:
    # Its error is below the proposal's average over all tables, but not on the one that it was tried on.
    hard = [{**row, "MSE (Eq. 2)": 100.0 * row["d"]} for row in changed(published(1.0, 2.0))]

    assert judge_adult(pa.Table.from_pylist([*hard, ours(120.0)]))[0] == "agrees"


def test_fig_5_says_how_many_queries_were_asked() -> None:
    assert "over 10 queries; the paper asks 1,000." in judge_adult(published(1.0, 2.0))[1]


def test_the_picture_of_fig_5_shows_ours_against_the_same_releases_alone() -> None:
    axes = overview_exhibit(pa.Table.from_pylist([*changed(published(1.0, 2.0)), ours(0.5)])).draw().axes

    assert [line.get_label() for line in axes[3].lines] == ["Proposal, MAP (ours)"]
    assert "Proposal, MAP (ours)" not in [line.get_label() for line in axes[2].lines]


def test_the_picture_of_fig_5_can_be_drawn() -> None:
    axes = overview_exhibit(published(1.0, 2.0)).draw().axes

    assert [axis.get_visible() for axis in axes] == [True, True, True, False]


def shares(**errors: float) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {"method": name.replace("_", ", "), "sex": "F", "relationship": "Wife", "truth": 0.5, "estimate": 0.5 + off}
            for name, off in errors.items()
        ]
    )


def test_fig_6_is_judged_by_the_errors() -> None:
    assert judge_relationship(shares(Proposal=0.1, TP=0.2, Anatomy=0.3, Proposal_mle=0.05))[0] == "better"
    assert judge_relationship(shares(Proposal=0.1, TP=0.2, Anatomy=0.3, Proposal_mle=0.15))[0] == "agrees"
    assert judge_relationship(shares(Proposal=0.3, TP=0.2, Anatomy=0.3, Proposal_mle=0.05))[0] == "differs"


@pytest.mark.parametrize(("seconds", "outcome"), [(0.1, "better"), (3.0, "agrees"), (5.0, "differs")])
def test_the_time_is_compared_with_the_four_seconds_of_the_paper(seconds: float, outcome: str) -> None:
    data = pa.table({"method": ["Proposal", "TP"], "publish (s)": [seconds, 2.0], "estimate (s)": [0.0, 1.0]})

    assert judge_time(data)[0] == outcome


@pytest.mark.parametrize(("share", "outcome"), [(0.4, "better"), (0.6, "differs")])
def test_small_cells_are_judged_by_the_share_of_map(share: float, outcome: str) -> None:
    data = pa.table(
        {"cells": [320, 320], "median records in a cell": [7.0, 7.0], "estimator": ["linear", "map"],
         "MSE (Eq. 2)": [1.0, share]}
    )  # fmt: skip

    assert judge_cells(data)[0] == outcome


# --- on the public tables --------------------------------------------------------------------------------


def test_map_has_at_most_half_the_error_of_linear_in_small_cells(public_data: Path) -> None:
    exhibit = cells_exhibit(measure_cells(Setting(quick=True, data=public_data)))

    assert "in 320 cells" in exhibit.words
    assert exhibit.outcome == "better"


def test_the_proposal_gives_relationship_by_sex_best_of_the_three(public_data: Path) -> None:
    exhibit = Relationship(Setting(quick=True, data=public_data)).distributions()

    assert exhibit.outcome in {"agrees", "better"}
    assert len(exhibit.draw().axes) == 6


def test_queries_on_the_stand_in_give_every_method_a_row(public_data: Path) -> None:
    census = Census(Setting(quick=True, data=public_data))

    exhibit = census.selectivity()

    assert set(exhibit.data["method"].to_pylist()) >= set(PAPER_METHODS)
    assert len(exhibit.draw().axes) == 4


def test_without_data_what_needs_none_is_run_and_the_rest_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("papers.paper_000.study.simulate", lambda _: simulated())

    exhibits = Paper000().exhibits(Setting(quick=True, data=tmp_path))

    outcomes = {exhibit.item: exhibit.outcome for exhibit in exhibits}
    assert [item for item, outcome in outcomes.items() if outcome != "not run"] == [
        "Fig. 1",
        "Fig. 1, other estimators",
    ]
    assert len(outcomes) == 7

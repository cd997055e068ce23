"""The rerun of paper 001: incomes, and Adult beside Mondrian."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from ldiversity.pictures import save_figure
from papers import Exhibit, Setting
from papers.paper_001.adult import adult_comparison, judge_adult
from papers.paper_001.bars import BARS, claim_of, error_bars, judge_bars
from papers.paper_001.study import HISTOGRAMS
from papers.paper_004.data import education_survey, income_survey, patients_survey, read_adult
from papers.paper_004.histograms import Histogram, histogram


@pytest.fixture(scope="module")
def incomes() -> Exhibit:
    return error_bars(BARS[1], income_survey(20_000, seed=1), Setting(quick=True))


@pytest.fixture(scope="module")
def comparison(public_data: Path) -> Exhibit:
    setting = Setting(quick=True, data=public_data)
    adult = read_adult(setting)
    return adult_comparison(adult, education_survey(adult), setting)


def changed(exhibit: Exhibit, column: str, factors: dict[str, float], key: str) -> pa.Table:
    rows = [row | {column: row[column] * factors.get(row[key], 1.0)} for row in exhibit.data.to_pylist()]
    return pa.Table.from_pylist(rows)


def test_the_order_of_the_three_analyses_of_incomes_comes_out(incomes: Exhibit) -> None:
    # Over 8 seeds Proposal was at least 5 times below the others, and Existing 6.6 to 7.8 % above Simple at d = 6
    # (standard deviation of that ratio .5 %): the order fails in far fewer than 1e-9 of all seeds.
    assert incomes.outcome in {"better", "agrees"}


def test_incomes_are_marked_as_standing_in(incomes: Exhibit) -> None:
    assert "made-up table" in incomes.stand_in


def test_incomes_differ_when_the_proposal_is_not_the_least(incomes: Exhibit) -> None:
    data = changed(incomes, "MSE by age and gender", {"Proposal": 1e6}, "analysis")

    assert judge_bars(data)[0] == "differs"


def test_incomes_agree_when_ours_is_no_better(incomes: Exhibit) -> None:
    data = changed(incomes, "MSE by age and gender", {"ours": 1e3}, "analysis")

    assert judge_bars(data)[0] == "agrees"


def test_incomes_differ_where_the_existing_analysis_is_nowhere_worse_than_the_simple_one(incomes: Exhibit) -> None:
    data = changed(incomes, "MSE by age and gender", {"Simple": 10.0}, "analysis")

    assert judge_bars(data)[0] == "differs"


@pytest.mark.parametrize("simple", [0.1, 10.0])
def test_in_both_figures_the_existing_analysis_must_be_above_the_simple_one_somewhere(simple: float) -> None:
    """The paper says it of Fig. 5 and 6; a table where it is so nowhere must differ in either."""
    errors = {"Simple": simple, "Existing": 1.0, "Proposal": 0.01, "ours": 0.005}
    for bars in BARS:
        rows = [
            {"l": 2, "d": d, "analysis": name, "MSE by age and gender": error}
            for d in bars.distances
            for name, error in errors.items()
        ]

        verdict = judge_bars(pa.Table.from_pylist(rows))

        assert (verdict.outcome == "better") is (simple < 1)
        assert f"Existing above Simple somewhere: {'holds' if simple < 1 else 'fails'}" in verdict.why
        assert "in Fig. 5 and 6" in claim_of(bars)


def test_patients_with_a_tree_like_the_icd_give_the_order_of_the_three_analyses() -> None:
    # All seeds are fixed, so that this comes out the same every time.
    exhibit = error_bars(BARS[0], patients_survey(20_000, seed=1), Setting(quick=True))

    assert "the least of three: 2 of 2" in exhibit.verdict.why
    assert set(exhibit.data["d"].to_pylist()) == {2, 3}
    assert "like the ICD's" in exhibit.stand_in


@pytest.mark.parametrize("which", HISTOGRAMS)
def test_histograms_show_what_the_paper_shows_and_ours(which: Histogram, tmp_path: Path) -> None:
    make = {"income": income_survey, "patients": patients_survey}[which.survey]

    exhibit = histogram(which, make(20_000, seed=1), Setting(quick=True))

    assert exhibit.paper == "001"
    assert exhibit.data.column_names[3:] == ["original", *which.names]
    assert exhibit.outcome in {"better", "agrees"}
    assert save_figure(exhibit.draw(), tmp_path / "picture.svg").stat().st_size > 5_000


def test_the_order_of_the_four_methods_on_adult_comes_out(comparison: Exhibit) -> None:
    assert "The order Mondrian, Proposal, Existing, Simple holds" in comparison.words


def test_the_printed_setting_on_adult_cannot_be_analyzed(comparison: Exhibit) -> None:
    assert "the printed (2, 4) cannot be analyzed at all" in comparison.words


def test_mondrian_keeps_the_rules_that_it_was_given(comparison: Exhibit) -> None:
    rows = {row["method"]: row for row in comparison.data.to_pylist()}

    assert rows["Mondrian, (2, 3)-semantic"]["records with (2, 3)-semantic diversity"] == 1.0
    assert rows["Mondrian, frequency 1/2"]["worst posterior, values equally likely before"] <= 0.5
    assert rows["Mondrian, 2-diversity"]["records with (2, 3)-semantic diversity"] < 1.0


def test_the_comparison_differs_when_mondrian_is_worse(comparison: Exhibit) -> None:
    data = changed(comparison, "MSE by age and gender", {"Mondrian, 2-diversity": 1e3}, "method")

    assert judge_adult(data)[0] == "differs"


# Proposal's error was 12 times that of Mondrian, whose is raised here.
NEARER = {"Mondrian, 2-diversity": 8.0}


def test_the_comparison_differs_when_the_proposal_is_far_above_mondrian(comparison: Exhibit) -> None:
    assert comparison.outcome == "differs"
    assert "is little above Mondrian's does not hold" in comparison.words


def test_the_comparison_is_better_when_the_proposal_is_little_above_mondrian(comparison: Exhibit) -> None:
    outcome, words, *_ = judge_adult(changed(comparison, "MSE by age and gender", NEARER, "method"))

    assert outcome == "better"
    assert "is little above Mondrian's holds" in words


def test_the_comparison_agrees_when_ours_is_no_better(comparison: Exhibit) -> None:
    data = changed(comparison, "MSE by age and gender", {**NEARER, "Balanced, MLE": 1e3}, "method")

    assert judge_adult(data)[0] == "agrees"


def test_assumed_exponents_are_said_to_be_assumed(comparison: Exhibit) -> None:
    assert "exponents of 1.0899 and 3.0421 are not readable, and assumed" in comparison.claim


def test_the_picture_of_incomes_can_be_drawn(incomes: Exhibit, tmp_path: Path) -> None:
    assert save_figure(incomes.draw(), tmp_path / "picture.svg").stat().st_size > 5_000


def test_the_picture_of_adult_can_be_drawn(comparison: Exhibit, tmp_path: Path) -> None:
    assert save_figure(comparison.draw(), tmp_path / "picture.svg").stat().st_size > 5_000

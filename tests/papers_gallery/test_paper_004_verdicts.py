"""Verdicts on paper 004 follow from the data: other data, other words."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from papers.paper_004.accuracy import judge_accuracy
from papers.paper_004.errors import BY_CELL, WHOLE, Sweep
from papers.paper_004.example import judge_draws, judge_table_10, table_10
from papers.paper_004.histograms import judge_histogram
from papers.paper_004.runs import LE, PAPER
from papers.paper_004.verdicts import judge_education, judge_fnlwgt, judge_income
from papers.paper_004.violation import judge_bound, judge_figure_6

SWEEP = Sweep("Fig. 11", "income", (((2, 2), (2, 3)), ((2, 2), (3, 2)), ((3, 2), (3, 3)), ((2, 3), (3, 3))))


def errors(**changed: float) -> pa.Table:
    """Errors as the paper tells them: N-Proposal small, the others greater, growing with l and d."""
    usual = dict.fromkeys(PAPER, 10.0) | {"N-Proposal": 2.0, "Ex-Proposal": 3.0, "N-Anonymity": 90.0, LE: 1.5}
    factors = (
        usual
        | {"Simple, exact Q": 1.5, "Balanced, MLE": 1.0}
        | {name.replace("_", "-"): factor for name, factor in changed.items()}
    )
    rows = [
        {"l": l, "d": d, "combination": name, BY_CELL: 1e-7 * l * d * factor, "note": ""}
        for l, d in SWEEP.settings
        for name, factor in factors.items()
    ]
    return pa.Table.from_pylist(rows)


def altered(data: pa.Table, column: str, row: int, value: Any) -> pa.Table:
    cells = data[column].to_pylist()
    cells[row] = value
    return data.set_column(data.column_names.index(column), column, pa.array(cells))


# --- Fig. 11 to 13 ---------------------------------------------------------------------------------------


def test_income_is_better_when_the_claims_hold_and_ours_is_lower() -> None:
    outcome, words, *_ = judge_income(errors(), SWEEP, "")

    assert outcome == "better"
    assert (
        "is the least of the seven in 4 of 4 settings, and the least or within a factor of 1.5 of it in 4 of 4."
        in words
    )


def test_income_differs_when_n_proposal_is_not_the_least() -> None:
    outcome, words, *_ = judge_income(errors(N_Proposal=50.0), SWEEP, "")

    assert outcome == "differs"
    assert "in 0 of 4, but not at (2, 2), (2, 3), (3, 2), (3, 3)." in words


def test_income_tells_nearly_the_least_from_the_least() -> None:
    outcome, words, *_ = judge_income(errors(N_Proposal=4.0), SWEEP, "")

    assert outcome == "better"
    assert (
        "is the least of the seven in 0 of 4 settings, and the least or within a factor of 1.5 of it in 4 of 4."
        in words
    )


def test_an_error_of_incomes_that_falls_on_the_way_is_an_exception() -> None:
    panels = (SWEEP.panels[0], ((2, 2), (3, 2), (3, 3)), *SWEEP.panels[2:])
    data = errors()
    row = [(each["l"], each["d"], each["combination"]) for each in data.to_pylist()].index((3, 2, "Ex-Proposal"))

    outcome, words, *_ = judge_income(altered(data, BY_CELL, row, 2.6e-5), Sweep("Fig. 11", "income", panels), "")

    assert outcome == "agrees with exceptions"
    assert "by more than a factor of 1.5 it falls from (3, 2) to (3, 3), 2.6e-05 to 2.7e-06" in words


def test_income_agrees_when_ours_is_no_better() -> None:
    outcome, *_ = judge_income(errors(N_Proposal=1.0, Ex_Proposal=1.0), SWEEP, "")

    assert outcome == "agrees"


def test_income_differs_when_no_analysis_is_not_the_worst() -> None:
    outcome, words, *_ = judge_income(errors(N_Anonymity=2.5), SWEEP, "")

    assert outcome == "differs"
    assert "(a) is not always worst" in words


def test_education_is_better_when_ex_proposal_is_above_le() -> None:
    assert judge_education(errors(), SWEEP)[0] == "better"


def test_education_differs_when_le_is_above_ex_proposal() -> None:
    outcome, words, *_ = judge_education(errors(LE=30.0), SWEEP)

    assert outcome == "differs"
    assert "is above LE in 0 of 2 settings" in words


def test_fnlwgt_names_the_settings_that_do_not_fit() -> None:
    data = errors()
    row = [(each["l"], each["d"], each["combination"]) for each in data.to_pylist()].index((3, 3, "N-Proposal"))

    outcome, words, *_ = judge_fnlwgt(altered(data, BY_CELL, row, 1.0), SWEEP)

    assert outcome == "agrees with exceptions"
    assert judge_fnlwgt(errors(N_Proposal=50.0), SWEEP)[0] == "differs"
    assert "in 3 of 4, but not at (3, 3)." in words


def test_ratios_near_one_keep_their_decimals() -> None:
    assert "Eq. 2 has 2.00 to 2.00 times" in judge_fnlwgt(errors(), SWEEP)[1]


def test_education_says_where_ours_refuses_and_which_e_was_used() -> None:
    data = errors()
    row = [(each["l"], each["d"], each["combination"]) for each in data.to_pylist()].index((3, 3, "Balanced, MLE"))
    refused = altered(altered(data, BY_CELL, row, None), "note", row, "BalancedSelection: too close.")

    words = judge_education(refused, SWEEP)[1]

    assert "Balanced selection refuses (3, 3): too close." in words
    assert "in the 3 settings that both have" in words
    assert "with e = 5 - d" in words


# --- the worked example ----------------------------------------------------------------------------------


def test_table_10_differs_when_a_printed_cell_does() -> None:
    data = altered(table_10().data, "estimated, printed (Table 10)", 0, 118.2)

    assert judge_table_10(data)[0] == "differs"


@pytest.mark.parametrize(("printed", "outcome"), [(0.5, "differs"), (2.5, "agrees")])
def test_a_draw_is_plausible_when_others_come_as_near(printed: float, outcome: str) -> None:
    assert judge_draws(pa.table({"MSE": [1.0, 2.0, 3.0]}), printed, 2.0)[0] == outcome


# --- Fig. 6, 14 and 15 -----------------------------------------------------------------------------------


def violations(simulated: float, proposed: float = 0.0) -> pa.Table:
    row = {
        "table": "income",
        "l": 3,
        "d": 3,
        "Eq. 11": 0.5,
        "exact, mean over records": simulated,
        "simulated, existing method": simulated,
        "simulated, simple and balanced selection": proposed,
        "records": 10_000,
    }
    return pa.Table.from_pylist([row])


@pytest.mark.parametrize(
    ("simulated", "outcome", "part"),
    [
        (0.52, "agrees", "is almost the simulated share"),
        (0.70, "differs", "is not almost the simulated share"),
        (0.40, "differs", "is not a lower bound"),
    ],
)
def test_eq_11_is_judged_by_the_simulated_share(simulated: float, outcome: str, part: str) -> None:
    found, words, *_ = judge_bound(violations(simulated))

    assert found == outcome
    assert part in words


def test_a_stand_in_that_disagrees_with_the_paper_s_own_table_leaves_it_undecided() -> None:
    rows = [*violations(0.70).to_pylist(), {**violations(0.52).to_pylist()[0], "table": "fnlwgt"}]

    outcome, _, figure, _ = judge_bound(pa.Table.from_pylist(rows))

    assert outcome == "undecided (data)"
    assert figure == "Eq. 11 and simulation differ by up to 0.200 on income, 0.020 on fnlwgt"


def test_a_violation_by_the_proposed_selection_differs() -> None:
    assert judge_bound(violations(0.52, proposed=0.01))[0] == "differs"


@pytest.mark.parametrize(
    ("first", "others", "outcome"),
    [(0.5, 0.53, "agrees"), (0.8, 0.53, "differs"), (0.5, 0.65, "differs"), (0.5, 0.3, "differs")],
)
def test_figure_6_is_judged_by_the_first_value_and_like_figure_14_by_all(
    first: float, others: float, outcome: str
) -> None:
    row = {
        "F": 50,
        "l": 3,
        "d": 3,
        "Eq. 11": 0.5,
        "simulated, first value": first,
        "simulated, all values alike": others,
        "simulated, simple and balanced selection": 0.0,
        "draws": 1000,
    }

    data = pa.Table.from_pylist([{"against": axis, **row} for axis in ("F", "l", "d")])

    assert judge_figure_6(data)[0] == outcome


# --- histograms and goals --------------------------------------------------------------------------------


def maps(proposal: list[float], ours: list[float]) -> pa.Table:
    columns = {"age": ["20s"] * 3, "gender": ["male"] * 3, "value": ["a", "b", "c"], "original": [10, 0, 20]}
    theirs = {"Ex-Proposal": proposal, "Ex-Existing": [14.0, 4.0, 12.0], "Ex-Simple": [10.0, 9.0, 11.0]}
    return pa.table(columns | theirs | {"Balanced, MLE": ours})


@pytest.mark.parametrize(
    ("proposal", "ours", "outcome"),
    [
        ([11.0, 1.0, 18.0], [10.0, 0.5, 19.5], "better"),
        ([11.0, 1.0, 18.0], [13.0, 3.0, 14.0], "agrees"),
        ([30.0, 0.0, 0.0], [10.0, 0.5, 19.5], "differs"),
    ],
)
def test_histograms_are_judged_by_their_distance(proposal: list[float], ours: list[float], outcome: str) -> None:
    assert judge_histogram(maps(proposal, ours))[0] == outcome


@pytest.mark.parametrize(("exact", "outcome"), [(1e-6, "better"), (1e-4, "differs")])
def test_goals_are_judged_by_the_ratio(exact: float, outcome: str) -> None:
    found = {"Ex-Proposal": 1e-3, "Simple, exact Q": exact, "Balanced, MLE": exact}
    data = pa.Table.from_pylist(
        [
            {"table": table, "records": 100, "combination": name, WHOLE: error, BY_CELL: 10 * error}
            for table in ("education", "income")
            for name, error in found.items()
        ]
    )

    assert judge_accuracy(data, {"education": 100, "income": 100})[0] == outcome


def goals(by_cell: float) -> tuple[str, str]:
    """Errors that reach the goals in the whole table, and by age and gender are divided so."""
    found = {"Ex-Proposal": (1e-3, 1e-3), "Simple, exact Q": (1e-6, by_cell), "Balanced, MLE": (1e-6, by_cell)}
    data = pa.Table.from_pylist(
        [
            {"table": table, "records": 100, "combination": name, WHOLE: whole, BY_CELL: cells}
            for table in ("education", "income")
            for name, (whole, cells) in found.items()
        ]
    )
    return judge_accuracy(data, {"education": 100, "income": 100})


def test_a_goal_that_is_missed_by_age_and_gender_is_said() -> None:
    outcome, words, *_ = goals(1e-5)

    assert outcome == "better"
    assert "name no measure, and the verdict takes the whole table" in words
    assert "income 1/100 with exact Q" in words
    assert "With exact Q the goals are NOT reached for income." in words


def test_exact_probabilities_that_are_worse_by_age_and_gender_are_not_better() -> None:
    assert goals(2e-3)[0] == "differs"

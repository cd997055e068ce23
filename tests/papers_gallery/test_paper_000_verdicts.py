from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from papers import Verdict
from papers.paper_000.verdicts import (
    asked_words,
    judge_dimensions,
    judge_l,
    judge_records,
    judge_relative,
    judge_selectivity,
    lowest,
    stand_in,
)

JUDGES = [judge_dimensions, judge_l, judge_relative, judge_selectivity]
MSE, NOISE = "MSE (Eq. 2)", "standard error of the MSE"
SAME, SAME_RELATIVE = (
    "MSE of the paper's estimate, same queries",
    "median relative error of the paper's estimate, same queries",
)


def measured(proposal: float = 1.0, ours: float | None = None, note: str = "", **changed: int) -> pa.Table:
    """Errors that grow with l and fall with s, as the paper says, times a factor for each method."""
    factors = {"Proposal": proposal, "TP": 1.5, "Anatomy": 3.0}
    factors |= {} if ours is None else {"Proposal, MAP (ours)": ours}
    rows = []
    for data, values in (("OCC-like", 46), ("SAL-like", 40)):
        for d, qd, l, s in ((3, 2, 5, 0.1), (7, 3, 10, 0.07), (7, 4, 15, 0.04)):
            rows += [
                {
                    "data": data, "d": d, "qd": qd, "l": l, "s": s, "queries": 20, "records": 100, "people": 50,
                    "values": values, "exact formula of the proposal's MSE": 1.0, "method": method, MSE: factor * l,
                    NOISE: 0.1, "median relative error": factor, SAME: proposal * l, SAME_RELATIVE: proposal,
                    "note": note, **changed,
                }
                for method, factor in factors.items()
            ]  # fmt: skip
    return pa.Table.from_pylist(rows)


def with_error(data: pa.Table, at: dict[str, object], error: float) -> pa.Table:
    rows = [{**row, MSE: error if at.items() <= row.items() else row[MSE]} for row in data.to_pylist()]
    return pa.Table.from_pylist(rows)


@pytest.mark.parametrize("judge", JUDGES)
def test_what_the_paper_says_agrees_where_it_comes_out(judge: Callable[[pa.Table], Verdict]) -> None:
    assert judge(measured())[0] == "agrees"


@pytest.mark.parametrize("judge", JUDGES)
def test_it_is_better_where_this_package_then_has_less_error(judge: Callable[[pa.Table], Verdict]) -> None:
    assert judge(measured(ours=0.5))[0] == "better"


def test_errors_of_estimators_that_answer_other_queries_are_not_put_side_by_side() -> None:
    """Ours answers fewer queries, so that only its ratio on the same ones is told, and no median of its own."""
    verdict = judge_relative(measured(ours=0.5))

    for text in (verdict.words, verdict.figure):
        assert "Proposal 1.000, Anatomy 3.000, TP 1.500" in text
        assert "Proposal, MAP (ours) 0.500" not in text
    assert "Proposal, MAP (ours) 0.50 of Proposal on the same queries" in verdict.figure
    assert "Proposal, MAP (ours) has 0.50 of the error of Proposal on the same release" in verdict.words


@pytest.mark.parametrize("judge", [judge_dimensions, judge_l, judge_relative])
def test_a_thousandfold_error_of_the_proposal_differs(judge: Callable[[pa.Table], Verdict]) -> None:
    outcome, words, *_ = judge(measured(1000.0, ours=0.5))

    assert outcome == "differs"
    assert "differs on OCC-like and SAL-like: in none of the" in words


def test_one_table_on_which_it_fails_leaves_fig_3_undecided() -> None:
    outcome, words, *_ = judge_l(with_error(measured(), {"data": "SAL-like", "l": 10, "method": "Proposal"}, 16.0))

    assert outcome == "undecided (data)"
    assert "agrees on OCC-like, differs on SAL-like: in 3 of 3 settings on OCC-like, in 2 of 3" in words


def test_fig_2_differs_where_tp_is_not_alike_for_few_quasi_identifiers() -> None:
    outcome, words, *_ = judge_dimensions(with_error(measured(), {"d": 3, "method": "TP"}, 100.0))

    assert outcome == "differs"
    assert "TP's MSE over the proposal's is 20 to 20 on OCC-like" in words


def sizes(small: float, large: float) -> pa.Table:
    """Errors of the proposal on few and on many records, those of the other methods being one."""
    rows = [
        {"data": "SAL-like", "d": d, "records": records, "queries": 20, "method": method,
         MSE: error if method == "Proposal" else 1.0}
        for d in (3, 7)
        for records, error in {1000: small, 50_000: large}.items()
        for method in ("Proposal", "TP", "Anatomy")
    ]  # fmt: skip
    return pa.Table.from_pylist(rows)


def test_a_statement_that_depends_on_the_number_of_records_is_undecided() -> None:
    outcome, words, figure, why = judge_records(sizes(7.0, 0.9))

    assert outcome == "undecided (data)"
    assert "7 at 1,000, 0.9 at 50,000" in words
    assert "not 1,000 records" in why
    assert figure == "proposal / better of the others: 7 at 1,000, 0.9 at 50,000"


def test_a_statement_that_holds_with_any_number_of_records_agrees_and_one_that_never_does_differs() -> None:
    assert judge_records(sizes(0.9, 0.6))[0] == "agrees"
    assert judge_records(sizes(70.0, 7.0))[0] == "differs"


def test_refusals_are_named_in_fig_3() -> None:
    assert "At OCC-like l = 5, OCC-like l = 10, OCC-like l = 15, SAL-like" in judge_l(measured(note="no"))[1]
    assert "refuse" not in judge_l(measured())[1]


def test_an_error_that_falls_with_l_contradicts_fig_3() -> None:
    outcome, words, *_ = judge_l(with_error(measured(), {"l": 15, "method": "TP"}, 2.0))

    assert outcome == "differs"
    assert "grow with l differs on OCC-like and SAL-like (TP on OCC-like is lowest at l = 15" in words


def test_a_peak_between_the_ends_contradicts_fig_4() -> None:
    outcome, words, *_ = judge_selectivity(with_error(measured(), {"s": 0.07, "method": "TP"}, 50.0))

    assert outcome == "differs"
    assert "TP on OCC-like is highest at s = 0.07" in words


def test_a_step_within_the_noise_does_not_contradict_fig_4() -> None:
    outcome, words, *_ = judge_selectivity(with_error(measured(), {"s": 0.07, "method": "Proposal"}, 15.1))

    assert outcome == "agrees"
    assert "(not at every step, but within 3 standard errors of a step: Proposal on OCC-like is highest at" in words


def test_fewer_queries_than_the_paper_asks_are_said() -> None:
    assert asked_words(measured()) == " Every point is over 20 queries; the paper asks 1,000."
    assert asked_words(measured(queries=1000)) == " Every point is over 1,000 queries."


def test_the_stand_in_is_described_from_the_data() -> None:
    assert "(100 records, 46 values)" in stand_in(measured())
    assert "in 7 classes of about equal size: 100 records drawn with replacement from the 50 people" in stand_in(
        measured(values=7)
    )


def test_what_is_seen_is_counted() -> None:
    assert lowest(measured(1000.0), ("data", "l")) == (
        "The proposal's line is the lowest of the three in none of the 3 settings on OCC-like, in none of the 3 "
        "settings on SAL-like."
    )

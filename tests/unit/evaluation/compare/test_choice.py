"""Which runs no other beats, and which is recommended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ldiversity.evaluation.compare import ComparedRun, choose, pareto_set
from ldiversity.evaluation.compare._choice import flaws
from ldiversity.evaluation.compare._setting import median_interval
from ldiversity.evaluation.measures import Kept

Make = Callable[..., ComparedRun]
CLAIMS = [("sets", None), ("classes", 0.5)]


def beaten(run: ComparedRun, runs: list[ComparedRun]) -> bool:
    """The definition, pair by pair."""
    return any(
        other.risk <= run.risk and other.error <= run.error and (other.risk < run.risk or other.error < run.error)  # type: ignore[operator]
        for other in runs
    )


def test_the_pareto_set_is_what_no_run_beats_by_the_definition(made_run: Make) -> None:
    rng = np.random.default_rng(3)
    places = rng.integers(1, 12, size=(60, 2)) / 12
    runs = [made_run(str(i), 0.1 + 0.8 * x, y) for i, (x, y) in enumerate(places.tolist())]

    assert {run.label for run in pareto_set(runs)} == {run.label for run in runs if not beaten(run, runs)}


def test_runs_that_are_equal_in_both_do_not_beat_each_other(made_run: Make) -> None:
    runs = [made_run("a", 0.3, 0.2), made_run("b", 0.3, 0.2)]

    assert len(pareto_set(runs)) == 2


def test_a_run_that_was_not_measured_is_not_in_the_pareto_set(made_run: Make) -> None:
    runs = [made_run("a", 0.3, 0.2), made_run("b", 0.2, None), made_run("c", 0.1, 0.1, audit_passed=False)]

    assert [run.label for run in pareto_set(runs)] == ["a"]


def test_a_failed_run_is_never_recommended(made_run: Make) -> None:
    chosen = choose([made_run("a", 0.1, 0.1, reason="no"), made_run("b", 0.5, 0.5)])

    assert chosen.run is not None
    assert chosen.run.label == "b"


def test_the_knee_of_the_map_is_recommended(made_run: Make) -> None:
    chosen = choose([made_run("safe", 0.1, 0.9), made_run("knee", 0.2, 0.2), made_run("exact", 0.9, 0.1)])

    assert chosen.sentence.startswith("Publish knee: of the 3 runs that no other beats in both risk and error")


def test_of_two_runs_the_one_nearer_to_no_risk_and_no_error_is_recommended(made_run: Make) -> None:
    chosen = choose([made_run("safe", 0.2, 0.9), made_run("useful", 0.2001, 0.01)])

    assert chosen.run is not None
    assert chosen.run.label == "useful"


def test_risk_is_weighed_by_what_the_table_as_it_is_gives_away(made_run: Make) -> None:
    # Gains of 2 and 12 points of at most 20 are 0.1 and 0.6; with errors of 0.5 and 0.2 of the greatest, the first is
    # nearer.
    runs = [made_run("safe", 0.12, 0.1), made_run("useful", 0.22, 0.04), made_run("coarse", 0.11, 0.2)]

    assert [choose(runs, unprotected=most).run for most in ({"disease": 0.2}, {})] == [runs[0], runs[1]]


def test_of_runs_equally_near_the_safer_is_recommended(made_run: Make) -> None:
    coarse = made_run("coarse", 0.1, 0.5)
    runs = [made_run("useful", 0.1 + 0.5, 0.125), made_run("safe", 0.1 + 0.25, 0.25)]

    assert choose([*runs, coarse]).run is runs[1]


def test_a_beaten_promise_is_not_recommended_where_another_run_is_sound(made_run: Make) -> None:
    runs = [made_run("broken", 0.2, 0.1, broken=True), made_run("sound", 0.4, 0.4)]

    chosen = choose(runs)

    assert chosen.run is runs[1]
    assert "it is the only sound run" in chosen.sentence


def test_a_run_with_certain_values_is_not_recommended_where_another_is_sound(made_run: Make) -> None:
    runs = [made_run("certain", 0.2, 0.1, certain=0.025), made_run("sound", 0.4, 0.4)]

    assert choose(runs).run is runs[1]


def test_certain_values_are_a_caution(made_run: Make) -> None:
    (caution,) = choose([made_run("a", 0.2, 0.1, certain=0.025)]).cautions

    assert caution == (
        "It gives away values for certain: the attack 'guess' is sure (by 90 % or more) of the value of 2.5 % of the "
        "records that were attacked, and right about 100 % of those."
    )


def test_an_attack_that_is_sure_and_mostly_wrong_gives_nothing_away(made_run: Make) -> None:
    run = made_run("a", 0.2, 0.1, certain=0.11, certain_success=0.35)

    assert (run.disclosed, flaws(run)) == (0.0, ())


def test_what_is_given_away_is_what_an_attack_is_sure_of_and_right_about(made_run: Make) -> None:
    assert made_run("a", 0.2, 0.1, certain=0.5, certain_success=0.9).disclosed == 0.45


def test_an_attack_that_takes_more_for_granted_must_also_beat_the_promise(made_run: Make) -> None:
    # One record of which it is sure is right by chance where the promise is one in two.
    lucky = made_run("a", 0.2, 0.1, attack="several-rows", certain=0.01, reference=0.2)
    broken = made_run("a", 0.2, 0.1, attack="several-rows", certain=0.3, reference=0.2, broken=True)

    assert (lucky.disclosed, flaws(lucky)) == (0.0, ())
    assert broken.disclosed == 0.3
    assert any(said.startswith("It gives away values for certain: the attack 'several-rows'") for said in flaws(broken))


def test_classes_of_one_value_that_no_target_is_in_are_a_caution(made_run: Make) -> None:
    (caution,) = choose([made_run("a", 0.2, 0.1, models={"frequency": 1.0})]).cautions

    assert caution == "It gives away values for certain: in some classes all records have the same value."


def test_a_promise_of_nothing_is_a_caution(made_run: Make) -> None:
    (caution,) = choose([made_run("a", 0.2, 0.1, promised=1.0)]).cautions

    assert caution == "It promises nothing about sensitive values: one of them may be certain."


def test_an_attacker_who_learns_may_be_sure_without_making_a_run_unsound(made_run: Make) -> None:
    assert flaws(made_run("a", 0.2, 0.1, attack="definetti", certain=0.2, certain_success=0.5)) == ()


def test_an_attacker_against_whom_nothing_is_promised_may_be_sure_without_making_a_run_unsound(made_run: Make) -> None:
    assert flaws(made_run("a", 0.2, 0.1, claim=None, certain=0.2, promised=0.5)) == ()


def test_how_often_an_attacker_who_knows_more_is_sure_and_right_is_a_caution(made_run: Make) -> None:
    run = made_run("a", 0.2, 0.1, attack="definetti", certain=0.2, certain_success=0.5)

    assert choose([run]).cautions == (
        "The attack 'definetti' is sure of 20 % of the records, and right about 50 % of those.",
    )


def test_unique_records_are_a_caution_about_recognition(made_run: Make) -> None:
    (caution,) = choose([made_run("a", 0.2, 0.1, layout="bucketized", uniques=1062, records=1500)]).cautions

    assert caution.startswith("It publishes quasi-identifiers as they are, and leaves 1,062 of 1,500 records unique")
    assert caution.endswith("Risk here is only about learning sensitive values.")


def test_nothing_is_recommended_when_all_errors_reach_that_of_answering_nothing(made_run: Make) -> None:
    chosen = choose([made_run("a", 0.2, 1.0), made_run("b", 0.15, 16.7)])

    assert chosen.run is None
    assert chosen.sentence.startswith("No run is worth publishing: of 2, 2 are off by 100 % or more")
    assert chosen.sentence.endswith("First try fewer quasi-identifiers, or a smaller l.")


def test_nothing_is_recommended_when_all_give_away_as_much_as_the_table(made_run: Make) -> None:
    chosen = choose([made_run("a", 0.6, 0.1)], unprotected={"disease": 0.5})

    assert chosen.run is None
    assert chosen.sentence == (
        "No run is worth publishing: of 1, 1 tells attackers about as much as the raw table. "
        "First try a greater l, or fewer quasi-identifiers."
    )


def test_a_run_that_is_not_worth_publishing_is_told_from_those_to_choose_from(made_run: Make) -> None:
    chosen = choose([made_run("useless", 0.1, 2.0), made_run("b", 0.3, 0.2), made_run("c", 0.4, 0.3)])

    assert "no other of the runs worth publishing has less risk or less error" in chosen.sentence


def test_a_limit_of_risk_is_kept_by_the_upper_end_of_the_interval(made_run: Make) -> None:
    runs = [made_run("safe", 0.15, 0.5), made_run("exact", 0.3, 0.1, high=0.4)]

    assert choose(runs, risk=0.25).run is runs[0]


def test_no_gain_over_guessing_is_said(made_run: Make) -> None:
    sentence = choose([made_run("a", 0.05, 0.1)]).sentence

    assert "does no better than guessing, which is right about 'disease' for 10 %" in sentence


def test_a_limit_of_risk_takes_the_least_error_within_it(made_run: Make) -> None:
    runs = [made_run("safe", 0.15, 0.9), made_run("middle", 0.3, 0.5), made_run("exact", 0.9, 0.1)]

    chosen = choose(runs, risk=0.25)

    assert chosen.run is runs[1]
    assert "at most 25 points over guessing" in chosen.sentence


def test_a_limit_that_nothing_keeps_recommends_nothing_and_says_the_least_risk(made_run: Make) -> None:
    chosen = choose([made_run("a", 0.6, 0.1)], risk=0.25)

    assert chosen.run is None
    assert "the least risk of the runs is 50 points beyond guessing at the upper end" in chosen.sentence


def test_nothing_is_recommended_when_every_run_failed(made_run: Make) -> None:
    chosen = choose([made_run("a", 0.1, 0.1, reason="no")])

    assert chosen.sentence == "No run can be recommended: 1 of 1 run failed, and none was measured."


def test_the_reason_names_attack_success_guessing_and_error(made_run: Make) -> None:
    sentence = choose([made_run("a", 0.6, 0.07)]).sentence

    assert "(guess) is right about 'disease' for 60 % where guessing is for 10 %" in sentence
    assert "off by at most 7 %" in sentence


def test_a_beaten_claim_is_a_caution(made_run: Make) -> None:
    (caution,) = choose([made_run("a", 0.6, 0.07, broken=True)]).cautions

    assert caution == (
        "The attack 'guess' beats the promise: it is right about 'disease' for 60 % of the records, but the "
        "promise is at most 50 %."
    )


def test_a_claim_beaten_for_those_of_whom_the_attacker_is_sure_is_said_so(made_run: Make) -> None:
    run = made_run("a", 0.4, 0.07, broken=True, attack="joint", certain=0.2, certain_success=0.8)

    flaw = flaws(run)[0]

    assert flaw.startswith("The attack 'joint' beats the promise: it is sure of 20 % of the records, and right about")
    assert flaw.endswith("'disease' for 80 % of those, but the promise is at most 50 %.")


def test_an_attack_below_guessing_is_no_negative_risk(made_run: Make) -> None:
    assert made_run("a", 0.05, 0.1).risk == 0


def test_attackers_who_learn_count_in_the_risk_and_not_against_the_promise(made_run: Make) -> None:
    learned = made_run("classes", 0.6, 0.1, attack="definetti", broken=True, claim=0.5, promised=0.5)

    assert flaws(learned) == ()
    assert learned.broken == ()
    assert learned.risk == 0.5


def test_classes_that_beat_sets_in_both_are_preferred_although_a_learner_beats_their_promise(made_run: Make) -> None:
    sets = made_run("sets", 0.7, 0.2, attack="definetti", claim=None, promised=0.5)
    classes = made_run("classes", 0.6, 0.1, attack="definetti", broken=True, claim=0.5, promised=0.5)

    assert choose([sets, classes]).run is classes


def test_that_an_attacker_learns_more_than_is_promised_is_a_caution_for_sets_and_classes_alike(made_run: Make) -> None:
    runs = [made_run(name, 0.6, 0.1, attack="definetti", claim=claim, promised=0.5) for name, claim in CLAIMS]

    said = [choose([run]).cautions[0] for run in runs]

    assert [text.startswith("The attack 'definetti' learns") for text in said] == [True, True]


def test_small_errors_weigh_by_the_greatest_of_them(made_run: Make) -> None:
    runs = [made_run("coarse", 0.12, 0.10), made_run("knee", 0.24, 0.02), made_run("open", 0.5, 0.014)]

    assert choose(runs, unprotected={"disease": 0.65}).run is runs[1]


def test_answers_that_are_no_better_than_the_shares_of_columns_are_a_caution(made_run: Make) -> None:
    (said,) = choose([made_run("a", 0.2, 0.1)], uninformed=0.1).cautions

    assert said.startswith(
        "Its answers are no better than those of someone who knows only how frequent the values of each"
    )
    assert said.endswith("these are off by 10 %.")


def test_of_runs_that_cannot_be_told_apart_the_method_meant_for_publishing_is_recommended(made_run: Make) -> None:
    kept = made_run("mbf", 0.20, 0.20, high=0.30, for_comparison=True, error_low=0.15, error_high=0.25)
    meant = made_run("anatomy", 0.22, 0.22, high=0.32, error_low=0.17, error_high=0.27)
    worse = made_run("tp", 0.29, 0.24, high=0.40, error_low=0.19, error_high=0.29)

    chosen = choose([kept, worse, meant])

    assert chosen.run is meant
    assert chosen.sentence.startswith(
        "Publish anatomy: within chance it is as good as mbf, which is kept for comparison, not for publishing; "
    )
    assert choose([kept, worse, meant], 0.3).run is meant


def test_a_method_kept_for_comparison_is_recommended_where_it_is_better_beyond_chance(made_run: Make) -> None:
    kept = made_run("mbf", 0.20, 0.20, for_comparison=True)

    assert choose([kept, made_run("anatomy", 0.22, 0.22)]).run is kept
    assert choose([kept, made_run("anatomy", 0.20, 0.22)]).run is kept
    assert choose([kept, made_run("anatomy", 0.20, 0.20)]).run is not kept


def test_the_interval_of_a_median_holds_the_true_one_as_often_as_it_says() -> None:
    """500 draws: fewer than 453 hits have a probability below 1e-5 when each hits with 0.95."""
    drawn = np.random.default_rng(5).exponential(size=(500, 300))
    ends = [median_interval(row)[1:] for row in drawn]

    assert sum(low <= np.log(2) <= high for low, high in ends) >= 453


def test_where_queries_say_little_what_is_lost_within_cells_decides(made_run: Make) -> None:
    def judged(label: str, error: float, lost: float) -> ComparedRun:
        kept = Kept(0.2 * lost, 0.0, 0.2)
        return replace(made_run(label, 0.3, error), conditional=kept, judged_by="association")

    runs = [judged("blind", 0.01, 0.9), judged("useful", 0.02, 0.3)]
    found = choose(runs, uninformed=0.024)

    assert found.run is runs[1]
    assert "within small cells are off by 6 % where frequencies alone are by 20 %" in found.sentence
    assert "because frequencies alone answer most queries" in found.sentence
    assert choose([replace(one, judged_by="queries") for one in runs]).run.label == "blind"  # type: ignore[union-attr]

"""Which runs no other beats, and which is recommended."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ldiversity.comparison import ComparedRun, choose, pareto_set

Make = Callable[..., ComparedRun]


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
    chosen = choose([made_run("safe", 0.1, 1.0), made_run("knee", 0.2, 0.2), made_run("exact", 0.9, 0.1)])

    assert chosen.sentence.startswith("Publish knee: of the 3 runs that no other beats in both risk and error")


def test_a_limit_of_risk_takes_the_least_error_within_it(made_run: Make) -> None:
    runs = [made_run("safe", 0.15, 1.0), made_run("middle", 0.3, 0.5), made_run("exact", 0.9, 0.1)]

    chosen = choose(runs, risk=0.25)

    assert chosen.run is runs[1]
    assert "at most 25 points over guessing" in chosen.sentence


def test_a_limit_that_nothing_keeps_recommends_nothing_and_says_the_least_risk(made_run: Make) -> None:
    chosen = choose([made_run("a", 0.6, 0.1)], risk=0.25)

    assert chosen.run is None
    assert "least risk that was measured is 50 points" in chosen.sentence


def test_nothing_is_recommended_when_every_run_failed(made_run: Make) -> None:
    chosen = choose([made_run("a", 0.1, 0.1, reason="no")])

    assert chosen.sentence == "Nothing can be recommended: 1 of 1 runs failed, and none was measured."


def test_the_reason_names_attack_success_guessing_and_error(made_run: Make) -> None:
    sentence = choose([made_run("a", 0.6, 0.07)]).sentence

    assert "(guess) is right about 'disease' for 60 % where guessing is for 10 %" in sentence
    assert "off by less than 7 %" in sentence


def test_a_beaten_claim_is_a_caution(made_run: Make) -> None:
    (caution,) = choose([made_run("a", 0.6, 0.07, broken=True)]).cautions

    assert caution == (
        "The attack 'guess' beats what a promises: it is right for 60 % of the people, and 50 % is promised at most."
    )


def test_an_attack_below_guessing_is_no_negative_risk(made_run: Make) -> None:
    assert made_run("a", 0.05, 0.1).risk == 0

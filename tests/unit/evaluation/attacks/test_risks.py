"""Risks: planted successes, and numbers that can be checked by hand.

What is random here is drawn with fixed seeds. Bounds are stated where chance matters.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.evaluation.attacks import Rate
from ldiversity.evaluation.attacks._isolation import scaled_isolations
from ldiversity.evaluation.attacks._risk import residual_risk


def people(n: int, seed: int, *, told: bool = False) -> pa.Table:
    """People who are alone with their quasi-identifiers; the disease follows the job if it is `told`."""
    rng = np.random.default_rng(seed)
    job = rng.integers(0, 8, n)
    return pa.table(
        {
            "age": rng.integers(0, 1_000_000, n),
            "height": rng.normal(170, 10, n),
            "zip": [f"z{code}" for code in rng.integers(0, 300, n)],
            "job": [f"j{code}" for code in job],
            "disease": [f"d{code}" for code in (job if told else rng.integers(0, 8, n))],
        }
    )


QUASI = ["age", "height", "zip", "job"]
RISKS = ["singling-out", "linkability", "inference"]


def risks(release: ld.Release, original: pa.Table, control: pa.Table | None) -> dict[str, ld.PrivacyRisk]:
    found = ld.attack(release, original, control=control, attacks=RISKS)
    assert found.results == ()
    return {one.attack: one for one in found.risks}


def test_the_residual_risk_by_hand() -> None:
    z = 1.959963984540054
    success, control = Rate(300, 500), Rate(100, 500)
    s, c = ((count + z * z / 2) / (500 + z * z) for count in (300, 100))

    risk, (low, high) = residual_risk(success, control)

    assert risk == pytest.approx((s - c) / (1 - c))
    assert low < risk < high
    assert sum(success.interval) / 2 == pytest.approx(s)
    assert residual_risk(success, None)[0] == pytest.approx(s)
    assert residual_risk(control, success)[0] == 0


@pytest.mark.parametrize("method", [ld.RandomizedAddition(l=3), ld.Anatomy(l=3)], ids=lambda one: one.name)
def test_exact_quasi_identifiers_single_out_and_link(method: ld.Method) -> None:
    table, others = people(600, 1), people(600, 2)
    release = ld.anonymize(table, quasi=QUASI, sensitive="disease", method=method)

    found = risks(release, table, others)

    record, link, guess = found["singling-out (record)"], found["linkability"], found["inference ('disease')"]
    assert record.success.share == 1
    assert record.control is not None
    assert record.control.share == 0
    assert link.success.share > 0.95
    assert link.control is not None
    assert link.control.share < 0.1
    # One of three is right, of others one of eight. Five standard errors of 500 attacks are .105 and .074.
    assert abs(guess.success.share - 1 / 3) < 0.106
    assert guess.control is not None
    assert abs(guess.control.share - 1 / 8) < 0.075
    assert all(one.beyond_chance for one in (record, link, guess))


def test_tight_regions_and_a_value_single_out() -> None:
    table, others = people(600, 1), people(600, 2)
    release = ld.anonymize(table, quasi=QUASI, sensitive="disease", method=ld.BSGI(l=2), grid="exact")

    found = risks(release, table, others)

    record = found["singling-out (record)"]
    assert record.success.share > 0.8
    assert record.success.successes > 0.95 * float(str(record.details["predicates"]))
    assert record.beyond_chance
    # Both ends of the ages of each class of two are somebody's, so that they are shown once.
    assert found["singling-out (univariate)"].success.share > 0.9


def test_what_holds_for_anyone_is_no_risk() -> None:
    """The disease follows the job: everybody's is found out, whoever took part."""
    table, others = people(600, 1, told=True), people(600, 2, told=True)
    table, others = (one.append_column("v", one["disease"]) for one in (table, others))
    roles = {"quasi": ["job", "v"], "sensitive": "disease", "confirm": ["job", "v"]}
    release = ld.anonymize(table, **roles, method="anatomy:l=2")

    (one,) = ld.attack(release, table, control=others, attacks="inference", secret=["v"]).risks

    assert one.success.share == 1
    assert one.control is not None
    assert one.control.share == 1
    assert one.risk == 0
    assert "nothing is left to compare" in (one.caution or "")
    assert not one.beyond_chance


def test_without_a_control_table_the_risk_is_the_rate() -> None:
    table = people(300, 1)
    release = ld.anonymize(table, quasi=QUASI, sensitive="disease", method="randomized-addition:l=3")

    report = ld.attack(release, table, attacks="inference", targets=100)

    (one,) = report.risks
    assert one.control is None
    assert one.risk == pytest.approx(one.success.middle)
    assert one.success.tries == 100
    assert report.verdict[0].startswith("Without a control table")
    assert not report.broken


def test_an_attack_that_is_no_better_than_guessing_says_so() -> None:
    rng = np.random.default_rng(0)
    table = pa.table(
        {"age": np.full(400, 30), "sex": ["f"] * 400, "disease": [f"d{code}" for code in rng.integers(0, 4, 400)]}
    )
    release = ld.anonymize(table, quasi=["age", "sex"], sensitive="disease", method="anatomy:l=2")

    (link,) = ld.attack(release, table, attacks="linkability").risks

    assert link.success.share < 0.05  # everyone looks alike, so two searches meet by chance alone
    assert link.caution is None or "no better than guessing" in link.caution


def test_the_control_table_may_hold_values_that_were_not_published() -> None:
    table = people(300, 1)
    others = people(100, 2).set_column(4, "disease", pa.array(["other", None] * 50))
    release = ld.anonymize(table, quasi=QUASI, sensitive="disease", method="mondrian:l=2")

    with pytest.raises(ParameterError, match="control must have people whose 'disease' is among the published"):
        ld.attack(release, table, control=others, attacks="inference")
    assert ld.attack(release, table, control=others, attacks=["singling-out", "linkability"]).risks


def test_missing_cells_are_a_value_of_their_own() -> None:
    ages, sexes = [20, None, 30, 40] * 50, ["f", "m", None, "m"] * 50
    diseases = [f"d{code}" for code in np.random.default_rng(0).integers(0, 4, 200)]
    table = pa.table({"age": ages, "sex": sexes, "disease": diseases})
    for method in ("randomized-addition:l=2", "anatomy:l=2", "mondrian:l=2"):
        release = ld.anonymize(table, quasi=["age", "sex"], sensitive="disease", method=method)
        assert len(ld.attack(release, table, control=table, attacks=RISKS).risks) == 5


def test_refusals_are_one_sentence() -> None:
    table = people(60, 1)
    release = ld.anonymize(table, quasi=QUASI, sensitive="disease", method="anatomy:l=2")

    with pytest.raises(UnsupportedError, match="needs the original table"):
        ld.attack(release, attacks="singling-out")
    with pytest.raises(UnsupportedError, match="'weight' is not published"):
        ld.attack(release, table, attacks="inference", secret=["weight"])
    with pytest.raises(UnsupportedError, match="lacks the published column 'job'"):
        ld.attack(release, table.drop_columns(["job"]), attacks=["linkability"])
    with pytest.raises(ParameterError, match="control must have the published column 'job'"):
        ld.attack(release, table, control=table.drop_columns(["job"]), attacks=["linkability"])
    for link in (["age"], ["age", "age"], [["age"], []], "age"):
        with pytest.raises(ParameterError, match=r"link|columns"):
            ld.attack(release, table, attacks="linkability", link=link)


@pytest.mark.parametrize(("n", "size"), [(40, 10), (40, 40)])
def test_isolations_in_smaller_tables_are_expectations_over_random_parts(n: int, size: int) -> None:
    """Counted on 4,000 random parts; five standard errors of at most 1/2 each are .04 for each of the predicates."""
    rng = np.random.default_rng(3)
    fitting = np.array([0, 1, 2, 5])
    parts = np.argsort(rng.random((4000, n)), axis=1)[:, :size]
    counted = sum(float(np.mean((parts < count).sum(axis=1) == 1)) for count in fitting)

    assert scaled_isolations(fitting, n, size) == pytest.approx(counted, abs=0.16)


def test_isolations_in_larger_tables_follow_the_weights() -> None:
    """Predicates of equal weights, from a table of 2,000 to one of 10,000: known, and within a quarter of it.

    The share of isolations is estimated from some 180 of them, whose standard error is 7 %; the fit adds its own.
    """
    rng = np.random.default_rng(4)
    weights = rng.uniform(0, 2e-4, 2000)
    expected = float((10_000 * weights * (1 - weights) ** 9_999).sum())

    found = scaled_isolations(rng.binomial(2_000, weights), 2_000, 10_000)

    assert found == pytest.approx(expected, rel=0.35)

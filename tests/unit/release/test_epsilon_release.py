"""Releases with an epsilon: what they claim, how it is checked, drawn, added up, attacked and estimated."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.evaluation.audit import add_epsilons
from ldiversity.release._epsilon_bound import EpsilonBound

VALUES = tuple("abcdef")
SHARES = (0.4, 0.25, 0.15, 0.1, 0.06, 0.04)
LINE = ld.Sensitive("disease", domain=list(VALUES))
N = 3000


def table(n: int = N, seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": np.arange(n),
            "disease": rng.choice(VALUES, n, p=SHARES),
            "smokes": rng.choice(["no", "yes"], n, p=[0.8, 0.2]),
        }
    )


def release(epsilon: float = 2.0, l: int | None = 2, n: int = N, **more: Any) -> ld.Release:
    given = {"quasi": "id", "drop": "smokes", "sensitive": LINE, "insecure_seed": 3, **more}
    method = given.pop("method", ld.RandomizedAddition(l=l, epsilon=epsilon))
    return ld.anonymize(table(n), method=method, confirm=["id"], **given)


def edit(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    manifest = json.loads((folder / "release.json").read_text())
    change(manifest["sensitive"][0])
    (folder / "release.json").write_text(json.dumps(manifest))


# --- the claim -------------------------------------------------------------------------------------


def test_the_claim_says_that_the_true_value_may_be_missing(tmp_path: Path) -> None:
    release(output=tmp_path / "release")
    read = ld.load_release(tmp_path / "release")
    read.verify()
    claim = read.claim("disease")

    assert (claim.model, claim.epsilon) == ("local-differential-privacy", 2.0)
    assert "the true one may be missing" in claim.statement
    assert "beta-likeness 6.389" in claim.statement
    assert "0.462" in claim.statement
    assert claim.posterior == pytest.approx(exp(2) / (2 * exp(2) + 4), rel=1e-5)
    assert read.epsilon == 2.0
    assert any("add up" in sentence for sentence in read.not_protected)
    assert not any("intersect" in sentence for sentence in read.not_protected)


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry["claim"].update(epsilon=1.0),
        lambda entry: entry["claim"].pop("epsilon"),
        lambda entry: entry["mechanism"].update(epsilon=3.0),
        lambda entry: entry.update(mechanism=entry["mechanism"]["base"]),
        lambda entry: entry["claim"].update(model="l-diversity", epsilon=None),
    ],
    ids=["a smaller epsilon", "none", "another mechanism", "the base alone", "another model"],
)
def test_a_description_whose_mechanism_does_not_give_its_epsilon_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    release(output=tmp_path / "release")
    edit(tmp_path / "release", change)
    with pytest.raises(ld.ReleaseFormatError, match="must be its mechanism's"):
        ld.load_release(tmp_path / "release")


def test_a_claim_beyond_its_mechanism_fails_its_check() -> None:
    made = release()
    (claim,) = made.claims
    with pytest.raises(ld.ClaimError, match="promises more than its mechanism"):
        replace(made, claims=(replace(claim, epsilon=1.9),)).verify()
    plain = release(method=ld.RandomizedAddition(l=2))
    with pytest.raises(ld.ClaimError, match="promises more than its mechanism"):
        replace(plain, claims=(replace(plain.claims[0], epsilon=5.0),)).verify()


def test_members_stay_apart_and_that_is_checked_on_rows() -> None:
    method = ld.SemanticDiversity(l=2, d=2, distance="ordered", epsilon=2)
    made = release(method=method)
    made.verify()
    sets = made.sets("disease")
    assert (np.diff(sets, axis=1) >= 2).all()
    near = np.array(sets)
    near[0] = [2, 3]
    made._rows.coded["disease"] = near
    with pytest.raises(ld.ClaimError, match="at least 2 apart"):
        made.verify()


# --- audits ----------------------------------------------------------------------------------------


def test_an_audit_measures_the_exact_ratio_of_likelihoods() -> None:
    made = release(epsilon=1.5)
    audit = ld.audit(made)
    mechanism = made.mechanism("disease")
    sets = np.array(list(combinations(range(6), 2)), dtype=np.int32)
    _, likely = mechanism.explanations(sets)
    enumerated = log((likely.max(axis=1) / likely.min(axis=1)).max())

    assert audit.passed
    assert audit.models["epsilon"].value == pytest.approx(enumerated, rel=1e-6)
    assert audit.models["epsilon"].value <= 1.5
    assert audit.models["beta"].value <= exp(1.5) - 1
    assert audit.models["delta"].value <= 1.5
    assert audit.models["t_equal"].value <= np.tanh(1.5 / 4)
    assert any("spends epsilon 1.5" in note for note in audit.notes)


def test_an_audit_finds_sets_that_break_the_epsilon() -> None:
    from ldiversity.evaluation.audit._sets import view_of

    view = view_of(release(epsilon=2).evidence("disease"))
    assert EpsilonBound(2.0).verdict(view.picture(EpsilonBound)).passed
    assert not EpsilonBound(1.99).verdict(view.picture(EpsilonBound)).passed
    plain = view_of(release(method=ld.RandomizedAddition(l=2)).evidence("disease"))
    verdict = EpsilonBound(20.0).verdict(plain.picture(EpsilonBound))
    assert not verdict.passed
    assert verdict.reached == float("inf")


def test_epsilons_add_up_over_attributes_and_releases() -> None:
    both = release(epsilon=1, l=None, drop=(), sensitive=["disease", "smokes"])
    one = release(epsilon=0.5)

    assert both.epsilon == 2.0
    assert any("2 sensitive attributes add up to 2" in note for note in ld.audit(both).notes)
    spent = add_epsilons(both, one)
    assert spent.total == 2.5
    assert [(part.release, part.epsilon) for part in spent.spent] == [(1, 1.0), (1, 1.0), (2, 0.5)]
    assert "Together at most epsilon 2.5" in str(spent)
    unbounded = add_epsilons(both, release(method=ld.RandomizedAddition(l=2)))
    assert unbounded.total is None
    assert "nothing bounds" in str(unbounded)
    with pytest.raises(ld.ParameterError, match="must be one or several releases"):
        add_epsilons()


# --- draws under a key -----------------------------------------------------------------------------


def keyed(data: pa.Table, key: ld.Key, **more: Any) -> dict[int, tuple[int, ...]]:
    made = ld.anonymize(
        data,
        quasi="id",
        drop="smokes",
        sensitive=LINE,
        record_id="id",
        key=key,
        method=ld.RandomizedAddition(l=2, epsilon=1),
        confirm=["id"],
        **more,
    )
    return dict(zip(made.columns(["id"])["id"].to_pylist(), map(tuple, made.sets("disease").tolist()), strict=True))


def test_a_key_draws_equal_values_once_and_changed_ones_anew() -> None:
    data, key = table(), ld.Key.new()
    changed = data.set_column(1, "disease", pa.array(np.roll(data["disease"].to_numpy(zero_copy_only=False), 1)))
    same = data["disease"].to_numpy(zero_copy_only=False) == changed["disease"].to_numpy(zero_copy_only=False)

    first, again, other = keyed(data, key), keyed(data, key), keyed(changed, key)

    assert first == again
    equal = np.array([first[i] == other[i] for i in range(N)])
    assert equal[same].all()
    # Draws of different values are independent: sets would be equal with probability at most max P(R | v) = .12.
    assert equal[~same].mean() < 0.2


# --- attacks ---------------------------------------------------------------------------------------


def right(made: ld.Release, original: pa.Table, name: str, **more: Any) -> Any:
    report = ld.attack(made, original=original, attacks=name, **more)
    return report.results[0]


def test_an_attacker_who_knows_the_mechanism_succeeds_as_often_as_its_posterior_says() -> None:
    uniform = table().set_column(1, "disease", pa.array(np.array(VALUES)[np.arange(N) % 6]))
    for epsilon, l in ((12.0, 1), (1.0, 2)):
        made = ld.anonymize(
            uniform,
            quasi="id",
            drop="smokes",
            sensitive=LINE,
            method=ld.RandomizedAddition(l=l, epsilon=epsilon),
            insecure_seed=4,
            confirm=["id"],
        )
        found = right(made, uniform, "mechanism")
        promised = made.claim("disease").posterior
        # 3,000 guesses: a share within five standard deviations, which one seed of a million misses.
        assert found.success == pytest.approx(promised, abs=5 * np.sqrt(promised * (1 - promised) / N) + 1e-3)
        assert found.claim == pytest.approx(promised)


def test_rows_of_a_person_that_are_drawn_anew_tell_more_and_those_drawn_together_do_not() -> None:
    people = np.repeat(np.arange(150), 8)
    rng = np.random.default_rng(2)
    values = rng.choice(VALUES, 150)[people]
    data = pa.table({"who": people, "row": np.arange(len(people)), "disease": values})
    common = {"sensitive": LINE, "method": ld.RandomizedAddition(l=1, epsilon=2), "insecure_seed": 5}
    anew = ld.anonymize(data, quasi=["who", "row"], confirm=["who", "row"], **common)
    together = ld.anonymize(data, quasi="row", person="who", confirm=["row"], **common)

    apart = right(anew, data, "several-rows", person="who").success
    joined = right(together, data, "several-rows", person="who").success

    # One draw names the value with probability e**2 / (e**2 + 5) = .596, eight independent ones with .934. Of 150
    # people, each rate is within five standard deviations but for one seed of a million.
    assert apart > 0.934 - 5 * np.sqrt(0.934 * 0.066 / 150)
    assert joined < 0.596 + 5 * np.sqrt(0.596 * 0.404 / 150)


# --- estimates -------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ["linear", "mle", "map", "auto", "simplex"])
def test_estimates_recover_the_shares(estimator: str) -> None:
    made = release(epsilon=3, l=2, n=20_000)
    truth = np.array([table(20_000)["disease"].to_pylist().count(value) for value in VALUES])
    found = ld.estimate(made, estimator=estimator)
    # Five standard errors of linear; none of these estimators has greater ones for common values.
    errors = np.sqrt(made.mechanism("disease").variance_factors @ truth)
    assert np.abs((found.count[0] - truth) / errors).max() < 5
    assert (found.low[0] <= found.count[0]).all()
    assert (found.count[0] <= found.high[0]).all()


def test_the_most_likely_counts_are_those_of_a_slow_search() -> None:
    made = release(epsilon=1.5, l=2, n=400)
    mechanism = made.mechanism("disease")
    _, likely = mechanism.explanations(made.sets("disease"))
    shares = np.full(6, 1 / 6)
    for _ in range(20_000):
        shares = (shares * (likely / (likely @ shares)[:, None])).mean(axis=0)

    found = ld.estimate(made, estimator="mle").count[0] / 400

    reached, best = (np.log(likely @ one).sum() for one in (found, shares))
    assert reached >= best - 1e-3
    np.testing.assert_allclose(found, shares, atol=2e-3)


def test_joint_estimates_with_and_without_an_epsilon_recover_the_shares() -> None:
    data = table(20_000)
    made = ld.anonymize(
        data,
        quasi="id",
        sensitive=[LINE, "smokes"],
        method={"disease": ld.RandomizedAddition(l=2), "smokes": ld.RandomizedAddition(l=1, epsilon=2)},
        insecure_seed=6,
        confirm=["id"],
    )
    assert made.epsilon is None
    pairs = list(zip(data["disease"].to_pylist(), data["smokes"].to_pylist(), strict=True))
    truth = np.array([pairs.count((value, smokes)) for value in VALUES for smokes in ("no", "yes")])
    linear = ld.estimate(made, sensitive=["disease", "smokes"], estimator="linear")
    likely = ld.estimate(made, sensitive=["disease", "smokes"], estimator="mle")
    # 12 counts within five standard errors each: one seed of 100,000 fails.
    assert np.abs((linear.count[0] - truth) / linear.std_error[0]).max() < 5
    assert np.abs((likely.count[0] - truth) / linear.std_error[0]).max() < 5


@pytest.mark.parametrize("n", [20, 400])
def test_intervals_cover_in_small_and_large_cells(n: int) -> None:
    mechanism = ld.RandomizedAddition(l=2, epsilon=2).fit(ld.Domain(VALUES))
    from ldiversity.base.randomness import FreshWords
    from ldiversity.publish import draw_sets
    from ldiversity.release import SetRelease
    from ldiversity.schema import Attribute, Role, Schema

    runs = 300
    counts = np.round(np.array(SHARES) * n).astype(int)
    codes = np.tile(np.repeat(np.arange(6, dtype=np.int32), counts), runs)
    cell = np.repeat(np.arange(runs), counts.sum())
    schema = Schema(
        (Attribute("cell", Role.QUASI, "int64"), Attribute("x", Role.SENSITIVE, "string", ld.Domain(VALUES)))
    )
    sets = draw_sets(mechanism, codes, FreshWords.from_insecure_seed(8))
    made = SetRelease.in_memory(
        schema=schema, columns=pa.table({"cell": cell}), sets={"x": sets}, mechanisms={"x": mechanism}
    )
    found = ld.estimate(made, by="cell", estimator="linear")
    covered = (found.low <= counts) & (counts <= found.high)
    # 1,800 intervals of 95 %; those of a run are dependent, so five standard deviations of 300 are allowed for.
    assert covered.mean() > 0.95 - 5 * np.sqrt(0.05 * 0.95 / runs)
    assert found.high.max() > 0


def test_exploded_rows_are_estimated_too() -> None:
    made = release(epsilon=3, l=2, n=20_000, layout="exploded")
    truth = np.array([table(20_000)["disease"].to_pylist().count(value) for value in VALUES])
    errors = np.sqrt(made.mechanism("disease").variance_factors @ truth)
    assert np.abs((ld.estimate(made, estimator="linear").count[0] - truth) / errors).max() < 5

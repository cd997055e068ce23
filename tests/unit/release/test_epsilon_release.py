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
import pyarrow.parquet as pq
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
    assert "beta-likeness 6.39" in claim.statement
    assert "0.463" in claim.statement
    assert claim.posterior == pytest.approx(exp(2) / (2 * exp(2) + 4), rel=1e-5)
    assert read.epsilon == 2.0
    assert any("adds up" in sentence for sentence in read.not_protected)
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


# --- no draw knows the value -----------------------------------------------------------------------


def smokers(n: int = 300) -> pa.Table:
    """Two rows for each person; the first value is no for everybody, and the second is random."""
    second = np.random.default_rng(3).choice(["no", "yes"], n)
    values = np.stack([np.full(n, "no"), second], axis=1).ravel()
    return pa.table({"who": np.repeat(np.arange(n), 2), "visit": np.arange(2 * n), "smokes": values})


RESPONSE = {
    "quasi": "visit",
    "sensitive": ld.Sensitive("smokes", domain=["no", "yes"]),
    "method": ld.RandomizedAddition(l=1, epsilon=0.1),
    "confirm": ["visit"],
}


def publish_streamed(data: pa.Table, folder: Path, **given: Any) -> ld.Release:
    pq.write_table(data, folder / "table.parquet")
    return ld.anonymize(folder / "table.parquet", output=folder / "release", memory="600MB", **given)


def publish_in_memory(data: pa.Table, folder: Path, **given: Any) -> ld.Release:
    return ld.anonymize(data, **given)


PATHS = pytest.mark.parametrize("publish", [publish_in_memory, publish_streamed])


@PATHS
def test_different_sets_of_a_person_do_not_prove_that_values_differ(
    publish: Callable[..., ld.Release], tmp_path: Path
) -> None:
    data = smokers()
    made = publish(data, tmp_path, person="who", insecure_seed=7, **RESPONSE)
    shown = np.empty(600, dtype=int)
    shown[made.columns(["visit"])["visit"].to_numpy()] = made.sets("smokes")[:, 0]
    first, second = shown.reshape(-1, 2).T
    truth = data["smokes"].to_numpy(zero_copy_only=False).reshape(-1, 2)[:, 1] == "yes"

    # Who knows the first value would name the second one of all who show two different sets. Draws on their own leave
    # a guess right with e**.1 / (1 + e**.1) = .525 at most; of about 150 such people five deviations above it is .73.
    different = first != second
    assert different.sum() > 100
    assert truth[different].mean() < 0.73
    # Equal values show different sets, too: of about 150 people, about half.
    assert 0.29 < different[~truth].mean() < 0.71
    assert "times the number of their rows" in " ".join(made.not_protected)
    assert "all rows of a person add up" in made.claim("smokes").statement
    assert any("each is a draw of its own" in note for note in ld.audit(made).notes)
    assert not any("drawn together" in caveat for caveat in ld.estimate(made).caveats)


@PATHS
@pytest.mark.parametrize("whose", [{"record_id": "visit"}, {"person": "who"}], ids=["record", "person"])
def test_a_key_is_refused_and_the_way_out_works(
    publish: Callable[..., ld.Release], whose: dict[str, str], tmp_path: Path
) -> None:
    with pytest.raises(ld.ParameterError, match="must be left out with epsilon: sets that a key repeats") as caught:
        publish(smokers(), tmp_path, key=ld.Key.new(), **whose, **RESPONSE)
    assert "Publish without key" in str(caught.value)
    assert not (tmp_path / "release").exists()
    publish(smokers(), tmp_path, **{name: value for name, value in whose.items() if name == "person"}, **RESPONSE)


@pytest.mark.parametrize("given", [{"key": "holder.key"}, {"key": "holder.key", "stable_order": True}, {}])
def test_a_publication_with_a_key_and_an_epsilon_is_refused_before_it_sees_a_table(given: dict[str, Any]) -> None:
    mixed = {
        "disease": ld.RandomizedAddition(l=2),
        "smokes": ld.SemanticDiversity(l=2, d=1, distance="ordered", epsilon=1),
    }
    for method, sensitive in ((RESPONSE["method"], "smokes"), (mixed, ["disease", "smokes"])):
        with pytest.raises(ld.ParameterError, match="with epsilon: sets") as caught:
            ld.Publication(sensitive=sensitive, method=method, record_id="id", **given)
        assert all(name in str(caught.value) for name in (*given, "record_id"))


def test_policies_and_commands_refuse_a_key_in_their_own_words(tmp_path: Path) -> None:
    pq.write_table(smokers(), tmp_path / "table.parquet")
    ld.Key.new().save(tmp_path / "holder.key")
    policy = tmp_path / "policy.toml"
    ld.Publication(**RESPONSE).save(policy)
    policy.write_text(policy.read_text() + '\n[key]\nfile = "holder.key"\nrecord_id = ["visit"]\n')
    with pytest.raises(ld.ParameterError, match="sets that a key repeats"):
        ld.Publication.load(policy)

    from click.testing import CliRunner

    from ldiversity.faces.cli import cli

    words = [
        "anonymize",
        str(tmp_path / "table.parquet"),
        "--quasi",
        "visit",
        "--sensitive",
        "smokes",
        "--epsilon",
        "0.1",
    ]
    keyed = ["--key", str(tmp_path / "holder.key"), "--record-id", "visit", "-o", str(tmp_path / "release")]
    said = CliRunner().invoke(cli, [*words, "--method", "randomized-addition", *keyed])
    assert said.exit_code != 0
    assert "--key must be left out with --epsilon" in " ".join(said.output.split())


def test_a_key_decides_nothing_about_draws_with_an_epsilon_even_where_it_is_not_refused() -> None:
    """A method of somebody else need not say that its mechanism has an epsilon."""
    from ldiversity.engines import NumberedBatch, Secrets
    from ldiversity.publish._draw import DrawSets, HiddenAttribute
    from ldiversity.tables import Coder

    data, key = smokers(), ld.Key.new()
    domain = ld.Domain(("no", "yes"))
    hidden = HiddenAttribute(
        "smokes", Coder("smokes", domain, pa.string()), ld.RandomizedAddition(l=1, epsilon=0.1).fit(domain)
    )
    choices = DrawSets({}, (hidden,), record_id=("visit",))
    rows = NumberedBatch(data.combine_chunks().to_batches()[0])
    first, again = (choices(Secrets(key))(rows).column("smokes") for _ in range(2))
    # Of 600 draws that are equal with probability .5, all are with one of 2**600.
    assert first != again


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


def test_rows_of_a_person_tell_more_than_one_with_a_person_column_too() -> None:
    people = np.repeat(np.arange(150), 8)
    rng = np.random.default_rng(2)
    values = rng.choice(VALUES, 150)[people]
    data = pa.table({"who": people, "row": np.arange(len(people)), "disease": values})
    common = {"sensitive": LINE, "method": ld.RandomizedAddition(l=1, epsilon=2), "insecure_seed": 5}
    unnamed = ld.anonymize(data, quasi=["who", "row"], confirm=["who", "row"], **common)
    named = ld.anonymize(data, quasi="row", person="who", confirm=["row"], **common)

    # One draw names the value with probability e**2 / (e**2 + 5) = .596, eight independent ones with .934. Of 150
    # people, each rate is within five standard deviations but for one seed of a million.
    for made in (unnamed, named):
        assert right(made, data, "several-rows", person="who").success > 0.934 - 5 * np.sqrt(0.934 * 0.066 / 150)
    assert "once for each of them" in str(add_epsilons(named))


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


def test_the_sum_of_several_epsilons_is_what_a_person_spends() -> None:
    both = {"quasi": "id", "sensitive": [LINE, "smokes"], "method": ld.RandomizedAddition(epsilon=2)}
    made = ld.anonymize(table(600), insecure_seed=3, confirm=["id"], **both)
    planned = ld.plan(table(600), **both)

    assert made.epsilon == 4
    for said in (" ".join(made.not_protected), " ".join(planned.not_protected)):
        assert "The epsilons of 2 sensitive attributes add up to 4 for one record." in said
        assert said.count("times the number of their rows") == 1
        assert "A person spends 4 times the number of their rows" in said


def test_a_single_value_needs_an_epsilon() -> None:
    with pytest.raises(ld.ParameterError, match="l must be an integer of at least 2, got 1") as refused:
        ld.RandomizedAddition(l=1)
    assert "epsilon=2" in str(refused.value.hint)
    assert ld.RandomizedAddition(l=1, epsilon=2).l == 1

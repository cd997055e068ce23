"""The estimator hierarchical: against sums that are written out, integrals, and cells that are planted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ldiversity.distances import OrderedDistance
from ldiversity.errors import UnsupportedError
from ldiversity.estimation import _borrowing, _cell_means, _set_estimators, estimate
from ldiversity.estimation._borrowing import STRENGTHS, fit_strengths, log_evidence
from ldiversity.estimation._cell_means import fit_effects
from ldiversity.estimation._likelihood import SetLikelihood
from ldiversity.mechanisms import BalancedSelection, EpsilonSelection, SetMechanism, UniformSelection
from ldiversity.schema import Domain

Array = NDArray[Any]

UNIFORM = UniformSelection(n_values=6, l=2)
BALANCED = BalancedSelection.fit(Domain(tuple(range(6)), ordered=True), OrderedDistance(), l=2, d=2)


def known(counts: Array) -> SetLikelihood:
    """Cells whose true counts are known: each set has one candidate."""
    n_cells, size = counts.shape
    sets = np.tile(np.arange(size, dtype=np.int32), n_cells)[:, None]
    return SetLikelihood(size, sets, np.empty((0, 1)), counts.ravel().astype(float), np.arange(n_cells + 1) * size)


# --- what labels suggest ---------------------------------------------------------------------------


def test_effects_of_known_values_are_those_of_the_log_linear_model() -> None:
    rng = np.random.default_rng(1)
    places = [np.repeat(np.arange(3), 4), np.tile(np.arange(4), 3)]
    terms = [rng.normal(size=(3, 5)), rng.normal(size=(4, 5))]
    truth = np.exp(terms[0][places[0]] + terms[1][places[1]])
    truth /= truth.sum(axis=1, keepdims=True)
    counts = np.array([rng.multinomial(n, one) for n, one in zip(rng.integers(2000, 9000, 12), truth, strict=True)])
    records = counts.sum(axis=1).astype(float)

    shares = fit_effects(known(counts), counts.sum(axis=0) / counts.sum(), places, records)

    # Written out: scale the table for both columns in turn, until nothing changes.
    table = np.ones((12, 5))
    for _ in range(200):
        for codes_of in places:
            for label in range(codes_of.max() + 1):
                chosen = codes_of == label
                table[chosen] *= counts[chosen].sum(axis=0) / table[chosen].sum(axis=0)
        table *= (records / table.sum(axis=1))[:, None]
    # The fit ends some steps earlier, and gives every label half a record per value of the common shares.
    assert np.abs(shares - table / records[:, None]).max() < 0.003
    assert np.abs(shares - truth).max() < 0.03


def test_one_column_suggests_nothing_but_the_common_shares(publish: Any) -> None:
    release = publish({"g": np.arange(300) % 10}, {"s": np.arange(300) % 6}, {"s": UNIFORM})
    cells = estimate(release, "g")._cells

    (mean,) = _cell_means.suggested_shares(SetLikelihood.of(cells), cells)

    assert mean.shape == (1, 6)


# --- evidence --------------------------------------------------------------------------------------


@pytest.mark.parametrize("strength", [4.0, 16.0, 256.0])
@pytest.mark.parametrize("n", [1, 6, 40])
def test_the_evidence_is_that_of_an_integral(strength: float, n: int) -> None:
    # Three values in sets of two: the shares of the cell are two numbers, over which one can sum.
    rng = np.random.default_rng(n)
    sets = np.sort(np.array([rng.permutation(3)[:2] for _ in range(n)]), axis=1).astype(np.int32)
    mean = np.array([[0.5, 0.3, 0.2]])
    likelihood = SetLikelihood(3, sets, np.empty((0, 2)), np.ones(n), np.array([0, n]))
    shares, _ = likelihood.maximize(mean, np.array([strength]), mean)

    found = log_evidence(
        likelihood.logarithms(shares),
        likelihood.information(shares, 0, 1),
        shares,
        strength * mean,
        np.array([float(n)]),
    )

    middle = (np.arange(400) + 0.5) / 400
    p, q = np.meshgrid(middle, middle)
    inside = p + q < 1
    points = np.stack([p[inside], q[inside], 1 - p[inside] - q[inside]], axis=1)
    prior = np.prod(points ** (strength * mean[0] - 1), axis=1)
    chances = np.prod(points[:, sets].sum(axis=2), axis=1)
    exact = np.log((prior * chances).sum() / prior.sum())
    assert abs(found[0] - exact) < 0.12


def test_cells_without_sets_have_no_evidence() -> None:
    mean = np.array([[0.5, 0.3, 0.2]])

    found = log_evidence(np.zeros(1), np.zeros((1, 3, 3)), mean, 7 * mean, np.zeros(1))

    assert np.allclose(found, 0)


def test_counts_are_averages_that_are_written_out(publish: Any) -> None:
    rng = np.random.default_rng(5)
    places = {"g": np.repeat(np.arange(5), 12)}
    release = publish(places, {"s": rng.integers(0, 6, 60)}, {"s": BALANCED}, seed=6)

    found = estimate(release, "g", estimator="hierarchical")

    cells = found._cells
    (mean,) = _cell_means.suggested_shares(SetLikelihood.of(cells), cells)
    tables = np.zeros((5, 12, 6))
    for at, members in enumerate(release.sets("s")):
        tables[at // 12, at % 12, members] = BALANCED.likelihood(members[None, :])[0]
    expected, evidence = np.zeros((len(STRENGTHS), 5, 6)), np.zeros((len(STRENGTHS), 5))
    for at, strength in enumerate(STRENGTHS):
        for cell, table in enumerate(tables):
            expected[at, cell], evidence[at, cell] = written_out(table, strength * mean[0])
    often = np.full(len(STRENGTHS), 1 / len(STRENGTHS))
    for _ in range(100):
        weights = often[:, None] * np.exp(evidence - evidence.max(axis=0))
        weights /= weights.sum(axis=0)
        often = (weights.sum(axis=1) + 1 / len(STRENGTHS)) / 6  # five cells, and one that knows nothing
    assert np.allclose(found.count, (weights[:, :, None] * expected).sum(axis=0), atol=0.02)


def written_out(table: Array, prior: Array) -> tuple[Array, float]:
    """Expected counts and evidence of a cell: plain steps, and the curvature of all coordinates but the last."""
    n, total = len(table), prior.sum()
    shares = prior / total
    for _ in range(500):
        chances = table * shares
        chances /= chances.sum(axis=1, keepdims=True)
        shares = (chances.sum(axis=0) + prior) / (n + total)
    mean = prior / total
    before = total * (np.diag(mean) - np.outer(mean, mean))
    after = np.diag(prior) + chances.T @ chances - (n + total) * np.outer(shares, shares)
    determinants = np.linalg.slogdet(after[:-1, :-1])[1] - np.linalg.slogdet(before[:-1, :-1])[1]
    scaled = table / table.max(axis=1, keepdims=True)
    evidence = np.log(scaled @ shares).sum() + prior @ np.log(shares / mean) - determinants / 2
    return chances.sum(axis=0), float(evidence)


# --- planted cells ---------------------------------------------------------------------------------


SHARES = np.array([0.4, 0.25, 0.15, 0.1, 0.07, 0.03])


def alike(publish: Any, mechanism: SetMechanism) -> tuple[Any, Array]:
    """Two hundred cells of thirty records, all drawn from the same shares, and their true counts."""
    rng = np.random.default_rng(7)
    codes, of_cell = rng.choice(6, 6000, p=SHARES), np.arange(6000) % 200
    truth = np.zeros((200, 6))
    np.add.at(truth, (of_cell, codes), 1)
    return publish({"g": of_cell}, {"s": codes}, {"s": mechanism}, seed=8), truth


@pytest.mark.parametrize("mechanism", [UNIFORM, BALANCED], ids=["uniform", "balanced"])
def test_cells_that_are_all_alike_are_drawn_together(publish: Any, mechanism: SetMechanism) -> None:
    release, truth = alike(publish, mechanism)

    found, before = (estimate(release, "g", estimator=name) for name in ("hierarchical", "map"))

    # What is best: the chances of each record's values at the shares that all cells were drawn from.
    table = np.zeros((6000, 6))
    np.put_along_axis(table, release.sets("s").astype(np.int64), mechanism.likelihood(release.sets("s")), axis=1)
    chances = table * SHARES
    best = np.zeros((200, 6))
    np.add.at(best, np.arange(6000) % 200, chances / chances.sum(axis=1, keepdims=True))
    errors = [((counts - truth) ** 2).mean() for counts in (found.count, best, before.count)]
    assert errors[0] < 1.1 * errors[1]
    assert errors[0] < 0.8 * errors[2]


@pytest.mark.parametrize("mechanism", [UNIFORM, BALANCED], ids=["uniform", "balanced"])
def test_large_cells_that_are_unlike_each_other_stay_as_they_are(publish: Any, mechanism: SetMechanism) -> None:
    rng = np.random.default_rng(9)
    of_cell = np.repeat(np.arange(6), 4000)
    codes = np.where(rng.random(24_000) < 0.7, of_cell, rng.integers(0, 6, 24_000))
    release = publish({"g": of_cell}, {"s": codes}, {"s": mechanism}, seed=10)

    found, mle = (estimate(release, "g", estimator=name) for name in ("hierarchical", "mle"))

    assert (np.abs(found.count - mle.count) < 0.2 * mle.std_error).all()


def test_labels_tell_more_than_the_common_shares(publish: Any) -> None:
    # A hundred cells of eight records; both labels move the shares of all values.
    rng = np.random.default_rng(11)
    a, b = np.divmod(np.arange(800) % 100, 10)
    shares = np.exp(1.5 * rng.normal(size=(10, 6))[a] + 1.5 * rng.normal(size=(10, 6))[b])
    codes = np.array([rng.choice(6, p=one / one.sum()) for one in shares])
    release = publish({"a": a, "b": b, "ab": 10 * a + b}, {"s": codes}, {"s": UNIFORM}, seed=12)
    truth = np.zeros((100, 6))
    np.add.at(truth, (10 * a + b, codes), 1)

    of_labels, of_cells = (estimate(release, by, estimator="hierarchical").count for by in (["a", "b"], "ab"))

    assert ((of_labels - truth) ** 2).mean() < 0.8 * ((of_cells - truth) ** 2).mean()


def test_strengths_are_those_that_most_cells_have() -> None:
    evidence = np.zeros((2, 3, 100))
    evidence[:, 0, :75] = 30.0
    evidence[:, 2, 75:] = 30.0

    assert np.allclose(fit_strengths(evidence) * 101, [75 + 1 / 3, 1 / 3, 25 + 1 / 3])


def test_a_large_cell_that_is_unlike_all_others_stays_as_it_is(publish: Any) -> None:
    rng = np.random.default_rng(17)
    codes = np.concatenate([rng.choice(6, 3000, p=SHARES), rng.choice(6, 4000, p=SHARES[::-1])])
    of_cell = np.concatenate([np.arange(3000) % 100, np.full(4000, 100)])
    release = publish({"g": of_cell}, {"s": codes}, {"s": UNIFORM}, seed=18)

    found, mle = (estimate(release, "g", estimator=name) for name in ("hierarchical", "mle"))

    assert (np.abs(found.count[100] - mle.count[100]) < 0.25 * mle.std_error[100]).all()


# --- in use ----------------------------------------------------------------------------------------


def test_auto_lets_small_cells_borrow_where_there_are_twenty(publish: Any) -> None:
    of_cell = np.concatenate([np.arange(20 * 30) % 20, np.full(60, 20)])
    release = publish({"g": of_cell}, {"s": np.arange(660) ** 2 % 6}, {"s": UNIFORM})

    found, fewer = estimate(release, "g"), estimate(release, "g", where="g != 3")

    names = ("hierarchical", "mle", "map")
    counts = {name: estimate(release, "g", estimator=name).count for name in names}
    assert found.estimator == ("hierarchical",) * 20 + ("mle",)
    assert np.allclose(found.count, np.vstack([counts["hierarchical"][:20], counts["mle"][20:]]), atol=1e-3)
    assert fewer.estimator == ("map",) * 19 + ("mle",)
    assert np.allclose(fewer.count[:3], counts["map"][:3], atol=1e-3)


@pytest.mark.parametrize("limit", ["_MOST_NUMBERS", "_MOST_WORK"])
def test_auto_takes_map_where_borrowing_would_take_long(
    publish: Any, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    release, _ = alike(publish, UNIFORM)

    monkeypatch.setattr(_set_estimators, limit, 1199)  # of 200 cells with 6 values

    assert set(estimate(release, "g").estimator) == {"map"}


def test_the_result_says_that_cells_are_drawn_to_each_other(publish: Any) -> None:
    release, _ = alike(publish, UNIFORM)

    for name in ("hierarchical", "auto"):
        assert any("biased by design" in caveat for caveat in estimate(release, "g", estimator=name).caveats)


def test_intervals_hold_in_cells_that_are_drawn_far(publish: Any) -> None:
    # Thirty cells have one value, the last another one: it is drawn to them, and its intervals reach back.
    codes = np.repeat([0] * 30 + [5], 20)
    release = publish({"g": np.repeat(np.arange(31), 20)}, {"s": codes}, {"s": UNIFORM}, seed=13)

    found = estimate(release, "g", estimator="hierarchical")

    truth = np.zeros((31, 6))
    truth[:30, 0] = truth[30, 5] = 20
    assert ((found.low <= truth) & (truth <= found.high))[30].all()


def test_fewer_than_three_cells_are_those_of_map(publish: Any) -> None:
    release = publish({"g": np.arange(80) % 2}, {"s": np.arange(80) % 6}, {"s": UNIFORM})

    found, same = (estimate(release, "g", estimator=name) for name in ("hierarchical", "map"))

    assert found.estimator == ("map", "map")
    assert np.array_equal(found.count, same.count)
    assert "With fewer than 3 cells there is nothing to borrow: the counts are those of map." in found.caveats


def test_too_many_values_are_refused_with_a_way_out(publish: Any) -> None:
    wide = UniformSelection(n_values=301, l=2)
    release = publish({"g": np.arange(40) % 25}, {"s": np.arange(40)}, {"s": wide})

    with pytest.raises(UnsupportedError, match=r"takes at most 300 values or .*, but there are 301.*\n.*'map'"):
        estimate(release, "g", estimator="hierarchical")

    assert set(estimate(release, "g", estimator="map").estimator) == {"map"}
    assert set(estimate(release, "g").estimator) == {"map"}


def test_joint_distributions_borrow_too(publish: Any) -> None:
    rng = np.random.default_rng(14)
    codes = rng.integers(0, 3, 600)
    mechanisms = {"s": UNIFORM, "t": UniformSelection(n_values=4, l=2)}
    release = publish({"g": np.arange(600) % 30}, {"s": codes + 2, "t": codes}, mechanisms, seed=15)
    truth = np.zeros((30, 24))
    np.add.at(truth, (np.arange(600) % 30, (codes + 2) * 4 + codes), 1)

    found, before = (estimate(release, "g", sensitive=["s", "t"], estimator=name) for name in ("hierarchical", "map"))

    assert np.allclose(found.count.sum(axis=1), 20)
    assert ((found.count - truth) ** 2).mean() < 0.5 * ((before.count - truth) ** 2).mean()


def test_cells_that_do_not_fit_into_memory_at_once_are_taken_some_at_a_time(
    publish: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, truth = alike(publish, UNIFORM)
    whole = estimate(release, "g", estimator="hierarchical").count

    monkeypatch.setattr(_cell_means, "BLOCK", 6000)
    parts = estimate(release, "g", estimator="hierarchical").count

    assert len(list(_cell_means.blocks(SetLikelihood.of(estimate(release, "g")._cells), 8))) > 2
    assert np.allclose(parts.sum(axis=1), 30)
    # Strengths follow from a part of the cells; the counts hardly depend on which.
    assert ((parts - truth) ** 2).mean() < 1.1 * ((whole - truth) ** 2).mean()


def test_strengths_are_told_by_cells_of_all_sizes() -> None:
    records = np.array([5.0, 900.0, 7.0, 1.0, 300.0, 2.0])

    assert _borrowing._voters(records, 2).tolist() == [2, 3]


def test_sets_that_may_miss_the_true_value_are_borrowed_from(publish: Any) -> None:
    # Every value of the domain may be the true one.
    release, truth = alike(publish, EpsilonSelection(UniformSelection(n_values=6, l=2), epsilon=2))

    found, before = (estimate(release, "g", estimator=name) for name in ("hierarchical", "map"))

    assert np.allclose(found.count.sum(axis=1), 30)
    assert ((found.count - truth) ** 2).mean() < 0.8 * ((before.count - truth) ** 2).mean()


def test_weights_are_refused_with_a_way_out(publish: Any) -> None:
    release = publish({"g": np.arange(60) % 4, "w": np.full(60, 2.0)}, {"s": np.arange(60) % 6}, {"s": UNIFORM})

    with pytest.raises(UnsupportedError, match="with weights or strata the estimator must be 'linear'"):
        estimate(release, "g", estimator="hierarchical", weights="w")

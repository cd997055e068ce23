"""Ring selection: sampler, likelihood and leak against rings that are written out."""

from __future__ import annotations

import json
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import stats

from ldiversity._kernels.draws import below
from ldiversity.distances import DiscreteDistance, Distance, MatrixDistance, OrderedDistance
from ldiversity.errors import InfeasibleError, ReleaseFormatError, UnsupportedError
from ldiversity.mechanisms import RingSelection, _enumerated, mechanism_from_dict
from ldiversity.schema import Domain

WORD = 1 << 64
CASES = [(4, 2, 2), (9, 3, 2), (11, 3, 3), (14, 3, 3), (10, 4, 2), (13, 5, 2), (8, 4, 1)]
each_case = pytest.mark.parametrize(("n_values", "l", "d"), CASES)


def ordered(n_values: int) -> tuple[Domain, Distance]:
    return Domain(tuple(range(n_values)), ordered=True), OrderedDistance()


def make(n_values: int, l: int, d: float) -> RingSelection:
    return RingSelection(*ordered(n_values), l, d)


def first_ring(n_values: int, d: int, true: int) -> list[int]:
    around = [*range(true + 1, n_values), *range(true)]
    return [v for v in around if abs(v - true) >= d]


def next_ring(ring: list[int], index: int, d: int) -> list[int]:
    return [ring[(index + step) % len(ring)] for step in range(d, len(ring) - d + 1)]


def slow_probability(row: tuple[int, ...], true: int, n_values: int, d: int) -> float:
    total = 0.0
    for order in permutations([v for v in row if v != true]):
        ring, chance = first_ring(n_values, d, true), 1.0
        for v in order:
            if v not in ring:
                chance = 0.0
                break
            chance /= len(ring)
            ring = next_ring(ring, ring.index(v), d)
        total += chance
    return total


def slow_draw(words: np.ndarray, true: int, n_values: int, l: int, d: int) -> list[int]:
    ring, chosen, used = first_ring(n_values, d, true), [true], 0
    while len(chosen) < l:
        index, used = below(words, used, len(ring))
        chosen.append(ring[index])
        ring = next_ring(ring, index, d)
    return sorted(chosen)


def valid_sets(n_values: int, l: int, d: int) -> list[tuple[int, ...]]:
    return [row for row in combinations(range(n_values), l) if min(np.diff(row)) >= d]


def slow_likelihood(n_values: int, l: int, d: int) -> np.ndarray:
    return np.array([[slow_probability(row, v, n_values, d) for v in row] for row in valid_sets(n_values, l, d)])


def random_words(seed: int, n: int, n_words: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, WORD, size=(n, n_words), dtype=np.uint64)


# --- drawing -------------------------------------------------------------------------------------------


@each_case
def test_sets_equal_those_of_written_out_rings(n_values: int, l: int, d: int) -> None:
    mechanism = make(n_values, l, d)
    codes = np.random.default_rng(1).integers(0, n_values, 200).astype(np.int32)
    words = random_words(1, 200, mechanism.words_per_record)

    sets, short = mechanism.sample(codes, words)

    assert not short.any()
    assert sets.tolist() == [slow_draw(row, int(code), n_values, l, d) for code, row in zip(codes, words, strict=True)]


@each_case
def test_sets_are_valid(n_values: int, l: int, d: int) -> None:
    mechanism = make(n_values, l, d)
    codes = np.repeat(np.arange(n_values, dtype=np.int32), 100)

    sets, _ = mechanism.sample(codes, random_words(2, len(codes), mechanism.words_per_record))

    assert np.diff(sets, axis=1).min() >= d
    assert (sets == codes[:, None]).any(axis=1).all()


def test_sets_are_as_frequent_as_their_likelihood() -> None:
    mechanism, n, true = make(14, 3, 3), 40_000, 5
    rows = np.array(valid_sets(14, 3, 3), dtype=np.int32)
    likelihood = mechanism.likelihood(rows)
    possible = ((rows == true) & (likelihood > 0)).any(axis=1)
    expected = n * likelihood[possible][rows[possible] == true]

    drawn, _ = mechanism.sample(np.full(n, true, dtype=np.int32), random_words(3, n, mechanism.words_per_record))
    counts = np.array([(drawn == row).all(axis=1).sum() for row in rows[possible]])

    # A chi-square test for one value: false alarm 1e-6.
    assert counts.sum() == n
    assert ((counts - expected) ** 2 / expected).sum() < stats.chi2.isf(1e-6, len(expected) - 1)


def test_rejected_words_make_a_record_short_and_more_words_do_not() -> None:
    mechanism = make(14, 3, 3)
    codes = np.array([5], dtype=np.int32)  # a ring of nine: zero is rejected
    good = random_words(4, 1, mechanism.words_per_record)
    bad = np.zeros_like(good)

    sets, short = mechanism.sample(codes, bad)
    more, still_short = mechanism.sample(codes, np.concatenate([bad, good], axis=1))

    assert short.all()
    assert not sets.any()
    assert not still_short.any()
    assert (more == mechanism.sample(codes, good)[0]).all()


def test_sets_do_not_depend_on_chunks_or_further_words() -> None:
    mechanism = make(14, 3, 3)
    codes = np.random.default_rng(5).integers(0, 14, 100).astype(np.int32)
    words = random_words(5, 100, mechanism.words_per_record + 3)

    parts = [mechanism.sample(codes[i : i + 9], words[i : i + 9])[0] for i in range(0, 100, 9)]

    assert (np.concatenate(parts) == mechanism.sample(codes, words[:, :3])[0]).all()


# --- facts ---------------------------------------------------------------------------------------------


@each_case
def test_likelihood_equals_written_out_rings(n_values: int, l: int, d: int) -> None:
    sets = np.array(valid_sets(n_values, l, d), dtype=np.int32)

    np.testing.assert_allclose(make(n_values, l, d).likelihood(sets), slow_likelihood(n_values, l, d), rtol=1e-12)


@each_case
def test_inclusion_is_the_same_for_all_values_that_are_far_enough(n_values: int, l: int, d: int) -> None:
    expected = np.zeros((n_values, n_values))
    for row, chances in zip(valid_sets(n_values, l, d), slow_likelihood(n_values, l, d), strict=True):
        expected[np.ix_(row, row)] += chances[:, None]

    np.testing.assert_allclose(make(n_values, l, d).inclusion, expected, atol=1e-13)


def test_a_distance_between_two_steps_means_the_next_step() -> None:
    np.testing.assert_array_equal(make(14, 3, 2.5).inclusion, make(14, 3, 3).inclusion)


@pytest.mark.parametrize(("n_values", "l", "d"), [(14, 3, 3), (10, 4, 2)])
def test_leak_equals_enumeration(n_values: int, l: int, d: int) -> None:
    likelihood = slow_likelihood(n_values, l, d)
    share = likelihood.sum(axis=1) / n_values
    possible = (likelihood > 0).sum(axis=1)

    leak = make(n_values, l, d).leak()

    assert leak.exact
    assert leak.ruled_out == pytest.approx(share[possible < l].sum(), rel=1e-12)
    assert leak.disclosed == pytest.approx(share[possible == 1].sum(), rel=1e-12)


def test_sampled_sets_give_the_leak_within_sampling_error(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = make(14, 3, 3).leak()
    monkeypatch.setattr(_enumerated, "_MOST_SETS", 0)

    sampled = make(14, 3, 3).leak()

    # 200,000 records, so a standard error of at most 0.0011; the sample is fixed and cannot fail by chance.
    assert not sampled.exact
    assert sampled.ruled_out == pytest.approx(exact.ruled_out, abs=0.005)
    assert sampled.disclosed == pytest.approx(exact.disclosed, abs=0.005)


def test_pairs_leak_nothing() -> None:
    leak = make(14, 2, 3).leak()

    assert (leak.ruled_out, leak.disclosed) == (0.0, 0.0)


def test_a_holder_is_told_that_it_leaks() -> None:
    assert make(14, 3, 3).cautions()[-1] == (
        "Ring selection leaks: 30.2 % of the records get a set that rules out one of its members, "
        "and 2.3 % are disclosed; use balanced selection to protect people."
    )


# --- limits --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("l", "d"), [(2, 2), (3, 2), (3, 3), (4, 2), (5, 3)])
def test_the_bound_is_the_least_size_at_which_no_ring_runs_out(l: int, d: int) -> None:
    least = (l - 1) * (2 * d - 1) + 1
    middle = (least - 1) // 2

    assert make(least, l, d)._why_infeasible() is None
    assert make(least - 1, l, d)._why_infeasible() is not None
    assert len(first_ring(least, d, middle)) - (l - 2) * (2 * d - 1) == 1


def test_too_small_a_domain_is_refused_with_the_bound_and_a_way_out() -> None:
    with pytest.raises(InfeasibleError, match=r"its rings need \(l-1\)\(2d-1\) \+ 1 = 15 values") as caught:
        RingSelection.fit(*ordered(14), 3, 4)

    assert {"l": 3, "d": 3.0} in caught.value.nearest


def test_other_than_ordered_distances_are_refused() -> None:
    values = tuple("abcd")
    blocks = np.array([[0, 1, 2, 2], [1, 0, 2, 2], [2, 2, 0, 1], [2, 2, 1, 0]])

    with pytest.raises(UnsupportedError, match="RingSelection: distance must be ordered"):
        RingSelection.fit(Domain(values), MatrixDistance(values, blocks), 2, 2)


def test_a_distance_under_which_all_values_may_stand_together_is_a_ring_too() -> None:
    mechanism = RingSelection.fit(Domain(tuple("abcde")), DiscreteDistance(), 3, 1)

    assert mechanism.inclusion[0].tolist() == [1.0, 0.5, 0.5, 0.5, 0.5]


def test_large_sets_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="RingSelection: l must be at most 8, got 9"):
        RingSelection.fit(*ordered(100), 9, 2)


# --- as data -------------------------------------------------------------------------------------------


def test_a_description_comes_back_from_json() -> None:
    mechanism = make(14, 3, 3)
    described = json.loads(json.dumps(mechanism.to_dict()))

    assert mechanism_from_dict(described, mechanism.domain).to_dict() == mechanism.to_dict()


def test_large_sets_of_a_stranger_are_refused() -> None:
    domain, distance = ordered(100)
    described = {"kind": "ring", "version": 1, "l": 9, "d": 2.0, "distance": distance.to_dict(domain)}

    with pytest.raises(ReleaseFormatError, match="RingSelection: l must be at most 8, got 9"):
        mechanism_from_dict(described, domain)


@pytest.mark.parametrize("change", [{"d": 4}, {"l": 9}, {"d": None}, {"distance": {"kind": "exec"}}])
def test_a_damaged_description_is_refused(change: dict[str, object]) -> None:
    mechanism = make(14, 3, 3)

    with pytest.raises(ReleaseFormatError):
        mechanism_from_dict(mechanism.to_dict() | change, mechanism.domain)

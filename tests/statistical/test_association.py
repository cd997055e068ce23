"""The test of independence rejects a true null as often as it says, and finds what is there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from scipy.sparse import csr_matrix

from ldiversity.distances import OrderedDistance
from ldiversity.estimation import association, estimate
from ldiversity.estimation._independence import independence_test
from ldiversity.mechanisms import BalancedSelection, SetMechanism, UniformSelection
from ldiversity.release import Release, SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

TIMES = 200
MOST, LEAST = stats.binom.ppf([1 - 1e-5, 1e-5], TIMES, [0.065, 0.035])
"""A size between 3.5 and 6.5 % gives more or fewer rejections with probability 1e-5 each."""

LINE = Domain(tuple(range(9)), ordered=True)
UNIFORM = UniformSelection(n_values=9, l=3)
BALANCED = BalancedSelection.fit(LINE, OrderedDistance(), l=3, d=2)
SHARES = np.array([30, 20, 15, 10, 8, 7, 5, 3, 2]) / 100


def release(
    mechanism: SetMechanism, cells: np.ndarray, values: np.ndarray, rng: np.random.Generator, **more: np.ndarray
) -> Release:
    words = rng.integers(0, 2**64, (len(values), mechanism.words_per_record + 20), dtype=np.uint64)
    sets, short = mechanism.sample(values.astype(np.int32), words)
    assert not short.any()
    shown = pa.table({"x": cells, **more})
    quasi = (Attribute(name, Role.QUASI, str(shown[name].type)) for name in shown.column_names)
    return SetRelease.in_memory(
        schema=Schema((*quasi, Attribute("s", Role.SENSITIVE, "int64", LINE))),
        columns=shown,
        sets={"s": np.sort(sets, axis=1)},
        mechanisms={"s": mechanism},
    )


def rejected(draw: Callable[[np.random.Generator], Release], seed: int, times: int = TIMES, **given: str) -> int:
    rng = np.random.default_rng(seed)
    return sum(association(draw(rng), "x", **given).pvalue < 0.05 for _ in range(times))


@pytest.mark.parametrize(
    ("mechanism", "sizes", "weighted"),
    [
        (UNIFORM, [150, 150], False),
        (BALANCED, [67, 67, 66, 67, 67, 66], False),
        (BALANCED, [12, 388], False),
        (BALANCED, [30, 70, 900], True),
    ],
)
def test_a_true_null_is_rejected_in_a_twentieth_of_the_cases(
    mechanism: SetMechanism,
    sizes: list[int],
    weighted: bool,  # noqa: FBT001
) -> None:
    cells = np.repeat(np.arange(len(sizes)), sizes)
    strata = np.arange(len(cells)) % 3

    def null(rng: np.random.Generator) -> Release:
        values = rng.choice(9, len(cells), p=SHARES)
        return release(mechanism, cells, values, rng, w=1.0 + strata, h=strata)

    given = {"weights": "w", "strata": "h"} if weighted else {}
    assert LEAST <= rejected(null, seed=41, **given) <= MOST


def test_weights_that_depend_on_the_value_in_a_small_cell_keep_the_size() -> None:
    mechanism, shares = UniformSelection(n_values=9, l=2), np.array([44, 22, 14, 11, 9, 0, 0, 0, 0]) / 100
    cells = np.repeat([0, 1], [130, 4_270])

    def null(rng: np.random.Generator) -> Release:
        values = rng.choice(9, len(cells), p=shares)
        chance = np.where((cells == 0) & (values < 2), 0.6, 0.2)
        taken = rng.random(len(cells)) < chance
        return release(mechanism, cells[taken], values[taken], rng, w=1 / chance[taken])

    assert LEAST <= rejected(null, seed=44, weights="w") <= MOST


def test_many_small_cells_keep_the_size() -> None:
    # Without an association every assignment of records to cells is as likely as any other, so these are all nulls.
    rng, times = np.random.default_rng(45), 600
    mechanism, shares = UniformSelection(n_values=9, l=3), 1 / np.arange(1, 10)
    drawn = release(mechanism, np.zeros(400), rng.choice(9, 400, p=shares / shares.sum()), rng)
    members = np.asarray(drawn.sets("s"), dtype=np.int64)
    probabilities = csr_matrix(
        (np.tile(shares, (400, 1))[np.arange(400)[:, None], members].ravel(), members.ravel(), np.arange(0, 1_201, 3)),
        shape=(400, 9),
    )
    cells = np.repeat(np.arange(40), 10)

    wrong = 0
    for _ in range(times):
        assigned = csr_matrix((np.ones(400), rng.permutation(cells), np.arange(401)), shape=(400, 40))
        wrong += independence_test(probabilities, assigned).pvalue < 0.05

    # If the size is .05, more or fewer have probability 1e-5 each: at most .045 away from it.
    least, most = stats.binom.ppf([1e-5, 1 - 1e-5], times, 0.05)
    assert least <= wrong <= most


def test_an_association_is_found() -> None:
    def dependent(rng: np.random.Generator) -> Release:
        cells = rng.integers(0, 2, 900)
        values = rng.choice(9, 900, p=SHARES)
        moved = (cells == 1) & (values == 0) & (rng.random(900) < 0.5)
        return release(UNIFORM, cells, np.where(moved, 1, values), rng)

    # The power is 0.9 or more (benchmarks/run.py inference); less than 42 of 60 then have probability 1e-5.
    assert rejected(dependent, seed=42, times=60) >= 42


def test_a_chi_square_test_on_estimated_counts_takes_noise_for_an_association() -> None:
    rng, wrong = np.random.default_rng(43), 0
    for _ in range(40):
        null = release(UNIFORM, rng.integers(0, 2, 600), rng.choice(9, 600, p=SHARES), rng)
        counts = np.maximum(estimate(null, "x", estimator="linear").count, 0.5)
        wrong += stats.chi2_contingency(counts).pvalue < 0.05

    # What the guide warns of. If half were rejected, 28 or more of 40 would be with probability 0.008; 38 with 1e-9.
    assert wrong >= 28

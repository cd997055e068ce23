"""Intervals of audits with weights hold for strata inside and outside the quasi-identifiers, and for small classes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import ldiversity as ld

TIMES = 80
FIGURES = 7


def census(seed: int, ages: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """12,000 people: their age and place, which make the classes, and their disease. Old people differ from others."""
    rng = np.random.default_rng(seed)
    age = np.minimum((rng.exponential(0.3, 12_000) * ages).astype(np.int64), ages - 1)
    place = rng.integers(0, 3, 12_000)
    disease = np.where(rng.random(12_000) < 0.4, (age * 7 // ages) % 4, rng.choice(4, 12_000, p=[0.4, 0.3, 0.2, 0.1]))
    return age, place, disease


def look_up(counts: np.ndarray, people: np.ndarray) -> list[float]:
    """What is found about people of each class and value, whose records are counted in a sample."""
    sizes, most = counts.sum(axis=1), counts.max(axis=1)
    first = (counts == most[:, None]) & (sizes > 0)[:, None]
    right = people * first / np.maximum(first.sum(axis=1), 1)[:, None]
    of_class = people.sum(axis=1)
    few = [(sizes > 0) & (sizes < k) for k in (2, 5)]
    return [
        of_class[sizes == 0].sum(),
        *(of_class[some].sum() for some in few),
        few[0].sum() / of_class[few[0]].sum(),
        right.sum(),
        right[most == sizes].sum(),
        people[:, 0].sum() / people.sum(),
    ]


@pytest.mark.parametrize("strata", ["place", "beside"])
def test_intervals_hold_what_someone_finds_who_looks_everybody_up(strata: str) -> None:
    age, place, disease = census(81, 1_500)
    beside = (disease + age) % 3
    stratum = place if strata == "place" else beside
    class_of, rng = np.unique(age * 3 + place, return_inverse=True)[1], np.random.default_rng(82)
    shape, keys = (class_of.max() + 1, 4), class_of * 4 + disease
    people = np.bincount(keys, minlength=shape[0] * 4).reshape(shape)
    sizes, held = np.array([250, 150, 400]), np.zeros(FIGURES)
    for _ in range(TIMES):
        rows = np.concatenate([rng.choice(np.flatnonzero(stratum == h), n, replace=False) for h, n in enumerate(sizes)])
        weights = (np.bincount(stratum) / sizes)[stratum[rows]]
        columns = {"age": age[rows], "place": place[rows], "disease": disease[rows], "w": weights, "h": stratum[rows]}
        found = ld.audit(
            pa.table(columns), quasi=["age", "place"], sensitive="disease", weights="w", strata="h"
        ).sampled
        assert found is not None
        about, few = found.attributes["disease"], {one.below: one for one in found.alike}
        ends = [
            *((one.low, one.high) for one in (found.like_nobody, few[2].people, few[5].people)),
            (few[2].right_link_low, few[2].right_link_high),
            *((one.low, one.high) for one in (about.guessed_right, about.read_off_right, about.shares[0])),
        ]
        truth = look_up(np.bincount(keys[rows], minlength=shape[0] * 4).reshape(shape), people)
        held += [low is not None and low <= one <= high for (low, high), one in zip(ends, truth, strict=True)]

    # Below this, one of seven intervals that hold with .93 falls with probability 1e-5. That they are not too wide
    # follows from the exact squares of errors in test_looking_up.py.
    assert held.min() >= stats.binom.ppf(1e-5 / FIGURES, TIMES, 0.93)

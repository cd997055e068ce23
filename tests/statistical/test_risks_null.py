"""Where a release tells nothing of its own people, no risk is found beyond chance.

The original that is attacked was not published: it is a fresh draw, like the control table. So each result is called
beyond chance with a probability of at most 1/40. The count among N runs is bounded by the binomial's quantile beyond
which it goes with less than 1e-5.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

import ldiversity as ld
from ldiversity.evaluation.attacks import _attack

RUNS = 12
MOST = int(binom.ppf(1 - 1e-5, RUNS, 1 / 40))
QUASI = ["age", "zip", "job"]
RISKS = ["singling-out", "linkability", "inference"]


def people(rng: np.random.Generator, n: int = 300) -> pa.Table:
    """The disease depends on the job, for anyone."""
    job = rng.integers(0, 6, n)
    return pa.table(
        {
            "age": rng.integers(20, 80, n),
            "zip": [f"z{code}" for code in rng.integers(0, 30, n)],
            "job": [f"j{code}" for code in job],
            "disease": [f"d{code}" for code in np.where(rng.random(n) < 0.3, job, rng.integers(0, 6, n))],
        }
    )


@pytest.mark.parametrize(
    "method", [ld.RandomizedAddition(l=2), ld.Anatomy(l=2), ld.Mondrian(l=2)], ids=lambda one: one.name
)
def test_nothing_is_found_about_people_who_were_not_published(
    method: ld.Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The original is of other people, which is refused: then nobody is there to be found.
    monkeypatch.setattr(_attack, "check_original", lambda *_: None)
    alarms: dict[str, int] = {}
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        published, original, control = (people(rng) for _ in range(3))
        release = ld.anonymize(published, quasi=QUASI, sensitive="disease", method=method)
        for one in ld.attack(release, original, control=control, attacks=RISKS, targets=150).risks:
            alarms[one.attack] = alarms.get(one.attack, 0) + one.beyond_chance

    assert len(alarms) == 5
    assert max(alarms.values()) <= MOST

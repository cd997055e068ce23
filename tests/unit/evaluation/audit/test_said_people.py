"""What an audit says about the people of a release is possible: a sum over classes is not below their number."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld

METHODS = [
    "anatomy:l=2",
    "bsgi:l=2",
    "mondrian:l=2",
    "randomized-addition:l=2",
    "anatomy:l=4,overflow=suppress",
    "bsgi:l=4,overflow=suppress",
]


def visits(n_people: int = 80, seed: int = 2) -> pa.Table:
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n_people), rng.integers(1, 5, n_people))
    return pa.table(
        {
            "who": who,
            "age": rng.integers(20, 60, n_people)[who],
            "zip": np.array([f"z{code}" for code in rng.integers(0, 6, n_people)])[who],
            "disease": np.array([*"abcdefaa"])[rng.integers(0, 8, len(who))],
        }
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("whose", [{"person": "who"}, {"drop": "who"}], ids=["declared", "dropped"])
def test_sums_over_classes_are_possible(method: str, whose: dict[str, str]) -> None:
    table = visits()
    roles: Any = {"quasi": ["age", "zip"], "sensitive": "disease", **whose}
    release = ld.anonymize(table, method=method, insecure_seed=1, **roles)

    said = ld.audit(release, original=table, person="who").verdict[0]

    people = re.search(r"belong to (at most )?(\d+) people", said)
    summed = re.search(r"(at least )?(\d+) records in all", said)
    assert people is not None
    assert int(people[2]) == 80
    assert bool(people[1]) == (release.suppressed > 0)
    if summed is not None:
        exact = not release.generalized and not release.suppressed
        assert bool(summed[1]) == (not exact)
        assert summed[1] or int(summed[2]) >= 80

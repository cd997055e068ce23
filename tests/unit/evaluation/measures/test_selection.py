"""Queries answered 64 at a time, compared with each query on its own."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from ldiversity.evaluation.measures import _selection
from ldiversity.evaluation.measures._selection import Chosen, Rows

SIZES = {"age": 7, "job": 3, "zip": 130}


class _Halves:
    """Labels 0, 1, 2: the first half of an axis, all of it, the second half; spread evenly."""

    def shares(self, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        middle = chosen.shape[1] // 2
        parts = (chosen[:, :middle], chosen, chosen[:, middle:])
        return np.column_stack([part.mean(axis=1) for part in parts])


def _asked(rng: np.random.Generator, names: list[str], n_queries: int) -> list[Chosen]:
    """Queries that name none, some or all of the columns."""
    return [{name: rng.random(SIZES[name]) < 0.5 for name in names if rng.random() < 0.7} for _ in range(n_queries)]


@pytest.mark.parametrize("n_queries", [1, 64, 150])
def test_every_query_counts_what_it_would_count_alone(monkeypatch: pytest.MonkeyPatch, n_queries: int) -> None:
    monkeypatch.setattr(_selection, "_ROWS", 100)  # the last part of the rows is not full
    rng = np.random.default_rng(n_queries)
    n_rows, n_codes = 330, 9
    # One more position stands for values that are not on the axis; one code of a row stands for none.
    positions = {name: rng.integers(size + 1, size=n_rows) for name, size in SIZES.items() if name != "zip"}
    labels = rng.integers(3, size=n_rows).astype(np.int32)
    codes = rng.integers(n_codes, size=(n_rows, 2)).astype(np.int32)
    codes[rng.random(n_rows) < 0.1] = -1
    rows = Rows(positions, n_rows, {"zip": (_Halves(), labels)})
    queries = _asked(rng, list(SIZES), n_queries)

    found = np.concatenate(list(rows.tally(queries, lambda part: codes[part], n_codes)))

    expected = np.zeros((n_queries, n_codes))
    for number, query in enumerate(queries):
        for row in range(n_rows):
            weight = 1.0
            for name, chosen in query.items():
                if name == "zip":
                    weight *= _Halves().shares(chosen[None, :])[0, labels[row]]
                else:
                    place = positions[name][row]
                    weight *= float(place < len(chosen) and chosen[place])
            for code in codes[row]:
                if code >= 0:
                    expected[number, code] += weight
    np.testing.assert_allclose(found, expected, rtol=1e-12)

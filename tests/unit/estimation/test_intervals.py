"""Where the limits of an interval lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ldiversity.estimation import Estimate, estimate
from ldiversity.mechanisms import SetMechanism

Z = 1.959963984540054


@pytest.fixture
def result(publish: Any, simple: SetMechanism) -> Estimate:
    """Cells of one value each, so that many estimates are below zero or beyond what was published."""
    cells = np.repeat(np.arange(9), 100)
    return estimate(publish({"g": cells}, {"s": cells}, {"s": simple}), "g", estimator="linear")


def test_limits_are_standard_errors_and_half_a_record_away(publish: Any, simple: SetMechanism) -> None:
    release = publish({}, {"s": np.arange(9000) % 9}, {"s": simple})

    result = estimate(release, estimator="linear")

    assert np.allclose(result.low, result.count - Z * result.std_error - 0.5)
    assert np.allclose(result.high, result.count + Z * result.std_error + 0.5)


def test_an_estimate_below_zero_counts_as_zero(result: Estimate) -> None:
    below = result.count < -1

    assert below.sum() > 5
    expected = np.minimum(Z * result.std_error + 0.5, result._cells.counts)
    assert np.allclose(result.high[below], expected[below])


def test_an_estimate_beyond_the_published_count_counts_as_that(result: Estimate) -> None:
    beyond = result.count > result._cells.counts + 0.5

    assert beyond.any()
    expected = np.maximum(result._cells.counts - Z * result.std_error - 0.5, 0)
    assert np.allclose(result.low[beyond], expected[beyond])


def test_a_cell_with_as_many_records_as_asked_for_is_not_marked(publish: Any, simple: SetMechanism) -> None:
    release = publish({"g": ["a"] * 50 + ["b"] * 49}, {"s": np.arange(99) % 9}, {"s": simple})

    usual, never = estimate(release, "g"), estimate(release, "g", min_records=0)

    assert usual.note == ("", "fewer than 50 records")
    assert np.array_equal(usual.low[0], never.low[0])
    assert np.array_equal(usual.high[0], never.high[0])
    assert not np.array_equal(usual.high[1], never.high[1])


def test_every_interval_holds_a_whole_number(result: Estimate) -> None:
    assert (np.floor(result.high + 1e-9) >= np.ceil(result.low - 1e-9)).all()

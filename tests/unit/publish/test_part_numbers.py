"""Numbers of classes in a random order, of which each worker can work out any place."""

from __future__ import annotations

import numpy as np
import pytest

from ldiversity.base.randomness import Key
from ldiversity.publish._parts import _numbers
from ldiversity.publish._parts._numbers import RandomNumbers


@pytest.mark.parametrize("n", [1, 2, 3, 100, 65_536, 65_537, 131_073, 200_003])
def test_every_number_has_one_place(n: int) -> None:
    numbers = RandomNumbers(Key.new(), "class_id", n)

    assert np.array_equal(np.sort(numbers.of(np.arange(n))), np.arange(n))


@pytest.mark.parametrize("listed", [1 << 16, 0])
def test_some_numbers_have_the_places_that_they_have_among_all(listed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_numbers, "_LISTED", listed)
    numbers = RandomNumbers(Key.from_insecure_seed(1), "class_id", 1000)
    again = RandomNumbers(Key.from_insecure_seed(1), "class_id", 1000)
    other = RandomNumbers(Key.from_insecure_seed(1), "class_id_job", 1000)

    whole = numbers.of(np.arange(1000))

    assert np.array_equal(again.of(np.array([7, 999, 0])), whole[[7, 999, 0]])
    assert not np.array_equal(other.of(np.arange(1000)), whole)


@pytest.mark.parametrize("listed", [1 << 16, 0])
def test_every_place_is_as_likely_and_neighbors_stay_no_neighbors(listed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chi-square of 256 places over 4,000 keys: 255 degrees of freedom exceed 388 by a chance below 1e-7.

    Neighbors stay neighbors in 2 of 256 cases; of 4,000 more than 62 by a chance below 1e-6.
    """
    monkeypatch.setattr(_numbers, "_LISTED", listed)
    found = np.array([RandomNumbers(Key.from_insecure_seed(k), "", 256).of(np.array([0, 1])) for k in range(4000)])

    counts = np.bincount(found[:, 0], minlength=256)

    assert float(((counts - 4000 / 256) ** 2 / (4000 / 256)).sum()) < 388
    assert np.count_nonzero(np.abs(found[:, 0] - found[:, 1]) == 1) <= 62

"""Looking up places of an array is what numpy does, and never reads beside it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.base.gather import gathered

_RNG = np.random.default_rng(5)


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint64, np.float64])
@pytest.mark.parametrize("of_places", [np.int8, np.int32, np.int64, np.uint16])
@pytest.mark.parametrize("n", [0, 1, 1000])
def test_the_same_as_numpy(kind: type, of_places: type, n: int) -> None:
    values = _RNG.integers(0, 1 << 30, 50).astype(kind)
    places = _RNG.integers(0, 50, n).astype(of_places)
    for given in (places, pa.array(places), pa.array(np.append(places, 0)).slice(0, n)):
        found = gathered(values, given)
        assert found.dtype == values.dtype
        assert np.array_equal(found, values[places])
    assert np.array_equal(gathered(values[::2], places // 2), values[::2][places // 2])


@pytest.mark.parametrize("place", [-1, 3, 1 << 40])
def test_a_place_that_is_not_there_is_an_error(place: int) -> None:
    with pytest.raises(IndexError):
        gathered(np.arange(3), np.array([0, place]))

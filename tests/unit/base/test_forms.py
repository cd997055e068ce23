"""How numbers are written: nothing is rounded to all or to none, and order is kept."""

from __future__ import annotations

from math import inf, nan, nextafter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ldiversity.base.numbers import level, number, percent, points, whole_percent

SHARES = st.floats(0, 1)
ANY = st.floats(-50, 50)


def value_of(text: str) -> float:
    """The number of a text; what is beyond a bound lies a little beyond it."""
    bare = text.replace(" %", "").replace(",", "").replace("\N{MINUS SIGN}", "-")
    beyond = {"<": -1e-9, ">": 1e-9}.get(bare[0], 0.0)
    return float(bare.lstrip("<> ")) + beyond


@given(SHARES)
@example(nextafter(1, 0))
@example(nextafter(0, 1))
@example(0.99999)
@example(0.9995)
@example(0.99949999)
def test_only_all_is_100_percent_and_only_none_is_0(share: float) -> None:
    for digits in (2, 3, 4):
        assert (percent(share, digits) == "100 %") == (share == 1)
        assert (percent(share, digits) == "0 %") == (share == 0)
    assert (points(share) == "100") == (share == 1)
    assert (points(share) == "0") == (share == 0)
    assert (whole_percent(share) == "100") == (share == 1)
    assert (whole_percent(share) == "0") == (share == 0)


@given(ANY, ANY)
@example(0.9994, 0.9995)
@example(0.00000999, 0.00001)
@example(-0.00000999, 0.0)
@example(-0.9996, -0.999)
def test_the_greater_share_is_never_written_as_the_smaller(one: float, other: float) -> None:
    low, high = sorted((one, other))

    for form in (percent, points, whole_percent, lambda share: percent(share, 2)):
        assert value_of(form(low)) <= value_of(form(high))


@given(SHARES)
def test_what_is_written_is_near(share: float) -> None:
    assert value_of(percent(share)) == pytest.approx(100 * share, rel=0.005, abs=0.0011)


@given(st.floats(-0.999, 0.999).filter(bool))
@example(nextafter(1, 0))
@example(0.99999)
def test_a_probability_below_1_is_not_written_as_1(value: float) -> None:
    assert number(value) not in {"0", "1", "-1"}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        *((0, "0"), (3.0, "3"), (1e6, "1,000,000"), (0.1 + 0.2, "0.3"), (12345.6, "12,346"), (1e-9, "1e-09")),
        *((12345, "12,345"), (0.00001234, "1.23e-05"), (1234.5, "1,234"), (123456.7, "123,457")),
        *((None, "-"), (nan, "-"), (inf, "infinite"), (np.float64(2.5), "2.5"), (np.int64(7), "7")),
    ],
)
def test_numbers(value: float | None, written: str) -> None:
    assert number(value) == written


@pytest.mark.parametrize(
    ("share", "written"),
    [
        *((1 / 3, "33.3 %"), (0.5, "50 %"), (1.5, "150 %"), (12.344, "1,234 %"), (-0.025, "-2.5 %")),
        *(
            (-1e-9, "> -0.001 %"),
            (1e-12, "< 0.001 %"),
            (-0.0123, "-1.23 %"),
            (nan, "-"),
            (inf, "-"),
            (None, "-"),
            (np.float32(0.25), "25 %"),
        ),
    ],
)
def test_shares(share: float | None, written: str) -> None:
    assert percent(share) == written


def test_a_level_that_somebody_chose_keeps_its_digits() -> None:
    assert [level(chosen) for chosen in (0.9, 0.95, 0.999, 0.99999)] == ["90 %", "95 %", "99.9 %", "99.999 %"]

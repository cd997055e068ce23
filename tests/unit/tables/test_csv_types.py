"""A text column takes a narrower type only when that loses nothing."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ldiversity.tables._csv_types import TypeGuess

CASES = {
    "integers": (["0", "-12", "9223372036854775807"], pa.int64()),
    "negative zero": (["-0"], pa.int64()),
    "leading zeros": (["01234", "99999"], pa.string()),
    "plus sign": (["+1"], pa.string()),
    "beyond 64 bits": (["9223372036854775808"], pa.string()),
    "wide integers among decimals": (["1.5", "9007199254740993"], pa.string()),
    "wide float": (["1.5", "1e300"], pa.float64()),
    "decimals": (["1.", ".5", "-2.25", "3", "1e-5"], pa.float64()),
    "leading zeros of decimals": (["007.5"], pa.string()),
    "infinite": (["1e400"], pa.string()),
    "words for numbers": (["1.5", "nan"], pa.string()),
    "infinity": (["inf"], pa.string()),
    "spaces": ([" 1"], pa.string()),
    "digits of other scripts": (["٣"], pa.string()),
    "decimal comma": (["1,5"], pa.string()),
    "hexadecimal": (["0x10"], pa.string()),
    "booleans": (["true", "False", "TRUE"], pa.bool_()),
    "zeros and ones": (["0", "1"], pa.int64()),
    "boolean and other": (["true", "yes"], pa.string()),
    "dates": (["2020-02-29", "1999-12-31"], pa.date32()),
    "no such day": (["2021-02-29"], pa.string()),
    "times": (["2020-01-01T00:00:00"], pa.string()),
    "number and date": (["1", "2020-01-01"], pa.string()),
    "missing": ([None, None], pa.string()),
    "nothing": ([], pa.string()),
    "missing among integers": ([None, "1"], pa.int64()),
    "unicode": (["ü", "漢"], pa.string()),
}


@pytest.mark.parametrize(("cells", "kind"), CASES.values(), ids=CASES.keys())
def test_type_of_cells_seen_at_once(cells: list[str | None], kind: pa.DataType) -> None:
    guess = TypeGuess()

    guess.see(pa.array(cells, pa.string()))

    assert guess.type == kind


@pytest.mark.parametrize(("cells", "kind"), CASES.values(), ids=CASES.keys())
def test_type_of_cells_seen_one_by_one_backwards(cells: list[str | None], kind: pa.DataType) -> None:
    guess = TypeGuess()

    for cell in reversed(cells):
        guess.see(pa.array([cell], pa.string()))

    assert guess.type == kind


def test_a_late_cell_counts_as_much_as_an_early_one() -> None:
    guess = TypeGuess()

    guess.see(pa.array(["1"] * 10_000 + ["x"]))

    assert guess.type == pa.string()

"""What is read back is compared with what was meant: any two rows that change places are noticed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.release._survival import _BLOCK, Content

ROWS = 3 * _BLOCK + 7
SWAPS = [(0, 1), (1, _BLOCK), (2, 2 * _BLOCK), (_BLOCK + 3, 3 * _BLOCK + 1), (0, ROWS - 1), (_BLOCK - 1, _BLOCK)]


def content_of(column: pa.Array) -> Content:
    found = Content()
    for start in range(0, ROWS, 5000):
        found.add(pa.table({"a": column.slice(start, 5000)}))
    return found


@pytest.mark.parametrize("kind", ["whole", "real", "text"])
@pytest.mark.parametrize("places", SWAPS)
def test_two_rows_that_change_places_are_noticed(kind: str, places: tuple[int, int]) -> None:
    meant = np.arange(ROWS)
    written = meant.copy()
    written[list(places)] = written[list(places[::-1])]
    columns = [
        pa.array(numbers).cast({"whole": pa.int64(), "real": pa.float64(), "text": pa.string()}[kind])
        for numbers in (meant, written)
    ]

    assert content_of(columns[0]).differences(content_of(columns[0])) == []
    assert content_of(columns[0]).differences(content_of(columns[1])) == ["a"]

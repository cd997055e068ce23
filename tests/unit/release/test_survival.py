"""What is read back is compared with what was meant: any two rows that change places are noticed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.release._survival import _BLOCK, Content, _factor, _Sum, _weights

ROWS = 3 * _BLOCK + 7
SWAPS = [(0, 1), (1, _BLOCK), (2, 2 * _BLOCK), (_BLOCK + 3, 3 * _BLOCK + 1), (0, ROWS - 1), (_BLOCK - 1, _BLOCK)]


def content_of(column: pa.Array, *, by_bytes: bool = False, step: int = 5000) -> Content:
    found = Content(by_bytes=by_bytes)
    for start in range(0, len(column), step):
        found.add(pa.table({"a": column.slice(start, step)}))
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


@pytest.mark.parametrize("places", SWAPS)
def test_two_signs_that_change_are_noticed(places: tuple[int, int]) -> None:
    """A sign is the highest bit: times any two weights, two of them add up to 0 modulo 2 ** 64."""
    meant = np.arange(1.0, ROWS + 1)
    written = meant.copy()
    written[list(places)] *= -1

    assert content_of(pa.array(meant)).differences(content_of(pa.array(written))) == ["a"]


@pytest.mark.parametrize("step", [1, 5000, _BLOCK, 2 * _BLOCK + 3, ROWS])
def test_the_sum_is_that_of_one_word_after_the_other(step: int) -> None:
    words = np.random.default_rng(1).integers(0, 2**64, _BLOCK + 9 if step == 1 else ROWS, dtype=np.uint64)
    for wide in (False, True):
        found = _Sum()
        for start in range(0, len(words), step):
            found.add(words[start : start + step], wide=wide)

        weights = _weights().tolist()
        expected = 0
        for place, word in enumerate(words.tolist()):
            block, within = divmod(place, _BLOCK)
            expected += (word ^ (word >> 32) if wide else word) * weights[within] * _factor(block)
        assert found.summary() == (len(words), expected % 2**64)


@pytest.mark.parametrize("places", SWAPS)
def test_two_texts_that_change_places_are_noticed_by_their_bytes(places: tuple[int, int]) -> None:
    meant = np.arange(ROWS)
    written = meant.copy()
    written[list(places)] = written[list(places[::-1])]
    columns = [pa.array(numbers).cast(pa.string()) for numbers in (meant, written)]

    assert content_of(columns[0], by_bytes=True).differences(content_of(columns[0], by_bytes=True)) == []
    assert content_of(columns[0], by_bytes=True).differences(content_of(columns[1], by_bytes=True)) == ["a"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_the_same_texts_are_the_same_however_they_are_cut(kind: pa.DataType) -> None:
    texts = pa.array(["", None, "flu", "a text that is longer", "ü"] * 7)
    once = content_of(texts, by_bytes=True)
    for step in (1, 2, 3, 35):
        again = Content(by_bytes=True)
        for start in range(0, len(texts), step):
            again.add(pa.table({"a": texts.slice(start, step).cast(kind)}), {"a": pa.string()})
        assert once.differences(again) == []


@pytest.mark.parametrize(
    "other",
    [
        ["ab", "c", None],
        ["a", "bcd", None],
        ["a", "bc", ""],
        [None, "abc", None],
        ["a", "bc", None, ""],
        ["a", "bx", None],
    ],
)
def test_the_same_bytes_in_other_cells_are_noticed(other: list[str | None]) -> None:
    meant = content_of(pa.array(["a", "bc", None]), by_bytes=True)
    assert meant.differences(content_of(pa.array(other, pa.string()), by_bytes=True)) == ["a"]

"""Texts that are looked up in known ones are found where a slow search finds them, and nowhere else."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldiversity.errors import SchemaError
from ldiversity.schema import Domain
from ldiversity.tables import ShortTexts, encode_values, short_texts
from ldiversity.tables._known_texts import KnownTexts

MOST_BYTES = 16
TEXTS = st.text(st.sampled_from("ab\0ü€𝄞"), max_size=9) | st.text(st.sampled_from("ab"), min_size=6, max_size=18)


def searched(known: list[str | None], cells: list[str | None]) -> list[int]:
    """The slow reference: one text after the other is compared."""
    return [
        next((place for place, text in enumerate(known) if text == cell and len(cell.encode()) <= MOST_BYTES), -1)
        if cell is not None
        else -1
        for cell in cells
    ]


@given(st.lists(TEXTS, unique=True, max_size=12), st.lists(TEXTS | st.none(), max_size=12), st.integers(0, 3))
def test_texts_are_found_where_they_are(known: list[str], others: list[str | None], skipped: int) -> None:
    cells = [*others, *known, *others, "filled up, so that there is something to look at"]
    column = pa.array(cells, pa.string()).slice(skipped)

    assert ShortTexts(pa.array(known, pa.string())).places(column).tolist() == searched(known, cells[skipped:])


@pytest.mark.parametrize("length", range(1, MOST_BYTES + 2))
def test_a_text_of_which_one_byte_differs_is_another(length: int) -> None:
    text = "abcdefghijklmnopq"[:length]
    near = [text[:place] + "-" + text[place + 1 :] for place in range(length)]
    near += [text + "\0", "\0" + text, text + "a", text[:-1], text[1:], ""]
    near = [one for one in near if one != text]
    known = ShortTexts(pa.array([text]))

    assert (known.places(pa.array([*near, "x" * 20])) == -1).all()
    assert known.places(pa.array([*near, text, "x" * 20])).max() == (0 if length <= MOST_BYTES else -1)


def test_texts_that_come_later_are_found_as_those_before() -> None:
    texts = [f"text {i * i}" for i in range(3000)]
    known = ShortTexts(pa.array(texts[:5]))
    for start in range(5, len(texts), 37):
        known.add(pa.array(texts[start : start + 37]))
    order = np.random.default_rng(1).integers(0, len(texts), 20_000)

    assert (known.places(pa.array(texts).take(pa.array(order))) == order).all()


@pytest.mark.parametrize("many_cells", [0, 20, 10**9])
@given(st.lists(st.lists(TEXTS | st.none(), max_size=10), max_size=6))
def test_entries_are_the_cells_however_they_are_found(many_cells: int, blocks: list[list[str | None]]) -> None:
    known, seen = KnownTexts(most_texts=12, many_cells=many_cells), set[str]()
    for block in blocks:
        cells = pa.array(block, pa.string())
        entries, new = known.entries(cells)
        entries.validate(full=True)
        assert entries.cast(pa.string()).equals(cells)
        assert entries.dictionary.null_count == new.null_count == 0
        seen |= set(new.to_pylist())
        assert {text for text in block if text is not None} <= seen


def test_a_block_has_a_dictionary_of_its_own_where_texts_are_many() -> None:
    known = KnownTexts(most_texts=3)
    known.entries(pa.array(["a", "b"]))

    assert known.entries(pa.array(["c", "d", "c"]))[0].dictionary.to_pylist() == ["c", "d"]
    assert known.entries(pa.array(["e", None]))[0].dictionary.to_pylist() == ["e"]


DOMAIN = Domain(("cold", "flu", "inflammation of something", None))


def test_codes_are_the_same_with_and_without_known_texts() -> None:
    rng = np.random.default_rng(2)
    cells = pa.chunked_array([pa.array(DOMAIN.values).take(pa.array(rng.integers(0, 4, 1000))) for _ in range(3)])

    assert (encode_values(cells, DOMAIN, short_texts(DOMAIN)) == encode_values(cells, DOMAIN)).all()


@pytest.mark.parametrize("planted", ["flu ", "Flu", "", "inflammation of anything!"])
def test_a_text_outside_the_domain_is_found_among_many(planted: str) -> None:
    cells = pa.chunked_array([["flu", "cold"] * 500, ["flu", planted, "cold"]])
    said = []
    for known in (None, short_texts(DOMAIN)):
        with pytest.raises(SchemaError, match="1 that are not") as caught:
            encode_values(cells, DOMAIN, known)
        said.append(str(caught.value))

    assert said[0] == said[1]


def test_numbers_are_no_short_texts() -> None:
    assert short_texts(Domain((1, 2))) is None

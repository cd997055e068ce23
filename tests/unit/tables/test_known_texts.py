"""Texts that are looked up in known ones are found where a slow search finds them, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldiversity.errors import SchemaError
from ldiversity.schema import Domain
from ldiversity.tables import ShortTexts, encode_values, open_source, short_texts
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


@pytest.mark.parametrize("few", [0, 2, 40])
@pytest.mark.parametrize("more", [256, 300, 5_000])
def test_many_texts_may_come_at_once_after_a_few(few: int, more: int) -> None:
    """More than there were slots for: they once filled all of them, and the search for a free one did not end."""
    texts = pa.array([f"text {i * i}" for i in range(few + more)])
    known = ShortTexts(texts[:few])
    known.add(texts[few:])

    found = np.arange(len(texts))
    assert (known.places(texts) == np.where(found < 4096, found, -1)).all()  # the most that are looked up


def test_a_block_with_many_new_texts_may_come_late(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    towns = ["ab"[row % 2] for row in range(300_000)] + [f"town {row % 400}" for row in range(2_000)]
    file.write_text("\n".join(["town,ill", *(f"{town},yes" for town in towns)]), encoding="utf-8")
    table = open_source(file, hold=1 << 25)

    assert [cell for batch in table.batches(["town"]) for cell in batch.column(0).to_pylist()] == towns


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


@pytest.mark.parametrize("row", [0, 3_000, 29_999])
@pytest.mark.parametrize("place", ["job", "name", "declared"])
@pytest.mark.parametrize("hold", [0, 1 << 25])
def test_bytes_that_are_no_text_are_refused_wherever_they_are(tmp_path: Path, row: int, place: str, hold: int) -> None:
    job, name, declared = (b"\xc3(" if place == column else b"ok" for column in ("job", "name", "declared"))
    lines = [b"job %d,name %d,2024-01-01 %d" % (i % 7, i, i) for i in range(30_000)]
    lines[row] = b"job %b,name %b,%b" % (job, name, declared)
    file = tmp_path / "table.csv"
    file.write_bytes(b"\n".join([b"job,name,declared", *lines]))

    with pytest.raises(SchemaError, match="the file must be UTF-8 text"):
        open_source(file, hold=hold, types={"declared": "text"})


@pytest.mark.parametrize("most_texts", [1, 100])
def test_bytes_that_are_no_text_are_no_entries(most_texts: int) -> None:
    wrong = pa.array([b"a", b"\xc3(", b"a"]).view(pa.string())
    for blocks in ([wrong], [pa.array(["a", "b", "b"])] * 3 + [wrong]):
        known = KnownTexts(most_texts=most_texts, many_cells=1)
        for block in blocks[:-1]:
            known.entries(block)
        with pytest.raises(pa.ArrowInvalid):
            known.entries(blocks[-1])


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


KINDS: dict[str, Callable[[int], list[str]]] = {
    "number": lambda n: [f"{i}.5" for i in range(n)],
    "integer": lambda n: [str(i) for i in range(n)],
    "date": lambda n: [f"{1900 + i // 300:04d}-{1 + i // 28 % 10:02d}-{1 + i % 28:02d}" for i in range(n)],
    "text": lambda n: [f"name {i}" for i in range(n)],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("where", [0, 1_000, -1])
@pytest.mark.parametrize("cell", [b"\xff", b"1\xff", b"2020-01-0\xff"])
def test_bytes_that_are_no_text_are_refused_in_a_column_of_any_type(
    kind: str, where: int, cell: bytes, tmp_path: Path
) -> None:
    cells = [text.encode() for text in KINDS[kind](120_000)]  # more than a block of the file
    cells[where] = cell
    file = tmp_path / "t.csv"
    file.write_bytes(b"own,sex\n" + b"".join(one + b",f\n" for one in cells))

    with pytest.raises(SchemaError, match="must be UTF-8 text"):
        open_source(file, hold=1 << 27)

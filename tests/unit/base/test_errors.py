"""What can be reached from an error."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

import ldiversity as ld
from ldiversity.errors import LDiversityError, SchemaError

CELL = "Zq9 a secret cell"


def reached(error: BaseException | None) -> str:
    """All that code finds which follows causes and contexts."""
    found = []
    while error is not None:
        found.append(repr(error.args))
        error = error.__cause__ or error.__context__
    return " ".join(found)


def raise_without_context() -> None:
    with ExitStack() as stack:
        stack.callback(lambda: None)  # which puts contexts in order
        try:
            int(CELL)
        except ValueError:
            raise SchemaError("table", "must hold numbers") from None


def raise_with_context() -> None:
    try:
        int("no cell")
    except ValueError:
        raise SchemaError("table", "must hold numbers")  # noqa: B904 - the context is what is tested


def test_what_was_left_out_of_an_error_is_not_reached_through_it() -> None:
    with pytest.raises(SchemaError) as raised:
        raise_without_context()

    assert raised.value.__suppress_context__
    assert raised.value.__context__ is None
    assert CELL not in reached(raised.value)


def test_other_contexts_are_kept() -> None:
    with pytest.raises(SchemaError) as raised:
        raise_with_context()

    assert isinstance(raised.value.__context__, ValueError)
    raised.value.__context__ = None
    assert raised.value.__context__ is None


@pytest.mark.parametrize(
    ("line", "types"),
    [
        (f"1,2,3,{CELL}".encode(), {}),
        (f"{CELL},flu".encode(), {"age": "integer"}),
        (f"1,{CELL}\xe9".encode("latin-1"), {}),
    ],
    ids=["a row with more cells", "a cell of another type", "another encoding"],
)
def test_no_cell_is_reached_through_the_error_of_a_file(line: bytes, types: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    rows = b"".join(b"%d,%s\n" % (20 + row % 9, [b"flu", b"cold", b"cut"][row % 3]) for row in range(60))
    file.write_bytes(b"age,s\n" + rows + line + b"\n")

    with pytest.raises(LDiversityError) as raised:
        ld.anonymize(file, quasi="age", sensitive="s", method=ld.RandomizedAddition(l=2), types=types, confirm="age")

    assert CELL not in reached(raised.value)

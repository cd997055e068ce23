"""The words below a picture say what the picture shows."""

from __future__ import annotations

import pytest

from ldiversity.faces.report._parts import Cell, Contingency
from ldiversity.faces.report._shares import contingency_picture


def contingency(*cells: tuple[str, str, list[float | None]]) -> Contingency:
    return Contingency(
        attribute="disease",
        by=("age",),
        by_text="age",
        values=("flu", "cut"),
        intervals="exact",
        confidence=0.95,
        domain=2,
        grouped=False,
        cells=tuple(Cell(name, 5, note, "", tuple(s), tuple(s), tuple(s)) for name, note, s in cells),
        cells_left_out=0,
        values_left_out=0,
        true_records_in_no_cell=0,
        accuracy=None,
        caveats=(),
    )


def test_the_caption_of_a_heat_map_names_the_largest_share_that_it_shows() -> None:
    alt = contingency_picture(contingency(("20", "", [0.3, 0.7]), ("30", "few records", [0.1, 0.9]))).alt

    assert "The largest share is that of 'cut' in '30': 90 %, a hatched cell of few records" in alt
    assert "among the other cells that of 'cut' in '20': 70 %." in alt


def test_a_largest_share_of_many_records_is_named_alone() -> None:
    alt = contingency_picture(contingency(("20", "", [0.3, 0.7]), ("30", "few records", [0.4, 0.6]))).alt

    assert alt.endswith("The largest share is that of 'cut' in '20': 70 %.")


@pytest.mark.parametrize("note", ["", "few records"])
def test_a_heat_map_without_shares_has_a_caption(note: str) -> None:
    assert "largest" not in contingency_picture(contingency(("20", note, [None, None]))).alt

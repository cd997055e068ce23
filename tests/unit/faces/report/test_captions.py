"""The words below a picture say what the picture shows."""

from __future__ import annotations

from typing import Any

import pytest

from ldiversity.faces.report._report_shares import contingency_picture


def contingency(*cells: tuple[str, str, list[float | None]]) -> dict[str, Any]:
    return {
        "attribute": "disease",
        "by": ["age"],
        "values": ["flu", "cut"],
        "intervals": "exact",
        "confidence": 0.95,
        "cells": [
            {"cell": name, "records": 5, "note": note, "share": share, "low": share, "high": share}
            for name, note, share in cells
        ],
    }


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

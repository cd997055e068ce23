from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from ldiversity.pictures._figures import BLUE
from papers.lines import Look, Panel, draw_panels

LOOKS = {name: Look(BLUE, "o") for name in ("one", "another")}


def drawn(x: list[float], *notes: str) -> Figure:
    panel = Panel("a panel", "s", "error", {name: (x, [1.0 + value for value in x]) for name in LOOKS})
    figure = draw_panels([panel], LOOKS, title="A title", columns=1, notes=notes)
    figure.draw_without_rendering()
    return figure


def test_notes_stand_between_the_panels_and_the_legend() -> None:
    figure = drawn([1.0, 2.0], "A first remark that says something.", "A second one, " + "which is long, " * 12)
    legend = figure.legends[0]

    notes, axis = legend.get_title().get_window_extent(), figure.axes[0].get_tightbbox()
    assert axis is not None
    assert axis.y0 >= notes.y1
    assert all(notes.y0 >= text.get_window_extent().y1 for text in legend.get_texts())


def test_notes_are_no_wider_than_the_figure() -> None:
    figure = drawn([1.0, 2.0], "which is long, " * 20)

    notes = figure.legends[0].get_title().get_window_extent()
    assert (notes.x0 >= 0, notes.x1 <= figure.bbox.x1) == (True, True)


def test_few_values_have_a_tick_each() -> None:
    assert drawn([0.04, 0.05, 0.07]).axes[0].get_xticks().tolist() == [0.04, 0.05, 0.07]


@pytest.mark.parametrize("note", [(), ("A remark.",)])
def test_every_series_is_in_the_legend(note: tuple[str, ...]) -> None:
    assert [text.get_text() for text in drawn([1.0, 2.0], *note).legends[0].get_texts()] == ["one", "another"]

from __future__ import annotations

import subprocess
import sys
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from ldiversity.errors import ParameterError
from ldiversity.pictures import plot_estimate
from ldiversity.pictures._figures import balance

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

LONG = "a disease with a name that is far too long for any picture in a report"


def estimate_of(n_cells: int, n_values: int, **options: object) -> Figure:
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.ones(n_values), size=n_cells)
    cells = [f"{LONG} {cell}" for cell in range(n_cells)]
    values = [f"{value} {LONG}" for value in range(n_values)]
    return plot_estimate(cells, values, shares, shares - 0.03, shares + 0.03, title=LONG, **options)  # type: ignore[arg-type]


def label_boxes(figure: Figure, axis: Axis) -> list[object]:
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    labels = [label for label in axis.get_ticklabels() if label.get_visible() and label.get_text()]
    return [label.get_window_extent(canvas.get_renderer()) for label in labels]


def collisions(boxes: list[object]) -> int:
    return sum(one.overlaps(other) for one, other in pairwise(boxes))  # type: ignore[attr-defined]


def shown(figure: Figure) -> list[str]:
    FigureCanvasAgg(figure).draw()
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]  # type: ignore[attr-defined]


def test_few_cells_get_a_panel_each() -> None:
    assert sum(axes.get_visible() for axes in estimate_of(5, 4).axes) == 5


def test_many_cells_become_one_heat_map_with_its_color_bar() -> None:
    figure = estimate_of(13, 4)

    assert len(figure.axes) == 2
    assert len(figure.axes[0].images) == 1


def test_truth_of_many_cells_is_a_second_map() -> None:
    truth = np.full((13, 4), 0.25)

    assert len(estimate_of(13, 4, truth=truth).axes) == 3


def test_panels_share_the_axis_of_shares() -> None:
    limits = {axes.get_xlim() for axes in estimate_of(5, 4).axes}

    assert len(limits) == 1


def test_shares_are_drawn_in_percent() -> None:
    figure = plot_estimate(["all"], ["flu", "cold"], [[0.7, 0.3]], [[0.6, 0.2]], [[0.8, 0.4]])

    assert [bar.get_width() for bar in figure.axes[0].patches] == pytest.approx([70, 30])  # type: ignore[attr-defined]


def test_first_value_is_on_top() -> None:
    bottom, top = estimate_of(1, 4).axes[0].get_ylim()

    assert top < bottom


def test_negative_estimates_stay_in_the_picture() -> None:
    figure = plot_estimate(["all"], ["flu", "cold"], [[1.1, -0.1]], [[1.0, -0.2]], [[1.2, 0.0]])

    low, high = figure.axes[0].get_xlim()
    assert low < -20
    assert high > 120


def test_wide_intervals_of_marked_cells_do_not_stretch_the_axis() -> None:
    low, high = [[0.4, 0.4], [-9, -9]], [[0.6, 0.6], [9, 9]]
    figure = plot_estimate(["a", "b"], ["x", "y"], np.full((2, 2), 0.5), low, high, marked=[False, True])

    assert figure.axes[0].get_xlim()[1] < 100


def test_infinite_and_unknown_numbers_are_drawn_without_a_warning() -> None:
    figure = plot_estimate(
        ["a"], ["x", "y"], [[np.nan, 0.5]], [[np.nan, -np.inf]], [[np.nan, np.inf]], marked=[True], records=[0]
    )

    assert "n = 0" in shown(figure)


def test_marked_cells_are_hatched_and_explained() -> None:
    figure = estimate_of(2, 3, marked=[False, True])

    assert [bool(axes.patches[0].get_hatch()) for axes in figure.axes] == [False, True]
    assert "* few records: read with care" in shown(figure)


def test_marked_rows_of_a_heat_map_are_hatched_and_explained() -> None:
    figure = estimate_of(13, 3, marked=np.arange(13) == 4)

    assert len(figure.axes[0].patches) == 1
    assert any("hatched: few records" in text for text in shown(figure))


def test_a_heat_map_names_the_confidence_of_its_intervals() -> None:
    assert any("the 90 % interval includes 0" in text for text in shown(estimate_of(13, 8, confidence=0.9)))


def test_a_map_of_many_cells_says_that_not_all_are_labeled() -> None:
    assert any("200 cells: one cell in 3 is labeled" in text for text in shown(estimate_of(200, 4)))
    assert not any("is labeled" in text for text in shown(estimate_of(40, 4)))


def test_a_picture_that_nobody_could_read_is_refused() -> None:
    with pytest.raises(ParameterError, match="at most 500 cells to be read, got 501") as error:
        estimate_of(501, 2)

    assert "wider bins" in (error.value.hint or "")


@pytest.mark.parametrize(
    ("text", "room", "lines"),
    [
        ("", 10, []),
        ("one two", 10, ["one two"]),
        ("one two three four five", 20, ["one two three", "four five"]),
        ("internationalization a", 21, ["internationalization", "a"]),
        ("x" * 30, 20, ["x" * 20, "x" * 10]),
    ],
)
def test_lines_of_a_title_are_balanced(text: str, room: int, lines: list[str]) -> None:
    assert balance(text, room) == lines


def test_truth_is_named_as_the_holders() -> None:
    assert "truth (holder only)" in shown(estimate_of(1, 3, truth=np.full((1, 3), 1 / 3)))


def test_legend_names_the_confidence() -> None:
    assert "90 % interval" in shown(estimate_of(1, 3, confidence=0.9))


@pytest.mark.parametrize(
    ("n_cells", "n_values"), [(1, 2), (1, 148), (5, 41), (12, 24), (13, 2), (13, 40), (40, 148), (300, 12)]
)
def test_labels_of_values_and_cells_do_not_collide(n_cells: int, n_values: int) -> None:
    figure = estimate_of(n_cells, n_values)

    axes = figure.axes[0]
    assert collisions(label_boxes(figure, axes.yaxis)) == 0
    assert collisions(label_boxes(figure, axes.xaxis)) == 0


@pytest.mark.parametrize("n_cells", [2, 7])
def test_titles_of_panels_do_not_collide(n_cells: int) -> None:
    figure = estimate_of(n_cells, 5, records=[10**6] * n_cells)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()

    boxes = [axes.title if axes.get_title() else axes._left_title for axes in figure.axes if axes.get_visible()]  # type: ignore[attr-defined]
    extents = [title.get_window_extent(canvas.get_renderer()) for title in boxes]

    assert not any(one.overlaps(other) for one, other in combinations(extents, 2))


@pytest.mark.parametrize(("n_cells", "n_values"), [(1, 2), (3, 8), (12, 12), (13, 3), (14, 30)])
def test_nothing_leaves_the_page(n_cells: int, n_values: int) -> None:
    figure = estimate_of(n_cells, n_values, records=[1000] * n_cells, marked=[True] * n_cells)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()

    box = figure.get_tightbbox(canvas.get_renderer())

    assert box.x0 >= -0.02
    assert box.y0 >= -0.02
    assert box.x1 <= figure.get_figwidth() + 0.02
    assert box.y1 <= figure.get_figheight() + 0.02


def test_dollar_signs_in_labels_are_no_formulas() -> None:
    figure = plot_estimate(["$cell$"], ["$30K$", r"$\nonsense$"], [[0.5, 0.5]], [[0.4, 0.4]], [[0.6, 0.6]], title="$t$")

    texts = shown(figure)

    assert {"$cell$", "$30K$", r"$\nonsense$", "$t$"} <= set(texts)


def test_line_breaks_in_labels_become_blanks() -> None:
    figure = plot_estimate(["a\nb"], ["x\ty"], [[1.0]], [[0.9]], [[1.0]])

    assert {"a b", "x y"} <= set(shown(figure))


def test_wrong_shape_is_refused_in_one_sentence() -> None:
    with pytest.raises(ParameterError, match=r"^plot_estimate: low must have shape \(1, 2\), got \(2,\)\.$"):
        plot_estimate(["all"], ["a", "b"], [[0.5, 0.5]], [0.4, 0.4], [[0.6, 0.6]])


def test_empty_estimate_is_refused() -> None:
    with pytest.raises(ParameterError, match="cells and values must not be empty"):
        plot_estimate([], ["a"], [], [], [])


def test_wrong_number_of_marks_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"marked must have shape \(1,\), got \(2,\)"):
        plot_estimate(["all"], ["a"], [[1.0]], [[1.0]], [[1.0]], marked=[True, False])


def test_wrong_number_of_record_counts_is_refused() -> None:
    with pytest.raises(ParameterError, match="records must have 1 entries, got 2"):
        plot_estimate(["all"], ["a"], [[1.0]], [[1.0]], [[1.0]], records=[1, 2])


def test_importing_the_room_does_not_load_matplotlib() -> None:
    code = "import sys, ldiversity.pictures._plots; sys.exit('matplotlib' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_drawing_does_not_load_pyplot() -> None:
    code = (
        "import sys; from ldiversity.pictures import plot_estimate; plot_estimate(['all'], ['a'], [[1]], [[1]], [[1]]);"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

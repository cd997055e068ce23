"""The risk-utility map."""

from __future__ import annotations

import numpy as np
import pytest

from ldiversity.errors import ParameterError
from ldiversity.pictures import plot_map


def test_errors_of_several_decades_are_drawn_on_a_logarithmic_axis() -> None:
    figure = plot_map(["a", "b"], ["2", "3"], [0.1, 0.2], [0.5, 0.01], pareto=[True, True])

    assert figure.axes[0].get_yscale() == "log"


def test_errors_of_one_decade_are_drawn_on_a_plain_axis() -> None:
    figure = plot_map(["a", "b"], ["2", "3"], [0.1, 0.2], [0.5, 0.4], pareto=[True, True])

    assert figure.axes[0].get_yscale() == "linear"


def test_an_error_of_nothing_can_be_drawn() -> None:
    figure = plot_map(["a", "b"], ["2", "3"], [0.1, 0.2], [0.5, 0.0], pareto=[True, True])

    assert figure.axes[0].get_yscale() == "log"


def test_the_legend_names_every_method_once_the_front_the_limit_and_the_recommended_run() -> None:
    figure = plot_map(
        ["a", "b", "b"],
        ["2", "2", "3"],
        [0.3, 0.2, 0.1],
        [0.1, 0.2, 0.3],
        pareto=[True, True, True],
        chosen=1,
        limit=0.2,
    )
    legend = figure.axes[0].get_legend()

    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "no other is better in both",
        "a",
        "b",
        "limit of risk",
        "recommended: b 2",
    ]


def test_no_two_of_ten_methods_look_alike() -> None:
    names = [f"m{place}" for place in range(10)]
    figure = plot_map(names, ["2"] * 10, [0.1] * 10, [0.2] * 10, pareto=[True] * 10)
    lines = [line for line in figure.axes[0].get_lines() if line.get_label() in names]

    assert len({line.get_marker() for line in lines}) == 10


def test_releases_of_different_series_are_not_joined() -> None:
    figure = plot_map(
        ["a", "a"], ["x", "y"], [0.1, 0.2], [0.2, 0.1], pareto=[False, False], series=["a x", "a y"]
    )  # fmt: skip
    lines = [line for line in figure.axes[0].get_lines() if line.get_linestyle() == "-" and line.get_linewidth() < 1]

    assert [len(np.asarray(line.get_xdata())) for line in lines] == [1, 1]


def test_no_label_covers_another_label_of_fifty() -> None:
    rng = np.random.default_rng(5)
    risk, error = rng.random(50) / 10, rng.random(50) / 10
    figure = plot_map(["a"] * 50, ["label"] * 50, risk, error, pareto=[True] * 50)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]

    assert boxes
    assert not [(i, j) for i, one in enumerate(boxes) for j, other in enumerate(boxes[:i]) if one.overlaps(other)]


@pytest.mark.parametrize("error", [[0.1], []])
def test_columns_of_different_lengths_are_refused(error: list[float]) -> None:
    with pytest.raises(ParameterError, match="as long as each other"):
        plot_map(["a", "b"], ["2", "3"], [0.1, 0.2], error, pareto=[True, True])


def test_the_map_says_where_better_is_and_marks_what_is_recommended() -> None:
    figure = plot_map(
        ["a", "b"], ["l=2", "l=2"], [0.3, 0.2], [0.1, 0.2], pareto=[True, True], chosen=1, title="2 ways"
    )  # fmt: skip
    axes = figure.axes[0]
    texts = [text.get_text() for text in axes.texts]

    assert {"better", "recommended (l=2)"} <= set(texts)
    assert axes.get_xlabel().endswith("further left is safer")
    assert axes.get_ylabel().endswith("lower is more useful")


def test_the_arrow_covers_no_mark() -> None:
    grid = np.linspace(0.05, 0.95, 12)
    risk, error = (part.ravel() for part in np.meshgrid(grid, grid))
    figure = plot_map(["a"] * 144, [""] * 144, risk, error, pareto=[False] * 144)

    assert "better" not in [text.get_text() for text in figure.axes[0].texts]


def test_equal_marks_with_equal_labels_are_labeled_once() -> None:
    figure = plot_map(["a", "b"], ["l=2", "l=2"], [0.2, 0.2], [0.1, 0.1], pareto=[True, True])

    assert [text.get_text() for text in figure.axes[0].texts].count("l=2") == 1

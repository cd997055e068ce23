"""Pictures of arrays: every one in the same style, none of them knows where its numbers come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ldiversity.pictures._drawn import Drawn, Picture
from ldiversity.pictures._figures import (
    BLUE,
    CHARACTER_INCHES,
    GRAY,
    GREEN,
    INK,
    ORANGE,
    PALE,
    PURPLE,
    SERIES,
    SKY,
    YELLOW,
    balance,
    label_inches,
    new_figure,
    save_figure,
    shorten,
    style,
    write_title,
)
from ldiversity.pictures._gauges import MOST_GAUGES, Gauge, draw_counts, draw_gauges
from ldiversity.pictures._grid import Grid
from ldiversity.pictures._heat import draw as draw_heat
from ldiversity.pictures._map import plot_map
from ldiversity.pictures._plots import plot_estimate
from ldiversity.pictures._svg import embedded_picture, svg_source, svg_text

if TYPE_CHECKING:  # for annotations of other rooms, which do not import matplotlib
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure

__all__ = [
    "BLUE",
    "CHARACTER_INCHES",
    "GRAY",
    "GREEN",
    "INK",
    "MOST_GAUGES",
    "ORANGE",
    "PALE",
    "PURPLE",
    "SERIES",
    "SKY",
    "YELLOW",
    "Drawn",
    "Gauge",
    "Grid",
    "Picture",
    "balance",
    "draw_counts",
    "draw_gauges",
    "draw_heat",
    "embedded_picture",
    "label_inches",
    "new_figure",
    "plot_estimate",
    "plot_map",
    "save_figure",
    "shorten",
    "style",
    "svg_source",
    "svg_text",
    "write_title",
]

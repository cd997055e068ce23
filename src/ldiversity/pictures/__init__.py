"""Pictures of arrays: every one in the same style, none of them knows where its numbers come from."""

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
from ldiversity.pictures._grid import Grid
from ldiversity.pictures._heat import draw as draw_heat
from ldiversity.pictures._map import plot_map
from ldiversity.pictures._picture import Picture
from ldiversity.pictures._plots import plot_estimate, plot_inclusion, plot_plan
from ldiversity.pictures._svg import embedded_picture, svg_source

__all__ = [
    "BLUE",
    "CHARACTER_INCHES",
    "GRAY",
    "GREEN",
    "INK",
    "ORANGE",
    "PALE",
    "PURPLE",
    "SERIES",
    "SKY",
    "YELLOW",
    "Grid",
    "Picture",
    "balance",
    "draw_heat",
    "embedded_picture",
    "label_inches",
    "new_figure",
    "plot_estimate",
    "plot_inclusion",
    "plot_map",
    "plot_plan",
    "save_figure",
    "shorten",
    "style",
    "svg_source",
    "write_title",
]

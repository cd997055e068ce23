"""A picture of a report, with its table and its words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Picture"]


@dataclass(frozen=True)
class Picture:
    """A picture, its table, and what it shows in words.

    Attributes
    ----------
    part
        The part of the report where it stands: ``"distributions"``, ``"contingency"``, ``"classes"``, ``"risks"`` or
        ``"attacks"``.
    name
        The stem of its files.
    title, alt
        What it shows, and the same in a sentence or two.
    heads, rows
        Its table.
    draw
        Draws it.
    """

    part: str
    name: str
    title: str
    alt: str
    heads: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    draw: Callable[[], Figure]

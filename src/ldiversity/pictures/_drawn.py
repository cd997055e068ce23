"""What every answer with a picture offers, and the pictures of a report."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, overload

from ldiversity.errors import ParameterError
from ldiversity.pictures._figures import save_figure
from ldiversity.pictures._svg import svg_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Drawn", "Picture"]


class Drawn:
    """An answer with a picture: as a figure, in a file, within a figure of others, or as text."""

    __slots__ = ()

    @abstractmethod
    def figure(self) -> Figure:
        """Draw it, as a figure of matplotlib."""

    @abstractmethod
    def _draw_into(self, ax: Axes) -> None: ...

    @overload
    def plot(self, path: str | os.PathLike[str]) -> Path: ...

    @overload
    def plot(self, *, ax: Axes) -> Axes: ...

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Path | Axes:
        """Draw it into a file, or into axes of a figure that you have.

        Parameters
        ----------
        path
            Ends in .png, .svg or .pdf; an existing file is replaced.
        ax
            Axes of matplotlib. What was drawn there before stays.

        Returns
        -------
        The path, or the axes.
        """
        if ax is not None and path is None:
            self._draw_into(ax)
            return ax
        if path is None or ax is not None:
            raise ParameterError("plot", "either path or ax must be given")
        return save_figure(self.figure(), path)

    def svg(self) -> str:
        """Draw it as SVG text, for a page of your own; no file is written."""
        return svg_text(self.figure())


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

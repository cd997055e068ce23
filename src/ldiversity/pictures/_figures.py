"""What all pictures share: colors, type, labels that fit, and saving."""

from __future__ import annotations

import io
import math
import secrets
import textwrap
import unicodedata
import warnings
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from ldiversity.base.outputs import check_outside_releases
from ldiversity.errors import LDiversityWarning, ParameterError, StorageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from os import PathLike

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

__all__ = ["save_figure"]

# From the palette of Okabe and Ito, which people with any common color vision tell apart.
BLUE: Final = "#0072B2"
SKY: Final = "#A6CEE3"
ORANGE: Final = "#D55E00"
RUST: Final = "#B34700"  # orange, dark enough to be seen on sky blue
GREEN: Final = "#009E73"
PURPLE: Final = "#CC79A7"
YELLOW: Final = "#E69F00"
INK: Final = "#262626"
GRAY: Final = "#737373"
PALE: Final = "#E3E3E3"
UNSURE: Final = "#595959"
SERIES: Final = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), (PURPLE, "D"), (YELLOW, "v"))

LINE_INCHES: Final = 0.155
"""Height of a line of a label."""

CHARACTER_INCHES: Final = 0.075
"""Width of a character of a label."""

_TITLE_CHARACTER_INCHES: Final = 0.122

_FORMATS: Final = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
_FALLBACK_FONTS: Final = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Hiragino Sans", "Yu Gothic", "Microsoft YaHei", "IPAexGothic",
    "Noto Sans", "Arial Unicode MS",
)  # fmt: skip
_STYLE: Final[dict[Any, Any]] = {
    "text.parse_math": False,
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.0,
    "axes.edgecolor": GRAY,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "figure.titlesize": 12.0,
    "grid.color": PALE,
    "grid.linewidth": 0.8,
    "hatch.linewidth": 0.6,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "svg.hashsalt": "ldiversity",
    "text.color": INK,
    "xtick.color": GRAY,
    "xtick.labelcolor": INK,
    "xtick.labelsize": 8.5,
    "ytick.color": GRAY,
    "ytick.labelcolor": INK,
    "ytick.labelsize": 8.5,
}


def save_figure(figure: Figure, path: str | PathLike[str]) -> Path:
    """Write a figure as PNG, SVG or PDF, by the extension of `path`.

    The file appears complete or not at all, and the same figure gives the same bytes: no date is written
    into it.

    Parameters
    ----------
    figure
        What a function of this package, or matplotlib, has drawn.
    path
        Where to; an existing file is replaced.

    Warns
    -----
    LDiversityWarning
        When the installed fonts lack characters of a label; these are drawn as boxes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> save_figure(Figure(), "picture.docx")
    Traceback (most recent call last):
    ...
    ldiversity.errors.ParameterError: save_figure: path must end in .png, .svg or .pdf, got '.docx'.
    """
    path = Path(path)
    extension = path.suffix.lower()
    if extension not in _FORMATS:
        raise ParameterError("save_figure", "path", "must end in .png, .svg or .pdf", got=repr(path.suffix))
    check_outside_releases("save_figure", path)
    if not path.parent.is_dir():
        raise StorageError("save_figure", "the folder of path must exist", hint=f"Make {str(path.parent)!r} first.")
    content = _render(figure, extension)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StorageError("save_figure", f"{path.name!r} could not be written ({type(error).__name__})") from error
    return path


def _render(figure: Figure, extension: str) -> bytes:
    stream = io.BytesIO()
    with warnings.catch_warnings(record=True) as caught, style():
        warnings.simplefilter("always")
        figure.savefig(stream, format=extension[1:], dpi=160, metadata=_FORMATS[extension], facecolor="white")
    if any("missing from font" in str(warning.message) for warning in caught):
        rule = (
            "the installed fonts lack some characters of the labels, which are drawn as boxes; a font such as Noto Sans"
        )
        warnings.warn(LDiversityWarning("save_figure", f"{rule} CJK has them"), stacklevel=3)
    return stream.getvalue()


def style() -> AbstractContextManager[None]:
    """Set this package's type and colors for the time of a ``with`` block."""
    import matplotlib as mpl
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    families = ["DejaVu Sans", *(name for name in _FALLBACK_FONTS if name in installed)]
    return mpl.rc_context({**_STYLE, "font.family": families})


def new_figure(width: float, height: float) -> Figure:
    """Make an empty figure, in inches, without touching pyplot's global state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def write_title(figure: Figure, title: str) -> None:
    """Write a title above the panels, on two lines where one is too narrow."""
    room = int(figure.get_figwidth() / _TITLE_CHARACTER_INCHES)
    lines = balance(shorten(title, 2 * room - 8), room)
    if lines:
        figure.suptitle("\n".join(lines), fontweight="bold")


def balance(text: str, room: int) -> list[str]:
    """Wrap a text into as few lines of `room` characters as it takes, all about equally long.

    Examples
    --------
    >>> balance("Shares by sex, estimated from the release", 38)
    ['Shares by sex, estimated', 'from the release']
    """
    lines = textwrap.wrap(text, room)
    longest = max(map(len, text.split()), default=room)
    for narrower in range(longest, room):
        tried = textwrap.wrap(text, narrower)
        if len(tried) == len(lines):
            return tried
    return lines


def write_notes(figure: Figure, notes: Sequence[str]) -> None:
    """Write remarks below the panels, below each other where they do not fit on one line."""
    if notes:
        line = (" " * 6).join(notes)
        fits = text_width(line) * CHARACTER_INCHES < figure.get_figwidth()
        figure.supxlabel(line if fits else "\n".join(notes), size=8, color=GRAY)


def sequential(darkest: float = 1.0) -> Colormap:
    """Pale to dark blue, so that a little is told from nothing (white)."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    colors: Any = colormaps["Blues"]
    return ListedColormap([colors(0.06 + (darkest - 0.06) * step / 255) for step in range(256)])


def luminance(color: Any) -> float:  # noqa: ANN401 - any color of matplotlib
    """Give the relative luminance of a color as accessibility guidelines define it, from 0 to 1.

    Examples
    --------
    >>> luminance("white"), luminance("black")
    (1.0, 0.0)
    """
    from matplotlib.colors import to_rgb

    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(color)]  # noqa: PLR2004 - of sRGB
    return round(0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2], 12)


def text_on(color: Any) -> str:  # noqa: ANN401 - any color of matplotlib
    """Give black or white, whichever is read better on a color.

    Examples
    --------
    >>> text_on("white"), text_on(BLUE)
    ('black', 'white')
    """
    light = luminance(color)
    return "black" if (light + 0.05) ** 2 > 0.05 * 1.05 else "white"


def shorten(label: str, most: int) -> str:
    """Fit a label into `most` columns of text, on one line.

    Examples
    --------
    >>> shorten("chronic obstructive lung disease", 16)
    'chronic obstruc…'
    """
    # What cannot fit is never measured: a label may have ten thousand characters.
    line = "".join(" " if unicodedata.category(mark)[0] in "CZ" else mark for mark in label).strip()
    if len(line) <= most and text_width(line) <= most:
        return line
    ends = accumulate(map(text_width, line[:most]))
    line = line[: sum(end < most for end in ends)]
    return f"{line.rstrip()}…"


def text_width(text: str) -> int:
    """Columns that a text takes: wide characters of East Asia count twice.

    Examples
    --------
    >>> text_width("flu"), text_width("風邪")
    (3, 4)
    """
    return sum(2 if unicodedata.east_asian_width(mark) in "WF" else 1 for mark in text)


def label_inches(labels: Sequence[str]) -> float:
    """Give the width of the longest label."""
    return CHARACTER_INCHES * max(map(text_width, labels), default=0)


def label_axis(axis: Axis, labels: Sequence[str], inches: float, **text: Any) -> int:  # noqa: ANN401 - matplotlib's
    """Label positions 0, 1, ... of an axis that is `inches` long; where labels would collide, every n-th.

    Returns that n.
    """
    step = max(1, math.ceil(LINE_INCHES * len(labels) / inches))
    positions = range(0, len(labels), step)
    axis.set_ticks(list(positions), [labels[position] for position in positions], **text)
    return step


def figure_of(axes: Axes) -> Figure:
    """The whole figure in which axes stand, also where they stand in a part of it."""
    figure = axes.figure
    return cast("Figure", getattr(figure, "figure", figure))

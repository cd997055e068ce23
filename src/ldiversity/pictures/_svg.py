"""Pictures as small SVG texts for a page."""

from __future__ import annotations

import base64
import io
import re
import warnings
from typing import TYPE_CHECKING, Final

from ldiversity.base.html import escape
from ldiversity.pictures._figures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["embedded_picture", "svg_source", "svg_text"]

_HEAD: Final = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_METADATA: Final = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_FAMILY: Final = re.compile(r'(<text style="[^"<>]*?(?:font-family: |font: [^;"<>]*?px ))[^;"<>]*')
_GAP: Final = re.compile(r">\s+<")


def svg_text(figure: Figure) -> str:
    """Give a figure as SVG, with its texts as texts, which readers see in a font that they have.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> svg_text(Figure())[:4]
    '<svg'
    """
    import matplotlib as mpl

    stream = io.StringIO()
    with warnings.catch_warnings(), style(), mpl.rc_context({"svg.fonttype": "none"}):
        warnings.filterwarnings("ignore", message=".*missing from font")  # the reader's fonts draw them
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None}, facecolor="white")
    text = _METADATA.sub("", _COMMENT.sub("", _HEAD.sub("", stream.getvalue())))
    return _GAP.sub("><", _FAMILY.sub(r"\1'DejaVu Sans', Verdana, sans-serif", text))


def svg_source(figure: Figure) -> str:
    """Give a figure as the source of an image: the picture itself, in which nothing can run."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg_text(figure).encode('utf-8')).decode('ascii')}"


def embedded_picture(figure: Figure, alt: str) -> str:
    """Give a figure as a paragraph of HTML that needs no other file; `alt` says in words what it shows."""
    return f'<p><img alt="{escape(alt)}" style="max-width:100%" src="{svg_source(figure)}"></p>'

"""How objects of lower rooms show themselves with the pictures of the report, which they do not import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ldiversity.base.above import from_above

if TYPE_CHECKING:
    import os
    from pathlib import Path

__all__ = ["ShownInNotebooks", "save_picture"]


class ShownInNotebooks:
    """A result that notebooks show as a page, with picture and table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(from_above("faces.report", "notebook_page")(self))


def save_picture(shown: object, path: str | os.PathLike[str]) -> Path:
    """Write the picture that notebooks show, as PNG, SVG or PDF, by the extension of `path`."""
    written: Path = from_above("faces.report", "save_picture")(shown, path)
    return written

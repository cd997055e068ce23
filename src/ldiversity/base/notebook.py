"""How answers of lower rooms show themselves in notebooks, with the pages of a room that they do not import."""

from __future__ import annotations

from ldiversity.base.above import from_above

__all__ = ["ShownInNotebooks"]


class ShownInNotebooks:
    """A result that notebooks show as a page, with picture and table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(from_above("faces.report", "notebook_page")(self))

"""How objects of lower rooms show themselves with the pictures of the report, a room that they do not import."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import os
    from pathlib import Path

__all__ = ["ShownInNotebooks", "save_picture"]

# By name: a room that imported the report would load matplotlib for everyone, and stand above the report.
_NOTEBOOK: Final = "ldiversity.report._notebook"


class ShownInNotebooks:
    """Something that notebooks show as a page, with picture and table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(_room().fragment(self))


def save_picture(shown: object, path: str | os.PathLike[str]) -> Path:
    """Write the picture that notebooks show, as PNG, SVG or PDF, by the extension of `path`."""
    written: Path = _room().save(shown, path)
    return written


def _room() -> Any:  # noqa: ANN401 - a module
    return import_module(_NOTEBOOK)

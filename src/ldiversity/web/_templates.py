"""Pages made from templates, in which every text is escaped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["page_templates"]


def page_templates(folder: Path) -> Environment:
    """The templates of a folder.

    All texts are escaped, whatever the ending of a file is; a name that a page was not given is a fault, not a blank.

    Examples
    --------
    >>> page_templates(Path(".")).from_string("{{ said }}").render(said="<b>")
    '&lt;b&gt;'
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(folder, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )

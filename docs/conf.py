"""How Sphinx makes the site from these pages and the docstrings: ``make docs``."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tools.reference_pages import write_reference  # noqa: E402 - the repository is not installed

project = "ldiversity"
author = "ldiversity contributors"
copyright = "ldiversity contributors, Apache-2.0"  # noqa: A001 - Sphinx's name for it

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_heading_anchors = 4
napoleon_google_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "show-inheritance": False}
html_theme = "furo"
html_title = "ldiversity"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False

write_reference(Path(__file__).parent / "reference")

# The archive of sources has neither the gallery nor pictures: pages then do not link or show them.
_ABSENT = "|".join(name for name in ("gallery", "pictures") if not (Path(__file__).parent / name).is_dir())
_LEFT_OUT = re.compile(
    rf"^(?:{_ABSENT})/\w+\n|!\[[^\]]*\]\((?:\.\./)*(?:{_ABSENT})/[^)]*\)|\[([^\]]+)\]\((?:\.\./)*(?:{_ABSENT})/[^)]*\)",
    re.MULTILINE,
)
if _ABSENT:
    sys.stderr.write(f"The site is built without {_ABSENT.replace('|', ' and ')}, which only the repository has.\n")

_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?:README|CONTRIBUTING)\.md[^)]*\)")


def setup(app: Any) -> None:  # noqa: ANN401 - Sphinx passes itself
    """Files beside this folder are no pages: the site names them, and the repository links them."""
    app.connect("source-read", lambda _, __, text: text.__setitem__(0, _own_links(text[0])))


def _own_links(text: str) -> str:
    """Keep the words of links to what the site does not have."""
    found = _OUTSIDE.sub(r"\1", text)
    return _LEFT_OUT.sub(lambda link: link[1] or "", found) if _ABSENT else found

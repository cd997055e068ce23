"""What a package index shows: the README without what only works inside the repository.

Pictures and pages are not on the index, and the project has no public address that absolute links could name. So
pictures and their captions go, and links to files become plain text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n\n(?:\*[^*]+\*\n\n)?", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?://)[^)]+\)")


def index_readme(text: str) -> str:
    """Give the README as a package index shows it.

    Examples
    --------
    >>> index_readme("A [guide](docs/guide.md), [RFC](https://www.rfc-editor.org).")
    'A guide, [RFC](https://www.rfc-editor.org).'
    """
    return _LINK.sub(r"\1", _PICTURE.sub("", text))


class ReadmeHook(MetadataHookInterface):
    """Adds the README to the metadata of the package while it is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the text that package indexes show."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": index_readme(text)}

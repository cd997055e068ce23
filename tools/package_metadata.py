"""What a package index shows: the README without what only works inside the repository, and where the repository is.

Pictures and pages are not on the index, so pictures and their captions go, and links to files become plain text. The
address of the repository is the forge's to say: a package that is built there names it, one that is built elsewhere
names none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n\n(?:\*[^*]+\*\n\n)?", re.MULTILINE)
_PAGES = {"Documentation": "docs/index.md", "Changelog": "CHANGELOG.md", "Security": "SECURITY.md"}
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?://)[^)]+\)")


def index_readme(text: str) -> str:
    """Give the README as a package index shows it.

    Examples
    --------
    >>> index_readme("A [guide](docs/guide.md), [RFC](https://www.rfc-editor.org).")
    'A guide, [RFC](https://www.rfc-editor.org).'
    """
    return _LINK.sub(r"\1", _PICTURE.sub("", text))


def urls(environment: Mapping[str, str], root: Path) -> dict[str, str]:
    """Give the addresses of the repository and its pages, from the variables that a forge sets where it runs a job.

    They are about the job's own checkout. The job of another project may build this package in another folder.

    Examples
    --------
    >>> job = {"GITHUB_SERVER_URL": "https://forge.example", "GITHUB_REPOSITORY": "people/ldiversity"}
    >>> urls(job | {"GITHUB_WORKSPACE": "/work"}, Path("/work"))["Issues"]
    'https://forge.example/people/ldiversity/issues'
    >>> urls(job | {"GITHUB_WORKSPACE": "/work"}, Path("/tmp/build")), urls({}, Path("/work"))
    ({}, {})
    """
    server, repository = environment.get("GITHUB_SERVER_URL"), environment.get("GITHUB_REPOSITORY")
    checkout = environment.get("GITHUB_WORKSPACE")
    if not server or not repository or not checkout or Path(checkout).resolve() != root.resolve():
        return {}
    home = f"{server}/{repository}"
    pages = {name: f"{home}/blob/HEAD/{path}" for name, path in _PAGES.items()}
    return {"Homepage": home, "Issues": f"{home}/issues", **pages}


class MetadataHook(MetadataHookInterface):
    """Adds the README and the addresses to the metadata of the package while it is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the text and the links that package indexes show."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": index_readme(text)}
        metadata["urls"] = urls(os.environ, Path(self.root))

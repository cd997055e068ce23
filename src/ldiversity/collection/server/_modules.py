"""The scripts that a page needs, found by their imports, so that a phone can get all of them at once."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Final

__all__ = ["needed_modules"]

_IMPORTED: Final = re.compile(r'^(?:import|export)\b[^;"]*?\bfrom "(\.[^"]+)";$', re.MULTILINE)


def needed_modules(folder: Path, first: str) -> tuple[str, ...]:
    """The modules that one imports, and those that these import, in the order in which they are found.

    Parameters
    ----------
    folder
        Where the modules are; paths are relative to it.
    first
        The module of the page, which is not named again.
    """
    found = [first]
    for path in found:  # grows while it is read
        imported = _IMPORTED.findall((folder / path).read_text(encoding="utf-8"))
        places = (posixpath.normpath(posixpath.join(posixpath.dirname(path), one)) for one in imported)
        found += [place for place in dict.fromkeys(places) if place not in found]
    return tuple(found[1:])

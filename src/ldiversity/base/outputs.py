"""Where results must not be written: into a release, which then could not be loaded any more."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ldiversity.errors import ParameterError

__all__ = ["check_outside_releases", "release_around"]

_MANIFEST: Final = "release.json"
_MARK: Final = b'"ldiversity-release"'
_HEAD: Final = 200
"""Manifests begin with what they are."""


def release_around(path: str | os.PathLike[str]) -> Path | None:
    """The release folder that a file or folder lies in; None when it lies in none.

    Examples
    --------
    >>> release_around("results.csv") is None
    True
    """
    try:
        parents = Path(path).resolve().parents
    except (OSError, ValueError, RuntimeError):  # no path at all: writing will say so
        return None
    return next((folder for folder in parents if _is_release(folder)), None)


def check_outside_releases(owner: str, path: str | os.PathLike[str], parameter: str = "path") -> None:
    """Refuse to write into the folder of a release."""
    if release_around(path) is not None:
        raise ParameterError(
            owner, parameter, "must not lie in the folder of a release", got=repr(os.fspath(path))
        ).with_hint("Choose a place outside it: a release holds its own files and nothing else.")


def _is_release(folder: Path) -> bool:
    try:
        with (folder / _MANIFEST).open("rb") as file:
            return _MARK in file.read(_HEAD)
    except OSError:
        return False

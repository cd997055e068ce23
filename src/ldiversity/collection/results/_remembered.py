"""The file that keeps published results when a server is started anew."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ldiversity.base.private_files import replace_private
from ldiversity.collection.results._answer import ResultsAnswer
from ldiversity.errors import ParameterError, StorageError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["Profiles", "Remembered", "recall", "remember"]

Profiles: TypeAlias = tuple[tuple[tuple[int, ...], int], ...]
"""How many of the counted reports have each combination of codes, in the columns by which results are shown."""


@dataclass(frozen=True)
class Remembered:
    """What was published, and of whom.

    Attributes
    ----------
    results
        The results.
    counted
        The profiles of each part of the survey. They tell what a further publication would add, and no set.
    """

    results: ResultsAnswer
    counted: tuple[Profiles, ...]


def remember(file: Path, published: Remembered) -> None:
    """Write it in one step, for its owner only; a reader finds the old one or the new one."""
    said = {"results": published.results.to_dict(), "counted": published.counted}
    try:
        replace_private(file, json.dumps(said, allow_nan=False).encode())
    except OSError as error:
        raise StorageError("results", f"file {str(file)!r} cannot be written: {error.strerror}") from None


def recall(file: Path, survey_id: str, parts: int) -> Remembered | None:
    """What was published before; None if nothing was, or it is another survey's."""
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError("results", f"file {str(file)!r} cannot be read: {error.strerror}") from None
    try:
        published = _reader().validate_json(content)
    except ValueError:
        published = None
    if published is None or (published.results.survey == survey_id and len(published.counted) != parts):
        raise ParameterError("results", f"file {str(file)!r} must be one that this command wrote").with_hint(
            "Remove it: results then start anew, and their difference from those shown before may show single answers."
        )
    return published if published.results.survey == survey_id else None


@cache
def _reader() -> TypeAdapter[Remembered]:
    from pydantic import TypeAdapter

    return TypeAdapter(Remembered)

"""From files that were written and checked one by one to the files of a release."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any

from ldiversity.base.progress import in_context, tell
from ldiversity.errors import StorageError
from ldiversity.release._checksums import sha256_of
from ldiversity.release._manifest import MANIFEST_NAME, Manifest
from ldiversity.release._written import PartWriter, Written, is_part

__all__ = ["entry_of", "settle", "write_manifest"]


def settle(folder: Path, writer: PartWriter, written: Sequence[Written]) -> list[Written]:
    """Give files that hold rows their final names, in this order, after checking that they are as they were written.

    `StorageError` when a file is missing, is there twice or was changed.
    """
    filled = [one for one in written if one.rows]
    if len({one.file for one in filled}) != len(filled):
        raise _changed("one of the files was written twice")
    with ThreadPoolExecutor() as pool:
        list(pool.map(in_context(_check), repeat(folder), filled))
    return [_renamed(folder, writer, one, None if len(filled) == 1 else place) for place, one in enumerate(filled, 1)]


def write_manifest(folder: Path, manifest: Manifest, text: str) -> None:
    """Make the folder a release: it holds the files that the manifest names, and now the manifest.

    Attempts of tasks that failed, or that came second, may have left files. They are removed as late as possible.
    """
    for path in folder.iterdir():
        if is_part(path.name) and path.name not in manifest.files:
            path.unlink()
    # The manifest comes last: a folder without one is no release.
    (folder / MANIFEST_NAME).write_text(text, encoding="utf-8")


def entry_of(written: Sequence[Written]) -> dict[str, Any]:
    """What a manifest says about one file, or about several."""
    each = [{name: getattr(one, name) for name in ("file", "rows", "bytes", "sha256")} for one in written]
    if len(each) == 1:
        return each[0]
    return {**{total: sum(one[total] for one in each) for total in ("rows", "bytes")}, "files": each}


def _renamed(folder: Path, writer: PartWriter, one: Written, number: int | None) -> Written:
    name = writer.file_name() if number is None else f"{writer.stem}_{number}.{writer.data_format}"
    if one.file != name:
        (folder / one.file).rename(folder / name)
    return replace(one, file=name)


def _check(folder: Path, one: Written) -> None:
    tell(0.0)
    file = folder / one.file
    if file.is_symlink() or not file.is_file():
        raise _changed("one of the files is missing")
    if file.stat().st_size != one.bytes or sha256_of(file) != one.sha256:
        raise _changed("one of the files was changed after it was checked")


def _changed(what: str) -> StorageError:
    return StorageError("output", what).with_hint(
        "Nothing was published. Publish again, into a folder that nothing else writes to."
    )

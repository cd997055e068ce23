"""A folder that gets its name only when it is complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ldiversity.base.ending import heed_request_to_end, orderly_end, remove_folder
from ldiversity.base.memory import lacks_memory, not_enough_memory
from ldiversity.base.outputs import check_outside_releases
from ldiversity.errors import LDiversityError, ParameterError, ReleaseFormatError, StorageError
from ldiversity.release._exchange import exchange
from ldiversity.release._leftovers import held, new_private_folder, put_back_retired, remove_leftovers, retired_name
from ldiversity.release._manifest import read_manifest
from ldiversity.sentences import Setting, say

__all__ = ["staging_folder"]


@contextmanager
def staging_folder(target: Path, *, overwrite: bool) -> Iterator[Path]:
    """A private folder beside `target` that becomes `target` when the block ends well, and vanishes otherwise.

    An old release keeps its name until the new one takes it, in one step where the system can do that. Where it
    cannot, and this run is killed between two steps, the next run puts the old release back.
    """
    try:
        target = _resolved(target)
        check_outside_releases("output", target, "folder")
        put_back_retired(target)
        if target.exists():
            _check_replaceable(target, overwrite=overwrite)
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(target)
        with orderly_end(), new_private_folder(target) as staging:
            try:
                yield staging
                heed_request_to_end()
                _promote(staging, target, overwrite=overwrite)
            finally:
                remove_folder(staging)
    except OSError as error:
        if isinstance(error, LDiversityError):
            raise
        if lacks_memory(error):
            raise not_enough_memory("output") from None
        reason = error.strerror or "the disk may be full"
        raise StorageError("output", f"folder {str(target)!r} cannot be written: {reason}").with_hint(
            "Nothing was published. Choose another folder, or make room on the disk."
        ) from None


def _resolved(target: Path) -> Path:
    try:
        return target.resolve()
    except ValueError:
        raise ParameterError("output", "the path of the folder must not contain a zero byte") from None
    except RuntimeError:  # so older Pythons call it; newer ones say nothing, and the folder cannot be made
        raise ParameterError(
            "output", f"{str(target)!r} must not be a link that leads back to itself", hint="Choose another folder."
        ) from None


def _check_replaceable(target: Path, *, overwrite: bool) -> None:
    """Refuse a target that exists, unless it may be overwritten and holds a release and nothing else."""
    if not target.is_dir():
        raise ParameterError("output", f"{str(target)!r} must be a folder, but is a file").with_hint(
            "Choose another name for the folder."
        )
    replaceable = _is_release_alone(target)
    if not overwrite:
        # What could not be overwritten anyway is not to be tried.
        ways = say("Choose another folder, or use {}.", Setting("overwrite", True))
        raise ParameterError(
            "output",
            f"folder {str(target)!r} must not exist yet",
            hint=ways if replaceable else "Choose another folder.",
        )
    if not replaceable:
        raise ParameterError(
            "output", f"{str(target)!r} must be a release, and hold nothing else, to be overwritten"
        ).with_hint("Choose another folder.")


def _is_release_alone(target: Path) -> bool:
    try:
        manifest = read_manifest(target)
    except ReleaseFormatError:
        return False
    files = {path.name for path in target.iterdir() if path.is_file() and not path.is_symlink()}
    return files == {path.name for path in target.iterdir()} == manifest.files


def _promote(staging: Path, target: Path, *, overwrite: bool) -> None:
    """Give the finished folder its name. What had the name before is then at `staging`, or gone."""
    _sync(staging)
    staging.chmod(_usual_mode(staging))
    if not (overwrite and target.exists()):
        # A folder that appeared meanwhile is never replaced: renaming onto one that holds anything fails.
        staging.rename(target)
    else:
        _check_replaceable(target, overwrite=True)
        if not exchange(staging, target):
            _replace(staging, target)
    _sync_folder(target.parent)


def _replace(staging: Path, target: Path) -> None:
    """Replace a release in two steps. The old one is renamed first, and put back on any error."""
    retired = retired_name(target)
    with held(target):
        target.rename(retired)
        try:
            staging.rename(target)
        except BaseException:
            retired.rename(target)
            raise
        remove_folder(retired)


def _sync(folder: Path) -> None:
    """Make sure that every file is on the disk before the folder gets its name."""
    # Folders within got their own names in the same way.
    for path in (path for path in folder.iterdir() if path.is_file()):
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _usual_mode(staging: Path) -> int:
    """The mode that a new folder gets here. One is made to find out: the umask cannot be read without changing it."""
    probe = staging / "mode"
    probe.mkdir()
    mode = probe.stat().st_mode & 0o777
    probe.rmdir()
    return mode

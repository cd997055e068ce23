"""Whether a file is still the one that was opened: a table is read several times, and all passes must see the same."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ldiversity.errors import SchemaError

__all__ = ["OpenedFile"]


@dataclass(frozen=True)
class OpenedFile:
    """A file as it was when it was opened.

    Parameters
    ----------
    path
        Its name.
    known
        Which file had that name, how many bytes it had, when it was last written and when anything about it last
        changed, which nobody can set back; None when that was unknown.
    """

    path: Path
    known: tuple[int, ...] | None

    @classmethod
    def at(cls, path: Path) -> OpenedFile:
        """The file that has this name now."""
        return cls(path, _known(path))

    def check(self) -> None:
        """Raise `SchemaError` if another file has the name now, or somebody wrote to the file.

        Examples
        --------
        >>> OpenedFile(Path("people.csv"), (1, 2, 3, 4, 5)).check()
        Traceback (most recent call last):
        ldiversity.errors.SchemaError: people.csv: the file must stay as it is while it is read, got another one.
        Hint: Run the same again, on a file that nobody writes meanwhile.
        """
        if self.known is not None and _known(self.path) != self.known:
            raise SchemaError(
                self.path.name, "the file must stay as it is while it is read", got="another one"
            ).with_hint("Run the same again, on a file that nobody writes meanwhile.")


def _known(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

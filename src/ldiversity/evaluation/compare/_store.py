"""A folder of finished runs, so that users can interrupt and extend a comparison."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ldiversity._version import __version__
from ldiversity.base.answers import document_of
from ldiversity.base.private_files import write_private
from ldiversity.base.randomness import Key, Secret
from ldiversity.errors import ParameterError, StorageError
from ldiversity.evaluation.compare._fingerprint import fingerprint
from ldiversity.evaluation.compare._run import ComparedRun, run_from_document
from ldiversity.sentences import Sentence

__all__ = ["RunStore"]

_FORMAT: Final = "ldiversity-comparison-run"
_VERSION: Final = 4
_KEY_FILE: Final = "comparison.key"
_ENDING: Final = ".run.json"
_TEXTS: Final = ("reason", "hint")
_MOST_BYTES: Final = 1_000_000
_README: Final = (
    "Runs of `ldiversity compare`, computed with the original table. They hold no cell of it, but what attackers\n"
    "achieve and which errors estimates have. Keep this folder with the table, and share only releases.\n"
)


class RunStore(Secret):
    """Finished runs in a folder, each under a keyed fingerprint of everything that determines it.

    Without a folder, it keeps nothing. The secret of the fingerprints is in the folder; only its owner can read it.
    """

    __slots__ = ("_secret", "folder")

    def __init__(self, folder: Path | None = None, secret: bytes = b"") -> None:
        self.folder, self._secret = folder, secret

    @classmethod
    def open(cls, folder: str | os.PathLike[str] | None) -> RunStore:
        """Open a folder of earlier runs, or start one; raise `ParameterError` when it holds other things."""
        if folder is None:
            return cls()
        path = Path(folder)
        key_file = path / _KEY_FILE
        try:
            if not key_file.is_file():
                if path.exists() and (not path.is_dir() or any(path.iterdir())):
                    raise ParameterError(
                        "compare",
                        "folder",
                        "must be new, empty or the folder of an earlier comparison",
                        got=repr(str(path)),
                    )
                path.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_private(path / "README.txt", _README.encode())
                Key.new().save(key_file)
        except OSError as error:
            raise StorageError("compare", f"folder {str(path)!r} cannot be written: {error.strerror}") from None
        return cls(path, Key.load(key_file).derive("comparison"))

    def mark(self, **decides: Any) -> str | None:  # noqa: ANN401 - whatever decides a run
        """Give the fingerprint of all that determines a run; None when nothing is kept, or something cannot be read."""
        if self.folder is None:
            return None
        return fingerprint(self._secret, {"package": __version__, "version": _VERSION, **decides})

    def load(self, mark: str | None) -> ComparedRun | None:
        """Read a finished run; None when there is none, or its file is damaged or belongs to another run."""
        if self.folder is None or mark is None:
            return None
        try:
            with (self.folder / f"{mark}{_ENDING}").open("rb") as stream:
                content = stream.read(_MOST_BYTES)
            described = json.loads(content)
        except (OSError, ValueError, RecursionError):
            return None
        expected = {"format": _FORMAT, "version": _VERSION, "run_of": mark}
        if not isinstance(described, dict) or any(described.get(name) != value for name, value in expected.items()):
            return None
        run = run_from_document(described.get("run"))
        return run if run is None else _with_mentions(run, described.get("sentences"))

    def save(self, mark: str | None, run: ComparedRun) -> None:
        """Keep a finished run; the file appears complete or not at all."""
        if self.folder is None or mark is None:
            return
        described = {"format": _FORMAT, "version": _VERSION, "run_of": mark, "run": document_of(run)}
        texts = {name: getattr(run, name) for name in _TEXTS}
        described["sentences"] = {name: said.to_list() for name, said in texts.items() if isinstance(said, Sentence)}
        temporary = self.folder / f".{mark}.{secrets.token_hex(4)}"
        try:
            write_private(temporary, json.dumps(described, indent=1, allow_nan=False, default=str).encode())
            temporary.replace(self.folder / f"{mark}{_ENDING}")
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise StorageError("compare", f"a run cannot be kept in {str(self.folder)!r}: {error.strerror}") from None


def _with_mentions(run: ComparedRun, stored: object) -> ComparedRun:
    """Restore the parameters that its texts mention, so that each face can spell them in its own way."""
    try:
        found = {name: Sentence.from_list(parts) for name, parts in stored.items()}  # type: ignore[attr-defined]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return run
    same = {name: said for name, said in found.items() if said == getattr(run, name, None)}
    return replace(run, reason=same.get("reason", run.reason), hint=same.get("hint", run.hint))

"""What a device remembers of the questions that it answered: never an answer, and no value that can be read."""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ldiversity.base.private_files import replace_private
from ldiversity.collection.survey import Question
from ldiversity.errors import ParameterError, StorageError

__all__ = ["Ledger", "Repeated"]

_MOST_BYTES: Final = 20_000_000
_LETTERS: Final = 16


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Entry(_Part):
    """A question that was answered: its name, and digests of its context and of each of its values."""

    name: str
    context: str
    values: Annotated[list[str], Field(max_length=2048)]


class _File(_Part):
    format: Literal["ldiversity-ledger"] = "ldiversity-ledger"
    version: Literal[1] = 1
    questions: Annotated[list[_Entry], Field(max_length=10_000)]


@dataclass(frozen=True)
class Repeated:
    """A question that may ask again for what was answered before, and would get another set.

    Attributes
    ----------
    name
        The question.
    before
        The name of the question that was answered before.
    """

    name: str
    before: str

    @property
    def sentence(self) -> str:
        """What it means, for the person who answers."""
        if self.name == self.before:
            asked = f"{self.name!r} was answered before, with other values or other rules"
        else:
            asked = f"{self.name!r} shares half or more of its values with {self.before!r}, which was answered before"
        return f"{asked}: if it is the same fact, anyone who sees both sets knows that the answer is in both."


class Ledger:
    """The questions of one device, in a file that only its owner may read."""

    def __init__(self, file: Path, entries: Sequence[_Entry] = ()) -> None:
        self._file = file
        self._entries = {(entry.name, entry.context): entry for entry in entries}

    @classmethod
    def load(cls, file: Path) -> Ledger:
        """Read the file; one that is not there is empty."""
        try:
            with file.open("rb") as stream:
                content = stream.read(_MOST_BYTES)
        except FileNotFoundError:
            return cls(file)
        except OSError as error:
            raise StorageError("device", f"file {str(file)!r} cannot be read: {error.strerror}") from None
        try:
            return cls(file, _File.model_validate_json(content).questions)
        except ValidationError:
            raise ParameterError("device", f"file {str(file)!r} must be a ledger of this package").with_hint(
                "Without it the device does not know what it answered before. Move it away only if nothing was."
            ) from None

    def repeated(self, questions: Iterable[Question]) -> tuple[Repeated, ...]:
        """Questions that may ask again for something, in other words; the same question again is none of them.

        A question with the same name and the same values and rules draws the same set, so it gives nothing away.
        Questions of one survey are not compared with each other: the person sees them side by side, and a scale of
        answers often serves several questions.
        """
        self._read_again()
        return self._compare(_entries_of(questions))

    def add(self, questions: Iterable[Question], *, agreed: bool = True) -> tuple[Repeated, ...]:
        """Remember questions, on disk before anything is sent; return what must be agreed to first, if it was not.

        Other processes may use the same file. What they add is kept, and compared with.
        """
        entries = _entries_of(questions)
        with _alone(self._file.parent):
            self._read_again()
            repeated = () if agreed else self._compare(entries)
            if not repeated:
                self._write(entries)
        return repeated

    def _compare(self, entries: Mapping[tuple[str, str], _Entry]) -> tuple[Repeated, ...]:
        elsewhere = [entry for key, entry in self._entries.items() if key not in entries]
        found = []
        for key, entry in entries.items():
            if key in self._entries:
                continue
            own = set(entry.values)
            before = next((one for one in elsewhere if one.name == entry.name), None)
            before = before or next((one for one in elsewhere if _shares(own, one)), None)
            if before is not None:
                found.append(Repeated(entry.name, before.name))
        return tuple(found)

    def _read_again(self) -> None:
        newest = Ledger.load(self._file)
        self._entries |= newest._entries  # noqa: SLF001 - of the same class

    def _write(self, new: Mapping[tuple[str, str], _Entry]) -> None:
        if new.keys() <= self._entries.keys():
            return
        entries = {**self._entries, **new}
        said = _File(questions=list(entries.values())).model_dump_json()
        try:
            replace_private(self._file, said.encode())
        except OSError as error:
            raise StorageError("device", f"file {str(self._file)!r} cannot be written: {error.strerror}") from None
        self._entries = entries  # only now: what is not on disk must be written before the next attempt to send


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else writes into the folder meanwhile, where the system has such locks."""
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _alike(value: str) -> str:
    """The same for values that differ only in case, width, blanks and other signs."""
    folded = unicodedata.normalize("NFKC", value).casefold()
    return "".join(letter for letter in folded if unicodedata.category(letter)[0] in "LMN") or folded


def _entries_of(questions: Iterable[Question]) -> dict[tuple[str, str], _Entry]:
    return {(entry.name, entry.context): entry for entry in map(_entry_of, questions)}


def _entry_of(question: Question) -> _Entry:
    values = sorted(set(map(_alike, question.values)))
    return _Entry(name=question.name, context=_digest(question.context), values=[_digest(v.encode()) for v in values])


def _shares(own: set[str], other: _Entry) -> bool:
    """Whether half or more of the values of either question are in both."""
    common = 2 * len(own & set(other.values))
    return common >= len(own) or common >= len(other.values)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_LETTERS]

"""What a device needs to hide one answer: whole numbers only, the same in every language."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar

__all__ = ["Draw", "netstring"]


class Draw(ABC):
    """A rule that hides one of `n_values` answers in a set of `l`, by whole-number arithmetic alone.

    The distribution of the sets is that of the question's mechanism. No step uses floating-point arithmetic, so a
    phone, a browser and this package get the same set from the same random words.
    """

    kind: ClassVar[str]
    """Its name in the context of keyed draws; never reused for another rule."""

    keyed_by_answer: ClassVar[bool]
    """Whether the random words must be other ones for each answer.

    If not, words that know nothing of the answer choose a partition, and two sets of a device are equal or disjoint.
    """

    n_values: int
    l: int

    @property
    @abstractmethod
    def first_words(self) -> int:
        """How many random words are usually enough; a caller doubles them where `sample` returns None."""

    @abstractmethod
    def sample(self, code: int, words: Sequence[int]) -> tuple[int, ...] | None:
        """The set that 64-bit random words draw for an answer, in ascending order; None if they were too few.

        If fewer words are enough, more words do not change the set.
        """

    @abstractmethod
    def admits(self, codes: Sequence[int]) -> bool:
        """Whether a device can send this set: `l` codes in ascending order that may share a set."""

    @property
    @abstractmethod
    def is_recoverable(self) -> bool:
        """Whether the shares of all answers follow from how often sets are published.

        If not, some shares could differ without any change in what is published. Then nobody can estimate them.
        """

    @abstractmethod
    def structure(self) -> Iterable[int | str]:
        """Everything besides values and `l` that decides which set words draw."""

    def context(self, name: str, values: Sequence[str]) -> bytes:
        """What the random words of a device depend on besides its secret: the question, and not the survey.

        The same question in another survey draws the same set again. Each part is preceded by its length, so no two
        questions have the same context.
        """
        parts: list[int | str] = ["ldiversity-device/1", name, len(values), *values, self.kind, self.l]
        return b"".join(netstring(str(part)) for part in (*parts, *self.structure()))


def netstring(text: str) -> bytes:
    """A text with its length in bytes before it.

    Examples
    --------
    >>> netstring("flu")
    b'3:flu,'
    """
    content = text.encode()
    return b"%d:%b," % (len(content), content)

"""What is found about a table before it is published, as data."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Confirmed", "Finding"]


@dataclass(frozen=True)
class Finding:
    """Something that a holder should know before a table is published. For the holder alone.

    Attributes
    ----------
    column
        The column that it is about; None when it is about several.
    kind
        What was found, as a word: ``"identifier"``, ``"free-text"``, ``"near-unique"``, ``"tells"``, ...
    share
        The figure: the share of people, or of values, that it concerns; None where there is none.
    text
        One sentence or more with the figure, without any cell of the table.
    remedy
        What to do about it.
    blocking
        Whether nothing is published until the column is confirmed.
    attribute
        The sensitive column that the column tells; None when it tells none.

    Examples
    --------
    >>> found = Finding("notes", "free-text", 0.98, "98 % of its values occur once.", "Drop it.", blocking=True)
    >>> str(found)
    'notes: 98 % of its values occur once. Drop it.'
    """

    column: str | None
    kind: str
    share: float | None
    text: str
    remedy: str
    blocking: bool = False
    attribute: str | None = None

    def __str__(self) -> str:
        head = "" if self.column is None else f"{self.column}: "
        return f"{head}{self.text} {self.remedy}".rstrip()


@dataclass(frozen=True)
class Confirmed:
    """A published column about which the holder was warned, and which they chose to publish.

    Attributes
    ----------
    column
        The column.
    kind
        What the warning was about, as in `Finding`.
    attribute
        The sensitive attribute that the column tells; None when it tells none.

    Examples
    --------
    >>> Confirmed("icd", "tells", "disease").identifies
    False
    """

    column: str
    kind: str
    attribute: str | None = None

    @property
    def identifies(self) -> bool:
        """Whether people can be recognized by the column itself."""
        return self.attribute is None

    @property
    def does(self) -> str:
        """What the column does, as the second half of a sentence about it."""
        return "people can be recognized by it alone" if self.identifies else f"it tells {self.attribute!r}"

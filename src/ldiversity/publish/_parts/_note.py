"""What is noted about each part while it is grouped, and what all notes say together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import Json
from ldiversity.methods import PartFacts

__all__ = ["JoinedNotes", "PartNote"]


@dataclass(frozen=True)
class PartNote:
    """A few facts about a part, for the machine that describes the release; they are never published as they are.

    Attributes
    ----------
    part
        The number of the part.
    rows, published
        How many rows it has, and how many of them are published.
    classes
        The number of classes of each partition.
    levels
        As in `Grouping`.
    facts, notes, warnings
        As in `Grouping`.
    shown
        Codes of each category that published records have.
    ends
        The least and the greatest number of each column that published records have; nothing where none has one.
    nodes
        Positions of the nodes of hierarchies that published records show.
    values
        How often published records have each sensitive value.
    of_values
        As in `Grouping`.
    """

    part: int
    rows: int
    published: int
    classes: tuple[int, ...]
    levels: dict[str, int] = field(default_factory=dict)
    facts: dict[str, Json] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    shown: dict[str, list[int]] = field(default_factory=dict)
    ends: dict[str, list[float]] = field(default_factory=dict)
    nodes: dict[str, list[int]] = field(default_factory=dict)
    values: dict[str, list[int]] = field(default_factory=dict)
    of_values: dict[str, dict[str, list[int]]] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """The note as an engine carries it.

        Examples
        --------
        >>> PartNote.from_bytes(PartNote(3, 10, 10, (5,)).to_bytes()).classes
        (5,)
        """
        return json.dumps(asdict(self), separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, note: bytes) -> Self:
        """Read a note."""
        found = json.loads(note)
        tuples = {name: tuple(found[name]) for name in ("classes", "notes", "warnings")}
        return cls(**{**found, **tuples})


@dataclass(frozen=True, eq=False)
class JoinedNotes:
    """The notes of all parts."""

    notes: Sequence[PartNote]

    @property
    def published(self) -> int:
        """How many rows are published."""
        return sum(note.published for note in self.notes)

    @property
    def classes(self) -> tuple[int, ...]:
        """The number of classes of each partition."""
        return tuple(sum(numbers) for numbers in zip(*(note.classes for note in self.notes), strict=True))

    def offsets(self) -> NDArray[np.int64]:
        """Shape (parts, partitions): how many classes the parts before have; parts without rows have none."""
        n_parts = max(note.part for note in self.notes) + 1
        counts = np.zeros((n_parts + 1, len(self.classes)), dtype=np.int64)
        for note in self.notes:
            counts[note.part + 1] = note.classes
        return np.cumsum(counts, axis=0)[:-1]

    def facts(self, left_out: int) -> list[PartFacts]:
        """What the method said about each part, and how many rows are in none."""
        parts = [PartFacts(note.facts, note.rows, note.published, note.classes) for note in self.notes]
        return [*parts, PartFacts({}, left_out, 0, (0,) * len(self.classes))] if left_out else parts

    @property
    def of_values(self) -> dict[str, dict[str, list[int]]]:
        """Facts about values, which are the same in all parts."""
        return self.notes[0].of_values

    @property
    def warnings(self) -> tuple[str, ...]:
        """What every reader must know, each sentence once."""
        return tuple(dict.fromkeys(text for note in self.notes for text in note.warnings))

    def shown(self, column: str) -> NDArray[np.int64]:
        """The codes of a category that published records have."""
        return np.unique(np.concatenate([np.array(note.shown[column], dtype=np.int64) for note in self.notes]))

    def nodes(self, column: str) -> NDArray[np.int64]:
        """The positions of the nodes that published records show."""
        return np.unique(np.concatenate([np.array(note.nodes[column], dtype=np.int64) for note in self.notes]))

    def ends(self, column: str) -> tuple[float, float] | None:
        """The least and the greatest number that published records have; None when none has one."""
        found = [note.ends[column] for note in self.notes if note.ends[column]]
        return (min(low for low, _ in found), max(high for _, high in found)) if found else None

    def values(self, column: str) -> NDArray[np.int64]:
        """How often published records have each value of a sensitive column."""
        summed: NDArray[np.int64] = np.sum([note.values[column] for note in self.notes], axis=0, dtype=np.int64)
        return summed

"""Rows on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from ldiversity.engines._rows import Rows
from ldiversity.engines.spark._program import Input
from ldiversity.engines.spark._session import Frame
from ldiversity.engines.spark._steps import Step

if TYPE_CHECKING:
    from ldiversity.engines.spark._engine import SparkEngine

__all__ = ["SparkRows"]


@dataclass(frozen=True, eq=False)
class SparkRows(Rows):
    """What Spark has, and what workers still do with it; nothing is computed before the rows are read.

    All steps after each other are one function of a worker, so rows cross the border to Python once.

    Parameters
    ----------
    frame, input
        What Spark hands to workers, and how they read it.
    steps
        What they do with it.
    columns
        The columns after the last step.
    noted
        What was noted about each part, where the rows were kept.
    parted
        The column of part numbers and how many there are, where the rows of each part are together already.
    """

    engine: SparkEngine
    frame: Frame
    input: Input
    steps: tuple[Step, ...]
    columns: pa.Schema
    noted: tuple[bytes, ...] | None = None
    parted: tuple[str, int] | None = None

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        return self.columns

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Bring the rows to this machine, a part of them at a time."""
        return (piece.cells for piece in self.engine.pieces(self))

    def notes(self) -> list[bytes]:
        """What was noted about each part; computes the rows where they were not kept."""
        return list(self.engine.notes_of(self) if self.noted is None else self.noted)

    def then(self, *steps: Step, columns: pa.Schema) -> SparkRows:
        """These rows after further steps."""
        return replace(self, steps=(*self.steps, *steps), columns=columns, noted=None, parted=None)

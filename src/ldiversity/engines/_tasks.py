"""Work that is told to workers by numbers alone, such as which part of a folder to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from ldiversity.engines._base import Engine
from ldiversity.engines._rows import BatchFunction, NumberedBatch, PartFactory, Rows
from ldiversity.engines._secrets import Secrets

__all__ = ["task_for_each"]

_NUMBER: Final = "number"


def task_for_each(engine: Engine, factory: PartFactory, n_parts: int) -> Rows:
    """Apply the function of a factory to a part for each number below `n_parts`; a part has its number alone."""
    secrets = Secrets()  # nothing is drawn
    tasks = engine.map(_Numbers(), engine.numbers(_NUMBER, n_parts), [_NUMBER], secrets=secrets)
    return engine.partition(factory, tasks, by=_NUMBER, n_parts=n_parts, secrets=secrets, scratch=None)


@dataclass(frozen=True)
class _Numbers:
    # The numbers of parts, as rows of an engine.
    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(_NUMBER, pa.int64())])

    def __call__(self, secrets: Secrets, /) -> BatchFunction:  # noqa: ARG002 - nothing is drawn
        return _cells


def _cells(batch: NumberedBatch) -> pa.RecordBatch:
    return batch.cells

"""Whether ids are unique, found where the rows are: equal ids meet in one part, and only counts come back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from ldiversity.engines import BatchFunction, Engine, NumberedBatch, Part, PartFunction, Secrets
from ldiversity.publish._draw import HiddenAttribute, kept_rows, with_whole_ids
from ldiversity.publish._identities import DIGEST, HashedIds, digests_of, key_column, n_repeated, refuse_repeated
from ldiversity.tables import Source

__all__ = ["check_distinct"]

_PART: Final = "part"
_IDS_PER_PART: Final = 1 << 19
_MOST_PARTS: Final = 1 << 12


@dataclass(frozen=True)
class HashIds:
    """Makes the function that hashes the ids of records that are published. It can be pickled."""

    hidden: tuple[HiddenAttribute, ...]
    record_id: tuple[str, ...]
    n_parts: int

    @property
    def schema(self) -> pa.Schema:
        """The part of each id, and its hash."""
        return pa.schema({_PART: pa.int32(), DIGEST: pa.binary(16)})

    def __call__(self, secrets: Secrets) -> BatchFunction:
        """The function of a worker."""
        hashed = HashedIds(secrets.of_draws, self.record_id, "record_id")

        def hash_ids(rows: NumberedBatch) -> pa.RecordBatch:
            batch, _, _ = kept_rows(rows, self.hidden)
            identities = hashed.identities(with_whole_ids(batch, self.record_id))
            parts = (identities[:, 0] % np.uint64(self.n_parts)).astype(np.int32)
            return pa.RecordBatch.from_arrays([pa.array(parts), key_column(identities)], schema=self.schema)

        return hash_ids


@dataclass(frozen=True)
class CountRepeated:
    """Makes the function that counts the ids of a part, and those that occur again. It can be pickled."""

    @property
    def schema(self) -> pa.Schema:
        """Nothing but the notes is of use."""
        return pa.schema({_PART: pa.int32()})

    def __call__(self, secrets: Secrets) -> PartFunction:  # noqa: ARG002 - nothing is drawn
        """The function of a worker."""

        def count(part: Part) -> tuple[pa.Table, bytes]:
            ids = digests_of(part.rows.column(DIGEST).combine_chunks())
            return self.schema.empty_table(), json.dumps([len(ids), n_repeated(ids)]).encode()

        return count


def check_distinct(
    engine: Engine,
    source: Source,
    hidden: tuple[HiddenAttribute, ...],
    record_id: tuple[str, ...],
    *,
    n_rows: int,
    secrets: Secrets,
    scratch: Path | None,
) -> None:
    """Raise `SchemaError` when two records have the same id; takes one pass over ids and sensitive columns."""
    n_parts = min(_MOST_PARTS, max(1, -(-n_rows // _IDS_PER_PART)))
    needed = {*record_id, *(attribute.name for attribute in hidden)}
    columns = [name for name in source.columns if name in needed]
    hashed = engine.map(HashIds(hidden, record_id, n_parts), source, columns, secrets=secrets)
    counted = engine.partition(
        CountRepeated(), hashed, by=_PART, n_parts=n_parts, secrets=secrets, scratch=scratch
    ).notes()
    counts = [json.loads(note) for note in counted]
    refuse_repeated(sum(repeated for _, repeated in counts), sum(records for records, _ in counts))

"""How large a release will be, before it is made."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from ldiversity.base.randomness import FreshWords, random_order
from ldiversity.release import Format
from ldiversity.tables import decode_sets

if TYPE_CHECKING:
    from ldiversity.publish._prepare import Preparation

__all__ = ["estimate_bytes"]

_SAMPLE_ROWS: Final = 16_384
_MANIFEST_BYTES: Final = 1_800


def estimate_bytes(preparation: Preparation) -> int:
    """Estimate the size of the folder, with sets.

    Some rows from the beginning of the table are written to memory with drawn sets, once half of them and once all.
    The difference shows what every further row costs.
    """
    rows = _sample(preparation)
    form = preparation.data_format
    whole, half = _written(rows, form), _written(rows.slice(0, rows.num_rows // 2), form)
    per_row = (whole - half) / max(rows.num_rows - rows.num_rows // 2, 1)
    described = [
        {"domain": attribute.coder.domain.to_dict(), "mechanism": attribute.mechanism.to_dict()}
        for attribute in preparation.hidden
    ]
    return (
        int(whole + per_row * (preparation.n_rows - rows.num_rows))
        + len(json.dumps(described, indent=2))
        + _MANIFEST_BYTES
    )


def _sample(preparation: Preparation) -> pa.Table:
    types = preparation.published_types
    size = min(preparation.n_rows, _SAMPLE_ROWS)
    rows = pa.table({})
    if types:
        batch = next(iter(preparation.shown.batches(list(types), chunk_rows=4 * _SAMPLE_ROWS)))
        chosen = random_order(batch.num_rows, FreshWords())[:size]
        size = len(chosen)
        taken = batch.take(pa.array(chosen))
        rows = pa.table({name: taken.column(name).cast(kind) for name, kind in types.items()})
    for attribute in preparation.hidden:
        # Each value as often as in the table, up to rounding: only the size matters here, not the rows.
        counts = np.asarray(preparation.counts[attribute.name])
        codes = np.searchsorted(np.cumsum(counts), (np.arange(size) + 0.5) * counts.sum() / size, side="right")
        words = FreshWords().draw(size, attribute.mechanism.words_per_record)
        sets, short = attribute.mechanism.sample(codes.astype(np.int32)[random_order(size, FreshWords())], words)
        sets[short] = 0
        column = decode_sets(sets, attribute.coder.domain, attribute.coder.type)
        rows = rows.append_column(attribute.name, column) if rows.num_columns else pa.table({attribute.name: column})
    return rows


def _written(rows: pa.Table, data_format: Format) -> int:
    stream = io.BytesIO()
    if data_format == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(rows, stream, compression="snappy")
    else:
        pa_csv.write_csv(_in_columns(rows), stream)
    return stream.tell()


def _in_columns(rows: pa.Table) -> pa.Table:
    """The rows with a column for each member of a set, as CSV has them."""
    cells: dict[str, pa.ChunkedArray] = {}
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        if pa.types.is_list(column.type) or pa.types.is_fixed_size_list(column.type):
            members = len(column[0]) if len(column) else 0
            cells |= {f"{name}_{place + 1}": pc.list_element(column, place) for place in range(members)}
        else:
            cells[name] = column
    return pa.table(cells)

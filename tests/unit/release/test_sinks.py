"""How columns are stored: as the first rows suggest, so that no time goes into what helps nobody."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ldiversity.release._sinks import write_tables

ROWS = 300


def table() -> pa.Table:
    text = pa.array([f"t{i % 3}" for i in range(ROWS)])
    numbers = pa.array(range(ROWS))
    lists = pa.ListArray.from_arrays(np.arange(ROWS + 1, dtype=np.int32), text.dictionary_encode())
    struct = pa.StructArray.from_arrays([numbers, text], names=["low", "label"])
    wide = pa.array([i / 7 for i in range(ROWS)])
    return pa.table(
        {"few": pa.array([i % 5 for i in range(ROWS)]), "many": wide, "text": text, "lists": lists, "struct": struct}
    )


def test_numbers_that_hardly_repeat_have_no_dictionary_and_texts_no_extremes(tmp_path: Path) -> None:
    write_tables(tmp_path / "data.parquet", [table(), table()], "parquet")
    group = pq.read_metadata(tmp_path / "data.parquet").row_group(0)
    columns = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}

    assert {name: column.has_dictionary_page for name, column in columns.items()} == {
        "few": True,
        "many": False,
        "text": True,
        "lists.list.element": True,
        "struct.low": False,
        "struct.label": True,
    }
    assert {name for name, column in columns.items() if column.is_stats_set} == {"few", "many", "struct.low"}
    assert pq.read_table(tmp_path / "data.parquet").num_rows == 2 * ROWS


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_texts_are_written_alike_however_they_come(tmp_path: Path, kind: str) -> None:
    plain = table().select(["few", "text"])
    place = plain.column_names.index("text")
    coded = plain.set_column(place, "text", plain.column("text").combine_chunks().dictionary_encode())
    write_tables(tmp_path / "plain", [plain], kind)  # type: ignore[arg-type]
    write_tables(tmp_path / "coded", [coded], kind)  # type: ignore[arg-type]

    assert (tmp_path / "plain").read_bytes() == (tmp_path / "coded").read_bytes()

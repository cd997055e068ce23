"""Work that is divided among threads is the work that one thread does."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.estimation import _by as by_module
from ldiversity.estimation import _threads as module
from ldiversity.estimation._by import PlainColumn
from ldiversity.estimation._threads import over_cells, slices


@pytest.mark.parametrize("n_rows", [0, 1, 100, 1_000_003])
def test_slices_cover_all_rows_once(n_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.os, "cpu_count", lambda: 3)

    parts = slices(n_rows)

    assert np.concatenate([np.arange(n_rows)[part] for part in parts]).tolist() == list(range(n_rows))
    assert len(parts) == (3 if n_rows > 1000 else 1)


def test_cells_are_worked_on_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.os, "cpu_count", lambda: 3)
    done = np.zeros(100, dtype=np.int64)

    def work(first: int, last: int) -> None:
        done[first:last] += 1

    over_cells(work, np.full(100, 10_000))

    assert (done == 1).all()


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_long_columns_are_coded_like_short_ones(
    monkeypatch: pytest.MonkeyPatch,
    *,
    missing: bool,
    late: bool,
) -> None:
    texts: list[str | None] = [f"zone {i * i % 7}" for i in range(300)]
    texts[3] = None if missing else texts[3]
    texts[250] = "a late one" if late else texts[250]
    column = pa.chunked_array([texts[:100], texts[100:]])
    short = PlainColumn("zip").encode(column)
    monkeypatch.setattr(by_module, "_FIRST_ROWS", 64)
    monkeypatch.setattr(module, "_WORTH_SLICES", 10)

    long = PlainColumn("zip").encode(column)

    assert long.codes.tolist() == short.codes.tolist()
    assert long.labels.equals(short.labels)
    assert long.labels.take(pa.array(long.codes)).to_pylist() == texts


def test_columns_with_many_values_are_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_module, "_FIRST_ROWS", 64)

    assert by_module._look_up(pa.array([str(i) for i in range(300)])) is None
    assert by_module._look_up(pa.array([str(i % 5) for i in range(300)])) is not None

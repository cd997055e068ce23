"""Kernels that run long are called in slices, so that a run can be stopped between them; the result is the same."""

from __future__ import annotations

import numpy as np
import pytest

from ldiversity._kernels import bsgi_paper, mbf
from ldiversity.base.arrays import CodeArray
from ldiversity.methods import BSGI, LLMSU, MBF, CodedTable, GroupingMethod, GroupingRun, NumberColumn, SensitiveColumn
from ldiversity.schema import Domain

N = 200


def table(n_sensitive: int) -> CodedTable:
    rng = np.random.default_rng(4)
    domain = Domain(tuple("abcdefgh"))
    quasi = NumberColumn("x", rng.integers(0, 50, N), 0, 50)
    columns = (SensitiveColumn(f"s{i}", rng.integers(0, 8, N).astype(np.int32), domain) for i in range(n_sensitive))
    return CodedTable((quasi,), tuple(columns))


def classes(method: GroupingMethod, n_sensitive: int) -> tuple[CodeArray, list[float]]:
    told: list[float] = []
    run = GroupingRun(workers=1, progress=lambda share, _: told.append(share))
    return method.group(table(n_sensitive), run).partitions[0].class_of, told


@pytest.mark.parametrize(
    ("method", "n_sensitive", "module", "kernel"),
    [
        (MBF(l=2), 2, mbf, "_fill"),
        (LLMSU(l=2), 2, mbf, "_fill"),
        (BSGI(l=3, selection="paper"), 1, bsgi_paper, "_select"),
    ],
    ids=["mbf", "llmsu", "bsgi as published"],
)
def test_slices_change_nothing_but_how_often_progress_is_told(
    method: GroupingMethod, n_sensitive: int, module: object, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, seldom = classes(method, n_sensitive)
    monkeypatch.setattr(module, kernel, getattr(module, kernel).py_func)
    monkeypatch.setattr(module, "_SLICE", 40)

    sliced, often = classes(method, n_sensitive)

    assert np.array_equal(sliced, whole)
    assert len(often) > len(seldom) + 5

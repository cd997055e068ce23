"""An audit that would take hours is refused in one sentence."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ldiversity as ld


def test_too_many_classes_times_values_are_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldiversity.evaluation.audit._views.MOST_CELLS", 11)
    table = pa.table({"age": [1, 1, 2, 2, 3, 3], "salary": [10, 20, 30, 40, 10, 20]})

    with pytest.raises(ld.UnsupportedError, match="must be at most 11, got 3 times 4") as caught:
        ld.audit(table, quasi="age", sensitive="salary")

    assert "Bin it" in str(caught.value)


def test_as_many_as_allowed_are_audited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldiversity.evaluation.audit._views.MOST_CELLS", 12)
    table = pa.table({"age": [1, 1, 2, 2, 3, 3], "salary": [10, 20, 30, 40, 10, 20]})

    assert ld.audit(table, quasi="age", sensitive="salary").models["distinct_l"].value == 2

"""What parts cost: BSGI in parts loses about as much as in one piece."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.publish import _publish_classes
from ldiversity.publish._parts import PartSizes

QUASI: Final = ["age", "fnlwgt", "education-num", "hours-per-week", "marital-status", "race", "sex"]


def loss(release: ld.Release) -> float:
    """The normalized certainty penalty per cell: lengths of intervals and numbers of values, as shares of all."""
    shares = []
    for name in QUASI:
        cells = release.table[name].combine_chunks()
        form = release.forms[name]
        if form.kind == "interval":
            ends = [cells.field(end).to_numpy(zero_copy_only=False).astype(float) for end in ("low", "high")]
            shares.append((ends[1] - ends[0]) / form.span)
        else:
            lengths = cells.value_lengths().to_numpy(zero_copy_only=False)
            shares.append(np.where(lengths > 1, lengths / len(form.labels), 0.0))
    return float(np.mean(shares))


def mean_loss(table: pa.Table, folder: Path, l: int) -> float:
    found = []
    for seed in range(2):
        release = ld.anonymize(
            table,
            quasi=QUASI,
            sensitive="occupation",
            drop=[name for name in table.column_names if name not in {*QUASI, "occupation"}],
            method=ld.BSGI(l=l, effort=0),  # which is what parts change
            output=folder / str(seed),
            insecure_seed=seed,
        )
        found.append(loss(release))
    return float(np.mean(found))


@pytest.mark.usefixtures("public_data")
@pytest.mark.parametrize(("l", "rows"), [(4, 4000), (7, 20_000)])
def test_parts_lose_at_most_five_percent_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, l: int, rows: int
) -> None:
    """Means of two orders of 30,162 rows; seeds are fixed, so chance decides nothing. `run.py parts` takes five.

    Seven is close to the largest possible l. Parts are then of the least size that a memory setting allows: smaller
    ones lose more.
    """
    adult = ld.datasets.adult()
    whole = mean_loss(adult, tmp_path / "whole", l)
    monkeypatch.setattr(_publish_classes, "part_sizes", lambda _: PartSizes(rows))

    parts = mean_loss(adult, tmp_path / "parts", l)

    assert parts <= 1.05 * whole

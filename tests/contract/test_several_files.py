"""Everything that reads a release reads one of several files as it reads one file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.datasets import patients
from ldiversity.engines import LocalEngine
from ldiversity.release import PartWriter, Release, Written
from tests.unit.release.several_files import save

TABLE = patients(200, seed=5).drop_columns(["name"])
METHODS = {
    "sets": ld.RandomizedAddition(l=3),
    "generalized": ld.Mondrian(l=2),
    "bucketized": ld.Anatomy(l=2),
}
USES: dict[str, Callable[[Release], object]] = {
    "describe": repr,
    "flat": lambda release: release.flat.to_pylist(),
    "audit": lambda release: ld.audit(release).to_dict(),
    "audit within memory": lambda release: ld.audit(release, memory="400MB").to_dict(),
    "estimate": lambda release: ld.estimate(release, by="sex", sensitive="disease").to_dict(),
    "attack": lambda release: ld.attack(release, TABLE, attacks=["homogeneity", "skewness"]).to_dict(),
    "report": lambda release: ld.user_report(release).to_dict(),
}


@pytest.mark.parametrize("kind", METHODS)
def test_several_files_are_used_as_one(kind: str, tmp_path: Path) -> None:
    release = ld.anonymize(
        TABLE, quasi=["age", "sex", "zip", "job"], sensitive="disease", method=METHODS[kind], output=tmp_path / "one"
    )
    save(release, tmp_path / "several", 4)

    for name, use in USES.items():
        found = [use(ld.load_release(tmp_path / folder)) for folder in ("one", "several")]
        assert found[0] == found[1], name


class Losing(LocalEngine):
    """Loses a row on its way to the file, which is written as it comes."""

    def write(self, folder: Path, writer: PartWriter, rows: Iterable[pa.RecordBatch]) -> list[Written]:
        """All rows but the first of each batch."""
        return super().write(folder, writer, (batch.slice(1) for batch in rows))


@pytest.mark.parametrize("kind", METHODS)
def test_a_row_that_an_engine_loses_is_missed(kind: str, tmp_path: Path) -> None:
    how: Any = {"quasi": ["age", "sex", "zip", "job"], "sensitive": "disease", "method": METHODS[kind]}

    with pytest.raises(ld.ClaimError, match=r"there must be 200 rows, got 199|records must be published"):
        ld.anonymize(TABLE, **how, output=tmp_path / "release", engine=Losing())

    assert not list(tmp_path.iterdir())

"""Releases of every format version that was ever published must be read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ldiversity as ld
from tests.unit.release.several_files import same

SAMPLES = sorted((Path(__file__).parents[2] / "data").glob("release-v*"))


def test_there_are_samples_of_both_versions() -> None:
    versions = [folder.name[:10] for folder in SAMPLES]

    assert versions.count("release-v1") >= 11
    assert versions.count("release-v2") >= 5


@pytest.mark.parametrize("folder", SAMPLES, ids=lambda folder: folder.name)
def test_a_stored_sample_is_read_and_keeps_its_claim(folder: Path) -> None:
    release = ld.load_release(folder)

    release.verify()

    assert release.n_rows == 40
    assert "sex" in release.table.column_names


@pytest.mark.parametrize("folder", SAMPLES, ids=lambda folder: folder.name)
def test_a_stored_sample_is_estimated(folder: Path) -> None:
    release = ld.load_release(folder)

    estimate = ld.estimate(release, by="sex", sensitive="disease")

    np.testing.assert_allclose(estimate.count.sum(axis=1), estimate.records)


def test_a_stored_interval_a_node_and_a_list_are_what_they_were() -> None:
    nodes = ld.load_release(SAMPLES[0].parent / "release-v1-generalized-parquet").table.to_pylist()[0]
    lists = ld.load_release(SAMPLES[0].parent / "release-v1-generalized-csv").table.to_pylist()[0]

    assert (nodes["class_id"], nodes["age"], nodes["sex"]) == (16, {"low": 60, "high": 62}, "M")
    assert (lists["class_id"], lists["age"], lists["sex"]) == (16, {"low": 60, "high": 62}, ["M"])


@pytest.mark.parametrize("folder", [one for one in SAMPLES if "-v2-" in one.name], ids=lambda folder: folder.name)
def test_several_files_are_what_one_file_is(folder: Path) -> None:
    one = ld.load_release(folder.parent / folder.name.replace("-v2-", "-v1-"))

    assert len(list(folder.glob("data_*"))) == 3
    assert same(ld.load_release(folder), one)

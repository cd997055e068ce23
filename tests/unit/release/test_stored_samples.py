"""Releases of every format version that was ever published must be read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ldiversity as ld

SAMPLES = sorted((Path(__file__).parents[2] / "data").glob("release-v*"))


def test_there_are_samples_of_version_1() -> None:
    assert len(SAMPLES) >= 11


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

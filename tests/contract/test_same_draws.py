"""A keyed run and a seeded run publish the same rows in every version, unless the CHANGELOG says why not.

Holders publish again under the same key and rely on it: the same record with the same value shows the same set. A seed
is for tests, but a change of what it gives is a change of a draw, and nobody should make one unknowingly.
"""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest

import ldiversity as ld
from ldiversity.catalog import LISTED
from ldiversity.datasets import patients, patients_tree
from ldiversity.methods import METHODS

KEY = bytes(range(32))
OPTIONS: dict[str, dict[str, Any]] = {
    "semantic": {"d": 2, "distance": ld.TreeDistance(patients_tree())},
    "le-anatomy": {"e": 1, "tree": patients_tree()},
}
SEEDED = {
    "anatomy": "b5efadea0997958c",
    "bsgi": "b652e6451752a6e9",
    "incognito": "a251848867ab98df",
    "le-anatomy": "7e1b4fe5f978b63d",
    "llmsu": "b5efadea0997958c",
    "mbf": "6bc2c13497a469f2",
    "mondrian": "8bd3d535d3a7946d",
    "randomized-addition": "51279c1b1851a8cf",
    "semantic": "9e02afb02281a5bb",
    "tp": "b14ca229fcf23fb8",
}
EXACT = {"bsgi": "2587f00abf193c97", "mondrian": "86be39c747d7d549", "tp": "797d0d99ccd181b0"}
FIRST: dict[str, dict[str, Any]] = {"bsgi": {"effort": 0}}
"""Options that give what the first version gave."""
KEYED = {"randomized-addition": "9440c18011d83b03", "semantic": "c904ffbaa81b5592"}


def digest(release: ld.Release, folder: Path, *, in_order: bool = True) -> str:
    """A short text that changes with any published cell and, if wanted, with the order of the rows."""
    release.save(folder / "release", data_format="csv")
    tables = []
    for file in sorted((folder / "release").glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.reader(stream))
        tables.append([file.name, rows if in_order else sorted(rows)])
    return hashlib.sha256(json.dumps(tables).encode()).hexdigest()[:16]


def publish(method: str, **given: Any) -> ld.Release:
    made = METHODS[method](l=2, **OPTIONS.get(method, {}))  # type: ignore[call-arg]
    return ld.anonymize(
        patients(300, seed=5),
        quasi=["age", "sex", "zip", "job"],
        sensitive=ld.Sensitive("disease", domain=patients_tree().leaves),
        drop=() if given.get("key") else ("name",),
        method=made,
        **given,
    )


def test_every_method_is_held_to_it() -> None:
    assert set(SEEDED) == set(LISTED)


@pytest.mark.parametrize("method", SEEDED)
def test_a_seeded_run_gives_the_same_rows(method: str, tmp_path: Path) -> None:
    assert digest(publish(method, insecure_seed=7), tmp_path) == SEEDED[method]


@pytest.mark.parametrize("method", EXACT)
def test_without_a_grid_the_rows_are_those_of_the_first_version(method: str, tmp_path: Path) -> None:
    table = patients(300, seed=5)
    wide = pc.add(pc.multiply(table["age"], 977), np.arange(300) * 31 % 1000)
    made = METHODS[method](l=2, **FIRST.get(method, {}))  # type: ignore[call-arg]
    roles: dict[str, Any] = {"quasi": ["wide", "sex"], "sensitive": "disease", "method": made}

    exact = ld.anonymize(table.append_column("wide", wide), **roles, grid="exact", insecure_seed=7)
    rounded = ld.anonymize(table.append_column("wide", wide), **roles, insecure_seed=7)

    assert digest(exact, tmp_path / "exact") == EXACT[method]
    assert digest(rounded, tmp_path / "rounded") != EXACT[method]


@pytest.mark.parametrize("method", KEYED)
def test_a_keyed_run_gives_every_record_the_same_set(method: str, tmp_path: Path) -> None:
    release = publish(method, key=ld.Key(KEY), record_id="name")

    assert digest(release, tmp_path, in_order=False) == KEYED[method]

"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import settings

import ldiversity as ld

# A busy machine is no fault of a test; and a change is judged by examples that anyone can repeat.
_ON_A_SERVER = bool(os.environ.get("CI"))
# Where examples are the same each time, fewer find as much; other machines try others.
settings.register_profile("default", deadline=None, derandomize=_ON_A_SERVER, max_examples=45 if _ON_A_SERVER else 100)
settings.load_profile("default")

BY_FOLDER = ("tests/spark/",)
BY_FILE = (
    "tests/contract/",
    "tests/e2e/",
    "tests/packaging/",
    "tests/papers_gallery/",
    "tests/statistical/",
    "tests/unit/distances/",
    "tests/unit/faces/",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where tests run in several processes, those that share something costly, such as one Spark, run in one of them.

    The marker `xdist_group` is meant for that, and has no effect with pytest 9.2 and pytest-xdist 3.8.
    """
    from xdist.scheduler import LoadGroupScheduling

    class Together(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if nodeid.startswith(BY_FOLDER):
                return nodeid[: nodeid.index("/", len("tests/"))]
            return nodeid.partition("::")[0] if nodeid.startswith(BY_FILE) else nodeid

    return Together(config, log)


DISEASES = ["angina", "asthma", "cold", "cut", "flu", "measles", "sty"]


@pytest.fixture(scope="session")
def patients() -> pa.Table:
    """Two thousand people, with names that must never be published."""
    return ld.datasets.patients(2000, seed=1)


@pytest.fixture
def people() -> pa.Table:
    """A small table whose every cell can be told apart."""
    n = 60
    return pa.table(
        {
            "name": [f"person-{i:03d}" for i in range(n)],
            "age": [20 + i % 40 for i in range(n)],
            "sex": ["F" if i % 3 else "M" for i in range(n)],
            "disease": [DISEASES[(i * i) % 7] for i in range(n)],
        }
    )


@pytest.fixture
def release(people: pa.Table) -> ld.Release:
    """The small table, published with three values a record."""
    return ld.anonymize(
        people,
        quasi=["age", "sex"],
        drop="name",
        sensitive=ld.Sensitive("disease", domain=DISEASES),
        method=ld.RandomizedAddition(l=3),
    )


@pytest.fixture(scope="session")
def public_data() -> Path:
    """The folder of the public data sets, for tests that reproduce published figures."""
    folder = os.environ.get("LDIVERSITY_DATA")
    if not folder:
        pytest.skip("LDIVERSITY_DATA does not name the folder of the public data sets (Adult): not run without it")
    return Path(folder)

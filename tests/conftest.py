"""What all tests share."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings

import ldiversity as ld

# A busy machine is no fault of a test; and a change is judged by examples that anyone can repeat.
_ON_A_SERVER = bool(os.environ.get("CI"))
# Where examples are the same each time, fewer find as much; other machines try others.
settings.register_profile("default", deadline=None, derandomize=_ON_A_SERVER, max_examples=45 if _ON_A_SERVER else 100)
settings.load_profile("default")

# A shell that starts the tests in the background ignores interrupts, and so would all that the tests start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

BY_FOLDER = ("tests/spark/",)
BY_FILE = (
    "tests/contract/",
    "tests/e2e/",
    "tests/packaging/",
    "tests/papers/",
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

        def _assign_work_unit(self, node: Any) -> None:
            # What a process has done is forgotten: whenever a test ends, all that it was ever given is looked through.
            given = self.assigned_work[node]
            self.assigned_work[node] = {scope: tests for scope, tests in given.items() if not all(tests.values())}
            super()._assign_work_unit(node)

    return Together(config, log)


@pytest.fixture(autouse=True, scope="session")
def _disks_are_not_waited_for() -> Iterator[None]:
    """Thousands of tests save a release, and none cuts the power: what was handed to the system is safe enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


_GENERATORS: dict[str, list[tuple[np.random.Generator, Any]]] = {}


@pytest.fixture(autouse=True)
def _draws_begin_anew(request: pytest.FixtureRequest) -> None:
    """What a test draws from its module's generator does not depend on which tests ran before it."""
    module = request.node.path.as_posix()
    if module not in _GENERATORS:
        names = vars(getattr(request.node, "module", None) or object).values()
        found = [one for one in names if isinstance(one, np.random.Generator)]
        _GENERATORS[module] = [(one, one.bit_generator.state) for one in found]
    for generator, state in _GENERATORS[module]:
        generator.bit_generator.state = state


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports without what pictures show, for tests of their words: drawing takes most of the time of a page."""
    plain = "ldiversity.faces.report._tables._image"
    monkeypatch.setattr(plain, lambda picture: f'<img alt="{escape(picture.alt)}" src="data:,">')


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

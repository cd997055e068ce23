"""Every method tells how far it is, in every step, and stops when told to; then nothing of the run is left.

Methods are found through the catalog. The watcher stops a run at the first and at the last call of every step.
"""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv

import ldiversity as ld
from ldiversity.catalog import CATALOG
from ldiversity.datasets import patients, patients_tree
from ldiversity.engines import LocalEngine
from ldiversity.methods import METHODS

OPTIONS: dict[str, dict[str, Any]] = {
    "semantic": {"d": 2, "distance": ld.TreeDistance(patients_tree())},
    "le-anatomy": {"e": 1, "tree": patients_tree()},
}
TABLE: pa.Table = patients(240, seed=5)
STEPS = {"reading", "screening", "writing", "checking what was written"}


class Cancelled(Exception):  # noqa: N818 - a watcher's own word
    """What a watcher stops a run with."""


class Watcher:
    """Hears of a run, and stops it at one call."""

    def __init__(self, stop_at: int | None = None, reason: type[BaseException] = Cancelled) -> None:
        self.told: list[tuple[float, str]] = []
        self._stop_at, self._reason = stop_at, reason

    def __call__(self, share: float, word: str) -> None:
        self.told.append((share, word))
        if len(self.told) == self._stop_at:
            raise self._reason


def publish(method: str, data: Any, watcher: Watcher, output: Path | None, **given: Any) -> ld.Release:
    made = METHODS[method].of_level(2, **OPTIONS.get(method, {}))
    return ld.anonymize(
        data,
        quasi=["age", "sex", "zip", "job"],
        sensitive=ld.Sensitive("disease", domain=patients_tree().leaves),
        drop=() if "key" in given else "name",
        method=made,
        output=output,
        engine=LocalEngine(workers=2, chunk_rows=100),
        progress=watcher,
        **given,
    )


def left_behind(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def stops(told: list[tuple[float, str]]) -> list[int]:
    """The first and the last call of every step, counted from one."""
    words = [word for _, word in told]
    return sorted({1 + words.index(word) for word in words} | {len(words) - words[::-1].index(word) for word in words})


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("table") / "patients.csv"
    csv.write_csv(TABLE, path)
    return path


@pytest.mark.parametrize("method", CATALOG)
def test_shares_rise_from_nothing_to_all(method: str, file: Path, tmp_path: Path) -> None:
    for output in (None, tmp_path / "release"):
        watcher = Watcher()
        publish(method, file, watcher, output)

        shares = [share for share, _ in watcher.told]
        words = {word for _, word in watcher.told}
        assert shares == sorted(shares)
        assert (shares[0], shares[-1]) == (0.0, 1.0)
        assert words >= (STEPS if output else {"reading", "screening", "checking"})
        assert words & {"drawing", "grouping", "cutting", "forming classes"}


def at_work() -> int:
    """How many threads there are, but for those that only wait."""
    return sum(not thread.daemon for thread in threading.enumerate())


@pytest.mark.filterwarnings("ignore:The release that is replaced")  # what is replaced can be intersected
@pytest.mark.parametrize("method", CATALOG)
def test_a_run_that_is_stopped_leaves_nothing(method: str, file: Path, tmp_path: Path) -> None:
    target = tmp_path / "release"
    publish(method, file, Watcher(), target)  # which may also tell that it compiles
    shutil.rmtree(target)
    first = Watcher()
    publish(method, file, first, target)
    before = {path.name: path.read_bytes() for path in target.iterdir()}
    threads = at_work()

    for stop_at in stops(first.told):
        with pytest.raises(Cancelled) as caught:
            publish(method, file, Watcher(stop_at), tmp_path / "other")
        assert left_behind(tmp_path) == ["release", *sorted(f"release/{name}" for name in before)]
        assert at_work() == threads
        with pytest.raises(Cancelled):
            publish(method, file, Watcher(stop_at), target, overwrite=True)
        assert {path.name: path.read_bytes() for path in target.iterdir()} == before
        assert left_behind(tmp_path) == ["release", *sorted(f"release/{name}" for name in before)]
        del caught

    again = publish(method, file, Watcher(), target, overwrite=True)
    assert again.n_rows == ld.load_release(target).n_rows


@pytest.mark.parametrize("method", CATALOG)
def test_a_run_in_memory_can_be_stopped(method: str, file: Path) -> None:
    publish(method, file, Watcher(), None)  # which may also tell that it compiles
    first = Watcher()
    publish(method, file, first, None)
    threads = at_work()

    for stop_at in stops(first.told):
        with pytest.raises(KeyboardInterrupt):
            publish(method, file, Watcher(stop_at, KeyboardInterrupt), None)
        assert at_work() == threads


@pytest.mark.parametrize("reason", [OSError, ValueError, MemoryError, ld.SchemaError, SystemExit, StopIteration])
@pytest.mark.parametrize("method", ["randomized-addition", "mondrian"])
def test_what_the_watcher_raises_is_what_the_caller_gets(
    method: str, reason: type[BaseException], file: Path, tmp_path: Path
) -> None:
    def stop(share: float, word: str) -> None:
        if share > 0.1:
            raise fault

    fault = reason("enough")
    with pytest.raises(reason) as caught:
        ld.anonymize(
            file,
            quasi=["age", "zip"],
            sensitive="disease",
            drop=["name", "sex", "job"],
            method=METHODS[method](l=2),
            output=tmp_path / "release",
            progress=stop,
        )

    assert caught.value is fault
    assert caught.value.__suppress_context__
    assert not left_behind(tmp_path)


def test_a_keyed_run_can_be_stopped(file: Path, tmp_path: Path) -> None:
    keyed = {"key": ld.Key.new(), "record_id": "name"}
    publish("randomized-addition", file, Watcher(), tmp_path / "compiled", **keyed)
    first = Watcher()
    publish("randomized-addition", file, first, tmp_path / "release", **keyed)

    for stop_at in stops(first.told):
        with pytest.raises(Cancelled):
            publish("randomized-addition", file, Watcher(stop_at), tmp_path / "other", **keyed)
        assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("kind", ["jsonl", "xlsx"])
def test_reading_other_files_can_be_stopped(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"table.{kind}"
    frame = pa.concat_tables([TABLE] * 20).to_pandas()
    if kind == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_excel(path, index=False)
    words = Watcher()
    with pytest.raises(Cancelled):
        ld.anonymize(path, sensitive="disease", method=ld.RandomizedAddition(l=2), progress=Watcher(2))
    ld.anonymize(path, sensitive="disease", method=ld.RandomizedAddition(l=2), progress=words)

    assert words.told[0] == (0.0, "reading")


def test_comparing_can_be_stopped_within_each_run() -> None:
    def compare(watcher: Watcher) -> None:
        ld.compare(
            TABLE, quasi=["age", "sex"], sensitive="disease", l=2, methods=["anatomy", "bsgi"], queries=5, seed=1,
            drop=["name", "zip", "job"], progress=watcher,
        )  # fmt: skip

    compare(Watcher())  # which may also tell that it compiles
    first = Watcher()
    compare(first)
    shares = [share for share, _ in first.told]
    assert shares == sorted(shares)
    assert "grouping" in {word for _, word in first.told}
    for stop_at in stops(first.told):
        with pytest.raises(Cancelled):
            compare(Watcher(stop_at))

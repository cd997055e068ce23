"""A release that is replaced keeps its name throughout, and a run that is killed leaves nothing that stays."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.release import _exchange, _leftovers, _load, _staging, staging_folder

PROGRAM = """
import os, signal, sys
from pathlib import Path
import ldiversity as ld
from ldiversity.release import _leftovers, _staging

target, point, can_exchange = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "yes"

def killed():
    os.kill(os.getpid(), signal.SIGKILL)

def before(owner, name):
    real = getattr(owner, name)
    def dies(*given, **named):
        killed()
    setattr(owner, name, dies)

if not can_exchange:
    _staging.exchange = lambda one, other: False
if point == "before the names change":
    before(_staging, "exchange")
elif point == "between two renames":
    real = Path.rename
    def rename(self, other):
        result = real(self, other)
        killed()
    Path.rename = rename
    real_exchange = _staging.exchange
    def exchange(one, other):
        return real_exchange(one, other) and killed()
    _staging.exchange = exchange
elif point == "before the old one is removed":
    before(_staging, "remove_folder")
elif point == "while rows are written":
    import pyarrow.parquet as pq
    real_close = pq.ParquetWriter.close
    def close(self):
        real_close(self)
        killed()
    pq.ParquetWriter.close = close
ld.load_release(sys.argv[4]).save(target, overwrite=True)
"""
POINTS = {
    "while rows are written": "old",
    "before the names change": "old",
    "between two renames": "old",
    "before the old one is removed": "new",
}


def publish(target: Path, ages: list[int], **given: Any) -> ld.Release:
    table = pa.table({"age": ages, "disease": ["cold", "cut", "flu"]})
    made = ld.anonymize(table, quasi="age", sensitive="disease", method=ld.RandomizedAddition(l=2))
    made.save(target, **given)
    return made


def ages_in(target: Path) -> list[int]:
    return sorted(ld.load_release(target).columns(["age"])["age"].to_pylist())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the release to be replaced; the one to come is beside it."""
    made = tmp_path / "out"
    publish(made / "release", [1, 2, 3])
    publish(tmp_path / "next", [7, 8, 9])
    return made


def kill_at(point: str, folder: Path, *, can_exchange: bool) -> None:
    words = [str(folder / "release"), point, "yes" if can_exchange else "no", str(folder.parent / "next")]
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


@pytest.mark.parametrize("can_exchange", [True, False], ids=["in one step", "in two steps"])
@pytest.mark.parametrize("point", POINTS)
def test_a_run_that_is_killed_while_replacing_leaves_one_whole_release(
    folder: Path, point: str, *, can_exchange: bool
) -> None:
    kill_at(point, folder, can_exchange=can_exchange)
    lost = point == "between two renames" and not can_exchange

    assert (folder / "release").exists() is not lost
    if lost:
        with pytest.warns(ld.LDiversityWarning, match="'release'; the release before it was put back"):
            put_back(folder / "release")
    left = "new" if point == "between two renames" and can_exchange else POINTS[point]  # the only rename is done
    assert ages_in(folder / "release") == {"old": [1, 2, 3], "new": [7, 8, 9]}[left]

    publish(folder / "release", [4, 5, 6], overwrite=True)
    assert ages_in(folder / "release") == [4, 5, 6]
    assert [path.name for path in folder.iterdir()] == ["release"]


def put_back(target: Path) -> None:
    """The next run puts back what stepped aside, before it refuses to replace it."""
    with pytest.raises(ld.ParameterError, match="must not exist yet"):
        publish(target, [4, 5, 6])


def test_this_system_exchanges_in_one_step(folder: Path) -> None:
    if sys.platform not in {"linux", "darwin"}:
        pytest.skip("this system cannot exchange two folders")
    publish(folder / "other", [7, 8, 9])
    seen = {name: (folder / name).stat().st_ino for name in ("release", "other")}

    if not _exchange.exchange(folder / "release", folder / "other"):
        pytest.skip("the file system of the temporary folder cannot exchange two folders")

    assert (folder / "other").stat().st_ino == seen["release"]
    assert ages_in(folder / "release") == [7, 8, 9]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOSYS, errno.ENOTSUP])
def test_a_file_system_that_cannot_exchange_is_no_fault(
    folder: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuses(*_: object) -> int:
        _exchange.ctypes.set_errno(number)
        return -1

    monkeypatch.setattr(_exchange, "_system_call", lambda: refuses)
    publish(folder / "release", [4, 5, 6], overwrite=True)

    assert ages_in(folder / "release") == [4, 5, 6]
    assert [path.name for path in folder.iterdir()] == ["release"]


def test_any_other_fault_of_the_exchange_keeps_the_old_release(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> int:
        _exchange.ctypes.set_errno(errno.EACCES)
        return -1

    monkeypatch.setattr(_exchange, "_system_call", lambda: refuses)
    with pytest.raises(ld.StorageError, match="Permission denied"):
        publish(folder / "release", [4, 5, 6], overwrite=True)

    assert ages_in(folder / "release") == [1, 2, 3]
    assert [path.name for path in folder.iterdir()] == ["release"]


def test_a_release_in_two_steps_comes_back_when_the_second_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.rename

    def rename(self: Path, other: Path) -> Path:
        if ".partial-" in self.name:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(self, other)

    monkeypatch.setattr(_staging, "exchange", lambda *_: False)
    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(ld.StorageError):
        publish(folder / "release", [4, 5, 6], overwrite=True)

    assert ages_in(folder / "release") == [1, 2, 3]


# --- who reads meanwhile ---------------------------------------------------------------------------------


def test_a_release_that_is_replaced_while_it_is_loaded_is_the_new_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, replaced = _load._check_files, []

    def late(path: Path, manifest: Any) -> None:
        if not replaced:
            replaced.append(path)
            publish(folder / "release", [4, 5, 6], overwrite=True)
        real(path, manifest)

    monkeypatch.setattr(_load, "_check_files", late)
    loaded = ld.load_release(folder / "release")

    assert replaced
    assert sorted(loaded.columns(["age"])["age"].to_pylist()) == [4, 5, 6]


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
def test_a_release_that_is_replaced_after_it_was_loaded_is_not_mixed_with_the_new_one(
    folder: Path, data_format: Any
) -> None:
    publish(folder / "other", [1, 2, 3], data_format=data_format)
    loaded = ld.load_release(folder / "other")
    publish(folder / "other", [4, 5, 6], overwrite=True, data_format=data_format)  # may be of the same length

    with pytest.raises(ld.ReleaseFormatError, match="load it again"):
        loaded.columns(["age"])
    assert ages_in(folder / "other") == [4, 5, 6]


# --- what is left alone --------------------------------------------------------------------------------

DIGITS = "0123456789ab"


def test_the_folder_of_a_run_that_lives_is_left_alone(folder: Path) -> None:
    with staging_folder(folder / "other", overwrite=False) as mine:
        (mine / "data.parquet").write_text("not finished")
        with (
            pytest.raises(ld.ParameterError, match="must not exist yet"),
            staging_folder(folder / "release", overwrite=False),
        ):
            pass
        with staging_folder(folder / "other", overwrite=False) as theirs:
            (theirs / "data.parquet").write_text("finished first")
            assert (mine / "data.parquet").read_text() == "not finished"
        shutil.rmtree(folder / "other")


@pytest.mark.parametrize(
    ("name", "inside"),
    [
        (f".release.partial-{DIGITS}", "thesis.tex"),
        (f".release.retired-{DIGITS}", "notes"),
        (".release.partial-mine", "data.parquet"),
        (f".other.partial-{DIGITS}", "data.parquet"),
        (f"release.partial-{DIGITS}", "data.parquet"),
    ],
)
def test_what_is_not_ours_is_left_alone(folder: Path, name: str, inside: str) -> None:
    (folder / name).mkdir()
    (folder / name / inside).write_text("theirs")

    publish(folder / "release", [4, 5, 6], overwrite=True)

    assert (folder / name / inside).read_text() == "theirs"


def test_a_link_with_the_name_of_a_leftover_is_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "data.parquet").write_text("theirs")
    (folder / f".release.partial-{DIGITS}").symlink_to(tmp_path / "theirs")

    publish(folder / "release", [4, 5, 6], overwrite=True)

    assert (tmp_path / "theirs" / "data.parquet").read_text() == "theirs"


def test_a_folder_that_was_taken_for_a_leftover_before_it_was_locked_is_made_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, taken = _leftovers._lock, []

    def late(path: Path, **how: bool) -> int | None:
        descriptor = real(path, **how)
        if not taken:
            taken.append(path)
            path.rmdir()
        return descriptor

    monkeypatch.setattr(_leftovers, "_lock", late)
    publish(folder / "other", [4, 5, 6])

    assert taken
    assert ages_in(folder / "other") == [4, 5, 6]


def test_a_run_whose_new_folder_another_run_removes_makes_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, removed = _leftovers._lock, []

    def taken(folder: Path, **how: bool) -> int | None:
        if removed:
            return lock(folder, **how)
        removed.append(folder)
        folder.rmdir()  # by a run that saw it before it was locked, and that held it meanwhile
        return None

    monkeypatch.setattr(_leftovers, "_lock", taken)

    with _leftovers.new_private_folder(tmp_path / "release") as folder:
        assert folder.is_dir()
        assert folder != removed[0]


@pytest.mark.parametrize("kind", ["partial", "retired"])
def test_a_folder_with_parts_of_another_kind_is_not_taken_for_a_leftover(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "release"
    target.mkdir()
    theirs = tmp_path / f".release.{kind}-0123456789ab"
    (theirs / "data.csv" / "kept").mkdir(parents=True)

    _leftovers.remove_leftovers(target)

    assert (theirs / "data.csv" / "kept").is_dir()


def test_an_output_that_is_a_link_to_itself_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")

    for target in (tmp_path / "one", tmp_path / "one" / "release"):
        with (
            pytest.raises((ld.ParameterError, ld.StorageError), match=r"must not be a link|cannot be written"),
            staging_folder(target, overwrite=True),
        ):
            pass

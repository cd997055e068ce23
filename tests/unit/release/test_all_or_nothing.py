"""A release is published whole, after its check, or not at all."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.mechanisms import UniformSelection
from ldiversity.release import _staging, staging_folder


def publish(table: pa.Table, target: Path) -> ld.Release:
    return ld.anonymize(table, quasi="age", sensitive="disease", method=ld.RandomizedAddition(l=3), output=target)


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
def test_sets_that_break_the_claim_are_never_published(
    people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data_format: str
) -> None:
    def faulty(self: UniformSelection, codes: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.repeat(codes[:, None], 3, axis=1), np.zeros(len(codes), dtype=bool)

    monkeypatch.setattr(UniformSelection, "sample", faulty)

    with pytest.raises((ld.ClaimError, ld.ReleaseFormatError)):
        ld.anonymize(
            people,
            quasi="age",
            sensitive="disease",
            method=ld.RandomizedAddition(l=3),
            output=tmp_path / "release",
            data_format=data_format,
        )

    assert not list(tmp_path.iterdir())


def test_sets_that_break_the_claim_never_leave_memory_either(people: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(self: UniformSelection, codes: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.repeat(codes[:, None], 3, axis=1), np.zeros(len(codes), dtype=bool)

    monkeypatch.setattr(UniformSelection, "sample", faulty)

    with pytest.raises(ld.ClaimError, match="3 distinct values"):
        ld.anonymize(people, quasi="age", sensitive="disease", method=ld.RandomizedAddition(l=3))


def test_a_full_disk_leaves_no_release(people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)

    with pytest.raises(ld.StorageError, match="No space left"):
        publish(people, tmp_path / "release")

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
@pytest.mark.parametrize("kind", ["sets", "classes"])
def test_a_disk_that_says_once_that_it_lost_a_part_is_heard(
    people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, data_format: str
) -> None:
    """Linux tells of a lost part to the first one who asks, and to nobody who opens the file afterwards."""
    told: set[int] = set()

    def fsync(descriptor: int) -> None:
        number = os.fstat(descriptor).st_ino
        if number not in told and number in {file.stat().st_ino for file in tmp_path.rglob("data.*")}:
            told.add(number)
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fsync)
    method = {"sets": "randomized-addition:l=3", "classes": "anatomy:l=3"}[kind]

    with pytest.raises(ld.StorageError, match="Input/output error") as caught:
        ld.anonymize(
            people,
            quasi="age",
            sensitive="disease",
            method=method,
            output=tmp_path / "release",
            data_format=data_format,
        )

    assert caught.value.exit_code == 2
    assert told
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("code", [-1, 7, 300])
@pytest.mark.parametrize("output", ["release", None])
def test_members_that_no_domain_has_are_never_published(
    people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, output: str | None
) -> None:
    honest = UniformSelection.sample

    def faulty(self: UniformSelection, codes: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sets, short = honest(self, codes, words)
        sets[0, -1] = code
        return sets, short

    monkeypatch.setattr(UniformSelection, "sample", faulty)

    with pytest.raises(ld.ClaimError, match="disease: published sets must stay inside the domain"):
        ld.anonymize(
            people,
            quasi="age",
            sensitive="disease",
            method=ld.RandomizedAddition(l=3),
            output=None if output is None else tmp_path / output,
        )

    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_named(people: pa.Table, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(ld.StorageError, match="cannot be written"):
        publish(people, tmp_path / "file" / "release")


def test_a_fault_while_replacing_keeps_the_old_release(
    people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(people, tmp_path / "release")
    before = (tmp_path / "release" / "data.parquet").read_bytes()
    monkeypatch.setattr(pq.ParquetWriter, "write_table", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "full")))

    other = ld.anonymize(people, quasi="age", sensitive="disease", method=ld.RandomizedAddition(l=3))
    with pytest.raises(ld.StorageError):
        other.save(tmp_path / "release", overwrite=True)

    assert (tmp_path / "release" / "data.parquet").read_bytes() == before


def test_a_killed_run_leaves_no_release(tmp_path: Path) -> None:
    program = (
        "import sys, time, pyarrow as pa, pyarrow.parquet as pq, ldiversity as ld\n"
        "real = pq.ParquetWriter.write_table\n"
        "def slow(self, *args, **kwargs):\n"
        "    real(self, *args, **kwargs); print('writing', flush=True); time.sleep(60)\n"
        "pq.ParquetWriter.write_table = slow\n"
        "table = pa.table({'age': [1, 2, 3], 'disease': ['a', 'b', 'c']})\n"
        "ld.anonymize(table, quasi='age', sensitive='disease', method=ld.RandomizedAddition(l=2), output=sys.argv[1])\n"
    )
    target = tmp_path / "release"
    with subprocess.Popen([sys.executable, "-c", program, str(target)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(0)

    assert not target.exists()
    with pytest.raises(ld.ReleaseFormatError):
        ld.load_release(next(tmp_path.iterdir()))


def test_a_private_folder_holds_what_is_not_finished(
    people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    real = pq.ParquetWriter.write_table

    def spy(self: pq.ParquetWriter, table: pa.Table) -> None:
        seen.extend(path.stat().st_mode & 0o777 for path in tmp_path.iterdir())
        real(self, table)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", spy)
    publish(people, tmp_path / "release")

    assert seen == [0o700]


# --- what the check sees -------------------------------------------------------------------------------


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
def test_a_member_order_that_tells_the_truth_is_never_published(
    people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data_format: str
) -> None:
    def truth_first(mechanism: UniformSelection, codes: np.ndarray, *_: object) -> np.ndarray:
        others = (codes[:, None] + np.arange(1, mechanism.l)) % mechanism.n_values
        return np.column_stack([codes, others]).astype(np.int32)

    monkeypatch.setattr("ldiversity.publish._draw.draw_sets", truth_first)

    with pytest.raises(ld.ClaimError, match="members are in domain order"):
        ld.anonymize(
            people,
            quasi="age",
            sensitive="disease",
            method=ld.RandomizedAddition(l=3),
            output=tmp_path / "release",
            data_format=data_format,
        )

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("layout", ["sets", "exploded"])
@pytest.mark.parametrize("data_format", ["parquet", "csv"])
def test_members_that_are_too_close_are_never_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str, data_format: str
) -> None:
    def too_close(_: object, codes: np.ndarray, *__: object) -> np.ndarray:
        first = np.minimum(codes, 10)
        return np.column_stack([first, first + 1, first + 3]).astype(np.int32)

    monkeypatch.setattr("ldiversity.publish._draw.draw_sets", too_close)
    table = pa.table({"row": np.arange(14), "level": np.arange(14)})

    with pytest.raises(ld.ClaimError, match="at least 2 apart"):
        ld.anonymize(
            table,
            quasi="row",
            sensitive="level",
            method=ld.SemanticDiversity(l=3, d=2, distance=ld.OrderedDistance()),
            output=tmp_path / "release",
            layout=layout,
            data_format=data_format,
        )

    assert not list(tmp_path.iterdir())


def test_the_second_of_two_attributes_is_checked_as_well(
    people: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ldiversity.publish import _draw

    real = _draw.draw_sets

    def faulty(mechanism: UniformSelection, codes: np.ndarray, *rest: object) -> np.ndarray:
        return real(mechanism, codes, *rest) if mechanism.l == 3 else np.repeat(codes[:, None], 2, axis=1)

    monkeypatch.setattr(_draw, "draw_sets", faulty)

    with pytest.raises(ld.ClaimError, match="age"):
        ld.anonymize(
            people,
            sensitive=["disease", ld.Sensitive("age", width=10)],
            method={"disease": ld.RandomizedAddition(l=3), "age": ld.RandomizedAddition(l=2)},
            output=tmp_path / "release",
        )

    assert not list(tmp_path.iterdir())


# --- folders -------------------------------------------------------------------------------------------


def test_a_folder_that_appears_meanwhile_is_not_touched(tmp_path: Path) -> None:
    target = tmp_path / "out"

    def race() -> None:
        with staging_folder(target, overwrite=False):
            target.mkdir()
            (target / "thesis.txt").write_text("years of work")

    with pytest.raises(ld.StorageError):
        race()

    assert (target / "thesis.txt").read_text() == "years of work"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_file_that_appears_in_an_old_release_meanwhile_is_kept(release: ld.Release, tmp_path: Path) -> None:
    target = tmp_path / "out"
    release.save(target)

    def race() -> None:
        with staging_folder(target, overwrite=True):
            (target / "thesis.txt").write_text("years of work")

    with pytest.raises(ld.ParameterError, match="hold nothing else"):
        race()

    assert (target / "thesis.txt").read_text() == "years of work"


def test_a_folder_with_the_name_of_another_format_is_kept(release: ld.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "release")
    (tmp_path / "release" / "data.csv").mkdir()

    with pytest.raises(ld.ParameterError, match="hold nothing else"):
        release.save(tmp_path / "release", overwrite=True)


@pytest.mark.parametrize("extra", ["thesis.txt", "release.json", "data.csv"])
def test_a_folder_with_anything_else_is_never_replaced(release: ld.Release, tmp_path: Path, extra: str) -> None:
    release.save(tmp_path / "release")
    (tmp_path / "release" / extra).write_text('{"name": "another project"}')

    with pytest.raises(ld.ParameterError, match="hold nothing else"):
        release.save(tmp_path / "release", overwrite=True)


def test_a_link_to_a_release_is_followed(release: ld.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "release")
    (tmp_path / "link").symlink_to(tmp_path / "release")

    release.save(tmp_path / "link", data_format="csv", overwrite=True)

    assert (tmp_path / "release" / "data.csv").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "release"]


def test_an_interruption_between_two_names_brings_the_old_release_back(
    release: ld.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release.save(tmp_path / "release")
    before = (tmp_path / "release" / "data.parquet").read_bytes()
    real = Path.rename

    def interrupted(self: Path, target: Path) -> Path:
        if ".partial-" in self.name:
            raise KeyboardInterrupt
        return real(self, target)

    monkeypatch.setattr(_staging, "exchange", lambda *_: False)
    monkeypatch.setattr(Path, "rename", interrupted)

    with pytest.raises(KeyboardInterrupt):
        release.save(tmp_path / "release", overwrite=True)

    assert (tmp_path / "release" / "data.parquet").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_a_path_that_cannot_exist_is_refused(release: ld.Release) -> None:
    with pytest.raises(ld.ParameterError, match="zero byte"):
        release.save("a\0b")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT], ids=lambda number: number.name)
def test_a_terminated_command_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    program = (
        "import sys, time, pyarrow.parquet as pq\n"
        "real = pq.ParquetWriter.write_table\n"
        "def slow(self, *args, **kwargs):\n"
        "    real(self, *args, **kwargs); print('writing', file=sys.stderr, flush=True); time.sleep(60)\n"
        "pq.ParquetWriter.write_table = slow\n"
        "import os, shutil, signal\n"
        "remove = shutil.rmtree\n"
        "def impatient(*args, **kwargs):  # a second signal in the middle of cleaning up\n"
        "    os.kill(os.getpid(), signal.SIGTERM); time.sleep(0.1); remove(*args, **kwargs)\n"
        "shutil.rmtree = impatient\n"
        "from ldiversity.faces.cli import main\n"
        "main()\n"
    )
    (tmp_path / "table.csv").write_text("age,disease\n1,a\n2,b\n3,c\n")
    arguments = ["anonymize", "table.csv", "--quasi", "age", "--sensitive", "disease", "-l", "2", "-o", "release"]
    arguments += ["--format", "parquet"]
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert any("writing" in line for line in process.stderr)
        process.send_signal(number)
        code = process.wait(timeout=50)

    assert code == 128 + number
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]

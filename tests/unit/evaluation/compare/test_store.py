"""Finished runs are kept, found again, and never confused."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.errors import ParameterError
from ldiversity.evaluation.compare import ComparedRun
from ldiversity.evaluation.compare import _compare as module
from ldiversity.evaluation.compare._fingerprint import fingerprint
from ldiversity.evaluation.compare._measure import run_candidate
from ldiversity.evaluation.compare._store import RunStore
from ldiversity.sentences import Sentence

ROLES: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "l": 2, "methods": "anatomy", "queries": 10}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The labels of the runs that were really run."""
    ran: list[str] = []
    real = run_candidate

    def counting(candidate: Any, setting: Any) -> Any:
        ran.append(candidate.label)
        return real(candidate, setting)

    monkeypatch.setattr(module, "run_candidate", counting)
    return ran


def run_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.run.json"))


def test_a_finished_run_is_not_repeated(people: pa.Table, tmp_path: Path, counted: list[str]) -> None:
    first = ld.compare(people, **ROLES, folder=tmp_path)
    second = ld.compare(people, **ROLES, folder=tmp_path)

    assert counted == ["anatomy l=2"]
    assert second.rows[0].reused
    assert second.to_frame().equals(first.to_frame())


def test_a_comparison_is_extended_by_the_new_runs_alone(people: pa.Table, tmp_path: Path, counted: list[str]) -> None:
    ld.compare(people, **ROLES, folder=tmp_path)
    ld.compare(people, **{**ROLES, "l": [2, 3]}, folder=tmp_path)

    assert counted == ["anatomy l=2", "anatomy l=3"]


@pytest.mark.parametrize(
    "change",
    [
        {"queries": 11}, {"targets": 7}, {"seed": 3}, {"attacks": "homogeneity"}, {"quasi": ["age"]},
        {"options": {"overflow": "suppress"}},
    ],
)  # fmt: skip
def test_another_setting_is_another_run(
    people: pa.Table, tmp_path: Path, counted: list[str], change: dict[str, Any]
) -> None:
    ld.compare(people, **ROLES, folder=tmp_path)
    ld.compare(people, **{**ROLES, **change}, folder=tmp_path)

    assert len(counted) == 2


def test_another_table_is_another_run(people: pa.Table, tmp_path: Path, counted: list[str]) -> None:
    ld.compare(people, **ROLES, folder=tmp_path)
    ld.compare(people.slice(1), **ROLES, folder=tmp_path)

    assert len(counted) == 2


def test_columns_without_a_role_do_not_matter(people: pa.Table, tmp_path: Path, counted: list[str]) -> None:
    ld.compare(people, **ROLES, folder=tmp_path)
    ld.compare(people.select(["age", "sex", "disease"]), **ROLES, folder=tmp_path)

    assert len(counted) == 1


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": "other"}', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_file_is_computed_again(people: pa.Table, tmp_path: Path, counted: list[str], content: bytes) -> None:
    ld.compare(people, **ROLES, folder=tmp_path)
    run_files(tmp_path)[0].write_bytes(content)
    found = ld.compare(people, **ROLES, folder=tmp_path)

    assert len(counted) == 2
    assert not found.rows[0].reused


def test_the_file_of_another_run_under_this_name_is_computed_again(
    people: pa.Table, tmp_path: Path, counted: list[str]
) -> None:
    ld.compare(people, **{**ROLES, "l": [2, 3]}, folder=tmp_path)
    one, other = run_files(tmp_path)
    other.replace(one)
    ld.compare(people, **{**ROLES, "l": [2, 3]}, folder=tmp_path)

    assert len(counted) == 4


def test_a_file_with_a_number_where_a_text_belongs_is_no_run(people: pa.Table, tmp_path: Path) -> None:
    ld.compare(people, **ROLES, folder=tmp_path)
    (file,) = run_files(tmp_path)
    described = json.loads(file.read_text(encoding="utf-8"))
    described["run"]["attacks"][0]["success"] = "all"
    file.write_text(json.dumps(described), encoding="utf-8")
    store = RunStore.open(tmp_path)

    assert store.load(file.name.removesuffix(".run.json")) is None


def test_a_kept_refusal_still_knows_what_it_mentions(people: pa.Table, tmp_path: Path) -> None:
    first, again = (ld.compare(people, **{**ROLES, "l": 60}, folder=tmp_path).rows[0] for _ in range(2))

    assert again.reused
    assert isinstance(first.reason, Sentence)
    assert isinstance(again.reason, Sentence)
    assert (again.reason.parts, again.hint) == (first.reason.parts, first.hint)


@pytest.mark.parametrize("planted", [7, {"reason": 7}, {"reason": [["Nobody"]]}, {"reason": ["another text"]}])
def test_wrong_mentions_in_a_kept_file_leave_the_text(people: pa.Table, tmp_path: Path, planted: object) -> None:
    first = ld.compare(people, **{**ROLES, "l": 60}, folder=tmp_path).rows[0]
    (file,) = run_files(tmp_path)
    described = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**described, "sentences": planted}), encoding="utf-8")

    assert ld.compare(people, **{**ROLES, "l": 60}, folder=tmp_path).rows[0].reason == first.reason


def test_kept_files_hold_no_cell_of_the_table(tmp_path: Path) -> None:
    table = pa.table({"age": [30, 31, 32, 33] * 5, "what": ["Sneezing", "Coughing"] * 10, "who": ["Ann B."] * 20})
    ld.compare(table, quasi="age", sensitive="what", l=2, methods="anatomy", queries=5, folder=tmp_path)
    written = "".join(path.read_text(encoding="utf-8") for path in tmp_path.iterdir())

    assert not [cell for cell in ("Sneezing", "Coughing", "Ann B.") if cell in written]


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_folder_and_key_are_for_their_owner_alone(tmp_path: Path) -> None:
    RunStore.open(tmp_path / "runs")

    assert (tmp_path / "runs").stat().st_mode & 0o077 == 0
    assert (tmp_path / "runs" / "comparison.key").stat().st_mode & 0o077 == 0


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_files_in_an_open_folder_are_for_their_owner_alone(people: pa.Table, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    ld.compare(people, **ROLES, folder=tmp_path)

    assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir()} == {0}


def test_runs_with_a_distance_are_reused(people: pa.Table, tmp_path: Path, counted: list[str]) -> None:
    change = {"methods": "semantic", "options": {"d": 2, "distance": "ordered"}}
    ld.compare(people, **{**ROLES, **change}, folder=tmp_path)
    ld.compare(people, **{**ROLES, **change}, folder=tmp_path)

    assert len(counted) == 1


def test_a_reused_run_names_files_as_they_are_called_now(people: pa.Table, tmp_path: Path) -> None:
    rows = "".join(f"{value};group{place % 5}\n" for place, value in enumerate(people["disease"].unique().to_pylist()))
    names = [tmp_path / name for name in ("old.csv", "new.csv")]
    for name in names:
        name.write_text(rows, encoding="utf-8")
    change = {"methods": "le-anatomy", "l": 2}
    found = [
        ld.compare(people, **{**ROLES, **change}, options={"e": 1, "tree": name}, folder=tmp_path / "runs").rows[0]
        for name in names
    ]

    assert found[1].reused
    assert str(names[1]) in (found[1].words or ())


def test_a_folder_with_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")

    with pytest.raises(ParameterError, match="folder must be new, empty or the folder of an earlier comparison"):
        RunStore.open(tmp_path)


def test_a_failure_that_lasts_is_kept(people: pa.Table, tmp_path: Path, counted: list[str]) -> None:
    ld.compare(people, **{**ROLES, "l": 40}, folder=tmp_path)
    found = ld.compare(people, **{**ROLES, "l": 40}, folder=tmp_path)

    assert counted == ["anatomy l=40"]
    assert found.rows[0].failed


def test_fingerprints_under_different_keys_differ(people: pa.Table) -> None:
    assert fingerprint(b"one", people) != fingerprint(b"two", people)


def test_the_fingerprint_of_a_table_does_not_depend_on_its_chunks(people: pa.Table) -> None:
    chunks = pa.concat_tables([people.slice(0, 100), people.slice(100)])

    assert fingerprint(b"k", chunks) == fingerprint(b"k", people)


@pytest.mark.parametrize(
    "other",
    [["ab", "c", None], ["a", "bc", ""], ["a", None, "bc"], ["a", "bd", None]],
)
def test_tables_with_different_cells_have_different_fingerprints(other: list[str | None]) -> None:
    first = pa.table({"a": ["a", "bc", None]})

    assert fingerprint(b"k", first) != fingerprint(b"k", pa.table({"a": other}))


def test_the_bytes_under_gaps_do_not_count() -> None:
    cells = pa.array([1, 2, 3])
    gap = pa.Array.from_buffers(pa.int64(), 3, [pa.py_buffer(b"\x05"), cells.buffers()[1]])

    assert fingerprint(b"k", gap) == fingerprint(b"k", pa.array([1, None, 3]))


@pytest.mark.parametrize(
    "pair",
    [(1, 1.0), (True, 1), ("1", 1), ([1, 2], [2, 1]), ({"a": 1}, {"a": 2}), (date(2020, 1, 1), date(2020, 1, 2)),
     (np.array([1, 2]), np.array([2, 1])), (["a", "b"], ["ab"]), (ld.BSGI(l=2), ld.BSGI(l=3)),
     (ld.BSGI(l=2), ld.Anatomy(l=2))],
)  # fmt: skip
def test_things_that_differ_have_different_fingerprints(pair: tuple[Any, Any]) -> None:
    assert fingerprint(b"k", pair[0]) != fingerprint(b"k", pair[1])


def test_a_path_stands_for_the_content_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "tree.csv"
    file.write_text("one", encoding="utf-8")
    before = fingerprint(b"k", file)
    file.write_text("two", encoding="utf-8")

    assert fingerprint(b"k", file) != before


@pytest.mark.parametrize("thing", [object(), np.array([object()]), Path("/no/such/file"), {"a": {1, 2}}])
def test_what_cannot_be_seen_has_no_fingerprint(thing: object) -> None:
    assert fingerprint(b"k", thing) is None


def test_a_store_without_a_folder_keeps_nothing(made_run: Callable[..., ComparedRun]) -> None:
    store = RunStore.open(None)
    store.save(store.mark(a=1), made_run("a", 0.1, 0.1))

    assert store.load(store.mark(a=1)) is None

"""Every attack says what it takes, and is not run within a memory setting that is too small for it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.evaluation.attacks import ATTACKS, AnyAttack, _attack, memory_table

DOCS = Path(__file__).parents[2] / "docs" / "scale.md"
PEOPLE = ld.datasets.patients(60, seed=1)


@pytest.fixture(scope="module")
def release() -> ld.Release:
    return ld.anonymize(PEOPLE, quasi=["age", "sex"], sensitive="disease", drop=_others(), method=ld.Anatomy(l=2))


def _others() -> list[str]:
    return [name for name in PEOPLE.column_names if name not in {"age", "sex", "disease"}]


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("rows were read")


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_that_does_not_fit_is_refused_before_rows_are_read(
    name: str, release: ld.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ATTACKS[name], "row_bytes", 10_000_000)
    monkeypatch.setattr(_attack, "read_columns", refuse)
    monkeypatch.setattr(_attack, "measure_risks", refuse)

    applies = name not in {"mechanism", "intersection", "changes", "minimality", "joint", "extremes"}
    memory = f"memory must be at least 85. MB for '{name}', which looks"
    with pytest.raises(
        ld.UnsupportedError, match=memory if applies else f"'{name}' cannot be run on 'disease': "
    ) as caught:
        ld.attack(
            release,
            PEOPLE,
            attacks=name,
            second=release,
            distance=ld.OrderedDistance(),
            d=1,
            person=_others()[0] if name == "several-rows" else None,
            memory="300MB",
        )

    assert ("Use memory='85" in str(caught.value)) == applies


def test_attacks_that_do_not_fit_are_left_out_with_a_reason(
    release: ld.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ATTACKS["homogeneity"], "row_bytes", 10_000_000)

    report = ld.attack(release, PEOPLE, memory="300MB")

    assert "homogeneity" not in {one.attack for one in report.results}
    (left,) = [one for one in report.skipped if one.attack == "homogeneity"]
    assert "it takes about 850 MB, and the memory setting is 300 MB" in left.reason


def test_nothing_fits_is_an_error_with_a_way_out(release: ld.Release, monkeypatch: pytest.MonkeyPatch) -> None:
    for attack in {*ATTACKS.values(), AnyAttack}:
        monkeypatch.setattr(attack, "row_bytes", 10_000_000)

    with pytest.raises(
        ld.UnsupportedError, match="memory must be at least 850 MB for attacks on what the release promises"
    ):
        ld.attack(release, PEOPLE, memory="300MB")


def test_the_memory_that_is_advised_runs_every_attack_on_the_promise(
    release: ld.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, attack in enumerate(dict.fromkeys(ATTACKS.values())):
        monkeypatch.setattr(attack, "row_bytes", 3_000_000 + 500_000 * place)
    monkeypatch.setattr(ATTACKS["singling-out"], "row_bytes", 100)

    with pytest.raises(ld.UnsupportedError) as caught:
        ld.attack(release, PEOPLE, memory="300MB")
    (advised,) = re.findall(r"Use memory='(\d+MB)'", str(caught.value))
    within, whole = ld.attack(release, PEOPLE, memory=advised), ld.attack(release, PEOPLE)

    ran = [{one.attack for one in report.results if one.claim is not None} for report in (within, whole)]
    assert ran[0] == ran[1] != set()
    assert int(advised[:-2]) < 250 + 60 * max(attack.row_bytes for attack in ATTACKS.values()) / 1e6


def test_what_cannot_run_at_all_is_not_said_to_need_memory(
    release: ld.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons = {one.attack: one.reason for one in ld.attack(release, PEOPLE).skipped}
    for name in ("joint", "minimality", "extremes"):
        monkeypatch.setattr(ATTACKS[name], "row_bytes", 10_000_000)

    found = {one.attack: one.reason for one in ld.attack(release, PEOPLE, memory="300MB").skipped}

    assert found == reasons
    assert {"joint", "minimality", "extremes"} <= set(found)


def test_what_fits_says_the_same(release: ld.Release) -> None:
    some = ["homogeneity", "skewness", "definetti", "inference"]

    within = ld.attack(release, PEOPLE, attacks=some, memory="300MB")

    assert within.to_dict() == ld.attack(release, PEOPLE, attacks=some).to_dict()


_ATTACK = """
import sys, warnings
warnings.simplefilter("ignore")
import ldiversity as ld
report = ld.attack(ld.load_release(sys.argv[1]), sys.argv[2], memory=sys.argv[3])
print(*(one.attack for one in report.results))
print([line for line in open("/proc/self/status") if line.startswith("VmHWM")][0].split()[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="The system tells no peak of memory.")
def test_a_process_that_attacks_stays_within_the_setting(tmp_path: Path) -> None:
    """With 100,000 rows. Attacks that take more are left out."""
    people = ld.datasets.patients(100_000, seed=2).select(["age", "sex", "zip", "disease"])
    pq.write_table(people, tmp_path / "people.parquet")
    how: dict[str, Any] = {"quasi": ["age", "sex", "zip"], "sensitive": "disease", "method": "anatomy:l=3"}
    ld.anonymize(tmp_path / "people.parquet", **how, output=tmp_path / "release")
    setting = 600_000_000
    command = [sys.executable, "-c", _ATTACK, tmp_path / "release", tmp_path / "people.parquet", f"{setting}"]

    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)

    attacks, peak = done.stdout.splitlines()
    assert {"homogeneity", "skewness", "definetti", "order"} <= set(attacks.split())
    assert int(peak) * 1024 <= setting


def test_the_table_of_the_documentation_is_what_attacks_say() -> None:
    assert memory_table() in DOCS.read_text(encoding="utf-8")

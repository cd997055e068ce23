"""Refusals that once led nowhere: each names a way out that works, in the terms of the face and of the engine."""

from __future__ import annotations

import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest

import ldiversity as ld
from ldiversity.base.checks import did_you_mean
from ldiversity.catalog import CATALOG, LISTED_OPTIONS, METHOD_CLASSES, methods_with
from ldiversity.engines import Engine
from ldiversity.errors import ParameterError
from ldiversity.faces.cli import _machine
from ldiversity.publish._parts._left_out import check_left_out
from ldiversity.publish._parts._short import give_more_memory, short_of_memory
from tests.contract.test_every_command import COMMANDS, run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    rows = [f"{20 + n % 30},{10000 + n % 9},{'abcde'[n // 7 % 5]}" for n in range(200)]
    path.write_text("\n".join(["age,zip,disease", *rows, ""]), encoding="utf-8")
    return path


def asked(table: Path, *words: object) -> tuple[int, str]:
    roles = ["--quasi", "age,zip", "--sensitive", "disease", "--type", "zip=text", "--domain", "disease=a,b,c,d,e"]
    return run("plan", table, *roles, "-l", 2, *words)


@pytest.mark.parametrize(("hierarchy", "level"), [("zip=prefix", "zip=prefix:3"), ("age=width:5/10", "age=width:5")])
def test_a_hierarchy_for_sets_is_pointed_at_a_level(table: Path, hierarchy: str, level: str) -> None:
    code, said = asked(table, "--hierarchy", hierarchy)

    assert code == 2
    assert f"--publish {level}," in said
    assert asked(table, "--publish", level)[0] == 0


def test_a_distance_is_pointed_at_a_method_that_has_one_step_by_step(table: Path) -> None:
    alone = asked(table, "--distance", "ordered")[1]
    without_d = asked(table, "--distance", "ordered", "--method", "semantic")[1]
    without_distance = asked(table, "-d", 2)[1]

    assert "For --distance, use --method semantic." in alone
    assert "-d must be given. For example -d 2." in without_d
    assert "--distance must be given. For example --distance ordered." in without_distance
    assert asked(table, "--distance", "ordered", "-d", 2)[0] == 0


@pytest.mark.parametrize("name", CATALOG)
def test_an_option_of_other_methods_is_pointed_at_one_that_has_it(name: str) -> None:
    for option in LISTED_OPTIONS:
        takers = [one for one in methods_with(option) if not CATALOG[one].for_comparison]
        if name in methods_with(option) or not takers:
            continue
        with pytest.raises(ParameterError) as refused:
            METHOD_CLASSES[name].from_options({option: 1})
        assert f"use method={CATALOG[takers[0]].class_name}(...)" in str(refused.value.hint)


@pytest.mark.parametrize("kind", ["tree", "matrix", "semilattice"])
def test_a_distance_whose_file_is_not_there_is_named(table: Path, kind: str) -> None:
    code, said = asked(table, "-d", 2, "--distance", f"{kind}:nobody.csv")

    assert code == 2
    assert said.startswith("Error: --distance: file 'nobody.csv' cannot be opened")


@pytest.mark.parametrize("name", [path[0] for path in COMMANDS])
def test_a_command_that_is_nearly_named_is_suggested(name: str) -> None:
    assert f"Did you mean '{name}'" in run(f"{name}s")[1]


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("association", "Did you mean 'associate'?"),
        ("user_report", "Did you mean 'report'?"),
        ("check", "It is a function of Python only: ldiversity.check."),
        ("impute", "It is in Python only: the method impute of a release."),
        ("xyzzy", "No such command 'xyzzy'. See"),
    ],
)
def test_the_name_of_a_function_in_python_is_understood(name: str, instead: str) -> None:
    code, said = run(name, "release")

    assert code == 2
    assert instead in said


def test_a_name_that_differs_in_case_alone_is_the_only_suggestion(table: Path) -> None:
    assert did_you_mean("alter", ["Alter", "Altern", "PatNr"]) == "Did you mean 'Alter'?"
    assert did_you_mean("altr", ["Alter", "Altern"]) is not None
    assert "Did you mean 'age'?" in run("plan", table, "--quasi", "AGE", "--sensitive", "disease", "-l", 2)[1]


def test_an_unknown_kind_of_frame_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"^load_release: frame must be 'arrow', 'pandas', 'polars'"):
        ld.load_release(tmp_path, frame="excel")


def test_a_limit_that_the_machine_does_not_reach_is_said_to_limit_nothing(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["audit", table, "--quasi", "age", "--sensitive", "disease"]
    monkeypatch.setattr(_machine, "_memory_of_machine", lambda: 2_000_000_000)

    assert (
        "--memory is more than the 2 GB that this machine has, so it limits nothing"
        in run(*words, "--memory", "9999TB")[1]
    )
    assert "limits nothing" not in run(*words, "--memory", "1GB")[1]


def test_advice_about_memory_fits_the_engine() -> None:
    local, spark = (cast("Engine", SimpleNamespace(name=name)) for name in ("local", "spark"))
    here, there = (short_of_memory(one, "bsgi", "must hold all", "promise less") for one in (local, spark))

    assert (here.parameter, there.parameter) == ("memory", "engine")
    assert str(here.hint) == "Give more memory, or promise less."
    assert "ive more memory" not in f"{there} {give_more_memory(spark, 'promise less')}"
    assert "Leave engine out" in str(there.hint)
    assert str(short_of_memory("spark", "bsgi", "must hold all", "promise less")) == str(there)


@pytest.mark.parametrize("case", ["hierarchy", "grid", "marginals"])
def test_records_left_out_of_parts_have_a_way_out_on_every_engine(case: str) -> None:
    for engine, way in (("local", "Give more memory"), ("spark", "Leave engine out")):
        preparation: Any = SimpleNamespace(
            engine=SimpleNamespace(name=engine),
            undeclared=(),
            grid=None,
            question=SimpleNamespace(marginals=case == "marginals", model=()),
        )
        shape: Any = SimpleNamespace(
            made={"zip"} if case == "hierarchy" else set(), steps={"age": 1} if case == "grid" else {}
        )
        with pytest.raises(ld.UnsupportedError) as caught:
            check_left_out(preparation, shape, cast("Any", None))
        assert str(caught.value.hint).startswith(way)


def test_an_original_that_fits_no_row_is_named_without_a_colon(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"who": [f"p{n // 2}" for n in range(80)], "age": [30, 40] * 40, "ill": ["a", "b", "c", "d", "e"] * 16}
    )
    given: dict[str, Any] = {"quasi": "age", "sensitive": "ill", "person": "who", "method": ld.RandomizedAddition(l=2)}
    ld.anonymize(frame, output=tmp_path / "release", **given)
    frame.assign(age=[50, 60] * 40).to_csv(tmp_path / "other.csv", index=False)

    words = f"audit {tmp_path / 'release'} --original {tmp_path / 'other.csv'} --person who"
    code, said = run(*shlex.split(words))

    assert code == 2
    assert said.startswith("Error: --original must ")

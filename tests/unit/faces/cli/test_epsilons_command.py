from __future__ import annotations

from collections.abc import Callable
from math import tanh
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]
Facts = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def spending(run: Run, patients: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A release with an epsilon for one column, and one with the same for two columns."""
    folder = tmp_path_factory.mktemp("spending")
    made = {}
    for name, sensitive, epsilon in (("one", "disease", 1.5), ("two", "disease,sex", 1)):
        columns = ["--quasi", "age", "--sensitive", sensitive, "--drop", "name,zip,job"]
        others = [] if "sex" in sensitive else ["--plain", "sex"]
        made[name] = folder / name
        result = run("anonymize", patients, *columns, *others, "--epsilon", epsilon, "-o", made[name])
        assert result.exit_code == 0, result.stderr
    return made


def test_columns_and_releases_add_up(run: Run, facts: Facts, spending: dict[str, Path]) -> None:
    words = ["epsilons", spending["one"], spending["two"]]

    found, shown = facts(*words), run(*words).stdout

    assert found["schema"] == "epsilons"
    assert sorted((one["release"], one["attribute"], one["epsilon"]) for one in found["spent"]) == [
        *((1, "disease", 1.5), (2, "disease", 1.0), (2, "sex", 1.0))
    ]
    assert (found["total"], found["closeness"]) == (3.5, pytest.approx(tanh(3.5 / 4)))
    assert "Together: epsilon 3.5" in shown
    assert "a factor of 33.1" in shown
    assert all(name in shown for name in ("one", "two", "disease", "sex"))


def test_a_folder_is_named_once_for_each_row_of_a_person(facts: Facts, spending: dict[str, Path]) -> None:
    assert facts("epsilons", *[spending["one"]] * 3)["total"] == 4.5


def test_without_an_epsilon_somewhere_nothing_is_bounded(
    run: Run, facts: Facts, spending: dict[str, Path], release: Path
) -> None:
    words = ["epsilons", spending["one"], release]

    found, shown = facts(*words), run(*words).stdout

    assert (found["total"], found["closeness"]) == (None, None)
    assert "nothing bounds what is learned" in shown


def test_no_release_is_refused(run: Run) -> None:
    refused = run("epsilons")

    assert refused.exit_code == 2
    assert "RELEASE" in refused.stderr


def test_an_audit_names_the_command(run: Run, spending: dict[str, Path]) -> None:
    assert "(on the command line: epsilons)" in " ".join(run("audit", spending["one"]).stdout.split())

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]
Facts = Callable[..., dict[str, Any]]


def test_an_association_is_tested(facts: Facts, release: Path) -> None:
    found = facts("associate", release, "--by", "sex,age:50", "--sensitive", "disease", "--where", "age >= 20")

    assert (found["schema"], found["by"], found["n_cells"]) == ("association", ["sex", "age"], 4)
    assert 0 <= found["pvalue"] <= 1


def test_text_shows_the_facts_of_json(run: Run, facts: Facts, release: Path) -> None:
    found, shown = facts("associate", release, "--by", "sex"), run("associate", release, "--by", "sex").stdout

    assert str(found["df"]) in shown
    assert [caveat for caveat in found["caveats"] if caveat not in " ".join(shown.split())] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--by", "disease"], "by names"),
        (["--by", "sex", "--weights", "sex"], "must hold numbers"),
        (["--by", "nothing"], "does not exist"),
    ],
)
def test_what_cannot_be_tested_is_one_sentence(run: Run, release: Path, words: list[str], said: str) -> None:
    result = run("associate", release, *words)

    assert result.exit_code == 2
    assert said in result.stderr

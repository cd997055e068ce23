"""Plans of methods say what their releases say, also of a method that has no l."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from click.testing import CliRunner

import ldiversity as ld
from ldiversity.faces.cli import cli
from ldiversity.methods import METHODS, Anatomy


@dataclass(frozen=True)
class Pairs(Anatomy):
    """Anatomy with classes of two, and no choice."""

    name: ClassVar[str] = "pairs"
    strength: ClassVar[str | None] = None

    l: int = 2


@pytest.fixture(scope="module")
def visits() -> pa.Table:
    """Everybody twice."""
    who = np.repeat(np.arange(100), 2)
    drawn = np.random.default_rng(2).choice(["cold", "cut", "flu", "gout", "sty"], 200)
    return pa.table({"who": who, "age": 20 + who % 50, "disease": drawn})


@pytest.mark.parametrize("method", ["anatomy:l=2", "mondrian:l=2", "bsgi:l=2"])
@pytest.mark.parametrize("person", [None, "who"])
def test_a_plan_names_what_the_release_does_not_protect(visits: pa.Table, method: str, person: str | None) -> None:
    asked = ld.Publication(quasi="age", sensitive="disease", drop=() if person else "who", method=method, person=person)

    assert asked.plan(visits).not_protected == asked.publish(visits).not_protected


def test_no_l_is_advised_where_there_is_none(visits: pa.Table, tmp_path: Path) -> None:
    pc.write_csv(visits, tmp_path / "visits.csv")
    words = ["plan", str(tmp_path / "visits.csv"), "--quasi", "age", "--sensitive", "disease", "--method"]

    with METHODS.registered("pairs", Pairs):
        told = {
            name: CliRunner().invoke(cli, [*words, *more])
            for name, more in {"pairs": ["pairs"], "anatomy": ["anatomy", "-l", "2"]}.items()
        }

    assert {name: done.exit_code for name, done in told.items()} == {"pairs": 0, "anatomy": 0}
    assert "a good start is" not in told["pairs"].output
    assert "a good start is" in told["anatomy"].output

"""What a command prints as text and what it prints as JSON are the same facts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
from click.testing import Result

from ldiversity.base.answers import Answer
from ldiversity.faces.cli._show import Page, show

SCHEMAS = Path(__file__).parents[4] / "docs" / "schemas"

Run = Callable[..., Result]
Both = Callable[..., tuple[Any, str]]

NAMES = [
    *("describe", "plan", "infeasible plan", "plan of classes", "infeasible plan of classes"),
    *("anonymize", "classes", "estimate", "key"),
    *("audit", "failing audit", "audit of a release", "attack", "scored attack"),
    *("report", "holder's report", "hierarchy"),
]
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
SENTENCES = {11.0, 50.0, 90.0, 95.0, 99.9}  # "Eq. 11", "at least 90 %", "low (95 %)" are words of a sentence
UNITS = (1.0, 100.0, 1e-3, 1e-6)  # as they are, percent and points, kB and MB


@pytest.fixture
def both(run: Run, monkeypatch: pytest.MonkeyPatch) -> Both:
    """Run a command once, and give its JSON and its text: two runs would draw two times."""

    def show_both(answer: Answer, render: Callable[[Answer, Page], None], *, as_json: bool) -> None:
        show(answer, render, as_json=True)
        click.echo("\f")
        show(answer, render, as_json=False)

    def invoke(*words: object) -> tuple[Any, str]:
        monkeypatch.setattr(f"ldiversity.faces.cli._{words[0]}.show", show_both)
        result = run(*words)
        assert result.exit_code in {0, 1, 2}, result.stderr
        described, shown = result.stdout.split("\f\n")
        return json.loads(described), shown

    return invoke


def leaves(facts: Any) -> Iterator[float]:
    """All numbers of the JSON: also those in its sentences, and how long its lists are."""
    if isinstance(facts, dict):
        for name, value in facts.items():
            yield from leaves(name)
            yield from leaves(value)
    elif isinstance(facts, list):
        yield len(facts)
        for value in facts:
            yield from leaves(value)
    elif isinstance(facts, str):
        yield from (float(found.replace(",", "")) for found in NUMBER.findall(facts))
    elif isinstance(facts, int | float):
        yield float(facts)


def unknown_numbers(shown: str, facts: Any) -> list[str]:
    """Numbers of the text that no number of the JSON rounds to; promises are rounded up."""
    known = [unit * leaf for leaf in {*leaves(facts), *SENTENCES} for unit in UNITS]
    return [
        text
        for text in NUMBER.findall(shown)
        if not any(-half(text) <= read(text) - one <= 2 * half(text) for one in known)
    ]


def read(text: str) -> float:
    return float(text.replace(",", ""))


def half(text: str) -> float:
    """Half a unit of the last digit of a number as it is written."""
    digits, _, power = text.partition("e")
    decimals = len(digits.partition(".")[2])
    return (0.5 + 1e-9) * 10.0 ** (int(power or 0) - decimals)


@pytest.fixture
def commands(patients: Path, tree: Path, roles: list[str], release: Path, tmp_path: Path) -> dict[str, list[object]]:
    semantic = [*roles, "-l", 3, "-d", 2, "--distance", f"tree:{tree}"]
    return {
        "describe": ["describe", patients],
        "plan": ["plan", patients, *semantic],
        "infeasible plan": ["plan", patients, *roles, "-l", 99],
        "anonymize": ["anonymize", patients, *semantic, "-o", tmp_path / "release"],
        "plan of classes": ["plan", patients, *roles, "--method", "bsgi", "-l", 3],
        "infeasible plan of classes": ["plan", patients, *roles, "--method", "anatomy", "-l", 20],
        "classes": [
            *("anonymize", patients, *roles, "--method", "bsgi", "-l", 12, "--overflow", "suppress"),
            *("-o", tmp_path / "classes"),
        ],
        "estimate": ["estimate", release, "--by", "sex,age:30", "--where", "age >= 20"],
        "key": ["key", "new", tmp_path / "holder.key"],
        "audit": ["audit", patients, "--quasi", "age,sex", "--sensitive", "disease"],
        "failing audit": ["audit", patients, "--quasi", "age,sex", "--sensitive", "disease", "--model", "distinct:9"],
        "audit of a release": ["audit", release],
        "attack": ["attack", release],
        "scored attack": ["attack", release, "--original", patients, "--attacks", "homogeneity,background,skewness"],
        "compare": [
            *("compare", patients, "--quasi", "age,sex", "--sensitive", "disease", "-l", "2,40"),
            *("--methods", "anatomy,randomized-addition", "--queries", 20, "--targets", 100),
        ],
        "report": ["report", release, "--json"],
        "holder's report": ["report", release, "--json", "--original", patients, "--attacks"],
        "hierarchy": ["hierarchy", patients, "--column", "age", "--width", "10,50"],
        "demo": ["demo", "--folder", tmp_path / "demo"],
    }


@pytest.mark.parametrize("name", [*NAMES, "demo"])
def test_every_number_of_the_text_is_in_the_json(both: Both, commands: dict[str, list[object]], name: str) -> None:
    facts, shown = both(*commands[name])

    assert len(shown.splitlines()) > 1
    assert unknown_numbers(shown, facts) == []


@pytest.mark.parametrize("name", [*NAMES, "compare", "demo"])
def test_json_is_all_that_stands_on_stdout_and_keeps_to_its_schema(
    run: Run, commands: dict[str, list[object]], name: str
) -> None:
    found = json.loads(run(*commands[name], "--json").stdout)

    jsonschema.validate(found, json.loads((SCHEMAS / f"{found['schema']}.schema.json").read_text(encoding="utf-8")))


def test_a_number_that_is_not_in_the_json_is_found() -> None:
    shown = "12.3 % or 12.2 %, promised at most 12.4 %, of 1,234 records, 0.51 kB"

    assert unknown_numbers(shown, {"share": 0.12345, "records": 1234}) == ["12.2", "0.51"]


@pytest.mark.parametrize("document", ["policy", "release"])
def test_a_schema_is_json_as_it_is(run: Run, document: str) -> None:
    assert json.loads(run("schema", document).stdout)["type"] == "object"

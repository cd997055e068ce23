"""The shared list of what a device asks first: Python says what the device module in JavaScript says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ldiversity.collection.device._ledger import Ledger
from ldiversity.collection.survey import Question
from tests.unit.collection.surveys import PLAIN, survey

FILE = Path(__file__).parents[2] / "data" / "collection" / "ledger_cases.json"
CASES = json.loads(FILE.read_text(encoding="utf-8"))["cases"]


def _questions(said: list[dict[str, Any]]) -> tuple[Question, ...]:
    def question(name: str, values: list[str], l: int = 2) -> dict[str, Any]:
        mechanism = {"kind": "uniform", "version": 2, "n_values": len(values), "l": l}
        return {**PLAIN["questions"][0], "name": name, "values": values, "mechanism": mechanism}

    return survey(questions=[question(**one) for one in said]).questions if said else ()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_python_asks_first_as_the_shared_list_says(case: dict[str, Any], tmp_path: Path) -> None:
    ledger = Ledger.load(tmp_path / "ledger.json")
    ledger.add(_questions(case["answered"]))
    found = Ledger.load(tmp_path / "ledger.json").repeated(_questions(case["asked"]))
    assert [[one.name, one.before] for one in found] == case["warned"]

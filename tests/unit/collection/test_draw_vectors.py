"""The stored draws are those of Python; the device module in JavaScript is compared with the same file."""

from __future__ import annotations

import importlib.util
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "data" / "collection"
RESULTS = {
    "draws": {"sets"},
    "edges": {"set"},
    "keyed": {"sets", "context", "first_words", "admitted"},
    "tokens": {"token"},
    "blind": {"asked"},
    "reports": {"length", "report"},
}


def _maker() -> Any:
    found = importlib.util.spec_from_file_location("make_draw_vectors", FOLDER / "make_draw_vectors.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_python_draws_what_is_stored() -> None:
    stored = json.loads((FOLDER / "draw_vectors.json").read_text(encoding="utf-8"))
    asked = deepcopy(stored)
    for kind, results in RESULTS.items():
        for case in asked[kind]:
            for result in results:
                del case[result]  # what is computed again must not come from the file

    assert _maker().solve(asked) == stored


def test_the_stored_draws_are_many_and_of_all_kinds() -> None:
    stored = json.loads((FOLDER / "draw_vectors.json").read_text(encoding="utf-8"))
    drawn = [drawn for case in stored["draws"] for drawn in case["sets"]]
    used = [stored["forms"][case["draw"]] for case in stored["draws"]]
    sizes = {len(form.get("grid", ())) for form in used}

    assert len(drawn) >= 4000
    assert {form["kind"] for form in used} == {"partition", "chain", "listed", "choose"}
    assert {6, 2048} <= sizes
    assert drawn.count(None) >= 50
    assert (FOLDER / "draw_vectors.json").stat().st_size < 400_000

"""Python and the device module in JavaScript accept and refuse the same surveys, also ones that nobody thought of."""

from __future__ import annotations

import base64
import json
import random
import subprocess
from copy import deepcopy
from pathlib import Path
from typing import Any

import ldiversity as ld
from ldiversity.collection.survey import EXAMPLE, SurveyKey, draft_survey
from ldiversity.collection.survey._canonical import write_canonical
from ldiversity.collection.survey._signed import read_survey

TESTS = Path(__file__).parent / "device"
CASES = Path(__file__).parents[1] / "data" / "collection" / "survey_cases.json"
N_SURVEYS = 500
LETTERS = (
    'aAzZéßİ\u0131ǅΣςﬁ\uff21½² <>&;#\n\t"\\/\u0301\u0315\u00a0\u200d\u2028\u3164\ufe0f\U000e0100\U0001f600\ud7ff\ue000'
)


def _odd(source: random.Random, old: Any) -> Any:
    """Something else at a place: near to what was there, or anything."""
    if isinstance(old, bool) or old is None or source.random() < 0.25:
        pool = [None, True, False, 0, 1, -1, 3, 2**53 - 1, 0.5, 1e-7, 1e21, 5e-324, "", "x", [], {}, [[]], "2030-01-01"]
        return deepcopy(source.choice(pool))
    if isinstance(old, int | float):
        return source.choice(
            [old + 1, old - 1, old * 2, old * (1 + 2**-40), old * (1 + 1e-6), -old, old + 0.5, str(old)]
        )
    if isinstance(old, str):
        at = source.randrange(len(old) + 1)
        letters = "".join(source.choice(LETTERS) for _ in range(source.choice([1, 1, 1, 2, 5])))
        return source.choice([old[:at] + letters + old[at:], letters, old.upper(), old * source.choice([2, 30])])
    if isinstance(old, list):
        return source.choice([old[1:], [*old, *old[:1]], old[::-1], old * 2])
    return {**old, "more": 1} if source.random() < 0.5 else dict(list(old.items())[1:])


def _places(part: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    return [path, *(place for step, below in inside for place in _places(below, (*path, step)))]


def _surveys() -> list[bytes]:
    source = random.Random(12)
    bases = list(json.loads(CASES.read_text(encoding="utf-8"))["bases"].values())
    found: list[bytes] = []
    while len(found) < N_SURVEYS:
        said = deepcopy(source.choice(bases))
        for _ in range(source.choice([1, 1, 2])):
            *steps, last = source.choice(_places(said)[1:])
            place = said
            for step in steps:
                place = place[step]
            place[last] = _odd(source, place[last])
        try:
            found.append(write_canonical(said))
        except ValueError:
            continue  # a number that no survey can have
    return found


def _accepts(raw: bytes) -> bool:
    try:
        return bool(read_survey(raw))
    except ld.ParameterError:
        return False


def _decided(node: str, surveys: list[bytes], folder: Path) -> list[bool]:
    """What JavaScript accepts."""
    file = folder / "surveys.json"
    file.write_text(json.dumps([base64.b64encode(raw).decode() for raw in surveys]))
    done = subprocess.run([node, str(TESTS / "decide.mjs"), str(file)], check=True, capture_output=True, text=True)
    return list(json.loads(done.stdout))


def test_the_example_that_new_writes_is_accepted(node: str, tmp_path: Path) -> None:
    (tmp_path / "survey.toml").write_text(EXAMPLE, encoding="utf-8")
    raw = SurveyKey.new().sign(draft_survey(tmp_path / "survey.toml")).raw

    assert _decided(node, [raw], tmp_path) == [True]


def test_changed_surveys_are_decided_alike(node: str, tmp_path: Path) -> None:
    surveys = _surveys()
    decided = _decided(node, surveys, tmp_path)
    expected = [_accepts(raw) for raw in surveys]

    assert [raw for raw, one, other in zip(surveys, decided, expected, strict=True) if one != other] == []
    assert 50 < sum(expected) < N_SURVEYS - 50


def test_keys_for_blind_signatures_are_decided_alike(node: str, tmp_path: Path) -> None:
    plain = json.loads(CASES.read_text(encoding="utf-8"))["bases"]["plain"]
    moduli = [
        "A" * 342,
        "A" * 341 + "Q",
        "_" * 340,
        "_" * 341 + "w",
        "_" * 341 + "x",
        "_" * 341 + "g",
        "A" + "_" * 342 + "8",
    ]
    surveys = [write_canonical({**plain, "tokens": "blind", "blind_key": modulus}) for modulus in moduli]

    expected = [_accepts(raw) for raw in surveys]

    assert _decided(node, surveys, tmp_path) == expected
    assert {True, False} == set(expected)

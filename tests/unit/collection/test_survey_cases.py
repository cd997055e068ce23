"""The shared list of good and hostile surveys: Python accepts and refuses what the device module in JavaScript does."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import ldiversity as ld
from ldiversity.collection.survey import SignedSurvey
from ldiversity.collection.survey._canonical import write_canonical

FILE = Path(__file__).parents[2] / "data" / "collection" / "survey_cases.json"
SHARED = json.loads(FILE.read_text(encoding="utf-8"))


def _raw(case: dict[str, Any]) -> bytes:
    if "hex" in case:
        return bytes.fromhex(case["hex"])
    said = deepcopy(SHARED["bases"][case["base"]])
    for path, *value in case.get("put", ()):
        place = said
        for step in path[:-1]:
            place = place[step]
        if not value:
            del place[path[-1]]
        elif isinstance(place, list) and path[-1] == len(place):
            place.append(value[0])
        else:
            place[path[-1]] = value[0]
    text = write_canonical(said).decode()
    for old, new in case.get("replace", ()):
        text = text.replace(old, new if isinstance(new, str) else new[0] * new[1], 1)
    return text.encode()


@pytest.mark.parametrize("case", SHARED["cases"], ids=lambda case: case["name"])
def test_python_decides_as_the_shared_list_says(case: dict[str, Any]) -> None:
    raw = _raw(case)
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    signed = SignedSurvey(raw, key.sign(raw), key.public_key().public_bytes_raw())

    try:
        accepted = bool(signed.survey)
    except ld.ParameterError:
        accepted = False

    assert accepted is case["accept"]

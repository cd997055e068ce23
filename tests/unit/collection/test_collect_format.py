"""The page about formats is true: its code, which uses nothing of the package, gives what the package gives."""

from __future__ import annotations

import json
import random
import re
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ldiversity.collection.blind import BlindPublicKey, to_text
from ldiversity.collection.draw import MOST_SETS, ChainDraw, DeviceSecret, Draw, ListedDraw, PartitionDraw, choose_draw
from ldiversity.collection.survey import (
    MOST_IN_BATCH,
    BalancedForm,
    Choice,
    Question,
    Ranges,
    Report,
    SignedForm,
    Survey,
    SurveyKey,
    UniformForm,
    write_report,
)
from ldiversity.collection.survey._canonical import MOST_BYTES
from ldiversity.collection.survey._work import MOST_LISTED, MOST_WORK
from tests.unit.collection.surveys import plain, survey

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "collect-format.md").read_text(encoding="utf-8")
VALUES = [f"value {place}" for place in range(12)]


@cache
def page() -> dict[str, Any]:
    """What the code of the page defines."""
    names: dict[str, Any] = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)), names)  # noqa: S102 - our own page
    return names


def far(n_values: int, d: int) -> list[list[bool]]:
    return [[abs(i - j) >= d for j in range(n_values)] for i in range(n_values)]


def groups(sizes: list[int]) -> list[list[bool]]:
    of = [group for group, size in enumerate(sizes) for _ in range(size)]
    return [[one != other for other in of] for one in of]


def ring(n_values: int) -> list[list[bool]]:
    return [[(i - j) % n_values not in {0, 1, n_values - 1} for j in range(n_values)] for i in range(n_values)]


def on_the_page(draw: Draw) -> tuple[Any, list[Any]]:
    """The same draw by the code of the page."""
    structure = list(draw.structure())
    if isinstance(draw, PartitionDraw):
        rows, columns, *cells = structure
        grid = [cells[row * columns : (row + 1) * columns] for row in range(int(rows))]
        return page()["partition"](grid, draw.l)  # type: ignore[no-any-return]
    weights = WEIGHTS[: draw.n_values]
    if isinstance(draw, ListedDraw):
        sets = [s for s in combinations(range(draw.n_values), draw.l) if draw.admits(s)]
        return page()["listed"](sets, weights)  # type: ignore[no-any-return]
    assert isinstance(draw, ChainDraw)
    nodes = int(structure[0])
    node_of, first_after = structure[1 : 1 + draw.n_values], structure[1 + draw.n_values : 1 + draw.n_values + nodes]
    return page()["chain"](draw.l, node_of, first_after, weights)  # type: ignore[no-any-return]


WEIGHTS = [0.1 * place + 0.37 for place in range(12)]
CASES = [
    (groups([1] * 7), 3),
    (groups([1] * 12), 4),
    (groups([2] * 6), 3),
    (groups([3] * 4), 2),
    (groups([1, 2, 3, 2]), 3),
    (far(9, 2), 3),
    (far(10, 3), 2),
    (ring(9), 2),
    (ring(10), 3),
]


@pytest.mark.parametrize(("allowed", "l"), CASES)
def test_the_code_of_the_page_draws_what_devices_draw(allowed: list[list[bool]], l: int) -> None:
    source = random.Random(3)
    values = VALUES[: len(allowed)]
    draw = choose_draw(l, allowed, WEIGHTS[: len(allowed)])
    assert draw is not None
    sample, structure = on_the_page(draw)
    context = page()["context"]("question", values, draw.kind, l, structure)

    assert context == draw.context("question", values)
    for _ in range(25):
        secret, answer = source.randbytes(32), source.randrange(len(values))
        stream = page()["words"](secret, context, answer if draw.keyed_by_answer else None, 400)
        found = sample(answer, iter(stream))
        assert tuple(found) == DeviceSecret(secret).hide(draw, "question", values, answer)


def test_the_code_of_the_page_writes_the_reports_of_devices() -> None:
    for tokens in ("device", "invitation"):
        asked = survey(tokens=tokens)
        signed = SurveyKey.new().sign(asked)
        secret = random.Random(4).randbytes(32)
        quasi, sets = {"age": 1, "sex": 2}, {"disease": [0, 2, 5]}

        made = page()["token"](secret, signed.id, 0)
        found = page()["report"](json.loads(signed.raw), signed.id, made, quasi, sets)

        assert made == to_text(DeviceSecret(secret).token(signed.id, 0))
        assert found == write_report(asked, signed.id, made, quasi, sets)
        assert len(found) == asked.report_bytes
        jsonschema.validate(json.loads(found), schema("survey-report"))


def test_the_code_of_the_page_derives_the_blind_tokens_of_devices() -> None:
    source = random.Random(5)
    for part in range(3):
        secret, key = source.randbytes(32), BlindPublicKey(source.getrandbits(2047 + 3 * part) | 1 << 2047 | 1)
        token, salt, wide = DeviceSecret(secret).blind_token("ab" * 32, part, key.factor_bytes)

        found = page()["blind_token"](secret, "ab" * 32, part, key.modulus)

        assert found == (token, salt, key.factor(wide))


def schema(name: str) -> Any:
    return json.loads((DOCS / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))


def test_surveys_keep_to_their_schemas_and_planted_faults_do_not() -> None:
    signed = SurveyKey.new().sign(survey())
    jsonschema.validate(json.loads(signed.raw), schema("survey"))
    jsonschema.validate(json.loads(signed.to_json()), schema("survey-signed"))
    for changed in (plain(extra=1), plain(questions=[]), plain(tokens="none"), plain(linked="yes")):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(changed, schema("survey"))


@pytest.mark.parametrize("model", [Survey, Question, Ranges, Choice, UniformForm, BalancedForm, Report, SignedForm])
def test_the_page_names_every_field(model: Any) -> None:
    assert [name for name in model.model_fields if f"`{name}`" not in PAGE] == []


def test_the_page_names_every_distance_and_every_draw() -> None:
    distances = schema("survey")["$defs"]["BalancedForm"]["properties"]["distance"]["discriminator"]["mapping"]
    draws = [kind.kind for kind in (PartitionDraw, ChainDraw, ListedDraw)]

    assert [kind for kind in distances if f"\n| `{kind}` |" not in PAGE] == []
    assert [kind for kind in draws if f"`{kind}`" not in PAGE] == []


def test_the_page_has_the_limits_of_the_code() -> None:
    said = [
        f"at most {MOST_WORK:,}",
        f"at most {MOST_LISTED:,}",
        f"at most {MOST_SETS:,}",
        f"at most {MOST_BYTES // 1000} kB",
    ]
    said += [f"up to\n{MOST_IN_BATCH:,}"]

    assert [one for one in said if one not in PAGE] == []

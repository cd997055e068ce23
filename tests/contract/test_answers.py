"""Every answer is data: a frozen value with types, a document that keeps to its schema, and a text that fits a screen.

Answers are found, not listed: one without an example here fails.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, dataclass, is_dataclass
from pathlib import Path
from typing import Any, get_args

import jsonschema
import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.base.answers import Answer, fact, parts_of
from ldiversity.faces.cli.schemas import answers

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"
LONG = "a name that never ends " * 40
N, CELLS = 1200, 300


def table(values: int = 60) -> pa.Table:
    """Hundreds of cells and of look-alikes, and long names."""
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "place": [f"place {code % CELLS:04d}" for code in range(N)],
            "age": rng.integers(0, 500, N),
            "disease": [f"{LONG}{code}" for code in rng.integers(0, values, N)],
        }
    )


def sets() -> ld.Release:
    return ld.anonymize(table(), quasi=["place", "age"], sensitive="disease", method=ld.RandomizedAddition(l=3))


def compared() -> ld.Comparison:
    small = table(5).slice(0, 200)
    return ld.compare(small, quasi="age", sensitive="disease", l=range(2, 4), methods=["anatomy"], queries=5, seed=1)


def regressed() -> Answer:
    few = table(12)
    release = ld.anonymize(few, quasi=["place", "age"], sensitive="disease", method=ld.RandomizedAddition(l=2))
    return ld.regress(release, "disease ~ age + scale(age ** 2) + scale(age ** 3)")


def written() -> Answer:
    from ldiversity.faces.cli._published import written as made

    return made(sets(), LONG, LONG, keyed=False)


def demo() -> Answer:
    from ldiversity.faces.cli._demo import BesideTruth, Demo, DemoRelease, MethodError, TrueShare

    release = DemoRelease("method", LONG, ({"age": 3, "disease": ["flu", "cold"]},) * 500)
    beside = BesideTruth(
        0.95, (MethodError("method", 6, 0.1, 0.9),), (TrueShare("m", "F", "flu", 0.1, 0.2, 0.1),) * 500
    )
    return Demo(LONG, (LONG,) * 30, LONG, (release,) * 30, beside, (LONG,) * 30)


def fault() -> Answer:
    from ldiversity.faces.cli._fault_document import Fault, FaultDocument

    return FaultDocument(Fault("ParameterError", LONG, LONG, LONG, LONG, LONG, LONG, LONG, 2, ({"l": 3.0},) * 500))


def hierarchy() -> Answer:
    from ldiversity.faces.cli._hierarchy import Level, LookedAt

    return LookedAt(LONG, 500, (Level(0, 500, 1, 1, (LONG,) * 9),) * 30, "\n".join([LONG] * 500), LONG, LONG, LONG)


def key() -> Answer:
    from ldiversity.faces.cli._key import KeyFile

    return KeyFile(LONG)


def results() -> Answer:
    from ldiversity.collection.results import ResultsAnswer, ShownCell, ShownDivision, ShownQuestion, ShownValue

    cell = ShownCell(LONG, 100, (ShownValue(LONG, 0.5, 0.4, 0.6),) * 20)
    question = ShownQuestion(LONG, LONG, 3, cell, (ShownDivision("age", LONG, (cell,) * 20, (LONG,) * 20),))
    return ResultsAnswer("ab", LONG, 50, 50, 0.01, 0.95, (question,) * 10, (LONG,) * 30)


def closed() -> Answer:
    from ldiversity.faces.cli._collect_close import ClosedSurvey

    return ClosedSurvey("ab", LONG, 3)


def exported() -> Answer:
    from ldiversity.collection.results import ExportedRelease
    from ldiversity.faces.cli._collect_export import Exported

    return Exported("ab", LONG, (ExportedRelease(LONG, (LONG,) * 24, 3),) * 24)


def invited() -> Answer:
    from ldiversity.faces.cli._collect_invite import Invited

    return Invited("ab", LONG, 3, links=True)


def serving() -> Answer:
    from ldiversity.faces.cli._collect_serve import Serving

    return Serving("ab", LONG, LONG, LONG, LONG, signed_anew=True, reports=3, over=True)


def status() -> Answer:
    from ldiversity.collection.results import ResultsAnswer
    from ldiversity.faces.cli._collect_status import CollectStatus, PartStatus

    shown = results()
    assert isinstance(shown, ResultsAnswer)
    parts = (PartStatus((LONG,), 3),) * 24
    return CollectStatus("ab", LONG, LONG, None, closed=False, database=LONG, parts=parts, results=shown)


def signed_survey() -> Answer:
    from ldiversity.faces.cli._collect_new import HiddenQuestion, NewSurvey

    question = HiddenQuestion(LONG, 500, 3, 2.0, LONG, LONG, False, 0.5, 0.1, 1000, (LONG,) * 30)
    return NewSurvey(LONG, LONG, (LONG,) * 4, LONG, LONG, LONG, (LONG,) * 30, 15, (question,) * 500, (LONG,) * 30)


ROLES: Mapping[str, Any] = {"quasi": ["place", "age"], "sensitive": "disease"}
EXAMPLES: Mapping[str, Callable[[], Answer]] = {
    "association": lambda: ld.association(sets(), "age:100"),
    "attack": lambda: ld.attack(sets(), table(), attacks=["homogeneity", "skewness"], targets=50),
    "audit": lambda: ld.audit(
        table().append_column("w", pa.array(np.full(N, 3.5))),
        **ROLES,
        models=["k-anonymity:5", "distinct:3", "t-closeness:0.2"],
        weights="w",
    ),
    "checked": lambda: ld.Publication(**ROLES, method=ld.RandomizedAddition(l=3)).check(table()),
    "class-plan": lambda: ld.plan(table(), **ROLES, method=ld.BSGI(l=500)),
    "collect-closed": closed,
    "collect-exported": exported,
    "collect-invited": invited,
    "collect-new": signed_survey,
    "collect-results": results,
    "collect-serving": serving,
    "collect-status": status,
    "combined": lambda: ld.combine(np.arange(60.0).reshape(2, 30), np.ones((2, 30))),
    "comparison": compared,
    "demo": demo,
    "description": lambda: ld.describe(pa.table({f"{LONG}{place}": ["a", "b", "c"] for place in range(200)})),
    "epsilons": lambda: ld.add_epsilons(*[sets()] * 60),
    "estimate": lambda: ld.estimate(sets(), by="place"),
    "fault": fault,
    "hierarchy": hierarchy,
    "key": key,
    "plan": lambda: ld.plan(table(), **ROLES, method=ld.RandomizedAddition(l=3)),
    "published": written,
    "quantity": lambda: ld.estimate(sets(), by="place").proportion(f"{LONG}1", "place 0001"),
    "regression": regressed,
    "report": lambda: ld.holder_report(sets(), table(), attacks=True),
    "trend": lambda: ld.trend([sets()] * 60, f"{LONG}1"),
    "verdict": lambda: ld.check("distinct:3", table(), **ROLES),
}


@pytest.fixture(scope="module", params=sorted(answers()))
def answer(request: pytest.FixtureRequest) -> Answer:
    """An example of each answer; an answer without one is found here."""
    return EXAMPLES[request.param]()


def fits(text: str) -> bool:
    lines = text.split("\n")
    return len(lines) <= 24 and max(map(len, lines)) <= 100


def too_free(kind: Any, seen: set[Any]) -> list[str]:
    """Parts of a dataclass, and of all that it holds, of which nothing is known but that they are JSON."""
    if kind in seen or not is_dataclass(kind):
        return [name for inside in get_args(kind) for name in too_free(inside, seen)]
    seen.add(kind)
    found = []
    for part in parts_of(kind):
        if any(one is Any for one in (part.type, *get_args(part.type))):
            found.append(f"{kind.__name__}.{part.name}")
        found += too_free(part.type, seen)
    return found


def test_its_document_keeps_to_its_published_schema(answer: Answer) -> None:
    described = json.loads(json.dumps(answer.to_dict(), allow_nan=False))

    published = json.loads((SCHEMAS / f"{answer.schema}.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(described, published)
    assert (described["schema"], described["version"]) == (answer.schema, answer.version)


def test_its_text_and_its_repr_fit_a_screen(answer: Answer) -> None:
    assert fits(str(answer))
    assert fits(repr(answer))


@pytest.mark.parametrize("method", [ld.RandomizedAddition(l=3), ld.Anatomy(l=3)], ids=["sets", "classes"])
def test_a_release_fits_a_screen_too(method: Any) -> None:
    long = table().rename_columns([f"{name} {LONG[:400]}" for name in ("place", "age", "disease")])
    *shown, hidden = long.column_names
    release = ld.anonymize(long, quasi=shown, sensitive=hidden, method=method, confirm=shown)

    assert fits(str(release))
    assert fits(repr(release))


def test_it_cannot_be_changed(answer: Answer) -> None:
    with pytest.raises(FrozenInstanceError):
        answer.frame_kind = "other"  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", sorted(answers()))
def test_its_parts_have_types_all_the_way_down(name: str) -> None:
    assert too_free(answers()[name], set()) == []


@dataclass(frozen=True)
class Loose:
    """Planted: says nothing about what it holds."""

    facts: dict[str, Any]

    @fact
    def more(self) -> Mapping[str, Any]:
        """Neither does this."""
        return self.facts


@dataclass(frozen=True)
class Holder:
    """Planted: holds one that says nothing."""

    parts: tuple[Loose, ...]


def test_a_part_without_a_type_is_found() -> None:
    assert too_free(Holder, set()) == ["Loose.facts", "Loose.more"]


def test_a_text_that_does_not_fit_is_found() -> None:
    assert [fits("x" * 101), fits("x\n" * 24), fits("x" * 100)] == [False, False, True]

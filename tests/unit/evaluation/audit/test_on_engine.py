"""What an engine finds in parts is what is found in memory."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.engines import LocalEngine, NumberedBatch, Secrets
from ldiversity.evaluation.audit import _engine_parts, _on_engine, _question
from ldiversity.evaluation.audit._classes import Counting
from ldiversity.evaluation.audit._engine_parts import DealRows, Names
from ldiversity.evaluation.audit._found import FoundIn
from ldiversity.evaluation.audit._tables import audit_table
from ldiversity.models import parse_model
from ldiversity.tables import Source, open_source, rows_per_id

MODELS = [parse_model(text) for text in ("k-anonymity:2", "t-closeness:0.3", "recursive:3:2", "alpha-k:0.5:2")]
CATEGORY = ld.Sensitive("w", missing="category")


def people(n: int = 800) -> Source:
    draw = np.random.default_rng(2)
    table = {
        "age": draw.integers(0, 40, n),
        "zip": [None if x < 0.05 else f"z{int(x * 9)}" for x in draw.random(n)],
        "v": draw.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
        "w": pa.array([None if x < 0.1 else int(x * 5) for x in draw.random(n)]),
        "rows": draw.normal(size=n),
        "patient_id": draw.integers(0, n // 2, n),
    }
    return open_source(pa.table(table))


def shown(told: FoundIn) -> list[Any]:
    """All that an answer is made of, as data that can be compared."""
    found, seen = told.found, told.seen
    of_attributes = {
        name: (one.sizes.sizes.tolist(), one.sizes.classes.tolist(), one.belief, one.measured)
        for name, one in found.attributes.items()
    }
    return [
        (found.sizes.sizes.tolist(), found.sizes.classes.tolist(), found.asked, found.measured, of_attributes),
        (found.journalist, found.unique_units, seen.n_dropped, seen.n_rows, seen.n_people),
        {name: (view.domain.values, view.marginal.tolist()) for name, view in seen.views.items()},
    ]


@pytest.mark.parametrize(
    "how",
    [
        {"sensitive": [ld.Sensitive("v"), CATEGORY]},
        {"sensitive": [ld.Sensitive("v"), CATEGORY], "joint_knowledge": True},
        {"sensitive": [ld.Sensitive("w", missing="drop")], "missing": "drop"},
        {"sensitive": [ld.Sensitive("rows", width=1.0)]},
        {"sensitive": [ld.Sensitive("v"), CATEGORY], "person": "patient_id"},
        {"sensitive": []},
    ],
    ids=["several", "joint", "drop", "bins", "people", "no values"],
)
def test_parts_of_an_engine_say_what_is_said_in_memory(how: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_on_engine, "_PART_ROWS", 70)
    source = people()
    counting = Counting.of(source, quasi=["age", "zip"], **how)
    models = MODELS if counting.names else MODELS[:1]

    parts = _on_engine.audit_on(LocalEngine(chunk_rows=90), source, counting, models, threshold=0.2, fraction=0.5)
    whole = audit_table(source, counting, models, threshold=0.2, fraction=0.5)

    assert shown(parts) == shown(whole)


def test_ids_with_several_rows_are_found_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_on_engine, "_PART_ROWS", 70)
    source = people()

    found = _on_engine.several_rows_on(LocalEngine(chunk_rows=90), source, list(source.columns), 800)

    assert found is not None
    assert [found] == rows_per_id(source)


def test_what_travels_can_be_pickled() -> None:
    source = people()
    counting = Counting.of(source, quasi=["age"], sensitive=[ld.Sensitive("rows", width=1.0)])
    deal = DealRows(counting, ("age",), 7, Names.beside(counting.columns), pa.schema([("age", pa.int64())]))

    assert pickle.loads(pickle.dumps(deal)) == deal  # noqa: S301 - made here


def test_what_a_worker_sends_together_says_what_its_batches_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_engine_parts, "_HELD_ROWS", 200)
    source = people()
    counting = Counting.of(source, quasi=["age", "zip"], sensitive=[ld.Sensitive("v")], missing="drop")
    names = Names.beside(counting.columns)
    types = pa.schema([(name, source.columns[name]) for name in counting.columns])
    deal = DealRows(counting, ("age", "zip"), 7, names, types)
    function = deal(Secrets())
    batches = [function(NumberedBatch(batch)) for batch in source.batches(counting.columns, chunk_rows=50)]

    together = list(deal.together(iter(batches)))

    assert len(together) < len(batches)
    assert _added_up(together, names.rows) == _added_up(batches, names.rows)


def _added_up(batches: Sequence[pa.RecordBatch], count: str) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for row in pa.Table.from_batches(batches).to_pylist():
        n = row.pop(count)
        found[tuple(row.values())] += n
    return found


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"quasi": ["zip"], "missing": "refuse"}, "must have a value in every row"),
        ({"quasi": ["age"], "sensitive": [ld.Sensitive("w")]}, "column 'w' must have a value in every row"),
    ],
)
def test_what_is_refused_in_memory_is_refused_on_an_engine(how: Mapping[str, Any], said: str) -> None:
    source = people()
    counting = Counting.of(source, **how)

    with pytest.raises(ld.SchemaError, match=said):
        _on_engine.audit_on(LocalEngine(), source, counting, (), threshold=0.2)


class Elsewhere(LocalEngine):
    """An engine that is not this machine."""

    name: ClassVar[str] = "elsewhere"


def test_a_whole_audit_on_an_engine_is_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_question, "LocalEngine", type(None))  # as if the engine were none of this machine
    table = pa.Table.from_batches(list(people().batches()))
    asked: dict[str, Any] = {"quasi": ["age", "zip"], "sensitive": ["v", CATEGORY], "models": MODELS}

    parts = ld.audit(table, engine=Elsewhere(), **asked)
    monkeypatch.undo()

    assert parts == ld.audit(table, **asked)


def test_a_population_is_refused_on_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_question, "LocalEngine", type(None))
    table = pa.Table.from_batches(list(people().batches()))

    with pytest.raises(ld.UnsupportedError, match="population must be left out on the engine 'elsewhere'") as caught:
        ld.audit(table, quasi=["age"], population=table, engine=Elsewhere())

    assert "sample_fraction=0.1" in str(caught.value)

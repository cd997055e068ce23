"""What every method and every question refuses, it refuses in a sentence that can be followed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.datasets import patients_tree
from ldiversity.methods import METHODS

REQUIRED: dict[str, dict[str, Any]] = {
    "semantic": {"d": 1, "distance": ld.DiscreteDistance()},
    "le-anatomy": {"e": 1, "tree": patients_tree()},
}
WITH_L = [name for name, method in METHODS.items() if method.strength == "l"]
DISEASE = patients_tree().leaves[0]
ROLES = {"quasi": "age", "sensitive": "disease"}
QUESTIONS: dict[str, Callable[..., object]] = {
    "audit": ld.audit,
    "plan": lambda table, **roles: ld.plan(table, **roles, method="bsgi:l=2"),
    "anonymize": lambda table, **roles: ld.anonymize(table, **roles, method="bsgi:l=2"),
    "compare": lambda table, **roles: ld.compare(table, **roles, l=2, methods=["anatomy"]),
}
NESTED = {
    "list": pa.array([["a"], ["b"], ["a"], None]),
    "fixed list": pa.array([[1], [2], [1], [3]], pa.list_(pa.int64(), 1)),
    "struct": pa.array([{"x": 1}, {"x": 2}, {"x": 1}, None]),
    "map": pa.array([[("x", 1)], [("x", 2)], [], None], pa.map_(pa.string(), pa.int64())),
    "bytes": pa.array([b"a", b"b", b"a", None]),
    "time": pa.array([1, 2, 3, 4], pa.duration("s")),
}


@pytest.mark.parametrize("name", WITH_L)
@pytest.mark.parametrize("n", [1, 2])
def test_where_all_records_have_one_value_no_refusal_asks_for_an_l_below_2(name: str, n: int) -> None:
    table = pa.table({"age": list(range(n)), "disease": [DISEASE] * n})

    with pytest.raises(ld.InfeasibleError) as refused:
        ld.anonymize(table, **ROLES, method=METHODS[name](l=2, **REQUIRED.get(name, {})))

    assert not re.search(r"at most (F - 1 = )?[01]\b|occur, 1\b", str(refused.value))
    assert refused.value.hint


@pytest.mark.parametrize(
    ("question", "kind", "role"),
    # A comparison runs methods of which some publish any quasi-identifier as it is.
    [
        (one, kind, role)
        for one in QUESTIONS
        for kind in NESTED
        for role in ROLES
        if (one, role) != ("compare", "quasi")
    ],
)
def test_a_column_that_cannot_have_a_role_is_refused_by_name_in_one_sentence(
    question: str, kind: str, role: str
) -> None:
    other = "disease" if role == "quasi" else "age"
    table = pa.table({ROLES[role]: NESTED[kind], other: ["a", "b", "c", "d"]})

    with pytest.raises(ld.LDiversityError, match=repr(ROLES[role])) as refused:
        QUESTIONS[question](table, **ROLES)

    assert "kernel" not in str(refused.value)
    assert refused.value.hint


def test_records_that_find_no_class_are_offered_the_classes_of_no_effort() -> None:
    table = pa.table(
        {
            "age": [56, 59, 57, 27, 42, 40, 29, 28, 46, 26, 32, 34, 25, 31, 32, 36],
            "a": list("aeccacbadbebabdc"),
            "b": list("uttwuuwuxxvttvvu"),
        }
    )
    roles: dict[str, Any] = {"quasi": "age", "sensitive": ["a", "b"], "insecure_seed": 1}

    with pytest.raises(ld.InfeasibleError, match="could not be placed in classes of 3 that differ in") as refused:
        ld.anonymize(table, **roles, method=ld.BSGI(l=3))

    assert "Try effort=0, which forms other classes, a smaller l, or overflow='suppress'" in str(refused.value.hint)
    ld.anonymize(table, **roles, method=ld.BSGI(l=3, effort=0)).verify()
    ld.anonymize(table, **roles, method=ld.BSGI(l=3, overflow="suppress")).verify()

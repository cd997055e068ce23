"""With a person column, audits and checks count people."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.evaluation.audit._people import one_value_each

TABLE = pa.table(
    {
        "who": ["ann", "ann", "ann", "bob", "cleo", "dan", "dan", "eve"],
        "age": [30, 30, 30, 30, 40, 40, 40, 40],
        "disease": ["flu", "flu", "cut", "cut", "flu", "cold", "cut", "cut"],
    }
)
ROLES = {"quasi": "age", "sensitive": "disease"}


def test_k_counts_people() -> None:
    rows = ld.audit(TABLE, **ROLES, models="k-anonymity:3")
    people = ld.audit(TABLE, **ROLES, models="k-anonymity:3", person="who")

    assert (rows.models["k_anonymity"].value, people.models["k_anonymity"].value) == (4, 2)
    assert (rows.passed, people.passed) == (True, False)
    assert ld.check("k-anonymity:3", TABLE, quasi="age", person="who").reached == 2


def test_shares_count_people() -> None:
    # At 30 both people have a cut, one of them a flu beside it.
    verdict = ld.check("frequency:2", TABLE, **ROLES, person="who")

    assert verdict.reached == 1.0
    assert ld.check("frequency:2", TABLE, **ROLES).passed


def test_the_answer_says_that_people_are_counted_and_of_how_many_rows() -> None:
    found = ld.audit(TABLE, **ROLES, person="who", models="k-anonymity:3")

    assert (found.records, found.people) == (8, 5)
    assert found.verdict[0].startswith("People are counted, not rows: 8 rows belong to 5 people, by 'who'")
    assert "with 2 people breaks it" in found.verdict[-1]
    assert json.loads(json.dumps(found.to_dict()))["people"] == 5
    assert ld.audit(TABLE, **ROLES).people is None


def test_one_row_per_person_changes_no_figure() -> None:
    table = TABLE.set_column(0, "who", pa.array(range(8)))

    rows, people = (ld.audit(table, **ROLES, **given).to_dict()["models"] for given in ({}, {"person": "who"}))

    assert rows == people


def slow_counts(rows: set[tuple[int, int, int]]) -> dict[int, list[int]]:
    """Values of everybody in each class: again and again the value that most people have."""
    found: dict[int, list[int]] = {}
    for one in {class_id for class_id, _, _ in rows}:
        values = {who: {v for c, p, v in rows if (c, p) == (one, who)} for c, who, _ in rows if c == one}
        given = {who: next(iter(own)) for who, own in values.items() if len(own) == 1}
        left = {who: own for who, own in values.items() if len(own) > 1}
        while left:
            wanted = sorted({v for own in left.values() for v in own})
            held = {v: sum(v in own for own in left.values()) + sum(v == g for g in given.values()) for v in wanted}
            best = max(wanted, key=lambda v: (held[v], -v))
            given |= {who: best for who, own in left.items() if best in own}
            left = {who: own for who, own in left.items() if best not in own}
        found[one] = sorted(given.values())
    return found


@pytest.mark.parametrize("seed", range(30))
def test_everybody_counts_once_in_a_class_with_the_most_common_of_their_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    every = list(product(range(3), range(6), range(4)))
    rows = {every[i] for i in rng.choice(len(every), rng.integers(1, 40), replace=False)}
    columns = np.array(sorted(rows))

    ids, codes = one_value_each(columns[:, 0], columns[:, 1], columns[:, 2].astype(np.int32))

    found = {int(one): sorted(codes[ids == one].tolist()) for one in np.unique(ids)}
    assert found == slow_counts(rows)


@pytest.mark.parametrize("given", ["age", "nobody"])
def test_the_column_must_exist_and_have_no_other_role(given: str) -> None:
    with pytest.raises(ld.SchemaError):
        ld.audit(TABLE, **ROLES, person=given)


def test_a_dropped_identifier_may_say_whose_row_it_is() -> None:
    assert ld.audit(TABLE, **ROLES, drop="who", person="who").people == 5


def test_missing_people_are_refused() -> None:
    table = TABLE.set_column(0, "who", pa.array([None, *"abcdefg"]))

    with pytest.raises(ld.SchemaError, match="must not have missing values"):
        ld.audit(table, **ROLES, person="who")


def test_a_release_does_not_say_whose_rows_it_holds() -> None:
    release = ld.anonymize(TABLE, **ROLES, person="who", method=ld.LLMSU(l=2))

    with pytest.raises(ld.UnsupportedError, match="person must come with the table that the release"):
        ld.audit(release, person="who")

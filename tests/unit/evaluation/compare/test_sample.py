"""Comparisons on a sample of the records, or of the people."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.evaluation.compare._setting import draw_rows

ROLES: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "l": 2, "methods": "anatomy", "queries": 5}


def test_a_sample_is_said_plainly(people: pa.Table) -> None:
    found = ld.compare(people, **ROLES, sample=100, seed=1)

    assert (found.records, found.drawn_from) == (100, people.num_rows)
    assert found.cautions[0].startswith(f"Only 100 of {people.num_rows} records were compared, drawn at random.")
    assert found.cautions[0] in " ".join(str(found).split())
    assert found.to_dict()["drawn_from"] == people.num_rows
    assert found.rows[0].records == 100
    assert any("searches the sample itself" in note for note in found.notes)


def test_a_sample_has_the_values_of_the_whole_table(people: pa.Table) -> None:
    kept = [*ROLES["quasi"], "disease"]
    rare = pa.concat_tables([people.select(kept), people.select(kept).slice(0, 1).set_column(2, "disease", [["rare"]])])
    found = ld.compare(rare, **ROLES | {"methods": "randomized-addition"}, sample=20, seed=1)

    assert (
        found.rows[0].promised
        == ld.compare(rare, **ROLES | {"methods": "randomized-addition"}, seed=1).rows[0].promised
    )


def test_a_sample_as_large_as_the_table_is_the_table(people: pa.Table) -> None:
    found = ld.compare(people, **ROLES, sample=people.num_rows, seed=1)

    assert found.drawn_from is None
    assert found.of_sample is None


def test_people_are_drawn_with_all_their_rows() -> None:
    table = pa.table({"who": [f"p{n // 3}" for n in range(60)], "age": list(range(60))})
    drawn, share = draw_rows(table, "who", 7, seed=3)

    assert share == 7 / 20
    assert drawn.num_rows == 21
    assert len(drawn["who"].unique()) == 7


def test_the_share_of_the_population_is_that_of_the_sample(people: pa.Table) -> None:
    found = ld.compare(people, **ROLES, sample=people.num_rows // 2, sample_fraction=0.1, seed=1)

    assert any("of which the sample is 5 %" in note for note in found.notes)


def test_an_empty_sample_is_refused(people: pa.Table) -> None:
    with pytest.raises(ld.ParameterError, match="sample must be an integer of at least 1"):
        ld.compare(people, **ROLES, sample=0)

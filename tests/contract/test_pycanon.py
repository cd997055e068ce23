"""The audit against pycanon 1.3.6, where the definitions agree; figures stored by tests/data/make_pycanon.py.

Not compared, because pycanon does not follow the definitions: recursive (c,l), for which it sorts ascending; enhanced
beta-likeness; and delta-disclosure where a class lacks a value, which it passes over.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ldiversity as ld

STORED: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data" / "pycanon.json").read_text(encoding="utf-8"))[
    "tables"
]
EVERY_VALUE_IN_EVERY_CLASS = ["drawn-1", "drawn-2", "numbers"]
ORDERED = ["salaries", "numbers"]
TEXTS = [name for name in STORED if name not in ORDERED]


def found(name: str) -> ld.Audit:
    return ld.audit(pa.table(STORED[name]["columns"]), quasi=STORED[name]["quasi"], sensitive="s")


@pytest.mark.parametrize("figure", ["k_anonymity", "distinct_l", "beta"])
@pytest.mark.parametrize("name", STORED)
def test_figures_are_those_of_pycanon(name: str, figure: str) -> None:
    assert found(name).models[figure].value == pytest.approx(STORED[name]["pycanon"][figure], abs=1e-12)


@pytest.mark.parametrize("name", STORED)
def test_alpha_and_k_are_those_of_pycanon(name: str) -> None:
    stored = STORED[name]["pycanon"]

    assert found(name).models["alpha_k"].value == pytest.approx({"alpha": stored["alpha"], "k": stored["k"]})


@pytest.mark.parametrize("name", STORED)
def test_entropy_is_pycanons_before_it_is_cut_off(name: str) -> None:
    assert int(found(name).models["entropy_l"].value) - STORED[name]["pycanon"]["entropy_l"] in {0, 1}


@pytest.mark.parametrize("name", TEXTS)
def test_t_of_texts_is_that_of_pycanon(name: str) -> None:
    assert found(name).models["t_equal"].value == pytest.approx(STORED[name]["pycanon"]["t_closeness"], abs=1e-12)


@pytest.mark.parametrize("name", ORDERED)
def test_t_of_numbers_is_that_of_pycanon(name: str) -> None:
    assert found(name).models["t_ordered"].value == pytest.approx(STORED[name]["pycanon"]["t_closeness"], abs=1e-12)


@pytest.mark.parametrize("name", EVERY_VALUE_IN_EVERY_CLASS)
def test_delta_is_that_of_pycanon_where_no_class_lacks_a_value(name: str) -> None:
    assert found(name).models["delta"].value == pytest.approx(STORED[name]["pycanon"]["delta"], abs=1e-12)


def test_a_missing_quasi_identifier_is_not_passed_over() -> None:
    frame = pd.DataFrame({"a": ["x"] * 4 + [None], "s": list("pqpqp")})

    assert ld.audit(frame, quasi="a", sensitive="s").models["k_anonymity"].value == 1


def test_a_permuted_index_changes_nothing() -> None:
    frame = pd.DataFrame({"a": ["x", "x", "y", "y"], "s": ["p", "q", "p", "p"]})
    permuted = frame.set_axis([2, 0, 3, 1])

    assert ld.audit(permuted, quasi="a", sensitive="s").to_dict() == ld.audit(frame, quasi="a", sensitive="s").to_dict()


def test_fourteen_equally_frequent_values_have_an_entropy_of_exactly_fourteen() -> None:
    table = pa.table({"a": ["x"] * 14, "s": np.arange(14)})

    assert ld.audit(table, quasi="a", sensitive="s").models["entropy_l"].value == 14


def test_recursive_diversity_sorts_descending() -> None:
    table = pa.table({"a": ["x"] * 100, "s": ["p"] * 98 + ["q", "r"]})

    assert ld.audit(table, quasi="a", sensitive="s").models["recursive_c"].value == {"2": 49, "3": 98}

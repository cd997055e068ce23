"""A method that says it does not look at quasi-identifiers forms the same classes whatever they are."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ldiversity as ld
from ldiversity.methods import METHODS, CategoryColumn, CodedTable, GroupingMethod, GroupingRun, NumberColumn
from ldiversity.methods import SensitiveColumn as Values
from ldiversity.schema import Domain

TOYS = Path(__file__).parent / "toys"
DOMAIN = Domain(tuple("abcdefgh"))
TREE = ld.Hierarchy.from_rows([(value, f"group-{code % 4}") for code, value in enumerate("abcdefgh")])
REQUIRED: dict[str, dict[str, Any]] = {"le-anatomy": {"e": 1, "tree": TREE}}
N = 400


def looks_at_nothing(kind: type[ld.Method]) -> bool:
    return issubclass(kind, GroupingMethod) and (kind.blind or kind.parts == "random")


BLIND = [name for name in METHODS if looks_at_nothing(METHODS[name])]


def table(order: NDArray[np.int64], n_columns: int = 1) -> CodedTable:
    """Records whose quasi-identifiers change places in this order, while their values stay."""
    rng = np.random.default_rng(4)
    age, sex = rng.integers(18, 90, N)[order], rng.integers(0, 2, N).astype(np.int32)[order]
    codes = [rng.integers(0, 8, N).astype(np.int32) for _ in range(n_columns)]
    return CodedTable(
        (NumberColumn("age", age, 18, 90), CategoryColumn("sex", sex, ("F", "M"))),
        tuple(Values(f"s{place}", one, DOMAIN) for place, one in enumerate(codes)),
    )


def classes(method: GroupingMethod, given: CodedTable) -> list[list[int]]:
    return [one.class_of.tolist() for one in method.group(given, GroupingRun(workers=1)).partitions]


def same_for_all(method: GroupingMethod, *, person: bool = False) -> bool:
    """Whether classes stay when quasi-identifiers change places."""
    whose = np.arange(N) // 2 if person else None
    orders = (np.arange(N), np.random.default_rng(9).permutation(N))
    first, second = (classes(method, replace(table(order), person=whose)) for order in orders)
    return first == second


@pytest.mark.parametrize("name", BLIND)
def test_a_blind_method_forms_the_same_classes_whatever_quasi_identifiers_are(name: str) -> None:
    method = METHODS[name].of_level(2, **REQUIRED.get(name, {}))
    assert isinstance(method, GroupingMethod)

    assert same_for_all(method)
    try:
        assert same_for_all(method, person=True)
    except ld.UnsupportedError:
        pytest.skip("the method refuses people with several rows")


def test_a_method_that_is_not_blind_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOYS))
    false = importlib.import_module("toy_false").Buckets

    assert looks_at_nothing(false)
    assert not same_for_all(false())


def test_the_blind_methods_of_this_package_are_found() -> None:
    assert {"anatomy", "le-anatomy", "llmsu", "mbf"} <= set(BLIND)

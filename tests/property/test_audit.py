"""Laws of audits: what holds for any table."""

from __future__ import annotations

from collections import Counter
from math import exp, log

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldiversity as ld

CELLS = st.tuples(
    st.sampled_from(["x", "y", None]), st.sampled_from([1.0, 2.0, float("nan")]), st.sampled_from(["flu", "cut", "sty"])
)
TABLES = st.lists(CELLS, min_size=1, max_size=40)


def frame(rows: list[tuple[str | None, float, str]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["a", "b", "s"])


def audit(rows: list[tuple[str | None, float, str]]) -> ld.Audit:
    return ld.audit(frame(rows), quasi=["a", "b"], sensitive="s")


def classes(rows: list[tuple[str | None, float, str]]) -> list[Counter[str]]:
    """The values of each class, slowly: NaN and None are one missing value."""
    found: dict[tuple[str | None, float | None], Counter[str]] = {}
    for a, b, s in rows:
        found.setdefault((a, None if b != b else b), Counter())[s] += 1  # noqa: PLR0124 - NaN differs from itself
    return list(found.values())


@given(TABLES)
def test_figures_are_those_of_a_slow_count(rows: list[tuple[str | None, float, str]]) -> None:
    counted = classes(rows)
    models = audit(rows).models
    shares = [[count / one.total() for count in one.values()] for one in counted]

    assert models["k_anonymity"].value == min(one.total() for one in counted)
    assert models["distinct_l"].value == min(map(len, counted))
    assert models["frequency"].value == pytest.approx(max(map(max, shares)))
    assert models["entropy_l"].value == pytest.approx(min(exp(-sum(q * log(q) for q in some)) for some in shares))


@given(TABLES)
def test_t_and_beta_are_those_of_a_slow_count(rows: list[tuple[str | None, float, str]]) -> None:
    counted = classes(rows)
    models = audit(rows).models
    everyone = sum(counted, Counter[str]())
    shares = {value: count / len(rows) for value, count in everyone.items()}
    moved = [sum(abs(one[value] / one.total() - p) for value, p in shares.items()) / 2 for one in counted]
    gains = [one[value] / one.total() / p - 1 for one in counted for value, p in shares.items()]

    assert models["t_equal"].value == pytest.approx(max(moved), abs=1e-12)
    assert models["beta"].value == pytest.approx(max(gains), abs=1e-12)


@given(TABLES, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_the_index_change_nothing(
    rows: list[tuple[str | None, float, str]], random: np.random.Generator
) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)
    other = frame(shuffled).set_axis(range(len(rows), 0, -1))

    found = ld.audit(other, quasi=["a", "b"], sensitive="s")

    assert found.to_dict() == audit(rows).to_dict()


@given(TABLES)
def test_records_and_classes_add_up(rows: list[tuple[str | None, float, str]]) -> None:
    found = audit(rows)

    assert sum(found.classes.sizes.values()) == found.classes.count == len(classes(rows))
    assert sum(found.attribute_risk["s"].records_by_largest_share.values()) == len(rows)
    assert found.risk.prosecutor.mean == pytest.approx(found.classes.count / len(rows))


@given(TABLES)
def test_what_others_know_of_other_attributes_never_helps_privacy(rows: list[tuple[str | None, float, str]]) -> None:
    table = frame(rows).assign(t=[s[0] for _, _, s in rows])

    alone = ld.audit(table, quasi=["a"], sensitive=["s", "t"]).models
    jointly = ld.audit(table, quasi=["a"], sensitive=["s", "t"], joint_knowledge=True).models

    assert jointly["distinct_l"].value <= alone["distinct_l"].value
    assert jointly["frequency"].value >= alone["frequency"].value


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=40), st.integers(2, 4))
def test_a_check_and_an_audit_agree(rows: list[tuple[int, int]], l: int) -> None:
    table = pa.table({"a": [a for a, _ in rows], "s": [s for _, s in rows]})

    for model in (ld.DistinctDiversity(l), ld.FrequencyDiversity(l), ld.KAnonymity(l), ld.RecursiveDiversity(c=2, l=l)):
        found = ld.audit(table, quasi="a", sensitive="s", models=model)
        assert found.passed == ld.check(model, table, quasi="a", sensitive="s").passed

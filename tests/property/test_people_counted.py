"""Whatever the table: a figure that is called people counts different people, and a slow count finds the same."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import ldiversity as ld
from ldiversity.evaluation.audit import Audit, learned
from ldiversity.faces.report import holder_report

QUASI = ("age", "sex")
PEOPLE = re.compile(r"(\d[\d,]*)(?: more| of [\d,]+)? (?:person|people)\b")
RECORDS = re.compile(r"(\d[\d,]*) records?\b")


@st.composite
def visits(draw: Any) -> pa.Table:
    """Rows of people; in some tables all rows of a person look alike, in others cells are missing or differ."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, n_people = draw(st.integers(4, 60)), draw(st.integers(1, 25))
    whose = rng.integers(0, n_people, n)
    own = draw(st.booleans())
    age = rng.integers(20, 24, n_people)[whose] if own else rng.integers(20, 24, n)
    missing = rng.random(n) < draw(st.sampled_from([0.0, 0.0, 0.2]))
    return pa.table(
        {
            "who": [f"p{one}" for one in whose],
            "age": pa.array(age, mask=missing),
            "sex": np.array(["f", "m"])[rng.integers(0, 2, n_people)[whose]],
            "disease": np.array(["flu", "cut", "gout"])[rng.integers(0, draw(st.integers(1, 3)), n)],
        }
    )


def members(table: pa.Table) -> dict[tuple[object, ...], set[str]]:
    """Who is in each class, row by row."""
    found: dict[tuple[object, ...], set[str]] = {}
    for row in table.to_pylist():
        found.setdefault(tuple(row[name] for name in QUASI), set()).add(row["who"])
    return found


def told(text: str, what: re.Pattern[str]) -> list[int]:
    return [int(number.replace(",", "")) for number in what.findall(text)]


def audit(table: pa.Table, **more: Any) -> Audit:
    return ld.audit(table, quasi=list(QUASI), sensitive="disease", drop="who", person="who", **more)


@settings(max_examples=60, deadline=None)
@given(table=visits(), joint=st.booleans())
def test_figures_about_people_count_different_people(*, table: pa.Table, joint: bool) -> None:
    found = audit(table, models=["distinct:2", "k-anonymity:2"], joint_knowledge=joint)
    classes, everybody = members(table), set(table["who"].to_pylist())
    in_one_class = sum(len(one) for one in classes.values()) == len(everybody)
    alone = [one for one in classes.values() if len(one) == 1]

    assert found.people == len(everybody)
    assert found.unit == ("people" if in_one_class else "records")
    assert found.risk.uniques == found.classes.uniques == len(alone)
    if in_one_class:
        assert found.risk.uniques == len(set().union(*alone))
    assert found.risk.prosecutor.records_above == sum(len(one) for one in classes.values() if len(one) < 5)
    assert found.models["k_anonymity"].value == min(len(one) for one in classes.values())
    page = " ".join((*found.verdict, found.to_html(), *found.notes))
    assert max(told(page.split("Limit:")[0], PEOPLE)) == len(everybody)
    heads = learned(found.kind, found.attribute_risk["disease"], found.people).heads
    values = found.attribute_risk["disease"]
    if heads[0] == "people":
        assert values.records == len(everybody)
        assert values.records_at_least_50 <= len(everybody)


@settings(max_examples=30, deadline=None)
@given(visits())
def test_values_that_can_be_read_off_are_those_of_different_people(table: pa.Table) -> None:
    found = audit(table)
    values: dict[tuple[object, ...], Counter[str]] = {}
    for key, who, value in {
        (tuple(row[name] for name in QUASI), row["who"], row["disease"]) for row in table.to_pylist()
    }:
        values.setdefault(key, Counter())[value] += 1
        del who
    # One value of a class is everybody's, whatever other values some of them have.
    sure = [key for key, of_class in values.items() if max(of_class.values()) == len(members(table)[key])]
    risk = found.attribute_risk["disease"]
    assert risk.classes_with_one_value == len(sure)
    assert risk.records_read_off == sum(len(members(table)[key]) for key in sure)
    sentence = next(one for one in found.verdict if "'disease'" in one)
    if sure and found.unit == "people":
        assert told(sentence, PEOPLE)[-1] == len(set().union(*(members(table)[key] for key in sure)))


@settings(max_examples=10, deadline=None)
@given(visits())
def test_parts_of_an_audit_count_the_same_people(table: pa.Table) -> None:
    whole, parts = audit(table), audit(table, memory="1GB")
    assert (whole.unit, whole.verdict, whole.risk) == (parts.unit, parts.verdict, parts.risk)


def test_reports_and_attacks_on_releases_say_records_where_they_count_them() -> None:
    rng = np.random.default_rng(1)
    whose = np.repeat(np.arange(20), 3)
    table = pa.table(
        {
            "who": [f"p{one}" for one in whose],
            "age": pa.array(rng.integers(20, 60, 20)[whose], mask=rng.random(60) < 0.2),
            "sex": np.array(["f", "m"])[whose % 2],
            "disease": rng.permutation(np.resize(["flu", "cut", "gout", "cold"], 60)),
        }
    )
    roles = {"quasi": list(QUASI), "sensitive": "disease", "drop": "who", "person": "who"}
    for method in ("randomized-addition:l=2", "bsgi:l=2"):
        release = ld.anonymize(table, **roles, method=method)
        report = holder_report(release, table, person="who")
        texts = [text for one in report.criteria for text in one.measured] + [*report.audit.verdict]
        texts += ld.attack(release, table, attacks=["homogeneity", "several-rows"], person="who").verdict
        assert max(told(" ".join(texts), PEOPLE)) == 20
        assert report.audit.risk.uniques <= max(told(" ".join(texts), RECORDS))


def test_findings_before_publishing_count_people_where_they_are_known() -> None:
    table = pa.table(
        {"who": ["a", "a", "b", "b", "c"], "age": [1, None, 2, None, 3], "disease": ["flu", "cut", "flu", "cut", "flu"]}
    )
    roles = {"quasi": "age", "sensitive": "disease", "method": "randomized-addition:l=2"}
    for person, text in ((None, "3 of 5 records"), ("who", "3 of 3 people")):
        drop = None if person else "who"
        plan = ld.plan(table, **roles, person=person, drop=drop or ())
        assert next(one.text for one in plan.findings if one.kind == "unique-people").startswith(text)

"""However a table is published, the people of a population are counted in every class in which they could be."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.catalog import CATALOG
from ldiversity.evaluation.audit import _inside
from ldiversity.release import Form, Membership, Region, Release
from ldiversity.schema import MISSING_LABEL

VALUES = tuple("abcdefgh")
TREE = ld.Hierarchy.from_rows([(value, f"group-{code // 2}") for code, value in enumerate(VALUES)])
REQUIRED: dict[str, dict[str, Any]] = {
    "le-anatomy": {"e": 1, "tree": TREE},
    "semantic": {"d": 1, "distance": ld.DiscreteDistance()},
}
JOBS = ld.Hierarchy.from_rows([("nurse", "health"), ("doctor", "health"), ("cook", "food"), ("baker", "food")])
LEVELS: dict[str, Any] = {"age": "width:10,bottom:20,top:60", "zip": "prefix:3", "born": "decade", "job": (JOBS, 1)}
QUASI = ["age", "weight", "zip", "born", "job"]


def people(n: int, seed: int, *, wider: bool = False) -> pa.Table:
    """A population is `wider`: it has values that nobody of the table has."""
    rng = np.random.default_rng(seed)
    more = 3 if wider else 1
    ages = rng.integers(30 - 10 * more, 40 + 10 * more, n)
    born = [dt.date(2000 - int(age), 1 + int(age) % 12, 1 + int(age) % 28) for age in ages]
    jobs = ["nurse", "doctor", "cook", *(["baker", "smith"] if wider else [])]
    return pa.table(
        {
            "age": pa.array(ages, mask=rng.random(n) < 0.03),
            "weight": pa.array(rng.integers(50 - more, 51 + more, n) + rng.integers(0, 2, n) / 2, pa.float64()),
            "zip": [f"{number:04d}0" for number in rng.integers(130, 130 + 5 * more, n) * 7],
            "born": pa.array(born, pa.date32(), mask=rng.random(n) < 0.03),
            "job": pa.array(rng.choice(jobs, n).tolist(), mask=rng.random(n) < 0.03),
            "value": rng.permutation(np.resize(VALUES, n)),
        }
    )


def method_of(name: str, l: int) -> ld.Method:
    module, _, kind = CATALOG[name].home.partition(":")
    made: ld.Method = getattr(import_module(module), kind).of_level(l, **REQUIRED.get(name, {}))
    return made


def text_of(cell: object) -> str:
    return MISSING_LABEL if cell is None else str(cell)


def number_of(cell: Any) -> float:
    return (cell - dt.date(1970, 1, 1)).days if isinstance(cell, dt.date) else cell


def stands_for(shown: Any, form: Form, cell: Any) -> bool:
    """Whether a published cell may be that of somebody with this cell."""
    if form.kind == "exact":
        return bool(shown == cell)
    if form.kind == "values":
        return text_of(cell) in {text_of(one) for one in shown}
    return lies_between(shown, form, cell) if form.kind == "interval" else stands_under(shown, form, cell)


def lies_between(shown: Any, form: Form, cell: Any) -> bool:
    if shown["low"] is None or cell is None:
        return shown["low"] is None
    reaches_end = form.grid is None or not isinstance(cell, float)  # weights on a grid: up to the end, but not with it
    return bool(shown["low"] <= cell < shown["high"] or (cell == shown["high"] and reaches_end))


def stands_under(label: str, form: Form, cell: Any) -> bool:
    reach = (form.reaches or {}).get(label)
    if reach is None:
        assert form.hierarchy is not None
        return any(row[0] == text_of(cell) and label in row for row in form.hierarchy.rows)
    if reach.anything or cell is None:
        return reach.anything
    if reach.low is None or reach.high is None:
        return any(str(cell).startswith(start) for start in reach.starts)
    low, high = reach.unbounded == "low", reach.unbounded == "high"
    return (low or number_of(cell) >= reach.low) and (high or number_of(cell) <= reach.high)


def shown_cells(region: Region) -> list[Any]:
    cells = region.column.to_pylist()
    return [cells[one] for one in region.of_row.tolist()]


def counted_slowly(release: Release, quasi: list[str], population: pa.Table) -> list[tuple[int, int]]:
    """For each class of records that look alike: how many there are, and how many of the population could be in it."""
    regions = [release.region(name) for name in quasi]
    rows = Counter(zip(*([repr(cell) for cell in shown_cells(region)] for region in regions), strict=True))
    cells = [{repr(cell): cell for cell in region.column.to_pylist()} for region in regions]
    everybody = Counter(zip(*(population[name].to_pylist() for name in quasi), strict=True))
    known: dict[tuple[int, str, object], bool] = {}

    def fits(k: int, shown: str, cell: object) -> bool:
        if (k, shown, cell) not in known:
            known[k, shown, cell] = stands_for(cells[k][shown], regions[k].form, cell)
        return known[k, shown, cell]

    found = []
    for shown, size in rows.items():
        inside = [
            n
            for person, n in everybody.items()
            if all(fits(k, *one) for k, one in enumerate(zip(shown, person, strict=True)))
        ]
        found.append((size, sum(inside)))
    return sorted(found)


DECISIONS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "usual": ({}, ["age", "weight"]),
    "exact ends": ({"grid": "exact"}, ["weight", "born", "job"]),
    "hierarchy": ({"hierarchies": {"job": JOBS}}, ["age", "job"]),
    "levels": ({"levels": LEVELS}, ["age", "zip", "born", "job"]),
    "one level": ({"levels": {"age": "width:5"}}, ["age", "zip"]),
}
"""What the holder decides, and what attackers know."""


def takes(name: str, how: str) -> bool:
    rounds = name in {"bsgi", "mondrian", "tp"}
    return rounds if how == "exact ends" else CATALOG[name].family == "classes" or how != "hierarchy"


@pytest.mark.parametrize(
    ("name", "how"), [(name, how) for name in sorted(CATALOG) for how in DECISIONS if takes(name, how)]
)
def test_everybody_is_counted_where_they_could_be(name: str, how: str) -> None:
    decisions, known = DECISIONS[how]
    table, population = people(120, 1), people(500, 11, wider=True)
    asked: dict[str, Any] = {"quasi": QUASI, "sensitive": ld.Sensitive("value", domain=VALUES), **decisions}
    release = ld.anonymize(table, method=method_of(name, 2), **asked)

    found = ld.audit(release, quasi=known, population=population)

    sizes, inside = np.array(counted_slowly(release, known, population)).T
    risks = 1 / np.maximum(sizes, inside)
    outside = found.risk.journalist
    assert outside.classes_not_in_population == np.count_nonzero(inside < sizes)
    assert outside.max == pytest.approx(risks.max())
    assert outside.mean == pytest.approx(risks @ sizes / sizes.sum())
    assert found.population.people == population.num_rows
    assert (inside > sizes).any()  # or nothing was compared


@pytest.mark.parametrize("seed", range(12))
def test_halves_of_a_population_are_counted_as_single_people_are(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regions of several runs and of none, people nowhere, few pairs at a time."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(_inside, "_PAIRS_AT_ONCE", 7)
    monkeypatch.setattr(_inside, "_CLASSES_AT_ONCE", 5)
    n_classes, n_profiles = int(rng.integers(1, 30)), int(rng.integers(1, 150))
    columns, cells, inside = [], [], np.ones((n_classes, n_profiles), dtype=bool)
    for _ in range(int(rng.integers(1, 4))):
        held = rng.random((int(rng.integers(1, 6)), int(rng.integers(1, 9)))) < rng.random()
        change = np.diff(held.astype(int), axis=1, prepend=0, append=0)
        of_run, first = np.nonzero(change == 1)
        starts = np.searchsorted(of_run, np.arange(len(held) + 1))
        code_of = rng.integers(0, held.shape[1], n_profiles)
        columns.append(
            Membership(code_of, held.shape[1], np.arange(len(held)), starts, first, np.nonzero(change == -1)[1])
        )
        cells.append(rng.integers(0, len(held), n_classes))
        inside &= held[cells[-1]][:, code_of]
    people_of = rng.integers(1, 5, n_profiles)

    assert _inside.count_inside(columns, cells, people_of).tolist() == (inside @ people_of).tolist()
    pairs = [(classes, rows) for classes, rows in _inside.find_inside(columns, cells)]
    found = sorted((a, b) for classes, rows in pairs for a, b in zip(classes.tolist(), rows.tolist(), strict=True))
    assert found == sorted(map(tuple, np.argwhere(inside).tolist()))
    assert len({one for classes, _ in pairs for one in set(classes.tolist())}) == sum(
        len(set(classes.tolist())) for classes, _ in pairs
    )

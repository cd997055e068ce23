"""Numbers at the ends of what their types hold are measured without overflow, or refused in a sentence.

Warnings are errors here, so that an overflow of numpy fails a test.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.catalog import CATALOG, MethodEntry
from ldiversity.errors import LDiversityError, ParameterError, ReleaseFormatError, SchemaError
from ldiversity.evaluation.measures import ncp
from ldiversity.hierarchies import automatic_hierarchy
from ldiversity.methods import METHODS
from ldiversity.release import load_release

N = 80
DISEASES = ["angina", "asthma", "cold", "cut", "flu", "measles"]
TREE = ld.Hierarchy.from_rows([(disease, f"group-{code % 3}") for code, disease in enumerate(DISEASES)])
REQUIRED: dict[str, dict[str, Any]] = {
    "le-anatomy": {"e": 1, "tree": TREE},
    "semantic": {"d": 1, "distance": "discrete"},
}
DRAWN = ["randomized-addition", "anatomy", "mondrian"]
"""One method of each layout: each draws the pages of every third kind of numbers, as all of them would take minutes."""

ENTRIES = [pytest.param(entry, id=entry.name) for entry in CATALOG.values()]
SHORT = 600
"""No message quotes a number of three hundred digits."""

ALL_OF_A_DOUBLE = "all of a double"


def extremes() -> dict[str, pa.Array]:
    rng = np.random.default_rng(5)
    small = list(range(30))
    whole = {
        pa.int64(): [-(2**63), -(2**62), 2**62, 2**63 - 1],
        pa.uint64(): [2**63 - 1, 2**63, 2**64 - 1],
        pa.int8(): [-128, 127],
        pa.timestamp("ns"): [-(2**63) + 1, 2**63 - 1],
        pa.date32(): [-(2**31), 2**31 - 1],
    }
    columns = {str(kind): rng.choice(np.array([*ends, *small], dtype=object), N) for kind, ends in whole.items()}
    made = {name: pa.array(column.tolist(), kind) for (name, column), kind in zip(columns.items(), whole, strict=True)}
    return made | {
        ALL_OF_A_DOUBLE: pa.array(rng.choice([-1.7e308, 1.7e308, 0.0, *rng.normal(size=20)], N)),
        "half of a double": pa.array(rng.uniform(-1e300, 1e300, N)),
        "float": pa.array(rng.uniform(-1, 1, N).astype(np.float32) * np.float32(3.4e38)),
        "least of a double": pa.array(rng.integers(-50, 50, N) * 5e-324),
    }


EXTREMES = extremes()
DRAWN_BY = {name: DRAWN[place % len(DRAWN)] for place, name in enumerate(EXTREMES)}


def table_with(numbers: pa.Array) -> pa.Table:
    rng = np.random.default_rng(6)
    return pa.table({"x": numbers, "sex": rng.choice(["f", "m"], N), "disease": rng.choice(DISEASES, N)})


def method_of(entry: MethodEntry) -> Any:
    module, _, name = entry.home.partition(":")
    return getattr(import_module(module), name).of_level(2, **REQUIRED.get(entry.name, {}))


def refusal(work: Callable[[], object]) -> LDiversityError | None:
    """Do something that may be refused in a sentence; any other fault is one."""
    try:
        work()
    except LDiversityError as error:
        return error
    return None


def test_one_method_of_each_layout_is_drawn() -> None:
    layouts = {name: getattr(METHODS[name], "layout", "sets") for name in CATALOG}

    assert {layouts[name] for name in DRAWN} == set(layouts.values())


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("entry", ENTRIES)
def test_extreme_numbers_go_all_the_way_or_are_refused_first(entry: MethodEntry, name: str) -> None:
    table = table_with(EXTREMES[name])
    given: dict[str, Any] = {"quasi": ["x", "sex"], "sensitive": "disease", "method": method_of(entry)}
    published: list[ld.Release] = []
    refused = refusal(lambda: published.append(ld.anonymize(table, **given)))
    if refused is not None:
        assert name in {ALL_OF_A_DOUBLE, "uint64"} or "a label must have" in refused.message
        assert "x" in refused.message
        assert len(str(refused)) < SHORT
        return

    (release,) = published
    page = ld.holder_report(release, table)
    assert DRAWN_BY[name] != entry.name or "<section" in page.to_html()
    assert 0 <= ncp(table, release) <= 1
    assert ld.audit(release).passed is not False
    for by in ("x", ld.bins("x", quantiles=4), ld.bins("x", width=1e18)):
        refused = refusal(partial(ld.estimate, release, by=by))
        assert len(str(refused)) < SHORT
    refusal(partial(ld.attack, release, original=table, targets=20))


def test_the_loss_of_large_integers_is_not_that_of_their_wrapped_difference() -> None:
    # The only classes are of two records, one at each end.
    ends = np.array([-(2**62) - 2**61, 2**62 + 2**61] * (N // 2))
    table = pa.table({"x": ends, "disease": ["cold", "flu"] * (N // 2)})
    everything = ld.anonymize(table, quasi="x", sensitive="disease", method=ld.Mondrian(l=2))

    assert ncp(table, everything) == 1


@pytest.mark.parametrize(
    "bins",
    [{"width": 1e308}, {"edges": (0, 1e301)}, {"width": 1e299, "low": -1e301, "high": 1}],
    ids=["width", "edges", "low"],
)
def test_bins_whose_edges_might_overflow_are_refused(bins: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=r"1e\+300"):
        ld.Sensitive("x", **bins)


@pytest.mark.parametrize("bins", [{"width": 1e300}, {"quantiles": 4}])
def test_numbers_that_are_too_large_to_be_cut_are_refused_by_name(bins: dict[str, Any]) -> None:
    table = table_with(EXTREMES[ALL_OF_A_DOUBLE])

    with pytest.raises(SchemaError, match="'x' must hold numbers from -1e\\+300 to 1e\\+300 to be binned"):
        ld.anonymize(table, sensitive=ld.Sensitive("x", **bins), method=ld.RandomizedAddition(l=2))


def test_the_advice_about_numeric_distances_of_large_numbers_can_be_followed() -> None:
    table = table_with(EXTREMES[ALL_OF_A_DOUBLE])

    with pytest.raises(SchemaError, match="use 'ordered'"):
        ld.anonymize(table, sensitive="x", method=ld.SemanticDiversity(l=2, d=1, distance="numeric"))
    assert ld.anonymize(table, sensitive="x", method=ld.SemanticDiversity(l=2, d=1, distance="ordered")).n_rows == N


def test_a_hierarchy_of_large_numbers_is_refused_without_their_digits() -> None:
    with pytest.raises(SchemaError, match=r"must be numbers from -1e\+300 to 1e\+300") as caught:
        automatic_hierarchy([-1.7e308, 1.7e308])

    assert len(str(caught.value)) < 200


def test_a_release_that_names_a_range_without_a_length_is_refused(tmp_path: Any) -> None:
    table = table_with(EXTREMES["half of a double"])
    roles: dict[str, Any] = {"quasi": ["x"], "sensitive": "disease", "method": ld.Mondrian(l=2), "grid": "exact"}
    ld.anonymize(table, **roles, output=tmp_path / "r")
    manifest = tmp_path / "r" / "release.json"
    low = min(table["x"].to_pylist())
    written = json.loads(
        manifest.read_text("utf-8"), parse_float=lambda text: -1.7e308 if float(text) == low else float(text)
    )
    manifest.write_text(json.dumps(written), "utf-8")

    with pytest.raises(ReleaseFormatError, match=r"'x' must have a range from -1e\+300"):
        load_release(tmp_path / "r")


def test_quantiles_of_regions_far_from_zero_have_no_interval_without_length() -> None:
    table = table_with(pa.array(np.random.default_rng(7).choice([0.0, 0.25, 0.5, 1.0], N) + 2.0**50))
    release = ld.anonymize(table, quasi=["x"], sensitive="disease", method=ld.TP(l=2))

    assert ld.estimate(release, by=ld.bins("x", quantiles=2)).to_dict()["cells"]

"""Hierarchies that are made from the table are published without leaves that no row shows, and readers still work.

Every way to make one, found in its registry, with every method that generalizes, found through the catalog.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiversity as ld
from ldiversity.catalog import CATALOG
from ldiversity.hierarchies import HIERARCHY_MAKERS
from ldiversity.methods import GroupingMethod
from ldiversity.publish import _publish_classes, read_hierarchies
from ldiversity.tables import open_source

N: Final = 60
WAYS: Final[dict[str, dict[str, str]]] = {
    "auto": dict.fromkeys(("pay", "rate", "zip", "born", "seen", "day"), "auto"),
    "date": dict.fromkeys(("born", "seen", "day"), "date"),
    "prefix": {"zip": "prefix:3/2"},
    "width": {"pay": "width:1000/100000", "rate": "width:0.5/1"},
    "quantiles": {"pay": "quantiles:8/2", "rate": "quantiles:4/2"},
}
# Where regions overlap, deFinetti may weigh hidden leaves otherwise than declared ones; not with these classes.
OPTIONS: Final[dict[str, dict[str, Any]]] = {"bsgi": {"effort": 0}}


def generalizing() -> Iterator[Any]:
    for entry in CATALOG.values():
        module, _, name = entry.home.partition(":")
        made = getattr(import_module(module), name)
        if issubclass(made, GroupingMethod) and made.layout == "generalized":
            yield pytest.param(made.of_level(2, **OPTIONS.get(entry.name, {})), id=entry.name)


METHODS = [*generalizing()]
CASES = [pytest.param(way, column, id=f"{way}-{column}") for way, columns in WAYS.items() for column in columns]


def make_table(seed: int = 1) -> pa.Table:
    """Nearly every cell is a value of its own, in six types of columns, a few of them missing."""
    rng = np.random.default_rng(seed)
    days = [dt.date(1950, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 4000, N)]
    instants = [dt.datetime.combine(day, dt.time(int(rng.integers(24)), int(rng.integers(60)), 7)) for day in days]
    missing = rng.random(N) < 0.05
    return pa.table(
        {
            "pay": pa.array(rng.integers(1_000_000, 2_000_000, N), mask=missing),
            "rate": pa.array(np.round(rng.uniform(0, 4, N), 9)),
            "zip": [f"{code:07d}" for code in rng.integers(1_300_000, 1_400_000, N)],
            "born": pa.array(days, pa.date32(), mask=missing),
            "seen": pa.array(instants, pa.timestamp("s")),
            "day": [day.isoformat() for day in days],
            "s": [("a", "b", "c", "d")[place % 4] for place in range(N)],
        }
    )


def publish(table: pa.Table, method: ld.Method, hierarchies: Any, **given: Any) -> ld.ClassRelease:
    made = ld.anonymize(
        table, quasi=list(hierarchies), sensitive="s", method=method, hierarchies=hierarchies, insecure_seed=3, **given
    )
    assert isinstance(made, ld.ClassRelease)
    return made


def leaves_of(table: pa.Table, column: str, how: str) -> set[str]:
    tree = read_hierarchies({column: how}, open_source(table), [column])[column]
    return {leaf for leaf in tree.leaves if leaf != "(missing)"}


def hidden_leaves(table: pa.Table, release: ld.ClassRelease, column: str, how: str) -> set[str]:
    shown = "\n".join(map(str, set(release.table[column].to_pylist())))
    return {leaf for leaf in leaves_of(table, column, how) if leaf not in shown}


def public_bytes(release: ld.ClassRelease, folder: Path) -> bytes:
    content = b""
    for data_format in ("parquet", "csv"):
        release.save(folder / data_format, data_format=data_format)  # type: ignore[arg-type]
        for file in sorted((folder / data_format).iterdir()):
            content += file.read_bytes()
            if file.suffix == ".parquet":
                content += json.dumps(pq.read_table(file).to_pylist(), default=str).encode()
                content += json.dumps(pq.ParquetFile(file).metadata.to_dict(), default=str).encode()
    for form in release.forms.values():
        rows = () if form.hierarchy is None else form.hierarchy.rows
        content += repr([form.labels, rows, form.low, form.high, form.reaches, form.marginal]).encode()
    return content


def test_every_way_to_make_a_hierarchy_has_a_case() -> None:
    assert set(WAYS) == set(HIERARCHY_MAKERS)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("way", "column"), CASES)
def test_no_leaf_that_no_row_shows_is_published(method: ld.Method, way: str, column: str, tmp_path: Path) -> None:
    table = make_table()

    release = publish(table, method, {column: WAYS[way][column]})

    content = public_bytes(release, tmp_path)
    hidden = hidden_leaves(table, release, column, WAYS[way][column])
    assert {leaf for leaf in hidden if leaf.encode() in content} == set()


def test_some_leaves_are_hidden_by_every_method() -> None:
    table = make_table()

    for param in METHODS:
        release = publish(table, param.values[0], {"zip": "prefix:3/2"})  # type: ignore[arg-type]
        assert hidden_leaves(table, release, "zip", "prefix:3/2")


def test_planted_leaves_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_publish_classes, "cut_forms", lambda forms, *_: forms)
    table = make_table()

    release = publish(table, ld.BSGI(l=2), {"born": "date"})

    content = public_bytes(release, tmp_path)
    assert any(leaf.encode() in content for leaf in hidden_leaves(table, release, "born", "date"))


@pytest.mark.parametrize("how", ["date", "auto"])
def test_what_lies_under_published_nodes_changes_no_byte(how: str, tmp_path: Path) -> None:
    table = make_table()
    years = [day.year for day in table["seen"].to_pylist()]
    texts = [f"{year}-07-{1 + place % 28:02d}T12:00:00" for place, year in enumerate(years)]
    moved = pa.array(texts).cast(pa.timestamp("s"))
    other = table.set_column(table.schema.get_field_index("seen"), "seen", moved)
    same_years = ld.Incognito(model="k-anonymity:3")

    for name, one in (("first", table), ("second", other)):
        publish(one, same_years, {"seen": how}, output=tmp_path / name)

    first, second = (
        json.loads((tmp_path / name / "release.json").read_text())["classes"]["forms"] for name in ("first", "second")
    )
    assert first == second
    assert {label for row in first[0]["hierarchy"] for label in row} <= {"*", *map(str, years)}


SIDES: Final = {
    "prefix": ("prefix", ["135", "135"], ["131", "132"], ["137", "138"]),
    "width": ("width:10", [25, 25], [21, 22], [27, 28]),
    "auto": ("auto", ["a5", "a5"], ["a1", "a2"], ["a7", "a8"]),
    "date": ("date", ["2020-05-05"] * 2, ["2020-05-01", "2020-05-02"], ["2020-05-07", "2020-05-08"]),
}


@pytest.mark.parametrize("way", SIDES)
def test_the_order_of_nodes_does_not_tell_on_which_side_hidden_leaves_lie(way: str, tmp_path: Path) -> None:
    how, shown, before, after = SIDES[way]

    forms = []
    for name, hidden in (("before", before), ("after", after)):
        table = pa.table({"q": [*shown, *hidden], "far": [1, 1, 90, 90], "s": ["a", "b", "a", "b"]})
        made = ld.anonymize(
            table,
            quasi=["q", "far"],
            sensitive="s",
            method=ld.BSGI(l=2),
            hierarchies={"q": how},
            output=tmp_path / name,
        )
        assert len(set(made.table["q"].to_pylist())) == 2
        forms.append(json.loads((tmp_path / name / "release.json").read_text())["classes"]["forms"][0])

    assert forms[0] == forms[1]
    assert [row[0].endswith(" (other)") for row in forms[0]["hierarchy"]] == [False, True]


# --- readers --------------------------------------------------------------------------------------------------------


def declared(table: pa.Table, column: str, how: str) -> ld.Hierarchy:
    """The same hierarchy as if the holder had declared it."""
    return replace(read_hierarchies({column: how}, open_source(table), [column])[column], origin=None)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("way", "column"), CASES)
def test_readers_work_and_say_what_they_say_of_declared_leaves(
    method: ld.Method, way: str, column: str, tmp_path: Path
) -> None:
    table, how = make_table(), WAYS[way][column]
    with_leaves = publish(table, method, {column: declared(table, column, how)})

    publish(table, method, {column: how}).save(tmp_path / "release")
    release = ld.load_release(tmp_path / "release")

    assert isinstance(release, ld.ClassRelease)
    assert release.table.equals(with_leaves.table)
    assert ld.ncp(table, release) == pytest.approx(ld.ncp(table, with_leaves))
    kinds = ["homogeneity", "skewness", "definetti"]
    ours, theirs = (ld.attack(one, table, attacks=kinds) for one in (release, with_leaves))
    assert [one.success for one in ours.results] == pytest.approx([one.success for one in theirs.results])
    assert ld.audit(release).to_dict()["models"] == ld.audit(with_leaves).to_dict()["models"]
    queries = ld.QueryWorkload.random(table, [column], "s", qd=1, n_queries=20)
    assert queries.estimates(release) == pytest.approx(queries.estimates(with_leaves))


@pytest.mark.parametrize(("way", "column"), CASES)
def test_reports_are_drawn_of_nodes_without_leaves(way: str, column: str) -> None:
    release = publish(make_table(), ld.BSGI(l=2), {column: WAYS[way][column]})

    page = ld.user_report(release).to_html()

    assert column in page

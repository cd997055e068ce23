"""The public grid: what its steps are, that regions lie on it, and that nobody's cell is an end."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.errors import ClaimError, ParameterError, ReleaseFormatError
from ldiversity.publish._grids import usual_step
from ldiversity.release import grid_of

N = 600
RNG = np.random.default_rng(3)
WEIGHTS = RNG.integers(13_000, 400_000, N) // 10 * 10 + 3  # no multiple of any default step
HEIGHTS = RNG.normal(170, 9, N)
DAYS = [dt.date(1930, 1, 1) + dt.timedelta(days=int(day)) for day in RNG.integers(0, 30_000, N)]
TABLE = pa.table(
    {
        "weight": WEIGHTS,
        "height": HEIGHTS,
        "born": DAYS,
        "level": np.arange(N) % 3 * 1000,
        "disease": (np.arange(N) % 6).astype(str),
    }
)
QUASI = ["weight", "height", "born", "level"]


def publish(**given: Any) -> ld.Release:
    roles: dict[str, Any] = {"quasi": QUASI, "sensitive": "disease", "method": ld.BSGI(l=3), "insecure_seed": 1}
    return ld.anonymize(TABLE, **{**roles, **given})


@pytest.mark.parametrize(
    ("values", "kind", "step"),
    [
        (np.arange(17, 91), pa.int64(), 1),
        (np.arange(0, 100_000, 7), pa.int64(), 1000),
        (np.append(np.arange(1000), 10**12), pa.int64(), 10),
        (np.repeat([0, 1], 10), pa.int64(), None),
        (np.repeat([1000, 2000], 10), pa.int64(), None),
        (np.array([1000, 2000, 90_000]), pa.int64(), 1000),
        (np.linspace(0, 1, 1000), pa.float64(), 0.01),
        (np.linspace(0, 1, 1000) + 1e13, pa.float64(), 20.0),
        (np.arange(30_000), pa.date32(), "year"),
        (np.arange(400), pa.date32(), "week"),
        (np.arange(0, 10_800, 60), pa.timestamp("s"), "minute"),
    ],
)
def test_the_usual_step_is_round_and_about_a_hundredth(values: Any, kind: pa.DataType, step: object) -> None:
    assert usual_step(values, kind) == step


def test_no_single_record_decides_the_usual_step() -> None:
    weights = np.sort(WEIGHTS)

    steps = {usual_step(np.append(weights[1:-1], far), pa.int64()) for far in (-(10**15), 0, 10**9, 10**15)}

    assert len(steps) == 1


@pytest.mark.parametrize("method", [ld.BSGI(l=3), ld.Mondrian(l=3), ld.TP(l=3)], ids=lambda method: method.name)
def test_every_interval_lies_on_the_grid_and_holds_its_records(method: Any) -> None:
    release = publish(method=method)

    for name in ("weight", "height", "born"):
        region = release.region(name)
        grid = grid_of(region.form.grid or 0, region.kind)
        told = ~region.intervals.unknown
        low = region.intervals.low[told]
        high = np.asarray(region.ends[1].drop_null().cast(pa.int32() if name == "born" else region.kind))
        assert grid.holds(low, high)
        assert not np.isin(low, region.numbers(TABLE[name])[0]).any() or name == "born"


def test_the_range_is_rounded_too() -> None:
    form = publish().forms["weight"]

    assert form.grid == 5000
    assert form.low is not None
    assert form.high is not None
    assert (form.low % 5000, (form.high + 1) % 5000) == (0, 0)
    assert form.low < WEIGHTS.min() < WEIGHTS.max() < form.high


def test_few_values_that_many_share_stay_as_they_are() -> None:
    release = publish()

    assert release.forms["level"].grid is None
    assert set(release.region("level").intervals.low.tolist()) <= {0, 1000, 2000}


def test_a_plan_says_which_columns_may_stay_as_they_are() -> None:
    roles: dict[str, Any] = {"quasi": QUASI, "sensitive": "disease", "method": ld.BSGI(l=3)}

    (derived,) = (note for note in ld.plan(TABLE, **roles).notes if "rounded outward" in note)
    steps = dict.fromkeys(QUASI, 5000) | {"born": "year"}
    (declared,) = (note for note in ld.plan(TABLE, **roles, grid=steps).notes if "rounded outward" in note)

    assert "a column of at most 20 values, each in 10 records or more, stays exact" in derived
    assert "stays exact" not in declared


def test_records_lie_in_regions_of_their_class() -> None:
    release = publish(quasi=["weight", "height"], plain="born", grid={"weight": 50_000, "height": 10})

    inside = np.zeros(N, dtype=np.int64)
    (light, heavy), (short, tall) = (_ends(release, name) for name in ("weight", "height"))
    for one in range(len(light)):
        fits = (light[one] <= WEIGHTS) & (heavy[one] >= WEIGHTS)
        inside += fits & (short[one] <= HEIGHTS) & (tall[one] >= HEIGHTS)

    assert (inside >= 1).all()


def _ends(release: ld.Release, name: str) -> tuple[Any, Any]:
    intervals = release.region(name).intervals
    return intervals.low, intervals.high


def test_fractions_do_not_belong_to_two_neighboring_cells() -> None:
    table = pa.table({"height": np.repeat([1.0, 2.0], 50), "disease": ["flu", "cut"] * 50})
    release = ld.anonymize(table, quasi="height", sensitive="disease", method=ld.TP(l=2), grid={"height": 1})

    found = ld.attack(release, table, attacks="homogeneity").results[0]

    assert sorted(release.regions()["height"].to_pylist(), key=lambda cell: cell["low"]) == [
        {"low": 1.0, "high": 2.0},
        {"low": 2.0, "high": 3.0},
    ]
    assert found.details["several_classes_fit"] == 0


def test_estimates_spread_over_the_integers_of_a_cell() -> None:
    table = pa.table({"age": np.arange(100) % 10 + 20, "disease": ["flu", "cut"] * 50})
    release = ld.anonymize(table, quasi="age", sensitive="disease", method=ld.TP(l=2), grid={"age": 10})

    estimate = ld.estimate(release, by="age").to_frame()

    assert (release.forms["age"].low, release.forms["age"].high) == (20, 29)
    assert sorted(set(estimate["age"].to_pylist())) == list(range(20, 30))
    assert set(np.round(estimate["count"].to_pylist(), 6)) == {5.0}


@pytest.mark.parametrize("data_format", ["parquet", "csv"])
def test_the_step_is_in_the_file_and_read_back(data_format: Any, tmp_path: Path) -> None:
    publish(output=tmp_path / "release", data_format=data_format, grid={"weight": 20_000, "born": "decade"})

    again = ld.load_release(tmp_path / "release")

    assert {name: form.grid for name, form in again.forms.items()} == {
        "weight": 20_000,
        "height": 0.5,
        "born": "decade",
        "level": None,
    }
    again.verify()


def _edited(folder: Path, copy: Path, column: str, **changes: object) -> Path:
    shutil.copytree(folder, copy)
    said = json.loads((copy / "release.json").read_text())
    for form in said["classes"]["forms"]:
        if form["column"] == column:
            form.update(changes)
    (copy / "release.json").write_text(json.dumps(said))
    return copy


@pytest.mark.parametrize(
    ("column", "changes", "why"),
    [
        ("weight", {"grid": 7000}, "ends lie on its grid"),
        ("weight", {"grid": 2.5}, "whole number"),
        ("weight", {"grid": "month"}, "a number above 0"),
        ("weight", {"low": 10_001}, "ends lie on its grid"),
        ("born", {"grid": "fortnight"}, "must be day"),
        ("born", {"grid": "century"}, "ends lie on its grid"),
        ("disease", {}, ""),
    ],
)
def test_a_grid_that_the_ends_do_not_keep_is_refused(column: str, changes: Any, why: str, tmp_path: Path) -> None:
    publish(output=tmp_path / "release")
    folder = _edited(tmp_path / "release", tmp_path / "edited", column, **changes)
    if not changes:
        ld.load_release(folder).verify()
        return

    with pytest.raises((ReleaseFormatError, ClaimError), match=why):
        ld.load_release(folder).verify()


def test_rows_with_an_end_off_the_grid_are_refused(tmp_path: Path) -> None:
    publish(output=tmp_path / "release", grid="exact")
    step_of_neither = {"grid": 5000, "low": 10_000, "high": 404_999}
    folder = _edited(tmp_path / "release", tmp_path / "edited", "weight", **step_of_neither)

    with pytest.raises((ReleaseFormatError, ClaimError), match="ends lie on its grid"):
        ld.load_release(folder).verify()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"grid": {"disease": 5}}, "must be a quasi-identifier"),
        ({"grid": {"weight": -5}}, "a number above 0"),
        ({"grid": {"weight": "month"}}, "a number above 0"),
        ({"grid": {"born": 5}}, "day, week, month"),
        ({"grid": {"height": 1e-18}}, "wide enough"),
        ({"grid": 5}, "must be 'exact', or a step for each column"),
        ({"grid": {"weight": 5}, "hierarchies": {"weight": "width:10/20"}}, "must not have a hierarchy"),
        ({"grid": {"weight": 5}, "method": ld.Anatomy(l=3)}, "must be left out with anatomy"),
        ({"grid": "exact", "method": ld.RandomizedAddition(l=3)}, "must be left out with randomized-addition"),
    ],
)
def test_a_grid_that_does_not_fit_is_refused_in_one_sentence(given: Any, why: str) -> None:
    with pytest.raises(ParameterError, match=why):
        publish(**given)


@pytest.mark.parametrize("grid", ["exact", {"weight": 5, "born": "year", "height": 0.5}, {"weight": "exact"}])
def test_a_publication_keeps_its_grid(grid: Any, tmp_path: Path) -> None:
    said = ld.Publication(quasi=QUASI, sensitive="disease", method=ld.BSGI(l=3), grid=grid)
    said.save(tmp_path / "policy.toml")

    assert ld.Publication.load(tmp_path / "policy.toml") == said
    assert said.grid == grid


def test_steps_depend_on_published_records_alone() -> None:
    # Most of the frequent value's records are left out, and with them most of the records that lie far away.
    near, far = 400, 8
    weights = np.concatenate([np.arange(near), 10**5 * (1 + np.arange(far))])
    diseases = np.concatenate([np.arange(near) % 4, np.zeros(far, dtype=np.int64)])
    diseases[: near // 2] = 0
    table = pa.table({"weight": weights, "same": weights, "disease": diseases.astype(str)})
    roles: dict[str, Any] = {"quasi": "weight", "plain": "same", "sensitive": "disease", "insecure_seed": 1}

    release = ld.anonymize(table, **roles, method="bsgi:l=4,overflow=suppress")

    published = release.table["same"].to_numpy()
    assert len(published) < len(weights)
    assert release.forms["weight"].grid == usual_step(published, pa.int64())
    assert release.forms["weight"].grid != usual_step(weights, pa.int64())


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        (None, "'weight', 'height', 'born', 'level' to a round step of about 1 % of their ranges"),
        ({"weight": 5000, "height": "exact", "level": "exact"}, "'weight' to 5000; 'born' to a round step"),
    ],
)
def test_a_plan_says_where_intervals_will_end(grid: Any, said: str) -> None:
    notes = ld.plan(TABLE, quasi=QUASI, sensitive="disease", method=ld.BSGI(l=3), grid=grid).notes

    assert any(said in note for note in notes)


def test_a_plan_without_a_grid_says_nothing_of_it() -> None:
    notes = ld.plan(TABLE, quasi=QUASI, sensitive="disease", method=ld.BSGI(l=3), grid="exact").notes

    assert not any("rounded outward" in note for note in notes)


def test_a_report_says_where_intervals_end() -> None:
    shown = ld.user_report(publish(quasi=["weight", "level"])).release.columns

    assert {one.name: one.published for one in shown}["weight"] == "as an interval, its ends rounded outward to 5000"
    assert {one.name: one.published for one in shown}["level"] == "as an interval"


def test_a_value_that_few_records_have_is_not_what_everybody_knows() -> None:
    common = np.repeat(np.arange(19) * 100.5, 50)

    assert usual_step(common, pa.float64()) is None
    assert usual_step(np.append(common, 123_456.789), pa.float64()) == 20

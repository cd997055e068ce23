"""Whatever is asked of a table that cannot be published so, no message shows a cell of it, in memory or on disk."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldiversity as ld
from ldiversity.base.limits import MOST_CHARACTERS, MOST_COLUMNS, MOST_NAME, MOST_VALUES
from ldiversity.faces.cli._fault_document import fault_text
from ldiversity.hierarchies import automatic_hierarchy
from ldiversity.release import Form
from ldiversity.release._forms import Marginal

MARK = "sEcRet"
NUMBER = 987654321
BSGI = ld.BSGI(l=2)
SETS = ld.RandomizedAddition(l=2)
TREE = ld.Hierarchy.from_rows([("a", "x"), ("b", "x")])
MATRIX = ld.MatrixDistance(("a", "b", "c"), ((0, 1, 1), (1, 0, 1), (1, 1, 0)))


def people(quasi: Any, sensitive: Any, **others: Any) -> pa.Table:
    return pa.table({"q": quasi, "s": sensitive, **others})


def numbered(n: int) -> list[str]:
    return [f"{MARK}{i}" for i in range(n)]


FAULTS: dict[str, tuple[str, Callable[[], Any], dict[str, Any]]] = {
    "a long text in a list": (
        "texts of at most 10000 characters",
        lambda: people([MARK * MOST_CHARACTERS, "a", "b", "c"], ["x", "y", "x", "y"]),
        {"method": BSGI},
    ),
    "an infinite number, classes": (
        "finite numbers to be sensitive",
        lambda: people([1, 2, 3, 4], [float("inf"), NUMBER + 0.5, 1.0, 2.0]),
        {"method": BSGI},
    ),
    "an infinite number, sets": (
        "finite numbers to be sensitive",
        lambda: people([1, 2, 3, 4], [float("-inf"), NUMBER + 0.5, 1.0, 2.0]),
        {"method": SETS},
    ),
    "an infinite quasi-identifier": (
        "finite numbers to be generalized",
        lambda: people([float("inf"), NUMBER + 0.5, 1.0, 2.0], ["x", "y", "x", "y"]),
        {"method": BSGI},
    ),
    "a long name": (
        "name of a published column must have at most 500",
        lambda: people([1, 2, 3], ["x", "y", "z"], **{MARK * MOST_NAME: [1, 2, 3]}),
        {"method": SETS, "quasi": ["q", MARK * MOST_NAME]},
    ),
    "a long sensitive name": (
        "name of a published column must have at most 500",
        lambda: pa.table({"q": [1, 2, 3], "x" * (MOST_NAME + 1): ["x", "y", "z"]}),
        {"method": SETS, "sensitive": "x" * (MOST_NAME + 1)},
    ),
    "many columns": (
        "at most 10000 columns",
        lambda: people([1, 2, 3], ["x", "y", "z"], **{f"c{i}": [MARK, "b", "c"] for i in range(MOST_COLUMNS)}),
        {"method": SETS, "quasi": ["q", *(f"c{i}" for i in range(MOST_COLUMNS))]},
    ),
    "as many values as there may be, and a missing one": (
        "at most 100000 values",
        lambda: people(range(MOST_VALUES + 1), [*numbered(MOST_VALUES), None]),
        {"method": SETS, "sensitive": ld.Sensitive("s", missing="category")},
    ),
    "a hierarchy that lacks values": (
        "must be a leaf of its hierarchy, got 2",
        lambda: people([f"{MARK}1", "a", "b", f"{MARK}2"], ["x", "y", "x", "y"]),
        {"method": BSGI, "hierarchies": {"q": TREE}},
    ),
    "beginnings of texts of many characters": (
        "1 to 64 labels",
        lambda: people([MARK * 30, MARK * 29, "a", "b"], ["x", "y", "x", "y"]),
        {"method": BSGI, "hierarchies": {"q": "prefix"}},
    ),
    "beginnings of texts that have the mask": (
        "mask must be a character that no value contains",
        lambda: people([f"{MARK}*", "a", "b", "c"], ["x", "y", "x", "y"]),
        {"method": BSGI, "hierarchies": {"q": "prefix"}},
    ),
    "widths of texts": (
        "must be numbers",
        lambda: people([MARK, "a", "b", "c"], ["x", "y", "x", "y"]),
        {"method": BSGI, "hierarchies": {"q": "width:5"}},
    ),
    "dates that are none": (
        "must be dates",
        lambda: people([MARK, "2020-01-01", "b", "c"], ["x", "y", "x", "y"]),
        {"method": BSGI, "hierarchies": {"q": "date"}},
    ),
    "numbers outside the declared range": (
        "between low and high, got 1",
        lambda: people([NUMBER, 1, 2, 3], ["x", "y", "x", "y"]),
        {"method": BSGI, "hierarchies": {"q": "width:5,low:0,high:9"}},
    ),
    "long labels of an automatic hierarchy": (
        "1 to 500 characters",
        lambda: people([MARK * 100, "a", "b", "c"], ["x", "y", "x", "y"]),
        {"method": ld.Incognito(l=2)},
    ),
    "a distance that lacks values": (
        "must be listed, got 1",
        lambda: people([1, 2, 3, 4], [f"{MARK}1", "a", "b", "c"]),
        {"method": ld.SemanticDiversity(l=2, d=1, distance=MATRIX)},
    ),
    "a tree that lacks values": (
        "must be listed, got 2",
        lambda: people([1, 2, 3, 4], [f"{MARK}1", "a", "b", f"{MARK}2"]),
        {"method": ld.SemanticDiversity(l=2, d=1, distance=ld.TreeDistance(TREE))},
    ),
    "a model whose tree lacks values": (
        "must be",
        lambda: people([1, 2, 3, 4], [f"{MARK}1", "a", "b", f"{MARK}2"]),
        {"method": ld.Mondrian(model=ld.TCloseness(t=0.9, ground="hierarchical", hierarchy=TREE))},
    ),
    "values that no set can hide": (
        "no valid set contains",
        lambda: people([1, 2, 3], [f"{MARK}1", f"{MARK}2", f"{MARK}3"]),
        {
            "method": ld.SemanticDiversity(l=2, d=2, distance=ld.OrderedDistance(), selection="simple"),
            "sensitive": ld.Sensitive("s", domain=[f"{MARK}{i}" for i in (1, 2, 3)]),
        },
    ),
    "outside the declared domain": (
        "declared domain only",
        lambda: people([1, 2], [MARK, "a"]),
        {"method": SETS, "sensitive": ld.Sensitive("s", domain=["a", "b"])},
    ),
    "nothing left": (
        "no record is left|at least one row",
        lambda: people([1, 2, 3, 4], [MARK, "a", "b", None], t=[None, None, None, MARK]),
        {
            "method": SETS,
            "sensitive": [
                ld.Sensitive("s", missing="drop"),
                ld.Sensitive("t", domain=[MARK, "a", "b"], missing="drop"),
            ],
        },
    ),
    "nothing left to group": (
        "no record is left|no record can be published|at least one row|No class",
        lambda: people([1, 2, 3, 4], [MARK, "a", "b", None], t=[None, None, None, MARK]),
        {"method": BSGI, "sensitive": [ld.Sensitive("s", missing="drop"), ld.Sensitive("t", missing="drop")]},
    ),
    "an id twice": (
        "ids must be unique",
        lambda: people([1, 2, 3], ["x", "y", "z"], id=[MARK, MARK, "a"]),
        {"method": SETS, "key": ld.Key(bytes(32)), "record_id": "id"},
    ),
    "an id that is published": (
        "'q' must be dropped or confirmed",
        lambda: people([MARK, f"{MARK}2", "a"], ["x", "y", "z"]),
        {"method": SETS, "key": ld.Key(bytes(32)), "record_id": "q"},
    ),
    "an id twice that is published knowingly": (
        "ids must be unique",
        lambda: people([MARK, MARK, "a"], ["x", "y", "z"]),
        {"method": SETS, "key": ld.Key(bytes(32)), "record_id": "q", "confirm": "q"},
    ),
    "free text that is published": (
        "'q' must be dropped or confirmed",
        lambda: people([f"{MARK} met the doctor on a rainy day {i}" for i in range(3)], ["x", "y", "z"]),
        {"method": SETS},
    ),
}


def shows_no_cell(error: BaseException) -> None:
    seen: BaseException | None = error
    for _ in count():
        if seen is None:
            return
        for secret in (MARK, str(NUMBER)):
            assert secret not in str(seen)
            assert secret not in repr(seen)
            if isinstance(seen, ld.LDiversityError):
                assert secret not in fault_text(seen, type(seen).__name__, seen.exit_code, str)
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)


@pytest.mark.parametrize("on_disk", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize(("words", "table", "asked"), FAULTS.values(), ids=FAULTS.keys())
def test_a_table_that_cannot_be_published_is_refused_without_a_cell(
    words: str,
    table: Callable[[], Any],
    asked: dict[str, Any],
    on_disk: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    output = {"output": tmp_path / "release"} if on_disk else {}

    with pytest.raises(ld.LDiversityError, match=words) as caught:
        ld.anonymize(table(), **{"quasi": "q", "sensitive": "s", **asked}, **output)

    assert not isinstance(caught.value, ld.InternalError | ld.ClaimError)
    assert "\n" not in caught.value.message
    assert caught.value.hint or getattr(caught.value, "nearest", None)
    shows_no_cell(caught.value)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("on_disk", [False, True], ids=["memory", "disk"])
def test_what_is_just_short_enough_is_published(on_disk: bool, tmp_path: Path) -> None:  # noqa: FBT001
    name = "\x00" * MOST_NAME
    table = pa.table({"q": ["a" * MOST_CHARACTERS, "b", "c", "d"], name: ["x", "y", "x", "y"]})
    output = {"output": tmp_path / "release"} if on_disk else {}

    release = ld.anonymize(table, quasi="q", sensitive=name, method=BSGI, **output)

    assert release.n_rows == 4


ANY = st.one_of(
    st.text(max_size=12).map(lambda text: MARK + text),
    st.text("*#?~_", max_size=4).map(lambda text: f"{MARK}{text}"),
    st.sampled_from(["(missing)", "*", "**", "2020-01-01", "1", MARK * 100, MARK * 600]),
)
MAKERS: dict[str, Callable[[list[Any]], Any]] = {
    "auto": automatic_hierarchy,
    "prefix": ld.Hierarchy.by_prefix,
    "prefix, masked": lambda values: ld.Hierarchy.by_prefix(values, mask="#"),
    "flat": ld.Hierarchy.flat,
    "date": ld.Hierarchy.by_date,
    "width": lambda values: ld.Hierarchy.by_width(values, [5]),
    "quantiles": lambda values: ld.Hierarchy.by_quantiles(values, [2]),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
@given(values=st.lists(st.none() | ANY | st.just(NUMBER) | st.just(NUMBER + 0.5), max_size=6))
def test_a_hierarchy_that_cannot_be_made_is_refused_without_a_cell(
    make: Callable[[list[Any]], Any], values: list[Any]
) -> None:
    try:
        make(values)
    except ld.LDiversityError as error:
        shows_no_cell(error)


SETTINGS: list[dict[str, Any]] = [
    *({"method": method} for method in (SETS, BSGI, ld.Incognito(l=2), ld.Anatomy(l=2), ld.MBF(l=2), ld.TP(l=2))),
    *(
        {"method": BSGI, "hierarchies": {"q": how}}
        for how in (TREE, "auto", "prefix", "prefix:3/2", "date", "width:5", "quantiles:4/2")
    ),
    {"method": ld.SemanticDiversity(l=2, d=1, distance=MATRIX)},
    {"method": SETS, "sensitive": ld.Sensitive("s", quantiles=2)},
    {"method": BSGI, "sensitive": ld.Sensitive("s", missing="drop")},
]


@given(
    rows=st.lists(st.tuples(st.none() | ANY, st.none() | ANY), min_size=1, max_size=8),
    setting=st.sampled_from(SETTINGS),
    on_disk=st.booleans(),
)
def test_no_refusal_of_any_table_shows_a_cell(
    rows: list[tuple[str | None, str | None]],
    setting: dict[str, Any],
    on_disk: bool,  # noqa: FBT001
) -> None:
    columns = [pa.array([row[i] for row in rows], pa.string()) for i in (0, 1)]
    with tempfile.TemporaryDirectory() as folder:
        output = {"output": Path(folder) / "release"} if on_disk else {}
        try:
            ld.anonymize(people(*columns), **{"quasi": "q", "sensitive": "s", **setting}, **output)
        except ld.LDiversityError as error:
            shows_no_cell(error)


def test_a_planted_value_that_no_manifest_takes_is_not_shown(tmp_path: Path) -> None:
    release = ld.anonymize(
        people(["a", "b", "c", "d"], ["x", "y", "x", "y"]), quasi="q", sensitive="s", method=BSGI, marginals=True
    )
    assert isinstance(release, ld.ClassRelease)
    marginal = release.forms["q"].marginal
    assert isinstance(marginal, Marginal)
    labels = (*release.forms["q"].labels, MARK * MOST_CHARACTERS)
    release.forms["q"] = Form("values", labels=labels, marginal=marginal)  # type: ignore[index]

    with pytest.raises(ld.SchemaError, match=r"does not fit into release\.json") as caught:
        release.save(tmp_path / "release")

    shows_no_cell(caught.value)
    assert not any(tmp_path.iterdir())

"""Records that are left out of a table in parts: as few as of one piece, and nothing public depends on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.base.arrays import CodeArray
from ldiversity.methods import CodedTable, Grouping, GroupingMethod, GroupingRun
from ldiversity.publish import _publish_classes
from ldiversity.publish._parts import PartSizes

pytestmark = pytest.mark.filterwarnings("ignore::ldiversity.errors.LDiversityWarning")

VALUES: Final = ["cold", "cut", "flu", "measles", "sty"]
TREE: Final = ld.Hierarchy.from_rows([(value, "often" if value == "flu" else value) for value in VALUES])
GRID: Final = {"age": 5, "weight": 1}
METHODS: Final = [
    ld.BSGI(l=3, overflow="suppress"),
    ld.Anatomy(l=3, overflow="suppress"),
    ld.LLMSU(l=3),
    ld.LLMSU(l=3, merge=True),
    ld.methods.SemanticAnatomy(l=3, e=1, tree=TREE, overflow="suppress"),
    ld.MBF(l=3),
]


@pytest.fixture
def table() -> pa.Table:
    """Flu has six of ten records, so that many must be left out of classes of three different values."""
    rng = np.random.default_rng(4)
    n = 4000
    return pa.table(
        {
            "id": np.arange(n),
            "age": rng.integers(18, 80, n),
            "weight": rng.normal(70, 10, n),
            "disease": np.where(rng.random(n) < 0.6, "flu", rng.choice(VALUES, n)),
        }
    )


def publish(table: pa.Table, method: GroupingMethod, output: Path | None, **given: Any) -> ld.ClassRelease:
    said = {"sensitive": ld.Sensitive("disease", domain=VALUES), "plain": "id", "confirm": "id", **given}
    if method.layout == "generalized":
        said.setdefault("grid", GRID)
    release = ld.anonymize(table, quasi=["age", "weight"], method=method, output=output, **said)
    assert isinstance(release, ld.ClassRelease)
    return release


def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_publish_classes, "part_sizes", lambda _: PartSizes(1000))


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_as_few_records_are_left_out_as_of_one_piece(
    table: pa.Table, method: GroupingMethod, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = publish(table, method, None)
    in_parts(monkeypatch)

    release = publish(table, method, tmp_path / "release")

    release.verify()
    assert release.n_rows + release.suppressed == table.num_rows
    assert len(set(release.columns(["id"])["id"].to_pylist())) == release.n_rows
    # Decided by the counts of the whole table; MBF decides in each part, where a few more may fit nowhere.
    most = whole.suppressed if method.name != "mbf" else whole.suppressed + 100
    assert 0 < release.suppressed <= most
    facts = release.mechanism("disease").facts
    assert facts.get("hidden", facts.get("suppressed")) == release.suppressed


@pytest.mark.parametrize(
    ("given", "sentence", "way_out"),
    [
        ({"grid": {"age": 5}}, "grid of 'weight' must be declared", {"grid": GRID}),
        (
            {"hierarchies": {"age": "width:10"}, "grid": {"weight": 1}},
            "age: the hierarchy must be declared",
            {"hierarchies": {"age": ld.Hierarchy.by_width(range(18, 80), [10])}, "grid": {"weight": 1}},
        ),
        ({"marginals": True}, "marginals cannot be given", {}),
    ],
    ids=["grid", "hierarchy", "marginals"],
)
def test_what_would_depend_on_them_must_be_declared(
    table: pa.Table,
    given: dict[str, Any],
    sentence: str,
    way_out: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    in_parts(monkeypatch)
    method = ld.BSGI(l=3, overflow="suppress")

    with pytest.raises(ld.UnsupportedError, match=sentence):
        publish(table, method, tmp_path / "release", **given)

    assert not list(tmp_path.iterdir())
    publish(table, method, tmp_path / "release", **way_out).verify()


def test_bins_from_the_table_must_be_declared(table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where bins begin and end depends on every record."""
    in_parts(monkeypatch)
    pay = np.where(np.asarray(table["disease"]) == "flu", 150, np.arange(table.num_rows) % 1000)
    paid = table.drop_columns(["disease"]).append_column("pay", pa.array(pay))
    bins = ld.Sensitive("pay", width=100)
    method = ld.Anatomy(l=3, overflow="suppress")

    with pytest.raises(ld.UnsupportedError, match="pay: bins must be declared"):
        publish(paid, method, tmp_path / "release", sensitive=bins)

    assert not list(tmp_path.iterdir())


def test_values_that_are_hidden_by_column_need_the_whole_table(
    table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A method of another package may hide one value of a record and publish the other."""

    def each_alone(
        self: ld.LLMSU, columns: list[CodeArray], _: object, levels: list[int], __: CodedTable, run: GroupingRun
    ) -> Grouping:
        facts = {"hidden": 0, "hide_loss": 0.0, "additional_loss": 0.0}
        found = (self._divide([codes], [None], [l], None, run) for codes, l in zip(columns, levels, strict=True))
        return Grouping(tuple(found), facts=facts)

    monkeypatch.setattr(ld.LLMSU, "_separately", each_alone)
    shuffled = table["disease"].take(pa.array(np.random.default_rng(5).permutation(table.num_rows)))
    both = table.append_column("other", shuffled)
    hidden = [ld.Sensitive(name, domain=VALUES) for name in ("disease", "other")]
    method = ld.LLMSU(l=3, joint=False)
    publish(both, method, None, sensitive=hidden).verify()
    in_parts(monkeypatch)

    with pytest.raises(ld.UnsupportedError, match="must hold the whole table"):
        publish(both, method, tmp_path / "release", sensitive=hidden)

    assert not list(tmp_path.iterdir())

"""Whatever the table, a method that groups records publishes what keeps its claim, or refuses."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import ldiversity as ld
from ldiversity.catalog import CATALOG, MethodEntry

DISEASES = tuple("abcdefgh")
TREE = ld.Hierarchy.from_rows([(value, f"group-{code // 2}") for code, value in enumerate(DISEASES)])
REQUIRED: dict[str, dict[str, Any]] = {"le-anatomy": {"e": 1, "tree": TREE}}
METHODS = [pytest.param(entry, id=entry.name) for entry in CATALOG.values() if entry.family == "classes"]

texts = st.sampled_from(["", "x", "y", "a|b", "\\", "..", "ä"])
columns = {
    "number": st.none() | st.integers(-3, 3),
    "wide": st.integers(-(2**40), 2**40),
    "fraction": st.none() | st.floats(-1e9, 1e9, allow_nan=False),
    "text": st.none() | texts.filter(bool),
    "constant": st.just(7),
    "truth": st.booleans(),
}


@st.composite
def tables(draw: Any, l: int) -> tuple[pa.Table, list[str]]:
    """Small tables, half of them tight: as many records of several values as l allows at all."""
    k = draw(st.integers(1, 6))
    if draw(st.booleans()):
        counts = [k] * draw(st.integers(l, len(DISEASES)))
    else:
        counts = draw(st.lists(st.integers(0, k), min_size=1, max_size=len(DISEASES)).filter(any))
    values = draw(st.permutations([DISEASES[code] for code, count in enumerate(counts) for _ in range(count)]))
    names = draw(st.lists(st.sampled_from(sorted(columns)), min_size=1, max_size=3, unique=True))
    quasi = {name: draw(st.lists(columns[name], min_size=len(values), max_size=len(values))) for name in names}
    types = {"number": pa.int64(), "text": pa.string(), "fraction": pa.float64()}
    arrays = {name: pa.array(cells, types.get(name)) for name, cells in quasi.items()}
    return pa.table({**arrays, "disease": pa.array(values)}), names


@pytest.mark.parametrize("entry", METHODS)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data(), l=st.integers(2, 4), data_format=st.sampled_from(["parquet", "csv"]))
def test_what_is_published_keeps_the_claim(entry: MethodEntry, data: st.DataObject, l: int, data_format: Any) -> None:
    table, quasi = data.draw(tables(l))
    module, _, name = entry.home.partition(":")
    method = getattr(import_module(module), name).of_level(l, **REQUIRED.get(entry.name, {}))
    disease = ld.Sensitive("disease", domain=DISEASES)

    with TemporaryDirectory() as folder:
        target = Path(folder) / "release"
        try:
            ld.anonymize(table, quasi=quasi, sensitive=disease, method=method, output=target, data_format=data_format)
        except ld.InfeasibleError:
            event("refused")
            assert not target.exists()
            return
        release = ld.load_release(target)

        assert isinstance(release, ld.ClassRelease)
        release.verify()
        assert release.n_rows + release.suppressed == table.num_rows
        assert release.table.num_rows == release.n_rows

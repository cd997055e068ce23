"""Whatever the table and whoever has several rows, no class holds a person twice, or the method refuses."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import ldiversity as ld
from ldiversity.catalog import CATALOG, MethodEntry

DISEASES = tuple("abcdef")
TREE = ld.Hierarchy.from_rows([(value, f"group-{code // 2}") for code, value in enumerate(DISEASES)])
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "le-anatomy": [{"e": 1, "tree": TREE}, {"e": 1, "tree": TREE, "overflow": "suppress"}],
    "anatomy": [{}, {"overflow": "suppress"}],
    "bsgi": [{}, {"overflow": "suppress"}, {"selection": "paper"}, {"effort": 0}],
    "llmsu": [{}, {"merge": True}],
    "mondrian": [{}, {"strict": False}, {"model": "k-anonymity:3"}],
    "incognito": [{}, {"suppression": 0.4}],
}
METHODS = [
    pytest.param(entry, options, id="-".join([entry.name, *map(str, options)]))
    for entry in CATALOG.values()
    if entry.family == "classes"
    for options in OPTIONS.get(entry.name, [{}])
]
ALWAYS_FOUND = {"anatomy", "bsgi", "llmsu", "tp"}
"""Methods that refuse only where a value, or a person, has more than 1/l of the rows."""


@st.composite
def tables(draw: Any, l: int) -> pa.Table:
    """Small tables; in some, people and values have as many rows as `l` allows, or one more."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_classes = draw(st.integers(1, 8))
    n = n_classes * l + draw(st.integers(0, l))
    heavy = draw(st.integers(0, l))
    person = np.concatenate([np.repeat(np.arange(heavy), n_classes + draw(st.integers(0, 1))), heavy + np.arange(n)])[
        :n
    ]
    person[heavy * n_classes :] = heavy + rng.integers(0, draw(st.integers(1, n)), len(person[heavy * n_classes :]))
    values = rng.integers(0, draw(st.integers(l, len(DISEASES))), n)
    own = draw(st.booleans())  # whether the rows of a person look alike
    age = rng.integers(0, 9, 3 * n)[person] if own else rng.integers(0, 9, n)
    return pa.table(
        {
            "who": rng.permutation(5 * n)[person],
            "age": age,
            "sex": np.array(["f", "m"])[age % 2],
            "disease": np.array(DISEASES)[values],
        }
    )


def most(cells: pa.ChunkedArray) -> int:
    return max(cells.value_counts().field("counts").to_pylist())


@pytest.mark.parametrize(("entry", "options"), METHODS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), l=st.integers(2, 3))
def test_no_class_holds_a_person_twice(
    entry: MethodEntry, options: dict[str, Any], data: st.DataObject, l: int
) -> None:
    table = data.draw(tables(l))
    module, _, name = entry.home.partition(":")
    method = getattr(import_module(module), name).of_level(l, **options)
    disease = ld.Sensitive("disease", domain=DISEASES)
    # The number of each row is published beside it, to see whose rows share a class.
    numbered = table.append_column("row", pa.array(np.arange(table.num_rows)))
    roles: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": disease, "person": "who", "plain": "row"}

    try:
        release = ld.anonymize(numbered, **roles, method=method)
    except ld.InfeasibleError:
        event("refused")
        if entry.name in ALWAYS_FOUND:
            fits = max(most(table["who"]), most(table["disease"])) * l <= table.num_rows
            assert options.get("merge") or not fits
        return

    assert isinstance(release, ld.ClassRelease)
    release.verify()
    assert release.n_rows + release.suppressed == table.num_rows
    rows = release.columns(["row"])["row"].to_numpy()
    pairs = list(zip(release.class_of("disease").tolist(), table["who"].to_numpy()[rows].tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    true = table["disease"].take(pa.array(rows))
    kept = np.bincount([DISEASES.index(value) for value in true.to_pylist()], minlength=len(DISEASES))
    assert np.array_equal(release.classes("disease").dense().sum(axis=0), kept)

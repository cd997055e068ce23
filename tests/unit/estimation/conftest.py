"""Releases with known true values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.distances import OrderedDistance
from ldiversity.mechanisms import BalancedSelection, SetMechanism, SimpleSelection, UniformSelection
from ldiversity.release import SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

Publish = Callable[..., SetRelease]


def draw(mechanism: SetMechanism, codes: Any, rng: np.random.Generator) -> Any:
    words = rng.integers(0, 2**64, (len(codes), mechanism.words_per_record + 20), dtype=np.uint64)
    sets, short = mechanism.sample(np.asarray(codes, dtype=np.int32), words)
    assert not short.any()
    return sets


@pytest.fixture
def publish() -> Publish:
    """Publish columns and coded sensitive values with the given mechanisms."""

    def make(
        columns: Mapping[str, Any],
        codes: Mapping[str, Any],
        mechanisms: Mapping[str, SetMechanism],
        *,
        seed: int = 1,
        frame_kind: str = "arrow",
        exploded: bool = False,
    ) -> SetRelease:
        rng = np.random.default_rng(seed)
        sets = {name: draw(mechanisms[name], codes[name], rng) for name in codes}
        table = pa.table(dict(columns))
        quasi = [Attribute(name, Role.QUASI, str(table.schema.field(name).type)) for name in table.column_names]
        domains = {name: Domain(tuple(f"v{code}" for code in range(mechanisms[name].n_values))) for name in codes}
        hidden = [Attribute(name, Role.SENSITIVE, "string", domains[name]) for name in codes]
        release = SetRelease.in_memory(
            schema=Schema((*quasi, *hidden)), columns=table, sets=sets, mechanisms=mechanisms, frame_kind=frame_kind
        )
        return _explode(release) if exploded else release

    return make


def _explode(release: SetRelease) -> SetRelease:
    from ldiversity.release import ReleaseDescription, explode_rows

    (name,) = release.sensitive
    columns = release.columns([a.name for a in release.schema.attributes if a.name != name])
    rows = explode_rows(columns, name, release.sets(name))
    description = ReleaseDescription(release.schema, release.mechanisms, release.claims, "exploded")
    return SetRelease.from_coded(description, rows, frame_kind=release.frame_kind)


@pytest.fixture
def uniform() -> UniformSelection:
    return UniformSelection(n_values=6, l=3)


@pytest.fixture
def simple() -> SimpleSelection:
    return SimpleSelection.fit(Domain(tuple(range(9)), ordered=True), OrderedDistance(), l=3, d=2)


@pytest.fixture
def balanced() -> BalancedSelection:
    return BalancedSelection.fit(Domain(tuple(range(9)), ordered=True), OrderedDistance(), l=3, d=2)

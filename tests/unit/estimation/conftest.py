"""Releases with known true values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.distances import OrderedDistance
from ldiversity.mechanisms import BalancedSelection, ClassMechanism, SetMechanism, SimpleSelection, UniformSelection
from ldiversity.models import FrequencyDiversity
from ldiversity.release import ClassRelease, Form, SetRelease
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


@pytest.fixture
def bucketize() -> Callable[..., ClassRelease]:
    """Publish exact columns, classes and the values of each class."""

    def make(columns: Mapping[str, Any], class_of: Any, codes: Mapping[str, Any], **options: Any) -> ClassRelease:
        return _grouped("bucketized", class_of, codes, columns=pa.table(dict(columns)), **options)

    return make


@pytest.fixture
def generalize() -> Callable[..., ClassRelease]:
    """Publish regions, one a class, and the values of the records of each class."""

    def make(regions: Mapping[str, Any], class_of: Any, codes: Mapping[str, Any], **options: Any) -> ClassRelease:
        return _grouped("generalized", class_of, codes, regions=pa.table(dict(regions)), **options)

    return make


def _grouped(layout: Any, class_of: Any, codes: Mapping[str, Any], **given: Any) -> ClassRelease:
    kinds, blind, sizes = (given.pop(name, None) for name in ("kinds", "blind", "n_values"))
    columns = given.get("columns")
    exact = {} if columns is None else {name: str(columns.schema.field(name).type) for name in columns.column_names}
    quasi = [Attribute(name, Role.QUASI, kind) for name, kind in {**exact, **(kinds or {})}.items()]
    n_values = {name: (sizes or {}).get(name, int(np.max(codes[name])) + 1) for name in codes}
    domains = {name: Domain(tuple(f"v{code}" for code in range(n_values[name]))) for name in codes}
    forms = given.pop("forms", {})
    return ClassRelease.in_memory(
        schema=Schema((*quasi, *(Attribute(name, Role.SENSITIVE, "string", domains[name]) for name in codes))),
        layout=layout,
        rules={name: FrequencyDiversity(2) for name in codes},
        class_of=class_of if isinstance(class_of, dict) else np.asarray(class_of, dtype=np.int32),
        values={name: np.asarray(values, dtype=np.int32) for name, values in codes.items()},
        forms={**dict.fromkeys(exact, Form("exact")), **forms},
        mechanisms={name: ClassMechanism("anatomy", blind=bool(blind)) for name in codes},
        **given,
    )

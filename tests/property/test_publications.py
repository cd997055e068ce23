"""Saving and loading gives the same publication back, whatever columns are called and values are."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

import ldiversity as ld
from ldiversity.tables import TYPE_WORDS

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "schemas" / "publication.schema.json").read_text(encoding="utf-8")
)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
NUMBERS = st.integers(-(10**9), 10**9) | st.floats(-1e300, 1e300)
VALUES = NAMES | NUMBERS | st.booleans()
MISSING = st.sampled_from(["refuse", "category", "drop"])
BINS = st.one_of(
    st.fixed_dictionaries({"width": st.floats(0.1, 100)}),
    st.fixed_dictionaries({"width": st.floats(0.1, 100), "low": st.integers(-9, 0), "high": st.integers(1, 9)}),
    st.fixed_dictionaries({"quantiles": st.integers(2, 9)}),
    st.lists(st.integers(-99, 99), min_size=2, max_size=5, unique=True).map(lambda edges: {"edges": sorted(edges)}),
)
SAID = st.one_of(
    st.fixed_dictionaries({"domain": st.lists(VALUES, min_size=1, max_size=4)}),
    BINS,
    st.just({}),
)
WEIGHTS = st.dictionaries(NAMES, st.floats(0, 9), min_size=1, max_size=2)
SETS = st.builds(ld.RandomizedAddition, l=st.integers(2, 9)) | st.builds(
    ld.SemanticDiversity,
    l=st.integers(2, 9),
    d=st.floats(0.5, 9),
    distance=st.sampled_from(["ordered", "numeric:2.5", "discrete"]),
    prior=st.none() | st.dictionaries(NAMES, st.floats(0, 1), min_size=1, max_size=2),
)
CLASSES = st.one_of(
    st.builds(ld.BSGI, l=st.integers(2, 9), effort=st.none() | st.integers(0, 2), weights=st.none() | WEIGHTS),
    st.builds(ld.Mondrian, model=st.sampled_from(["entropy:2", "k-anonymity:5"]), strict=st.booleans()),
    st.builds(ld.Incognito, l=st.integers(2, 9), suppression=st.floats(0, 0.5)),
)
READING = st.builds(
    ld.ReadOptions,
    sheet=st.none() | NAMES | st.integers(1, 9),
    encoding=st.none() | st.sampled_from(["cp1252", "utf-16"]),
    decimal=st.sampled_from([None, ".", ","]),
    date_format=st.sampled_from([None, "dmy", "%d.%m.%Y"]),
    skip_rows=st.integers(0, 9),
)
HIERARCHIES = st.sampled_from(["auto", "prefix:3/2", "width:5/10,low:0,high:99", "a file.csv", "../other.csv"])


@st.composite
def publications(draw: st.DrawFn) -> ld.Publication:
    names = draw(st.lists(NAMES, min_size=4, max_size=8, unique=True))
    first, second, person, *rest = names
    sensitive = [ld.Sensitive(name, missing=draw(MISSING), **draw(SAID)) for name in (first, second)]
    asked: dict[str, Any] = {
        "quasi": rest[:2],
        "drop": rest[2:3],
        "plain": rest[3:],
        "read": draw(READING),
        "sensitive": sensitive,
        "types": draw(st.dictionaries(st.sampled_from(names), st.sampled_from(TYPE_WORDS), max_size=2)),
        "data_format": draw(st.sampled_from(["parquet", "csv"])),
    }
    if draw(st.booleans()):
        asked["method"] = draw(CLASSES)
        asked["hierarchies"] = draw(st.dictionaries(st.sampled_from(names), HIERARCHIES, max_size=2))
        asked["person"] = draw(st.none() | st.just(person))
        asked["marginals"] = draw(st.booleans())
        return ld.Publication(**asked)
    asked["method"] = draw(SETS) if draw(st.booleans()) else {first: draw(SETS), second: draw(SETS)}
    asked["layout"] = draw(st.sampled_from([None, "sets"]))
    if draw(st.booleans()):
        asked |= {"record_id": [person], "key": draw(st.sampled_from([None, "holder.key", "../holder.key"]))}
    return ld.Publication(**asked)


@settings(max_examples=40)
@given(publications())
def test_a_saved_publication_is_loaded_as_it_was(publication: ld.Publication) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "saved.toml"
        publication.save(file)

        assert ld.Publication.load(file) == publication
        jsonschema.validate(tomllib.loads(file.read_text(encoding="utf-8")), SCHEMA)

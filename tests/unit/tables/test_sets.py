"""Sets of codes become list columns of values and come back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ldiversity.errors import SchemaError
from ldiversity.schema import Domain
from ldiversity.tables import decode_entries, decode_sets, domain_array, encode_sets, encode_values, to_native

SETS = np.array([[0, 1], [1, 2], [0, 2]], dtype=np.int32)
DOMAINS = {
    "texts": Domain(("cold", "flu", "かぜ")),
    "integers": Domain((10, 20, 30)),
    "floats": Domain((0.5, 1.5, 2.0)),
    "mixed numbers": Domain((1, 1.5, 2)),
    "booleans": Domain((False, True, None)),
    "missing last": Domain(("cold", "flu", None)),
    "missing first": Domain((None, "cold", "flu")),
}


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS.keys())
def test_lists_hold_the_values_of_the_codes(domain: Domain) -> None:
    by_code = dict(enumerate(domain_array(domain).to_pylist()))

    lists = decode_sets(SETS, domain)

    assert lists.to_pylist() == [[by_code[code] for code in row] for row in SETS.tolist()]


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS.keys())
def test_lists_come_back_as_the_same_sets(domain: Domain) -> None:
    assert np.array_equal(encode_sets(decode_sets(SETS, domain), domain), SETS)


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS.keys())
def test_single_values_come_back_as_the_same_codes(domain: Domain) -> None:
    entries = decode_entries(SETS.reshape(-1), domain)
    chunks = pa.chunked_array([entries.slice(0, 2), entries.slice(2, 0), entries.slice(2)])

    for column in (chunks, chunks.cast(chunks.type.value_type)):
        assert np.array_equal(encode_values(column, domain), SETS.reshape(-1))


def test_a_single_value_outside_the_domain_is_counted_and_not_told() -> None:
    column = pa.chunked_array([["cold"], ["SECRET", "flu", None]])

    with pytest.raises(SchemaError, match="got 2 that are not") as caught:
        encode_values(column, DOMAINS["texts"])

    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS.keys())
def test_lists_survive_a_parquet_file(domain: Domain, tmp_path: Path) -> None:
    pq.write_table(pa.table({"s": decode_sets(SETS, domain)}), tmp_path / "t.parquet")

    column = pq.read_table(tmp_path / "t.parquet").column("s")

    assert np.array_equal(encode_sets(column, domain), SETS)


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.string()), pa.large_list(pa.large_string()), pa.list_(pa.string(), 2)], ids=str
)
def test_every_kind_of_list_is_read(kind: pa.DataType) -> None:
    column = pa.array([["cold", "flu"], ["flu", "かぜ"], ["cold", "かぜ"]], kind)

    assert np.array_equal(encode_sets(column, DOMAINS["texts"]), SETS)


def test_a_slice_of_lists_is_read() -> None:
    column = decode_sets(SETS, DOMAINS["texts"]).slice(1)

    assert np.array_equal(encode_sets(column, DOMAINS["texts"]), SETS[1:])


def test_chunks_are_joined() -> None:
    column = pa.chunked_array([decode_sets(SETS, DOMAINS["texts"]), decode_sets(SETS[:1], DOMAINS["texts"])])

    assert np.array_equal(encode_sets(column, DOMAINS["texts"]), np.vstack([SETS, SETS[:1]]))


def test_members_are_sorted_so_that_their_order_tells_nothing() -> None:
    assert encode_sets(pa.array([["flu", "cold"]]), DOMAINS["texts"]).tolist() == [[0, 1]]


def test_narrow_integers_are_values_of_a_domain_of_integers() -> None:
    assert encode_sets(pa.array([[10, 30]], pa.list_(pa.int8())), DOMAINS["integers"]).tolist() == [[0, 2]]


def test_lists_of_missing_values_only_are_read() -> None:
    assert encode_sets(pa.array([[None], [None]], pa.list_(pa.null())), Domain((None,))).tolist() == [[0], [0]]


def test_no_lists_are_no_sets() -> None:
    assert encode_sets(pa.array([], pa.list_(pa.string())), DOMAINS["texts"]).shape == (0, 0)


def test_no_sets_are_no_lists() -> None:
    assert len(decode_sets(np.zeros((0, 3), dtype=np.int32), DOMAINS["texts"])) == 0


def test_codes_are_not_copied() -> None:
    lists = decode_sets(SETS, DOMAINS["texts"])

    assert lists.flatten().indices.buffers()[1].address == SETS.ctypes.data


def test_the_type_of_a_value_may_be_given() -> None:
    assert decode_sets(SETS, DOMAINS["integers"], pa.int8()).type.value_type.value_type == pa.int8()


@pytest.mark.parametrize(("kind", "frame_type"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_sets_are_lists_of_values_in_every_frame(kind: str, frame_type: type) -> None:
    frame: Any = to_native(pa.table({"s": decode_sets(SETS, DOMAINS["texts"])}), kind)

    assert isinstance(frame, frame_type)
    assert list(frame["s"][0]) == ["cold", "flu"]


BAD_SETS = {
    "not of the domain": (
        pa.array([["cold", "SECRET"]]),
        "every member must be a value of the domain, got 1 that are not",
    ),
    "missing member": (pa.array([["cold", None]]), "every member must be a value of the domain, got 1"),
    "only missing members": (pa.array([[None]]), "every member must be a value of the domain, got 1"),
    "different lengths": (pa.array([["cold"], ["cold", "flu"]]), "must have the same number of members"),
    "different lengths of chunks": (
        pa.chunked_array([[["cold"]], [["cold", "flu"]]]),
        "must have the same number of members",
    ),
    "missing set": (pa.array([["cold"], None]), "every row must have a set, got 1 row without"),
    "a member twice": (pa.array([["flu", "flu"], ["cold", "flu"]]), "must be distinct, got 1 sets"),
    "no lists": (pa.array(["cold"]), "the column must hold lists, got text"),
    "another type": (pa.array([[[1]]]), "members must have the type text of the domain, got"),
}


@pytest.mark.parametrize(("column", "sentence"), BAD_SETS.values(), ids=BAD_SETS.keys())
def test_bad_sets_are_refused_in_one_sentence(column: pa.Array, sentence: str) -> None:
    with pytest.raises(SchemaError, match=sentence) as caught:
        encode_sets(column, DOMAINS["texts"])

    assert "SECRET" not in str(caught.value)


def test_texts_are_no_members_of_a_domain_of_numbers() -> None:
    with pytest.raises(SchemaError, match="members must have the type integer of the domain, got text") as caught:
        encode_sets(pa.array([["SECRET"]]), DOMAINS["integers"])

    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ((1, 2), pa.int64()),
        ((1, 2.5), pa.float64()),
        ((True,), pa.bool_()),
        ((None,), pa.string()),
        (("1",), pa.string()),
    ],
)
def test_a_domain_has_one_type(values: tuple[Any, ...], kind: pa.DataType) -> None:
    assert domain_array(Domain(values)).type == kind


@pytest.mark.parametrize(
    "values",
    [(10**30,), (1, 2**63), (0.5, 10**400), ("a", 1), ("\ud800",)],
    ids=["wide", "one wide", "too wide for a float", "two types", "half a character"],
)
def test_a_domain_that_no_type_can_hold_is_refused(values: tuple[Any, ...]) -> None:
    with pytest.raises(SchemaError, match="Domain: values must all be of one type and fit it"):
        domain_array(Domain(values))

"""Whatever the table, the domain and the method: the claim holds, and saving loses nothing."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ldiversity as ld
from ldiversity.engines import LocalEngine

RELAXED = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
QUASI = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(0, 3))


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    values = draw(st.lists(TEXTS.filter(bool), min_size=4, max_size=9, unique=True))
    n = draw(st.integers(1, 40))
    rows = n + len(values)
    return pa.table(
        {
            "number": pa.array(draw(st.lists(QUASI, min_size=rows, max_size=rows)), type=pa.int64()),
            "text": pa.array(draw(st.lists(st.one_of(st.none(), TEXTS), min_size=rows, max_size=rows)), pa.string()),
            "secret": [*values, *draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))],
        }
    )


@RELAXED
@given(
    table=tables(), l=st.integers(2, 3), chunk_rows=st.integers(1, 50), data_format=st.sampled_from(["parquet", "csv"])
)
def test_any_table_is_published_as_claimed_and_read_back(
    table: pa.Table, l: int, chunk_rows: int, data_format: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        release = ld.anonymize(
            table,
            quasi=["number", "text"],
            sensitive="secret",
            method=ld.RandomizedAddition(l=l),
            output=Path(folder) / "release",
            data_format=data_format,
            engine=LocalEngine(workers=1, chunk_rows=chunk_rows),
        )

        release.verify()
        rows = [*zip(release.table["number"].to_pylist(), release.table["text"].to_pylist(), strict=True)]
        assert sorted(map(repr, rows)) == sorted(
            map(repr, zip(table["number"].to_pylist(), table["text"].to_pylist(), strict=True))
        )


@RELAXED
@given(
    n_values=st.integers(4, 12),
    l=st.integers(2, 3),
    d=st.integers(1, 3),
    selection=st.sampled_from(["balanced", "simple", "ring"]),
    data=st.data(),
)
def test_any_ordered_domain_is_published_as_claimed_or_refused(
    n_values: int, l: int, d: int, selection: str, data: st.DataObject
) -> None:
    truth = data.draw(st.lists(st.integers(0, n_values - 1), min_size=1, max_size=30))
    table = pa.table({"row": np.arange(len(truth)), "level": truth})
    method = ld.SemanticDiversity(l=l, d=d, distance=ld.OrderedDistance(), selection=selection)
    domain = ld.Sensitive("level", domain=list(range(n_values)))
    try:
        method.fit(ld.Domain(values=tuple(range(n_values)), ordered=True))
    except ld.InfeasibleError:
        return

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ld.LDiversityWarning)
        release = ld.anonymize(table, quasi="row", sensitive=domain, method=method)

    sets = release.sets("level")[np.argsort(np.asarray(release.table["row"]))]
    assert (np.diff(sets, axis=1) >= d).all()
    assert (sets == np.array(truth)[:, None]).any(axis=1).all()


@st.composite
def distances(draw: st.DrawFn) -> ld.MatrixDistance:
    """Any symmetric matrix of small whole numbers, with a zero diagonal."""
    n_values = draw(st.integers(4, 8))
    above = draw(st.lists(st.integers(1, 3), min_size=n_values * n_values, max_size=n_values * n_values))
    upper = np.triu(np.array(above).reshape(n_values, n_values), 1)
    return ld.MatrixDistance(values=tuple(f"v{i}" for i in range(n_values)), distances=(upper + upper.T).tolist())


@RELAXED
@given(
    distance=distances(),
    l=st.integers(2, 3),
    d=st.integers(1, 3),
    selection=st.sampled_from(["balanced", "simple"]),
    data=st.data(),
)
def test_any_distance_is_published_as_claimed_or_refused(
    distance: ld.MatrixDistance, l: int, d: int, selection: str, data: st.DataObject
) -> None:
    domain = ld.Domain(values=tuple(distance.values))
    truth = data.draw(st.lists(st.sampled_from(domain.values), min_size=1, max_size=20))
    table = pa.table({"row": np.arange(len(truth)), "value": truth})
    method = ld.SemanticDiversity(l=l, d=d, distance=distance, selection=selection)
    sensitive = ld.Sensitive("value", domain=list(domain.values))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ld.LDiversityWarning)
        try:
            release = ld.anonymize(table, quasi="row", sensitive=sensitive, method=method)
        except ld.InfeasibleError:
            return

    sets = release.sets("value")[np.argsort(np.asarray(release.table["row"]))]
    matrix = distance.matrix(domain)
    apart = matrix[sets[:, :, None], sets[:, None, :]] + 10 * np.eye(l)
    assert apart.min() >= d
    assert (sets == np.array([domain.code_of[value] for value in truth])[:, None]).any(axis=1).all()

"""Every method's release says in one form what it tells about values and quasi-identifiers, and reads files once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.datasets import patients, patients_tree
from ldiversity.methods import METHODS
from ldiversity.schema import Role

OPTIONS: dict[str, dict[str, Any]] = {
    "semantic": {"d": 2, "distance": ld.TreeDistance(patients_tree())},
    "le-anatomy": {"e": 1, "tree": patients_tree()},
}
KINDS = [*((name, None) for name in METHODS), ("randomized-addition", "exploded")]


@pytest.fixture(params=KINDS, ids=str, scope="module")
def release(request: pytest.FixtureRequest) -> ld.Release:
    name, layout = request.param
    given = {} if layout is None else {"layout": layout}
    return ld.anonymize(
        patients(120, seed=5),
        quasi=["age", "sex", "job"],
        sensitive="disease",
        drop=("name", "zip"),
        method=METHODS[name].of_level(2, **OPTIONS.get(name, {})),
        insecure_seed=3,
        **given,
    )


def candidates(release: ld.Release) -> list[set[Any]]:
    """What each row tells, read from the published frames one row after the other."""
    rows = release.table.to_pylist()
    if not release.grouped:
        return [set(row["disease"]) if release.rows_per_record == 1 else {row["disease"]} for row in rows]
    held: dict[int, set[Any]] = {}
    for row in release.sensitive_table.to_pylist():  # type: ignore[attr-defined]
        held.setdefault(row["class_id"], set()).add(row["value"])
    return [held.get(row["class_id"], set()) for row in rows]


def test_the_candidates_of_every_row_are_the_published_ones(release: ld.Release) -> None:
    evidence = release.evidence("disease")
    shown, values = evidence.candidates, release.domain("disease").values

    told = [
        set() if piece < 0 else {values[code] for code in shown.codes[shown.starts[piece] : shown.starts[piece + 1]]}
        for piece in evidence.of_row.tolist()
    ]

    assert told == candidates(release)


def test_records_are_counted_and_shares_sum_to_one(release: ld.Release) -> None:
    evidence = release.evidence("disease")
    each = np.repeat(np.arange(evidence.n_pieces), np.diff(evidence.candidates.starts))
    prior = np.arange(1, len(evidence.domain) + 1, dtype=np.float64)

    assert evidence.records.sum() == len(evidence.of_row) == np.bincount(evidence.of_row).sum()
    for shares in (evidence.shares(), evidence.shares(prior), evidence.shares(prior, aware=True)):
        assert np.allclose(np.bincount(each, shares), 1)


def test_prior_times_likelihood_is_what_is_believed(release: ld.Release) -> None:
    evidence = release.evidence("disease")
    prior = np.ones(len(evidence.domain)) if evidence.marginal is None else evidence.marginal
    each = np.repeat(np.arange(evidence.n_pieces), np.diff(evidence.candidates.starts))
    weights = evidence.likelihood * prior[evidence.candidates.codes]

    assert np.allclose(weights / np.bincount(each, weights)[each], evidence.shares(prior, aware=True))


def test_regions_hold_the_published_cells(release: ld.Release) -> None:
    for name in release.schema.names(Role.QUASI):
        region = release.region(name)
        published = [row[name] for row in release.table.to_pylist()]

        assert region.column.take(pa.array(region.of_row)).to_pylist() == published
        low, high = region.ends
        assert (low.type, high.type) == (region.kind, region.kind)


def test_what_only_others_can_answer_is_refused_in_a_sentence(release: ld.Release) -> None:
    asked = ("classes", "class_of", "values") if not release.grouped else ("sets", "members", "drawn_by")
    for question in asked:
        with pytest.raises(ld.UnsupportedError, match="has no"):
            getattr(release, question)("disease")


@pytest.mark.parametrize("question", ["evidence", "tally", "method", "promised", "facts", "blind", "contradictions"])
def test_what_is_not_sensitive_has_no_evidence(release: ld.Release, question: str) -> None:
    with pytest.raises(ld.SchemaError, match="'age'"):
        getattr(release, question)("age")


def test_an_audit_reads_a_file_once(release: ld.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release.save(tmp_path / "release")
    loaded = ld.load_release(tmp_path / "release")
    opened: Counter[str] = Counter()
    opening = pa.OSFile

    def counted(path: str, *more: Any) -> Any:
        opened[Path(path).name] += 1
        return opening(path, *more)

    monkeypatch.setattr(pa, "OSFile", counted)
    ld.audit(loaded)

    # Regions are gathered by class, and rows by region, which is only known then.
    assert opened.pop("data.parquet") == (2 if release.generalized else 1)
    assert set(opened.values()) <= {1}

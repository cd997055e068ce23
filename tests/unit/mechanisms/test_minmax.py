"""Min-max selection: its bound against a linear program, facts against enumeration, damaged descriptions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.errors import InfeasibleError, ParameterError, ReleaseFormatError, UnsupportedError
from ldiversity.mechanisms import MinMaxSelection, mechanism_from_dict
from ldiversity.mechanisms._programs import best_worst_posterior


def blocks(*sizes: int) -> tuple[ld.Domain, ld.Distance]:
    """Values in groups; values of a group are alike."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    values = tuple(range(len(group)))
    return ld.Domain(values), ld.MatrixDistance(values, 1.0 + np.not_equal.outer(group, group) - np.eye(len(group)))


@pytest.mark.parametrize(
    ("sizes", "l", "least"),
    [((6, 2, 2), 2, 0.6), ((5, 2, 2, 1), 3, 0.5), ((5, 5, 1, 1), 3, 5 / 12), ((4, 3, 2, 1), 3, 0.4)],
)
def test_the_bound_is_near_the_least_that_any_mechanism_can_reach(sizes: tuple[int, ...], l: int, least: float) -> None:
    domain, distance = blocks(*sizes)
    mechanism = MinMaxSelection.fit(domain, distance, l, 2)
    prior = np.full(len(domain), 1 / len(domain))
    simple = ld.SemanticDiversity(l=l, d=2, distance=distance, selection="simple").fit(domain)

    assert best_worst_posterior(mechanism.sets, prior) == pytest.approx(least, abs=1e-4)
    assert least < mechanism.worst_posterior() < least + 0.05
    assert mechanism.worst_posterior() < simple.worst_posterior()
    # Written down again: the likeliest member of each set, if all values are equally frequent.
    assert mechanism.worst_posterior() == pytest.approx(
        (mechanism.chances / mechanism.chances.sum(axis=1, keepdims=True)).max()
    )


def test_every_valid_set_may_be_published_and_counts_can_be_recovered() -> None:
    domain, distance = blocks(5, 2, 2, 1)
    mechanism = MinMaxSelection.fit(domain, distance, 3, 2)
    size = len(domain)
    holds = np.zeros((len(mechanism.sets), size))
    np.put_along_axis(holds, mechanism.sets.astype(np.int64), 1.0, axis=1)
    likely = np.zeros_like(holds)
    np.put_along_axis(likely, mechanism.sets.astype(np.int64), mechanism.chances, axis=1)

    assert (mechanism.chances > 0).all()
    np.testing.assert_allclose(likely.sum(axis=0), 1)
    np.testing.assert_allclose(mechanism.inclusion, likely.T @ holds, atol=1e-12)
    inverse = np.linalg.inv((likely.T @ holds).T)
    np.testing.assert_allclose(
        mechanism.variance_factors, ((holds @ inverse.T) ** 2).T @ likely - np.eye(size), atol=1e-8
    )
    assert mechanism.condition < 1e3


def test_the_way_out_that_balanced_selection_names_works() -> None:
    domain, distance = blocks(6, 2, 2)
    asked = {"l": 2, "d": 2, "distance": distance}
    with pytest.raises(InfeasibleError, match=r"best worst posterior of any mechanism is 0\.6\b") as refused:
        ld.SemanticDiversity(**asked).fit(domain)
    assert "selection='minmax'" in str(refused.value.hint)

    assert ld.SemanticDiversity(**asked, selection="minmax").fit(domain).worst_posterior() < 0.62


def test_balanced_selection_names_no_way_out_that_does_not_work() -> None:
    for sizes, l in (((3, 3, 3), 4), ((5, 1), 2)):  # no set of four, and sets that never tell two groups apart
        domain, distance = blocks(*sizes)
        with pytest.raises(InfeasibleError) as refused:
            ld.SemanticDiversity(l=l, d=2, distance=distance).fit(domain)
        assert "minmax" not in str(refused.value.hint)
        with pytest.raises(InfeasibleError, match=r"must be in a valid set|must distinguish all values"):
            ld.SemanticDiversity(l=l, d=2, distance=distance, selection="minmax").fit(domain)


def test_too_many_sets_and_an_epsilon_are_refused() -> None:
    domain, distance = blocks(30, 20, 20)
    with pytest.raises(UnsupportedError, match="at most 1000 valid sets"):
        MinMaxSelection.fit(domain, distance, 2, 2)
    with pytest.raises(ParameterError, match="unless selection is 'balanced'"):
        ld.SemanticDiversity(l=2, d=2, distance=distance, selection="minmax", epsilon=1)
    with pytest.raises(ParameterError, match="unless selection is 'balanced'"):
        ld.SemanticDiversity(l=2, d=2, distance=distance, selection="minmax", prior=[0.1] * 10)


def test_the_bound_is_claimed_checked_and_cannot_be_edited(tmp_path: Path) -> None:
    domain, distance = blocks(6, 2, 2)
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 10, 400)
    made = ld.anonymize(
        pa.table({"age": np.arange(400) % 7, "x": codes}),
        quasi="age",
        sensitive=ld.Sensitive("x", domain=list(domain.values)),
        method=ld.SemanticDiversity(l=2, d=2, distance=distance, selection="minmax"),
    )
    made.verify()
    mechanism = made.mechanism("x")
    assert made.claim("x").posterior == mechanism.worst_posterior()
    audit = ld.audit(made)
    assert audit.passed
    assert audit.models["frequency"].value <= mechanism.worst_posterior() * (1 + 1e-6)
    made.save(tmp_path / "release")
    manifest = json.loads((tmp_path / "release" / "release.json").read_text())
    manifest["sensitive"][0]["claim"]["posterior"] = 0.6  # what the program reaches, and these sets do not
    (tmp_path / "release" / "release.json").write_text(json.dumps(manifest))
    with pytest.raises(ReleaseFormatError, match="must be its mechanism's"):
        ld.load_release(tmp_path / "release")


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows[:-1],
        lambda rows: [row[:1] for row in rows],
        lambda rows: [[0.0, row[1]] for row in rows],
        lambda rows: [[2 * one for one in row] for row in rows],
        lambda _: "much",
        lambda rows: [["1", row[1]] for row in rows],
        lambda rows: [[float("nan"), row[1]] for row in rows],
    ],
    ids=["fewer", "narrower", "a zero", "twice", "a text", "texts", "nan"],
)
def test_damaged_descriptions_are_refused(change: object) -> None:
    domain, distance = blocks(6, 2, 2)
    described = MinMaxSelection.fit(domain, distance, 2, 2).to_dict()
    with pytest.raises(ReleaseFormatError, match="fitted must"):
        mechanism_from_dict({**described, "fitted": change(described["fitted"])}, domain)  # type: ignore[operator]


def test_plans_give_no_bound_for_two_sets_where_one_can_already_tell_more() -> None:
    domain, distance = blocks(6, 2, 2)
    table = pa.table({"age": range(40), "x": list(domain.values) * 4})
    for selection in ("minmax", "simple"):
        method = ld.SemanticDiversity(l=2, d=2, distance=distance, selection=selection)
        publication = ld.Publication(quasi="age", sensitive=ld.Sensitive("x", domain=domain.values), method=method)
        (planned,) = publication.plan(table).attributes
        assert planned.several_sets is not None
        assert planned.several_sets.posterior is None
        assert "together they tell more about a value than one set" in planned.several_sets.text
        assert not any("l/(l*l" in text for text in publication.plan(table).not_protected)

"""Methods: parameters that are checked when they are made."""

from __future__ import annotations

import pytest

import ldiversity as ld
from ldiversity.methods import METHODS, RandomizedAddition, SemanticDiversity

LINE = ld.OrderedDistance()
LEVELS = ld.Domain(values=tuple(range(14)), ordered=True)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: RandomizedAddition(l=1), "l must be an integer of at least 2"),
        (lambda: RandomizedAddition(l=2.5), "l must be an integer"),
        (lambda: SemanticDiversity(l=1, d=2, distance=LINE), "l must be an integer of at least 2"),
        (lambda: SemanticDiversity(l=2, d=0, distance=LINE), "d must be greater than 0"),
        (lambda: SemanticDiversity(l=2, d=-1, distance=LINE), "d must be a finite number"),
        (lambda: SemanticDiversity(l=2, d=float("nan"), distance=LINE), "d must be a finite number"),
        (lambda: SemanticDiversity(l=2, d=2, distance="telepathy"), "telepathy"),
        (lambda: SemanticDiversity(l=2, d=2, distance=3), "distance must be a distance"),
        (lambda: SemanticDiversity(l=2, d=2, distance=LINE, selection="magic"), "selection must be one of"),
        (lambda: SemanticDiversity(l=2, d=2, distance=LINE, selection="simple", prior=[1]), "prior must be left out"),
    ],
)
def test_a_bad_parameter_is_refused_when_the_method_is_made(make: object, sentence: str) -> None:
    with pytest.raises(ld.ParameterError, match=sentence):
        make()


@pytest.mark.parametrize("selection", ["balanced", "simple", "ring"])
def test_each_selection_has_its_mechanism(selection: str) -> None:
    mechanism = SemanticDiversity(l=3, d=3, distance=LINE, selection=selection).fit(LEVELS)

    assert mechanism.kind == selection


def test_a_distance_may_be_given_as_text() -> None:
    assert SemanticDiversity(l=2, d=2, distance="ordered").distance == LINE


def test_a_prior_may_name_its_values() -> None:
    domain = ld.Domain(values=("a", "b", "c", "d", "e"), ordered=True)
    prior = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.2, "e": 0.2}

    mechanism = SemanticDiversity(l=2, d=1, distance=LINE, prior=prior).fit(domain)

    assert mechanism.worst_posterior([0.1, 0.2, 0.3, 0.2, 0.2]) == pytest.approx(0.5)


def test_a_prior_must_name_all_values() -> None:
    method = SemanticDiversity(l=2, d=2, distance=LINE, prior={0: 1.0})

    with pytest.raises(ld.ParameterError, match="prior must name every value"):
        method.fit(LEVELS)


@pytest.mark.parametrize("name", METHODS)
def test_options_make_the_method(name: str) -> None:
    options: dict[str, dict[str, object]] = {
        "semantic": {"l": 2, "d": 2.0, "distance": "ordered"},
        "le-anatomy": {"l": 2, "e": 1, "tree": ld.Hierarchy.flat(["a", "b"])},
    }

    assert METHODS[name].from_options(options.get(name, {"l": 2, "d": None})).name == name


def test_an_option_of_another_method_is_refused() -> None:
    with pytest.raises(ld.ParameterError, match="'d' is not an option"):
        RandomizedAddition.from_options({"l": 2, "d": 3})


def test_a_missing_option_is_named() -> None:
    with pytest.raises(ld.ParameterError, match="l must be given"):
        RandomizedAddition.from_options({})


def test_infeasible_parameters_name_the_bound_and_what_is_feasible() -> None:
    with pytest.raises(ld.InfeasibleError) as caught:
        SemanticDiversity(l=3, d=7, distance=LINE).fit(LEVELS)

    assert caught.value.nearest
    assert all(
        SemanticDiversity(l=int(near["l"]), d=near["d"], distance=LINE).fit(LEVELS) for near in caught.value.nearest
    )

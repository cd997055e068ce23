"""What a publication would promise and cost, before it is made. For the data holder alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray
from ldiversity.base.numbers import percent_at_most
from ldiversity.distances import Distance
from ldiversity.errors import InfeasibleError, LDiversityError, UnsupportedError
from ldiversity.mechanisms import SetMechanism, UniformSelection
from ldiversity.methods import Method
from ldiversity.publish._alike import alike_statements
from ldiversity.publish._class_plan import plan_classes
from ldiversity.publish._notes import is_declared
from ldiversity.publish._plan_result import AttributePlan, ClassPlan, Outlook, Plan, SeveralSets, UniformViolation
from ldiversity.publish._prepare import Preparation, fit_mechanism
from ldiversity.publish._screening import screen
from ldiversity.publish._size import estimate_bytes
from ldiversity.release import claim_of, sets_not_protected
from ldiversity.schema import Domain
from ldiversity.tables import Sensitive

__all__ = ["plan_publication"]

CELL_SIZES: Final = (100, 1_000, 10_000)
"""Sizes of cells for which the standard error of a share is told."""

_SMALLER: Final = 3
_LARGER: Final = 2


def plan_publication(preparation: Preparation) -> Plan | ClassPlan:
    """Say what publishing would promise and cost; a promise that cannot be kept is reported, not raised."""
    items = {item.name: item for item in preparation.question.sensitive}
    if preparation.question.grouping is not None:
        return plan_classes(preparation, {name: _read_off(item) for name, item in items.items()})
    methods = preparation.question.methods
    attributes: list[AttributePlan] = []
    mechanisms: dict[str, SetMechanism] = {}
    for name, coder in preparation.coders.items():
        question = _Question(name, methods[name], coder.domain, preparation.counts[name])
        planned, fitted = _plan_attribute(question, items[name])
        attributes.append(planned)
        if fitted is not None:
            mechanisms[name] = fitted
    feasible = all(attribute.outlook.feasible for attribute in attributes)
    size = estimate_bytes(preparation) if feasible and preparation.n_rows else None
    return Plan(
        table=preparation.source.name,
        n_rows=preparation.n_rows,
        attributes=tuple(attributes),
        n_bytes=size,
        notes=(
            *alike_statements(preparation.question.model, people=preparation.question.person is not None),
            *preparation.notes,
        ),
        not_protected=sets_not_protected(mechanisms, coarse=bool(preparation.question.levels)),
        uniqueness=preparation.uniqueness(),
        findings=screen(preparation).findings,
    )


@dataclass(frozen=True, eq=False)
class _Question:
    name: str
    method: Method
    domain: Domain
    counts: NDArray[np.int64]

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @property
    def shares(self) -> FloatArray:
        shares: FloatArray = self.counts / self.counts.sum()
        return shares

    @property
    def d(self) -> float | None:
        d = getattr(self.method, "d", None)
        return None if d is None else float(d)

    @property
    def l(self) -> int | None:  # noqa: E743 - the letter of the literature
        return self.method.level

    @property
    def least_l(self) -> int:
        return 1 if self.d is None and getattr(self.method, "epsilon", None) is not None else 2


def _plan_attribute(question: _Question, item: Sensitive) -> tuple[AttributePlan, SetMechanism | None]:
    """The plan, and the mechanism if there can be one."""
    try:
        mechanism = fit_mechanism(question.method, question.domain, named=None)
    except InfeasibleError as error:  # the plan names the column, so the reason need not
        outlook = _refused(question.method, error)
        return replace(_named(question), outlook=outlook, choices=_choices(question, outlook)), None
    except LDiversityError as error:
        error.about(question.name)
        raise
    outlook = _outlook(question, mechanism)
    best = _least_error(question, outlook)
    planned = replace(
        _named(question),
        outlook=outlook,
        claim=claim_of(question.name, mechanism).statement,
        cell_errors={size: math.sqrt(mechanism.expected_mse(size, question.shares)) for size in CELL_SIZES},
        violation=_violation(question, mechanism.l),
        cautions=(*mechanism.cautions(), *_read_off(item)),
        choices=_choices(question, outlook, best),
        several_sets=_several_sets(mechanism),
        least_error_l=None if best is None else best.l,
    )
    return planned, mechanism


def _several_sets(mechanism: SetMechanism) -> SeveralSets:
    l, size, partitions = mechanism.l, mechanism.n_values, mechanism.partitions
    divides = size % l == 0
    if mechanism.epsilon is not None:
        return _several_draws(mechanism.epsilon, size, divides=divides)
    if partitions is None:
        # Where sets favor some of their members, one set alone can tell more than two of those that do not.
        sure_of_two = l / (l * l - l + 1) if mechanism.flat_likelihood else None
        known = (
            "and together they tell more about a value than one set"
            if sure_of_two is None
            else f"and one is then known with up to {percent_at_most(sure_of_two)}, not {percent_at_most(1 / l)}"
        )
        text = (
            "Each value of a person has a set of its own, with a key too. Two different sets of a person tell that the "
            f"values differ, {known}. More than two tell more."
        )
        return SeveralSets(
            partitions=False, divides=divides, overlapping=1.0, posterior=sure_of_two, dividing=(), text=text
        )
    share, sure, fitting = partitions.overlapping, partitions.overlap_posterior, partitions.dividing
    if divides:
        text = f"l={l} divides the {size} values: with a key or a person column, a person's sets are equal or disjoint."
    else:
        certain = "; three or more different sets can tell it for certain" if partitions.can_be_certain else ""
        other = f"l={' or l='.join(map(str, fitting))} divides it." if fitting else "No other usable l divides it."
        text = (
            f"l={l} does not divide the {size} values: with a key or a person column, sets of a person with different "
            f"values overlap in at most {percent_at_most(share)} of cases, and one value is then known with up to "
            f"{percent_at_most(sure)}, not {percent_at_most(1 / l)}{certain}. {other}"
        )
    return SeveralSets(
        partitions=True,
        divides=divides,
        overlapping=share,
        posterior=sure,
        dividing=() if divides else fitting,
        text=text,
    )


def _several_draws(epsilon: float, n_values: int, *, divides: bool) -> SeveralSets:
    """What two draws tell: their epsilons add up."""
    sure = 1 / (1 + (n_values - 1) * math.exp(-2 * epsilon))
    text = (
        "Each row and release of a person is a draw of its own, with a person column too, and no key is taken. "
        f"Epsilons add up: on this attribute a person spends {epsilon:g} times the number of their rows. Two rows "
        f"spend {2 * epsilon:g}, and a value that they share is then known with up to {percent_at_most(sure)}."
    )
    return SeveralSets(partitions=False, divides=divides, overlapping=1.0, posterior=sure, dividing=(), text=text)


def _read_off(item: Sensitive) -> list[str]:
    """What the public domain tells about the table when it was not declared."""
    if is_declared(item):
        return []
    if item.bins is None:
        return ["The domain was read off the table and becomes public, so it tells which values occur: declare it."]
    known = (
        "The bins span the smallest to the largest number of the table and become public, so they tell roughly where "
        "these lie"
        if item.quantiles is None
        else "The edges of the bins were read off the table and become public, so they tell its smallest and largest "
        "number and roughly where its quantiles lie"
    )
    return [f"{known}: declare edges, or a width with low and high."]


def _named(question: _Question) -> AttributePlan:
    return AttributePlan(
        attribute=question.name,
        method=question.method.name,
        selection=getattr(question.method, "selection", None),
        n_values=len(question.domain),
        largest_share=float(question.shares.max()),
        outlook=Outlook(question.l, question.d),
    )


def _outlook(question: _Question, mechanism: SetMechanism) -> Outlook:
    return Outlook(
        l=mechanism.l,
        d=question.d,
        posterior=float(mechanism.worst_posterior()),
        posterior_informed=float(mechanism.worst_posterior(question.shares)),
        mse=mechanism.expected_mse(question.n),
        mse_table=mechanism.expected_mse(question.n, question.shares),
        condition=float(mechanism.condition),
        epsilon=mechanism.epsilon,
    )


def _refused(method: Method, error: LDiversityError) -> Outlook:
    nearest = tuple(error.nearest) if isinstance(error, InfeasibleError) else ()
    d = getattr(method, "d", None)
    return Outlook(method.level, None if d is None else float(d), error.message, error.hint, nearest)


def _least_error(question: _Question, chosen: Outlook) -> Outlook | None:
    """The outlook of the l with the least expected error at an epsilon, found step by step; None without an epsilon."""
    if chosen.epsilon is None or chosen.l is None or question.method.strength is None:
        return None
    best = chosen
    for step in (-1, 1):
        while best.l is not None and best.l + step >= question.least_l:
            tried = _try(question, question.method.at(best.l + step))
            if tried.mse_table is None or tried.mse_table >= (best.mse_table or 0.0):
                break
            best = tried
    return best


def _choices(question: _Question, chosen: Outlook, best: Outlook | None = None) -> tuple[Outlook, ...]:
    """The outlook for neighboring l: around the one asked for, or below the largest possible one; and the best one."""
    level = chosen.l if chosen.feasible else question.l
    if level is None or question.method.strength is None:
        return (chosen,)
    if chosen.feasible:
        # For large l, the exact facts of the other selections, which are here for comparison, take long.
        larger = _LARGER if getattr(question.method, "selection", "balanced") == "balanced" else 0
        asked = range(max(question.least_l, level - _SMALLER), level + larger + 1)
    else:
        reached = [int(near["l"]) for near in chosen.nearest if near.get("d", question.d) == question.d]
        asked = range(max(2, max(reached, default=0) - _SMALLER), max(reached, default=0) + 1)
    choices = []
    for l in asked:
        choices.append(chosen if l == level else _try(question, question.method.at(l)))
        if not choices[-1].feasible and l > level:
            break
    if best is not None and best.l not in {one.l for one in choices}:
        choices = sorted([*choices, best], key=lambda one: one.l or 0)
    return tuple(choices if chosen.feasible else [*choices, chosen])


def _try(question: _Question, method: Method) -> Outlook:
    try:
        return _outlook(question, fit_mechanism(method, question.domain, named=None))
    except (InfeasibleError, UnsupportedError) as error:
        return _refused(method, error)


def _violation(question: _Question, l: int) -> UniformViolation | None:
    distance = getattr(question.method, "distance", None)
    if question.d is None or not isinstance(distance, Distance):
        return None
    try:
        uniform = UniformSelection.fit(question.domain, l)
        violation = uniform.violation_probability(distance, question.domain, question.d, question.n)
    except (InfeasibleError, UnsupportedError):
        return None
    average = float(violation.by_value @ question.shares)
    return UniformViolation(violation.least, average, violation.greatest, violation.bound, violation.of_table)

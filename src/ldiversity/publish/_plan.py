"""`plan`: what a publication would promise and cost, before it is made. For the data holder alone."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray
from ldiversity.distances import Distance
from ldiversity.errors import InfeasibleError, LDiversityError, UnsupportedError
from ldiversity.hierarchies import Hierarchy
from ldiversity.mechanisms import SetMechanism, UniformSelection
from ldiversity.methods import GroupingMethod, Method, RandomizingMethod
from ldiversity.publish._class_plan import plan_classes
from ldiversity.publish._class_plan_result import ClassPlan
from ldiversity.publish._plan_result import AttributePlan, Outlook, Plan
from ldiversity.publish._prepare import Preparation, prepare, prepare_groups
from ldiversity.publish._size import estimate_bytes
from ldiversity.release import claim_of
from ldiversity.schema import Domain
from ldiversity.tables import Sensitive, as_sensitive, fit_coder, open_source

__all__ = ["plan"]

CELL_SIZES: Final = (100, 1_000, 10_000)
"""Sizes of cells for which the standard error of a share is told."""

_SMALLER: Final = 3
_LARGER: Final = 2


def plan(  # noqa: PLR0913 - the decisions of `anonymize`
    data: Any,  # noqa: ANN401 - any frame or path
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sensitive | Sequence[str | Sensitive],
    method: Method | Mapping[str, Method],
    drop: str | Sequence[str] = (),
    plain: str | Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    hierarchies: Mapping[str, Hierarchy | str | os.PathLike[str]] | None = None,
    person: str | None = None,
) -> Plan | ClassPlan:
    """Say what publishing a table would promise and cost; takes the decisions that `anonymize` takes.

    A goal that cannot be met is no error here: the plan says why, and what is nearest. For a method that groups
    records it says what can be known before they are grouped: a `ClassPlan`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ldiversity.methods import RandomizedAddition
    >>> patients = pa.table({"age": [41, 50, 68, 20], "disease": ["flu", "cut", "flu", "cold"]})
    >>> answer = plan(patients, quasi="age", sensitive="disease", method=RandomizedAddition(l=2))
    >>> answer.feasible, answer.attributes[0].outlook.posterior
    (True, 0.5)
    """
    source = open_source(data, types=types)
    if isinstance(method, GroupingMethod):
        roles: dict[str, Any] = {"quasi": quasi, "drop": drop, "plain": plain}
        groups = prepare_groups(
            source, sensitive=sensitive, method=method, hierarchies=hierarchies, person=person, **roles
        )
        return plan_classes(groups, {item.name: _read_off(item) for item in as_sensitive("plan", sensitive)})
    decisions: dict[str, Any] = {"quasi": quasi, "sensitive": sensitive, "drop": drop, "plain": plain}
    try:
        preparation = prepare(source, method=method, **decisions)
    except InfeasibleError:
        return _infeasible(source, sensitive, method)
    prepared = [
        _Question(a.name, _method_of(method, a.name), a.coder.domain, np.asarray(preparation.counts[a.name]))
        for a in preparation.hidden
    ]
    items = {item.name: item for item in as_sensitive("plan", sensitive)}
    attributes = tuple(
        _plan_attribute(question, a.mechanism, items[a.name])
        for question, a in zip(prepared, preparation.hidden, strict=True)
    )
    return Plan(source.name, preparation.n_rows, attributes, _bytes(preparation), preparation.notes)


@dataclass(frozen=True, eq=False)
class _Question:
    name: str
    method: RandomizingMethod
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


def _infeasible(
    source: Any,  # noqa: ANN401 - an opened table
    sensitive: str | Sensitive | Sequence[str | Sensitive],
    method: Method | Mapping[str, Method],
) -> Plan:
    attributes = []
    n_rows = []
    for item in as_sensitive("plan", sensitive):
        coder, counts = fit_coder(source, item)
        question = _Question(item.name, _method_of(method, item.name), coder.domain, counts)
        n_rows.append(question.n)
        try:
            mechanism = question.method.fit(question.domain)
        except InfeasibleError as error:
            outlook = _refused(question.method, error)
            attributes.append(replace(_named(question), outlook=outlook, choices=_choices(question, outlook)))
        else:
            attributes.append(_plan_attribute(question, mechanism, item))
    return Plan(source.name, min(n_rows), tuple(attributes), None, ())


def _plan_attribute(question: _Question, mechanism: SetMechanism, item: Sensitive) -> AttributePlan:
    outlook = _outlook(question, mechanism)
    return replace(
        _named(question),
        outlook=outlook,
        claim=claim_of(question.name, mechanism).statement,
        cell_errors={size: math.sqrt(mechanism.expected_mse(size, question.shares)) for size in CELL_SIZES},
        violation=_violation(question),
        cautions=(*mechanism.cautions(), *_read_off(item)),
        choices=_choices(question, outlook),
    )


def _read_off(item: Sensitive) -> list[str]:
    """What the public domain tells about the table when it was not declared."""
    bins = item.bins
    if bins is None:
        if item.domain is not None:
            return []
        return ["The domain was read off the table and becomes public, so it tells which values occur: declare it."]
    if bins.fixed_edges is not None:
        return []
    declare = "declare edges, or a width with low and high"
    told = (
        "The bins reach from the least to the greatest number of the table and become public, so they tell about "
        f"where these lie: {declare}."
        if bins.quantiles is None
        else "The edges of the bins were read off the table and become public, so they tell its least and greatest "
        f"number and about where its quantiles lie: {declare}."
    )
    return [told]


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
    )


def _refused(method: RandomizingMethod, error: LDiversityError) -> Outlook:
    nearest = tuple(error.nearest) if isinstance(error, InfeasibleError) else ()
    d = getattr(method, "d", None)
    return Outlook(method.level, None if d is None else float(d), error.message, error.hint, nearest)


def _choices(question: _Question, chosen: Outlook) -> tuple[Outlook, ...]:
    """The outlook for neighboring l: around the one asked for, or below the largest that can be reached."""
    if question.l is None:
        return (chosen,)
    if chosen.feasible:
        # The exact facts of the selections that are here for comparison take long for large l.
        larger = _LARGER if getattr(question.method, "selection", "balanced") == "balanced" else 0
        asked = range(max(2, question.l - _SMALLER), question.l + larger + 1)
    else:
        reached = [int(near["l"]) for near in chosen.nearest if near.get("d", question.d) == question.d]
        asked = range(max(2, max(reached, default=0) - _SMALLER), max(reached, default=0) + 1)
    choices = []
    for l in asked:
        choices.append(chosen if l == question.l else _try(question, question.method.at(l)))
        if not choices[-1].feasible and l > question.l:
            break
    return tuple(choices if chosen.feasible else [*choices, chosen])


def _try(question: _Question, method: RandomizingMethod) -> Outlook:
    try:
        return _outlook(question, method.fit(question.domain))
    except (InfeasibleError, UnsupportedError) as error:
        return _refused(method, error)


def _violation(question: _Question) -> dict[str, float | None] | None:
    distance = getattr(question.method, "distance", None)
    if question.d is None or question.l is None or not isinstance(distance, Distance):
        return None
    try:
        uniform = UniformSelection.fit(question.domain, question.l)
        violation = uniform.violation_probability(distance, question.domain, question.d, question.n)
    except (InfeasibleError, UnsupportedError):
        return None
    return {
        "least": violation.least,
        "average": float(violation.by_value @ question.shares),
        "greatest": violation.greatest,
        "bound": violation.bound,
        "any_record": violation.of_table,
    }


def _bytes(preparation: Preparation) -> int | None:
    return estimate_bytes(preparation) if preparation.n_rows else None


def _method_of(method: Method | Mapping[str, Method], name: str) -> RandomizingMethod:
    chosen = method[name] if isinstance(method, Mapping) else method
    if not isinstance(chosen, RandomizingMethod):
        raise TypeError(chosen)
    return chosen

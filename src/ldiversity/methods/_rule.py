"""The rule that classes must satisfy, for methods that take any privacy model."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ldiversity.errors import InfeasibleError, ParameterError, UnsupportedError
from ldiversity.methods._coded import CodedTable, SensitiveColumn
from ldiversity.models import ClassCounts, FrequencyDiversity, PrivacyModel, parse_model

__all__ = ["check_whole", "describe_rule", "least_size", "refuse_persons", "rule_of", "way_out"]


def rule_of(owner: str, l: int | None, model: PrivacyModel | str | None) -> PrivacyModel:
    """Read the two ways of saying what a class must satisfy, of which exactly one must be used.

    Examples
    --------
    >>> rule_of("Mondrian", 3, None)
    FrequencyDiversity(l=3)
    >>> rule_of("Mondrian", None, "unique:2")
    UniqueDiversity(l=2)
    """
    if (l is None) == (model is None):
        raise ParameterError(
            owner, "exactly one of l and model must be given", got="neither" if l is None else "both"
        ).with_hint("l=3 is short for model='frequency:3'.")
    if l is not None:
        return FrequencyDiversity(l)
    if isinstance(model, str):
        return parse_model(model)
    if not isinstance(model, PrivacyModel):
        raise ParameterError(owner, "model", "must be a privacy model or its text form", got=repr(model))
    return model


def describe_rule(l: int | None, rule: PrivacyModel) -> dict[str, Any]:
    """The rule among the public parameters of a method."""
    return {"model": rule.to_dict()} if l is None else {"l": l}


def refuse_persons(owner: str, table: CodedTable) -> None:
    """Refuse a table in which one person may have several records."""
    if table.person is not None:
        raise UnsupportedError(
            owner, "person is not offered; records are counted, not the people behind them"
        ).with_hint("BSGI keeps records of one person apart.")


def least_size(rule: PrivacyModel) -> int:
    """Records that a class needs at least: the share of one record may not exceed what one value may have.

    Examples
    --------
    >>> least_size(FrequencyDiversity(3))
    3
    """
    return max(1, math.ceil(1 / rule.posterior - 1e-9))


def check_whole(owner: str, rule: PrivacyModel, columns: tuple[SensitiveColumn, ...]) -> None:
    """Raise `InfeasibleError` when not even all records together satisfy the rule.

    Names what they reach, and the strongest form of the rule that they satisfy.
    """
    for column in columns:
        occurring = np.flatnonzero(column.counts)
        if not occurring.size:
            raise InfeasibleError(owner, "there must be records to group", got="none")
        ends = np.array([0, len(occurring)], dtype=np.int64)
        whole = ClassCounts(ends, occurring.astype(np.int32), column.counts[occurring], column.domain)
        if not rule.failing(whole).size:
            continue
        reached = float(rule.reached(whole.dense(), whole.population)[0])
        weaker = rule.weakened(whole)
        nearest: dict[str, float] = {} if weaker is None else {rule.scale: getattr(weaker, rule.scale)}
        raise InfeasibleError(
            owner,
            f"the whole table must satisfy {rule.text!r} for {column.name!r}, but all records together reach "
            f"{reached:.6g}",
            nearest=[nearest] if nearest else None,
        ).with_hint(way_out(_readable(weaker, whole)))


def way_out(weaker: PrivacyModel | None) -> str:
    """A sentence that names the nearest rule that holds.

    Examples
    --------
    >>> way_out(FrequencyDiversity(3))
    'l=3 holds.'
    """
    if weaker is None:
        return "No setting of this model holds; choose another model."
    if isinstance(weaker, FrequencyDiversity):
        return f"l={weaker.l} holds."
    return f"model={weaker.text!r} holds."


def _readable(weaker: PrivacyModel | None, whole: ClassCounts) -> PrivacyModel | None:
    """The rule with a rounder parameter, when that holds too."""
    if weaker is None or isinstance(getattr(weaker, weaker.scale), int):
        return weaker
    towards = math.floor if weaker.higher_is_safer else math.ceil
    rounder: PrivacyModel = replace(weaker, **{weaker.scale: towards(weaker.required * 1000) / 1000})  # type: ignore[type-var]
    return weaker if rounder.failing(whole).size else rounder

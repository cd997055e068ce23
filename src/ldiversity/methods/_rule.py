"""The rules that classes must satisfy, for methods that take any privacy models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, Json
from ldiversity.errors import InfeasibleError, ParameterError, UnsupportedError
from ldiversity.methods._coded import CodedTable, SensitiveColumn
from ldiversity.models import ClassCounts, FrequencyDiversity, Population, PrivacyModel, parse_model
from ldiversity.sentences import Method, Parameter, Setting, say

__all__ = ["Models", "Rules", "check_whole", "describe_rules", "given_models", "refuse_persons", "rules_of"]

Models: TypeAlias = PrivacyModel | str | Sequence[PrivacyModel | str] | None
"""A privacy model, its text form, or several of them."""


@dataclass(frozen=True)
class Rules:
    """Several models that every class must satisfy.

    Examples
    --------
    >>> rules_of("Mondrian", 2, "frequency:3").least_size
    3
    """

    models: tuple[PrivacyModel, ...]

    @cached_property
    def least_size(self) -> int:
        """Records that a class needs at least: the share of one record may not exceed what one value may have."""
        return max(1, math.ceil(1 / self.posterior - 1e-9))

    @cached_property
    def posterior(self) -> float:
        """The greatest share that one value may have in a class that satisfies all models."""
        return min(model.posterior for model in self.models)

    @cached_property
    def least_records(self) -> int:
        """Records that a class needs at least for every model."""
        return max(model.least_records for model in self.models)

    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:
        """Whether each class satisfies all models; a model is asked about the classes that are still in doubt."""
        first, *others = self.models
        holds = first.holds(counts, population)
        if others:
            holds = holds.copy()
        for model in others:
            doubtful = np.flatnonzero(holds)
            if not doubtful.size:
                break
            holds[doubtful] = model.holds(counts[doubtful], population)
        return holds

    def failing(self, classes: ClassCounts) -> NDArray[np.int64]:
        """The classes that break a model, in ascending order."""
        broken = [model.failing(classes) for model in self.models]
        return broken[0] if len(broken) == 1 else np.unique(np.concatenate(broken))


def given_models(given: Models) -> Models:
    """Several models as a tuple, so that a frozen method stays hashable; anything else as it is."""
    return tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else given


def rules_of(owner: str, l: int | None, model: Models) -> Rules:
    """Read the ways of saying what a class must satisfy; where both are used, both are promised.

    Examples
    --------
    >>> rules_of("Mondrian", 3, None).models
    (FrequencyDiversity(l=3),)
    >>> rules_of("Mondrian", 3, ["unique:2", "k-anonymity:5"]).models
    (FrequencyDiversity(l=3), UniqueDiversity(l=2), KAnonymity(k=5))
    """
    given = [] if model is None else [model] if isinstance(model, str | PrivacyModel) else model
    if not isinstance(given, Sequence):
        raise ParameterError(owner, "model", "must be a privacy model or its text form", got=repr(model))
    models: list[PrivacyModel] = [] if l is None else [FrequencyDiversity(l)]
    for one in given:
        if not isinstance(one, str | PrivacyModel):
            raise ParameterError(owner, "model", "must be a privacy model or its text form", got=repr(one))
        models.append(parse_model(one) if isinstance(one, str) else one)
    if not models:
        rule = say("{} or {} must be given", Parameter("l"), Parameter("model"))
        hint = say("{} is short for {}.", Setting("l", 3), Setting("model", "frequency:3"))
        raise ParameterError(owner, rule, got="neither", hint=hint)
    # The same promise twice is one promise.
    return Rules(tuple(model for place, model in enumerate(models) if model not in models[:place]))


def describe_rules(l: int | None, rules: Rules) -> dict[str, Json]:
    """The rules among the public parameters of a method: ``l``, and ``model`` as one description or a list of them."""
    by_l = {} if l is None else {"l": l}
    others = [model.to_dict() for model in rules.models if l is None or model != FrequencyDiversity(l)]
    return by_l | ({"model": others[0] if len(others) == 1 else others} if others else {})


def refuse_persons(owner: str, table: CodedTable) -> None:
    """Refuse a table in which one person may have several records."""
    if table.person is not None:
        raise UnsupportedError(
            owner, "person", "is not offered; records are counted, not the people behind them"
        ).with_hint(say("{} keeps records of one person apart.", Method("BSGI")))


def check_whole(
    owner: str, models: Sequence[PrivacyModel], columns: Sequence[SensitiveColumn], *, l: int | None = None
) -> None:
    """Raise `InfeasibleError` when not even all records together satisfy every model.

    Columns without rows are judged by the counts of the whole table, and parts by their own rows.

    Names what they reach, and the strongest form of the model that they satisfy. If `l` was given as short for one of
    the models, messages about that one name `l`.
    """
    for column in columns:
        counts = column.counts if len(column.codes) else column.population.counts
        occurring = np.flatnonzero(counts)
        if not occurring.size:
            raise InfeasibleError(owner, "there must be records to group", got="none")
        ends = np.array([0, len(occurring)], dtype=np.int64)
        whole = ClassCounts(ends, occurring.astype(np.int32), counts[occurring], column.domain)
        for model in models:
            if not model.holds(whole.dense(), column.population)[0]:
                by_l = l is not None and model == FrequencyDiversity(l)
                raise _too_much(owner, model, column.name, whole, by_l=by_l)


def _too_much(owner: str, model: PrivacyModel, column: str, whole: ClassCounts, *, by_l: bool) -> InfeasibleError:
    reached = float(model.reached(whole.dense(), whole.population)[0])
    weaker = model.weakened(whole)
    nearest: dict[str, float] = {} if weaker is None else {model.scale: getattr(weaker, model.scale)}
    about = f" for {column!r}" if column else ""  # where no column is sensitive, records alone are counted
    asked = _setting(model, by_l=by_l)
    rule = say("the whole table must satisfy {}{}, but all records together reach {}", asked, about, f"{reached:.6g}")
    return InfeasibleError(owner, rule, nearest=[nearest] if nearest else None).with_hint(
        _way_out(_readable(weaker, whole), by_l=by_l)
    )


def _way_out(weaker: PrivacyModel | None, *, by_l: bool) -> str:
    """A sentence that names the nearest rule that holds.

    Examples
    --------
    >>> _way_out(FrequencyDiversity(3), by_l=True), _way_out(FrequencyDiversity(3), by_l=False)
    ('l=3 holds.', "model='frequency:3' holds.")
    """
    if weaker is None:
        return "No setting of this model holds; choose another model."
    return say("{} holds.", _setting(weaker, by_l=by_l))


def _setting(model: PrivacyModel, *, by_l: bool) -> Setting:
    """A model in the terms in which it was asked for: by `l`, or as a model."""
    return Setting("l", model.l) if by_l and isinstance(model, FrequencyDiversity) else Setting("model", model.text)


def _readable(weaker: PrivacyModel | None, whole: ClassCounts) -> PrivacyModel | None:
    """The rule with a rounder parameter, when that holds too."""
    if weaker is None or isinstance(getattr(weaker, weaker.scale), int):
        return weaker
    towards = math.floor if weaker.higher_is_safer else math.ceil
    rounder: PrivacyModel = replace(weaker, **{weaker.scale: towards(weaker.required * 1000) / 1000})  # type: ignore[type-var]
    return weaker if rounder.failing(whole).size else rounder

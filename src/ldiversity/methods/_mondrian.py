"""Mondrian: median cuts of the table while every class satisfies its privacy models (LeFevre, DeWitt, Ramakrishnan)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from ldiversity.base.arrays import Json
from ldiversity.base.checks import check_number
from ldiversity.errors import ParameterError
from ldiversity.methods._base import Grouping, GroupingMethod, GroupingRun
from ldiversity.methods._coded import CodedTable, SensitiveColumn
from ldiversity.methods._parts_rule import PartRule
from ldiversity.methods._people import Dealer, check_people, not_apart
from ldiversity.methods._rule import Models, Rules, check_whole, describe_rules, given_models, rules_of
from ldiversity.models import PrivacyModel
from ldiversity.schema import Domain

__all__ = ["Mondrian"]


@dataclass(frozen=True)
class Mondrian(GroupingMethod):
    """Cut the table at medians, again and again, while both sides satisfy one or several privacy models.

    A node is cut on the quasi-identifier of greatest span, as a share of its domain; when no cut of it is allowed, on
    the next one. Numbers are cut at the median, missing ones apart; categories with a hierarchy into the children of
    their common ancestor, or between two children at the median; other categories at the median of their order.
    Every record is published. Where a person has several rows, a node is published as several classes, each of which
    holds the person once; then each of these must satisfy the models.

    Stops someone who knows a person's quasi-identifiers from learning more about the sensitive value than the model
    allows. `BSGI` gives the same promise as ``l`` at far lower loss; this method takes any model.

    Parameters
    ----------
    l
        Short for ``model=FrequencyDiversity(l)``. Given together with `model`, both are promised.
    model
        What every class must satisfy, for every sensitive column: a privacy model, its text form (``"distinct:3"``),
        or several of them, which then all hold. They need not be monotone: every class is checked.
    strict
        Whether equal values stay together. False: values equal to the median may be split, so that sides are equal.
    weights
        How much the span of a quasi-identifier counts, by name; 1 for those that are not named, and 0 for one that
        must not be cut.

    Notes
    -----
    In parts: the first cuts are made by a sample, if both sides satisfy the models, and undone where all records show
    that one does not; no record is moved. A part that is too large and has no such cut is divided by chance, also if
    equal values must stay together. Models that compare a class with the whole table get the counts of all of it.

    References
    ----------
    LeFevre, DeWitt, Ramakrishnan, Mondrian Multidimensional K-Anonymity, ICDE 2006.

    Examples
    --------
    >>> from ldiversity.methods import NumberColumn, SensitiveColumn
    >>> age = NumberColumn("age", np.array([20, 21, 60, 61]), low=20, high=61)
    >>> disease = SensitiveColumn("disease", np.array([0, 1, 1, 0], dtype=np.int32), Domain(("flu", "cut")))
    >>> grouping = Mondrian(l=2).group(CodedTable((age,), (disease,)), GroupingRun())
    >>> grouping.partitions[0].class_of.tolist()
    [0, 0, 1, 1]
    """

    name: ClassVar[str] = "mondrian"
    strength: ClassVar[str | None] = "l"
    layout: ClassVar[Literal["generalized", "bucketized"]] = "generalized"
    parts: ClassVar[Literal["near", "random", "alike"] | None] = "near"

    l: int | None = None
    model: Models = None
    strict: bool = True
    weights: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.strict, bool):
            raise ParameterError("Mondrian", "strict", "must be True or False", got=repr(self.strict))
        for name, weight in (self.weights or {}).items():
            check_number("Mondrian", f"weights[{name!r}]", weight, minimum=0)
        object.__setattr__(self, "model", given_models(self.model))
        _ = self.rules

    @cached_property
    def rules(self) -> Rules:
        """What every class satisfies."""
        return rules_of("Mondrian", self.l, self.model)

    def promises(self, domain: Domain) -> tuple[PrivacyModel, ...]:  # noqa: ARG002 - the same for every domain
        """What every class satisfies."""
        return self.rules.models

    def part_rule(self, n_sensitive: int) -> PartRule:  # noqa: ARG002 - the same for any number
        """No record moves; parts that do not satisfy the models are joined."""
        return PartRule(None)

    def parameters(self) -> dict[str, Json]:
        """The public parameters in JSON's types."""
        weights = {} if self.weights is None else {"weights": {k: float(v) for k, v in self.weights.items()}}
        return describe_rules(self.l, self.rules) | {"strict": self.strict} | weights

    def check_counts(self, columns: Sequence[SensitiveColumn]) -> None:
        """Refuse models that not even all records together satisfy."""
        check_whole("Mondrian", self.rules.models, columns, l=self.l)

    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:
        """Cut until no side can be cut."""
        from ldiversity.methods._mondrian_cuts import Cutter
        from ldiversity.methods._mondrian_ranks import rank_table

        weights = np.array(list(table.weights("Mondrian", self.weights).values()))
        self.check_counts(table.sensitive)
        check_people("Mondrian", table, self.rules.least_size)
        dealer = Dealer.of(table)
        rules = (self.rules,) * len(table.sensitive)
        if dealer is not None and not dealer.keeps_whole(table.sensitive, rules):
            raise not_apart("Mondrian", table)
        partition = Cutter(rank_table(table), table.sensitive, rules, weights, self.strict, dealer).partition(run)
        return Grouping((partition,))

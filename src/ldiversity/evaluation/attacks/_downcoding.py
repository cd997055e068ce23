"""Downcoding: narrow generalized cells, because a method that does no more than it must leaves its regions tight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ldiversity.evaluation.attacks._base import Criterion
from ldiversity.evaluation.attacks._risk import PrivacyRisk, Rate
from ldiversity.evaluation.attacks._risk_attack import RiskAttack
from ldiversity.evaluation.attacks._shown import People, Shown, draw_people
from ldiversity.evaluation.attacks._shown_numbers import NumberShown
from ldiversity.evaluation.attacks._tightness import Deduction, deductions

__all__ = ["Downcoding"]


@dataclass(frozen=True)
class Downcoding(RiskAttack):
    """Find a strictly finer table that still fits what was generalized.

    Regions of classes are the tightest ones. So somebody of a class is at each end of its interval (in the outermost
    cells of the grid where there is one), and under each child of its node if that has exactly two. Of a class, one
    record can therefore be put at one end and another one at the other: the result is a finer table, and for certain a
    generalization of the original. This is Cohen's definition of downcoding. Columns are narrowed one at a time,
    because nothing tells which ends of two columns belong to the same record.

    An attack narrows one cell of one class, and succeeds when the table has people within the region of the class in
    both narrower cells. Somebody who only guesses spreads the records of the class evenly over its cell. A control
    table is used only if it is at least as large as the original, because smaller tables hold fewer people of any kind.
    Lists of values say outright which values there are, and nodes that stand for intervals of numbers are left as they
    are.

    The details count the generalized cells, those that are narrowed, and the records of which one cell is narrowed in
    the finer table.

    References
    ----------
    Cohen, Attacks on Deidentification's Defenses, USENIX Security 2022.

    Examples
    --------
    >>> Downcoding().name
    'downcoding'
    """

    name: ClassVar[str] = "downcoding"
    criterion: ClassVar[Criterion] = "singling-out"
    attacker: ClassVar[str] = "Somebody who has only the release, and narrows what was made coarse."
    meaning: ClassVar[str] = "narrow a cell rightly"

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return "They know the release, and that the regions of its classes are the tightest ones."

    def why_not(self, shown: Shown) -> str | None:
        """It needs tight regions that can be narrowed."""
        release = shown.release
        if release is None or not release.generalized:
            return "it needs classes that share regions"
        if any(release.facts(attribute).get("levels") for attribute in release.sensitive):
            return "every column was raised to one level for all records, so that regions are not the tightest ones"
        return None if deductions(shown, release) else "no region can be narrowed for certain"

    def measure(self, shown: Shown, original: People, control: People | None, attacks: int) -> PrivacyRisk:
        """Narrow some of the cells, and look whether people are there."""
        release = shown.release
        found = [] if release is None else deductions(shown, release)
        rng = np.random.default_rng(0)
        chosen = [found[place] for place in rng.permutation(len(found))[:attacks].tolist()]
        others = None
        if control is not None and control.n >= original.n:
            others = self._rate(shown, chosen, draw_people(control, original.n, rng))
        generalized = [column for name in shown.quasi if (column := shown.columns[name])]
        return self.result(
            columns=tuple(dict.fromkeys(one.column for one in found)),
            success=self._rate(shown, chosen, original),
            baseline=self._rate(shown, chosen, original, naive=True),
            control=others,
            details={
                "generalized_cells": int(sum(column.rows_that_vary for column in generalized)),
                "narrowed_cells": 2 * len(found),
                "downcoded_records": 2 * len({id(one.region) for one in found}),
                "records": shown.n_records,
            },
        )

    def _rate(self, shown: Shown, chosen: list[Deduction], people: People, *, naive: bool = False) -> Rate:
        rng = np.random.default_rng(1)
        right = 0
        for one in chosen:
            column = shown.columns[one.column]
            whole = isinstance(column, NumberShown) and column.step > 0
            right += one.holds(one.guessed(rng, whole=whole) if naive else one.claimed, shown, people)
        return Rate(right, len(chosen))

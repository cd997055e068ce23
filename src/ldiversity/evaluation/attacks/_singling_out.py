"""Singling out: predicates made from what is published, and how many of them one person of the table satisfies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, TypeAlias, get_args

import numpy as np

from ldiversity.base.checks import check_choice, check_integer
from ldiversity.evaluation.attacks._base import AnyAttack, Criterion, Knowledge
from ldiversity.evaluation.attacks._isolation import scaled_isolations
from ldiversity.evaluation.attacks._risk import PrivacyRisk, Rate
from ldiversity.evaluation.attacks._risk_attack import RiskAttack
from ldiversity.evaluation.attacks._shown import People, Shown
from ldiversity.evaluation.attacks._shown_columns import Condition

__all__ = ["SinglingOut"]

Mode: TypeAlias = Literal["univariate", "multivariate", "record"]
Predicate: TypeAlias = dict[str, Condition]

_WORK: Final = 100_000_000
"""About how many rows may be looked at to find predicates."""

_LEAST_ATTEMPTS: Final = 4
_MOST_ATTEMPTS: Final = 100
"""Attempts for each attack: in a table where hardly anybody stands out, few predicates are ever found."""

_HALF: Final = 0.5
"""A predicate seems to isolate one record when its expected number of records rounds to one."""


@dataclass(frozen=True)
class SinglingOut(RiskAttack):
    """State predicates that one person of the table satisfies, and nobody else.

    Attackers make predicates from what is published, and keep those which one published record seems to satisfy. Where
    records are published as regions or sets, they are spread evenly over them, and the expected number counts. The
    attack succeeds when exactly one person of the table satisfies the predicate. An attack for which no predicate is
    found has failed. Somebody who only guesses compares random columns with random published values. People with equal
    cells are different people, and none of them is singled out. Where it is known whose row is whose, all rows that
    satisfy the predicate may be one person's, and attackers keep predicates that at most as many records seem to
    satisfy as a person has on average.

    Parameters
    ----------
    mode
        ``univariate``: one column; its extremes, and values (or ends of regions) that are shown once.
        ``multivariate``: some random columns of a random record; numbers from the record's on, away from the median;
        values, regions and sets as they are. ``record``: all that is published of a random record; in a class that
        shares a region, the region and one of its values.
    columns
        How many columns ``multivariate`` combines.

    References
    ----------
    Giomi, Boenisch, Wehmeyer, Tasnadi, A Unified Framework for Quantifying Privacy Risk in Synthetic Data, PoPETs 2023.
    Cohen, Nissim, Towards Formalizing the GDPR's Notion of Singling Out, PNAS 117, 2020.

    Examples
    --------
    >>> SinglingOut("record").label
    'singling-out (record)'
    """

    mode: Mode = "multivariate"
    columns: int = 3

    name: ClassVar[str] = "singling-out"
    criterion: ClassVar[Criterion] = "singling-out"
    attacker: ClassVar[str] = "Somebody who has only the release, and describes people so that only one of them fits."
    meaning: ClassVar[str] = "describe exactly one person"

    def __post_init__(self) -> None:
        check_choice("SinglingOut", "mode", self.mode, get_args(Mode))
        check_integer("SinglingOut", "columns", self.columns, minimum=1)

    @classmethod
    def from_knowledge(cls, knowledge: Knowledge) -> tuple[AnyAttack, ...]:  # noqa: ARG003 - the base's
        """All modes."""
        return tuple(cls(mode) for mode in get_args(Mode))

    @property
    def label(self) -> str:
        """Its name, and the mode."""
        return f"{self.name} ({self.mode})"

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return "They know nothing but the release."

    def measure(self, shown: Shown, original: People, control: People | None, attacks: int) -> PrivacyRisk:
        """Make predicates, and count the people of both tables who satisfy them."""
        each = max(1, round(original.n / original.n_people))
        asked = min(attacks, -(-shown.n_records // each))
        found, attempts = _keep(shown, self._proposals(shown), asked, each)
        naive = list(self._guesses(shown, asked))
        others = None
        if control is not None:
            fitting = np.array([shown.fit(one, control) for one in found], dtype=np.int64)
            others = Rate(min(float(asked), scaled_isolations(fitting, control.n_people, original.n_people)), asked)
        caution = None
        if len(found) < asked:
            records = "one published record seems" if each == 1 else f"up to {each} published records seem"
            caution = f"Only {len(found)} predicates were found that {records} to satisfy."
        return self.result(
            columns=shown.names,
            success=Rate(_isolating(shown, found, original), asked),
            baseline=Rate(_isolating(shown, naive, original), asked),
            control=others,
            details={"predicates": len(found), "attempts": attempts},
            caution=caution,
        )

    def _proposals(self, shown: Shown) -> Iterator[tuple[Predicate, int]]:
        """Predicates, and how many records satisfy each for certain besides those that are expected."""
        rng = np.random.default_rng(0)
        if self.mode == "univariate":
            every = [(name, one) for name, column in shown.columns.items() for one in column.once()]
            order = rng.permutation(len(every)).tolist()
            return (({name: one.condition}, one.besides) for name, one in (every[place] for place in order))
        return ((made, 0) for made in self._of_records(shown, rng))

    def _of_records(self, shown: Shown, rng: np.random.Generator) -> Iterator[Predicate]:
        most = min(self.columns, len(shown.names))
        order = rng.permutation(shown.n_rows) if self.mode == "record" else None
        place = 0
        while order is None or place < len(order):
            row = int(rng.integers(shown.n_rows) if order is None else order[place])
            names = shown.names if order is not None else tuple(rng.choice(shown.names, most, replace=False).tolist())
            made = {}
            for name in sorted(names):
                column = shown.columns[name]
                cell = int(column.of_row[row])
                if cell >= 0:
                    beyond = column.beyond(cell) if order is None else None
                    made[name] = column.stated(cell, rng) if beyond is None else beyond
            yield made
            place += 1

    def _guesses(self, shown: Shown, asked: int) -> Iterator[Predicate]:
        rng = np.random.default_rng(1)
        n_columns = {"univariate": 1, "multivariate": self.columns, "record": len(shown.names)}[self.mode]
        for _ in range(asked):
            names = rng.choice(shown.names, min(n_columns, len(shown.names)), replace=False).tolist()
            yield {name: shown.columns[name].anything(rng) for name in names}


def _keep(
    shown: Shown, proposals: Iterator[tuple[Predicate, int]], asked: int, each: int
) -> tuple[list[Predicate], int]:
    """The first different predicates that one person's `each` records seem to satisfy, and how many were looked at."""
    most = min(_MOST_ATTEMPTS * asked, max(_LEAST_ATTEMPTS * asked, _WORK // max(1, shown.n_rows)))
    found: list[Predicate] = []
    known: set[tuple[object, ...]] = set()
    attempts = 0
    for made, besides in proposals:
        if len(found) >= asked or attempts >= most or (not found and attempts >= _LEAST_ATTEMPTS * asked):
            break
        attempts += 1
        key = tuple((name, condition.key) for name, condition in made.items())
        # Most predicates hold for many records, which a part of them shows quickly.
        many = key in known or besides + shown.some.expected(made) >= each + _HALF
        if not many and _HALF <= besides + shown.expected(made) < each + _HALF:
            found.append(made)
        known.add(key)
    return found, attempts


def _isolating(shown: Shown, predicates: list[Predicate], people: People) -> int:
    return sum(shown.fit(one, people) == 1 for one in predicates)

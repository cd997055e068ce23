"""Which attacks fit into a memory setting: each says what it takes, before anything is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ldiversity.base.budget import Budget
from ldiversity.base.numbers import in_bytes, number
from ldiversity.errors import UnsupportedError
from ldiversity.evaluation.attacks._base import AnyAttack, Attack
from ldiversity.evaluation.attacks._registry import ATTACKS
from ldiversity.evaluation.attacks._report import Skipped
from ldiversity.sentences import Setting, say

__all__ = ["Room", "memory_table"]

_VALUE_BYTES: Final = 40
"""What the beliefs about one value of one target take: a number in some copies."""


@dataclass(frozen=True)
class Room:
    """The memory that attacks may take, and what they are run on.

    Parameters
    ----------
    budget
        The setting; everything fits when None.
    n_rows
        The rows of the release or of the original, whichever has more.
    n_targets
        How many people are attacked, by attribute.
    n_values
        How many values each attribute has.
    """

    budget: Budget | None
    n_rows: int
    n_targets: Mapping[str, int]
    n_values: Mapping[str, int]

    def needed(self, attack: AnyAttack, attribute: str | None) -> int:
        """The bytes that an attack takes, the program included."""
        if self.budget is None:
            return 0
        program = self.budget.bytes - self.budget.for_rows
        beliefs = 0
        if attribute is not None and isinstance(attack, Attack):
            beliefs = self.n_targets[attribute] * self.n_values[attribute] * _VALUE_BYTES
        return program + self.n_rows * attack.row_bytes + beliefs

    def fitting(
        self,
        chosen: Mapping[str | None, Sequence[AnyAttack]],
        *,
        by_name: bool,
        promised: Callable[[AnyAttack, str | None], bool],
    ) -> tuple[dict[str | None, list[AnyAttack]], list[Skipped]]:
        """The attacks that fit, by attribute, and the others; those that were asked for by name are refused.

        All attacks that are `chosen` apply to the release. `promised` says whether it promises something against one.
        Where none of these fits, the setting is refused, with the memory in which they run: what is left would say
        nothing about the promise.
        """
        if self.budget is None:
            return {attribute: list(several) for attribute, several in chosen.items()}, []
        fit: dict[str | None, list[AnyAttack]] = {attribute: [] for attribute in chosen}
        skipped: list[Skipped] = []
        left: list[int] = []
        on_promise: list[int] = []
        some_run = False
        for attribute, several in chosen.items():
            for one in several:
                needed = self.needed(one, attribute)
                of_promise = promised(one, attribute)
                if needed <= self.budget.bytes:
                    fit[attribute].append(one)
                    some_run |= of_promise
                    continue
                left.append(needed)
                on_promise += [needed] if of_promise else []
                if by_name:
                    raise self._refused(f"{one.name!r}, which looks at all rows at once", needed)
                reason = f"it takes about {in_bytes(needed)}, and the memory setting is {in_bytes(self.budget.bytes)}"
                skipped.append(Skipped(one.label, attribute, reason))
        if on_promise and not some_run:
            raise self._refused("attacks on what the release promises, with so many rows", max(on_promise))
        if left and not any(fit.values()):
            raise self._refused("any attack on so many rows", min(left))
        return fit, skipped

    def _refused(self, what: str, needed: int) -> UnsupportedError:
        got = None if self.budget is None else in_bytes(self.budget.bytes)
        return UnsupportedError(
            "attack", "memory", f"must be at least {in_bytes(needed)} for {what}", got=got
        ).with_hint(say("Use {}.", Setting("memory", f"{needed // 1_000_000 + 1}MB")))


def memory_table() -> str:
    """What each attack takes, as a table of the documentation.

    Examples
    --------
    >>> print(memory_table().splitlines()[2])
    | `homogeneity` | all at once | 1,500 |
    """
    lines = ["| attack | looks at rows | bytes per row |", "|---|---|---:|"]
    for name, attack in ATTACKS.items():
        lines.append(f"| `{name}` | all at once | {number(attack.row_bytes)} |")
    return "\n".join(lines)

"""Whether devices can do what a survey asks: it must be what it claims, and no more work than a phone can do.

The limits keep the check of any survey below two seconds in Python, and its tables below some twenty megabytes:

- the sum of ``(l + levels of the tree) * F**2`` over all questions that are not uniform is at most `MOST_WORK`;
- where sets must be listed, there are at most 20,000 of a question, and the sum of ``l**2`` over all of them is at most
  `MOST_LISTED`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ldiversity.collection.draw import (
    MOST_SETS,
    Draw,
    ListedDraw,
    PartitionDraw,
    WeightedDraw,
    choose_draw,
    uniform_draw,
)
from ldiversity.collection.survey._mechanism import BalancedForm, TreeForm, allowed_pairs

if TYPE_CHECKING:
    from ldiversity.collection.survey._document import Question

__all__ = ["MOST_LISTED", "MOST_WORK", "check_draws", "question_draw"]

MOST_WORK: Final = 4_000_000
MOST_LISTED: Final = 1_000_000

_OFF_ONE: Final = 1e-8
"""How far the sum for a value may be from one: weights are rounded doubles."""

_FEWER: Final = "Use fewer values, a smaller l, or several surveys."
_OTHER: Final = "Use a smaller l or d, or let `ldiversity collect new` find the weights."


def check_draws(questions: Sequence[Question]) -> None:
    """Raise `ValueError`, with the place, for the first question that no device can answer as it is described."""
    if sum(map(_work, questions)) > MOST_WORK:
        raise ValueError(f"questions: must have a sum of (l + levels) F^2 of at most {MOST_WORK:,}\n{_FEWER}")
    listed = 0
    for at, question in enumerate(questions):
        place = f"questions[{at}].mechanism"
        try:
            draw = question.draw
        except _NoDrawError as error:
            raise ValueError(f"{place}{error}") from None
        if isinstance(draw, ListedDraw):
            listed += draw.n_sets * draw.l**2
            if listed > MOST_LISTED:
                raise ValueError(
                    f"{place}: must leave the sum of l^2 over all listed sets at {MOST_LISTED:,} or less\n{_FEWER}"
                )
        if isinstance(question.mechanism, BalancedForm) and not _is_balanced(draw, question.mechanism):
            raise ValueError(
                f"{place}.fitted: must be weights that make all members of a set equally likely, with the sum one for "
                f"each value\n{_OTHER}"
            )
        if not draw.is_recoverable:
            raise ValueError(
                f"{place}: must let shares be estimated, but other shares would give the same sets\n{_OTHER}"
            )


def question_draw(question: Question) -> Draw:
    """How a device hides an answer, from the values that may share a set."""
    form = question.mechanism
    if not isinstance(form, BalancedForm):
        return uniform_draw(form.n_values, form.l)
    allowed = allowed_pairs(form, question.values, question.positions)
    if allowed is None:
        raise _NoDrawError(".distance: must be a distance between the values of the question, and no others")
    try:
        draw = choose_draw(form.l, allowed, form.fitted)
    except ValueError:
        raise _NoDrawError(".fitted: must be weights of which none is more than 2^64 times another") from None
    if draw is None:
        raise _NoDrawError(
            f": must have sets of {form.l} values that are {form.d:g} apart, and at most {MOST_SETS:,} if they must be "
            f"listed\n{_OTHER}"
        )
    return draw


class _NoDrawError(ValueError):
    """A question that cannot be hidden; the message continues the name of its mechanism."""


def _work(question: Question) -> int:
    form = question.mechanism
    if not isinstance(form, BalancedForm):
        return 0
    levels = len(form.distance.rows[0]) if isinstance(form.distance, TreeForm) and form.distance.rows else 0
    return (form.l + levels) * len(question.values) ** 2


def _is_balanced(draw: Draw, form: BalancedForm) -> bool:
    """Whether members are equally likely, and the weights of the sets of each value sum to one."""
    if isinstance(draw, PartitionDraw):  # the only balanced weights are equal ones
        sets = math.log(draw.sets_per_value)
        return all(abs(form.l * math.log(weight) + sets) <= _OFF_ONE for weight in form.fitted)
    return isinstance(draw, WeightedDraw) and draw.is_balanced and draw.is_normalized

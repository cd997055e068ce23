"""What is shown of a survey while answers come in: data, which pages and terminals only render."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from ldiversity.base.answers import Answer, fact, fit_screen
from ldiversity.base.numbers import counted, level, percent, percent_between

__all__ = ["ExportedRelease", "ResultsAnswer", "ShownCell", "ShownDivision", "ShownQuestion", "ShownValue"]


@dataclass(frozen=True)
class ExportedRelease:
    """One release that was written.

    Attributes
    ----------
    folder
        Where it is.
    questions
        The questions whose sets it has.
    records
        How many reports.
    """

    folder: str
    questions: tuple[str, ...]
    records: int


@dataclass(frozen=True)
class ShownValue:
    """One possible answer of a question: its estimated share, and the interval around it."""

    value: str
    share: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class ShownCell:
    """Answers that are shown together: all of them, or those of one range or choice.

    Attributes
    ----------
    label
        The range or choice; "all answers" where nothing divides them.
    answers
        How many are counted.
    values
        Every possible answer of the question, in its order.
    """

    label: str
    answers: int
    values: tuple[ShownValue, ...]


@dataclass(frozen=True)
class ShownDivision:
    """A question's shares by one quasi-identifier.

    Attributes
    ----------
    column
        The name of the quasi-identifier.
    ask
        How people are asked for it.
    cells
        Its ranges or choices that have enough answers, in their order.
    waiting
        Its ranges or choices that have too few.
    """

    column: str
    ask: str
    cells: tuple[ShownCell, ...]
    waiting: tuple[str, ...]


@dataclass(frozen=True)
class ShownQuestion:
    """What is known of one question.

    Attributes
    ----------
    name, ask
        Its name, and how people are asked.
    members
        How many answers every set has.
    overall
        The shares among all counted answers; None while there are too few.
    by
        The shares by each quasi-identifier.
    """

    name: str
    ask: str
    members: int
    overall: ShownCell | None
    by: tuple[ShownDivision, ...]

    @fact
    def half_width(self) -> float | None:
        """The widest half of an interval among all counted answers; None while there are too few."""
        return None if self.overall is None else max(value.half_width for value in self.overall.values)


@dataclass(frozen=True, repr=False)
class ResultsAnswer(Answer, schema="collect-results", version=1):
    """Estimates of a survey while it runs, or after it was closed.

    Attributes
    ----------
    survey
        The survey's id.
    title
        Its title.
    minimum
        Cells with fewer answers are not shown.
    step
        A cell changes only when it has gained at least so many answers.
    goal
        The half-width of an interval that the collector aims at.
    confidence
        How often an interval should hold the true share.
    questions
        Every question, in the survey's order.
    notes
        What readers should know, one sentence each.

    Examples
    --------
    >>> cell = ShownCell("all answers", 400, (ShownValue("yes", 0.3, 0.2, 0.4), ShownValue("no", 0.7, 0.6, 0.8)))
    >>> question = ShownQuestion("smokes", "Do you smoke?", 2, cell, ())
    >>> answer = ResultsAnswer("ab", "Health", 50, 50, 0.05, 0.95, (question,), ())
    >>> answer.reached, answer.more_answers
    (False, 1200)
    """

    survey: str
    title: str
    minimum: int
    step: int
    goal: float
    confidence: float
    questions: tuple[ShownQuestion, ...]
    notes: tuple[str, ...]

    @fact
    def answers(self) -> int | None:
        """How many answers are counted for the question that has the fewest; None while there are too few."""
        counts = [0 if question.overall is None else question.overall.answers for question in self.questions]
        return min(counts) or None

    @fact
    def half_width(self) -> float | None:
        """The widest half of an interval among all questions; None while one of them has too few answers."""
        widths = [question.half_width for question in self.questions]
        known = [width for width in widths if width is not None]
        return max(known) if len(known) == len(widths) else None

    @fact
    def reached(self) -> bool:
        """Whether every interval is as narrow as the goal."""
        return self.half_width is not None and self.half_width <= self.goal

    @fact
    def more_answers(self) -> int | None:
        """About how many more answers it takes; None while there are too few to say.

        Variances go as one over the number of answers, so the number grows with the square of the precision.
        """
        needed = []
        for question in self.questions:
            if question.overall is None or question.half_width is None:
                return None
            counted_now = question.overall.answers
            needed.append(_rounded(counted_now * ((question.half_width / self.goal) ** 2 - 1), counted_now))
        return max(0, *needed)

    def __str__(self) -> str:
        lines = [f"{self.title}: {self._progress()}"]
        for question in self.questions:
            lines.append(f"{question.name}: {question.ask}")
            lines += [
                f"  {value.value}: {percent(value.share)}{percent_between(value.low, value.high)}"
                for value in (() if question.overall is None else question.overall.values)
            ]
        return fit_screen([*lines, *self.notes])

    def _progress(self) -> str:
        if self.answers is None:
            return f"fewer than {counted(self.minimum, 'answer')} so far, so nothing is shown yet"
        known = f"{counted(self.answers, 'answer')}, intervals {level(self.confidence)}"
        if self.reached:
            return f"{known}; the goal of {percent(self.goal)} either way is reached"
        return f"{known}; about {counted(self.more_answers or 0, 'more answer')} until {percent(self.goal)} either way"


def _rounded(more: float, known: int) -> int:
    """Two digits are as many as such a forecast has."""
    if more <= 0:
        return 0
    unit = int(10 ** max(0, len(str(max(known, ceil(more)))) - 2))
    return ceil(round(more / unit, 9)) * unit

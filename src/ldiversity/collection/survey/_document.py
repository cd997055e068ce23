"""A survey as data: what is asked, how answers are hidden, and what is done with them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from ldiversity.collection.blind import BlindPublicKey
from ldiversity.collection.draw import Draw
from ldiversity.collection.survey._mechanism import BalancedForm, Mechanism, Part
from ldiversity.collection.survey._texts import Label, LongText, Name, ShortText, are_distinct
from ldiversity.collection.survey._work import check_draws, question_draw
from ldiversity.errors import ParameterError

__all__ = ["Choice", "Quasi", "Question", "Ranges", "Results", "Survey"]

_STEP: Final = 256
"""Reports are padded to a multiple of so many bytes."""

_ENVELOPE: Final = 200
"""What a report has besides names and codes: the ids of survey and token, and JSON's own letters."""

_INVITATION: Final = 64
_BLIND_SIGNATURE: Final = 700

Whole: TypeAlias = Annotated[int, Field(ge=-(10**9), le=10**9)]


def _not_a_truth(value: object) -> object:
    """To Python `True` is 1, and to a browser it is not."""
    return None if isinstance(value, bool) else value


class Ranges(Part):
    """A whole number about the person, of which the device sends the range only.

    Cuts are the first numbers of the ranges after the first. Without `low` or `high`, the first or last range is open.

    Examples
    --------
    >>> age = Ranges(kind="ranges", name="age", ask="How old are you?", low=18, cuts=[30, 45], high=None)
    >>> age.labels, age.code(44)
    (('18-29', '30-44', '45 or more'), 1)
    """

    kind: Literal["ranges"]
    name: Name
    ask: ShortText
    low: Whole | None
    cuts: Annotated[list[Whole], Field(min_length=1, max_length=63)]
    high: Whole | None

    @model_validator(mode="after")
    def _ascending(self) -> Ranges:
        starts = self.cuts if self.low is None else [self.low, *self.cuts]
        # The last range may be of one number: `high` is part of it, and a cut is the first number of its range.
        if any(a >= b for a, b in pairwise(starts)) or (self.high is not None and self.cuts[-1] > self.high):
            raise ValueError("cuts: must ascend, above low and up to high")
        return self

    @property
    def labels(self) -> tuple[str, ...]:
        """The ranges as people read them."""
        middle = [_range(a, b - 1) for a, b in pairwise(self.cuts)]
        first = f"below {self.cuts[0]}" if self.low is None else _range(self.low, self.cuts[0] - 1)
        last = f"{self.cuts[-1]} or more" if self.high is None else _range(self.cuts[-1], self.high)
        return (first, *middle, last)

    def code(self, number: int) -> int | None:
        """The range of a number; None if it is in none."""
        if (self.low is not None and number < self.low) or (self.high is not None and number > self.high):
            return None
        return sum(cut <= number for cut in self.cuts)


class Choice(Part):
    """Something about the person that is sent as it is chosen."""

    kind: Literal["choice"]
    name: Name
    ask: ShortText
    values: Annotated[list[Label], Field(min_length=2, max_length=512)]

    @model_validator(mode="after")
    def _distinct(self) -> Choice:
        if not are_distinct(self.values):
            raise ValueError("values: must be distinct")
        return self

    @property
    def labels(self) -> tuple[str, ...]:
        """The values."""
        return tuple(self.values)

    def code(self, value: str) -> int | None:
        """The place of a value; None if it is none of them."""
        return self.values.index(value) if value in self.values else None


Quasi: TypeAlias = Annotated[Ranges | Choice, Field(discriminator="kind")]


class Question(Part):
    """A question whose answer is hidden in a set before it leaves the device."""

    name: Name
    ask: ShortText
    values: Annotated[list[Label], Field(min_length=3, max_length=2048)]
    ordered: bool
    positions: Annotated[list[Annotated[float, Field(allow_inf_nan=False)]], Field(max_length=512)] | None = None
    mechanism: Mechanism

    @model_validator(mode="after")
    def _fits_its_values(self) -> Question:
        form, size = self.mechanism, len(self.values)
        if not are_distinct(self.values):
            raise ValueError("values: must be distinct, also without regard to case, width and blanks")
        if self.positions is not None and len(self.positions) != size:
            raise ValueError(f"positions: must be {size} numbers, one for each value")
        if (len(form.fitted) if isinstance(form, BalancedForm) else form.n_values) != size:
            raise ValueError(f"mechanism: must be for {size} values, as many as the question has")
        if form.l >= size:
            raise ValueError(
                f"mechanism.l: must be below the number of values, {size}\nUse a smaller l, or more values."
            )
        return self

    @property
    def l(self) -> int:  # noqa: E743 - the letter of the literature
        """How many answers a set has."""
        return self.mechanism.l

    @cached_property
    def draw(self) -> Draw:
        """How a device hides an answer. A survey that exists has checked it."""
        return question_draw(self)

    @cached_property
    def context(self) -> bytes:
        """What a device's words for this question depend on besides its secret."""
        return self.draw.context(self.name, self.values)


class Results(Part):
    """When and how results are shown while answers come in."""

    public: bool
    minimum: Annotated[int, Field(ge=10, le=1_000_000)]
    step: Annotated[int, Field(ge=10, le=1_000_000)]
    goal: Annotated[float, Field(gt=0, le=0.5, allow_inf_nan=False)]


class Survey(Part):
    """Everything that a device and a collector must agree on. It is public, and signed by the collector."""

    format: Literal["ldiversity-survey"]
    version: Annotated[Literal[1], BeforeValidator(_not_a_truth)]
    title: ShortText
    collector: ShortText
    contact: ShortText
    purpose: LongText
    consent: LongText
    language: Annotated[str, Field(max_length=35, pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")]
    closes: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")] | None
    linked: bool
    tokens: Literal["device", "invitation", "blind"]
    results: Results
    quasi: Annotated[list[Quasi], Field(max_length=12)]
    questions: Annotated[list[Question], Field(min_length=1, max_length=24)]
    blind_key: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{300,800}$")] | None = None
    """The modulus of the collector's key for blind signatures, in base64url.

    The exponent is 65537 for the first part, and the next prime for each further one.
    """

    @model_validator(mode="after")
    def _fits_together(self) -> Survey:
        names = [part.name.casefold() for part in (*self.quasi, *self.questions)]
        if len(set(names)) < len(names):
            raise ValueError("the names of quasi and questions must be distinct, also without regard to case")
        if (self.tokens == "blind") != (self.blind_key is not None):
            raise ValueError("blind_key: must be given if tokens are blind, and only then")
        if self.blind_key is not None and not _is_blind_key(self.blind_key):
            raise ValueError("blind_key: must be an odd number of 2048 to 4096 bits, in base64url")
        if self.closes is not None and not _is_day(self.closes):
            raise ValueError("closes: must be a day such as 2027-06-30")
        check_draws(self.questions)
        return self

    @property
    def parts(self) -> tuple[tuple[Question, ...], ...]:
        """The questions that are answered in one report; a survey that is not linked has one part per question."""
        return (tuple(self.questions),) if self.linked else tuple((question,) for question in self.questions)

    def is_over(self) -> bool:
        """Whether the last day to answer is over, everywhere at the same moment (UTC)."""
        return self.closes is not None and datetime.now(UTC).date().isoformat() > self.closes

    @cached_property
    def report_bytes(self) -> int:
        """The length of every report of this survey, so that its length tells nothing."""
        quasi = sum(len(part.name) + 10 for part in self.quasi)
        parts = [sum(len(one.name) + 6 + 5 * one.l for one in part) for part in self.parts]
        extra = {"device": 0, "invitation": _INVITATION, "blind": _BLIND_SIGNATURE}[self.tokens]
        return -(-(_ENVELOPE + quasi + max(parts) + extra) // _STEP) * _STEP


def _is_blind_key(text: str) -> bool:
    try:
        return bool(BlindPublicKey.from_text(text))
    except ParameterError:
        return False


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low}-{high}"

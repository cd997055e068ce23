"""From stored reports to an ordinary release of sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ldiversity.base.randomness import FreshWords, random_order
from ldiversity.collection.survey import Choice, Question, Ranges, Reports, question_domain, question_mechanism
from ldiversity.errors import StorageError
from ldiversity.hierarchies import Hierarchy
from ldiversity.release import Form, Reach, SetRelease, no_records_left
from ldiversity.schema import Attribute, Role, Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ldiversity.collection.survey import SignedSurvey, Survey
    from ldiversity.mechanisms import SetMechanism

__all__ = ["PartLayout", "to_release"]

_ROOT = "*"


@dataclass(frozen=True, eq=False)
class PartLayout:
    """Where the codes of one part of a survey stand in a report, and what they mean.

    It is made once: mechanisms check their weights when they are read, which takes longer than an estimate.
    """

    survey: Survey
    part: int
    width: int

    @classmethod
    def of(cls, signed: SignedSurvey, part: int) -> PartLayout:
        """The layout of a part."""
        return cls(signed.survey, part, Reports(signed.survey, signed.id).body_codes[part])

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions of the part."""
        return self.survey.parts[self.part]

    @cached_property
    def schema(self) -> Schema:
        """The columns of the release: quasi-identifiers, then questions."""
        quasi = [Attribute(one.name, Role.QUASI, _type_of(one)) for one in self.survey.quasi]
        hidden = [Attribute(one.name, Role.SENSITIVE, "string", question_domain(one)) for one in self.questions]
        return Schema((*quasi, *hidden))

    @cached_property
    def mechanisms(self) -> Mapping[str, SetMechanism]:
        """How devices hid each answer."""
        return {one.name: question_mechanism(one) for one in self.questions}

    @cached_property
    def forms(self) -> Mapping[str, Form]:
        """How each quasi-identifier is published."""
        return {one.name: _form(one) for one in self.survey.quasi}

    def rows(self, bodies: bytes) -> NDArray[np.uint16]:
        """The codes of reports, one row per report."""
        if len(bodies) % (2 * self.width):
            raise _damaged()
        rows = np.frombuffer(bodies, dtype="<u2").reshape(-1, self.width)
        most = rows.max(axis=0, initial=0)
        if any(most[place] >= len(one.labels) for place, one in enumerate(self.survey.quasi)):
            raise _damaged()
        return rows

    def release(self, rows: NDArray[np.uint16]) -> SetRelease:
        """A release of these rows, in the order given."""
        columns = {one.name: _texts(one).take(pa.array(rows[:, at])) for at, one in enumerate(self.survey.quasi)}
        return self._release(rows, columns, self.schema, self.forms)

    def for_counting(self, rows: NDArray[np.uint16]) -> SetRelease:
        """The same for estimates by single columns alone: ranges are mere labels, and labels stay codes.

        It takes a third less time, as no text is looked at.
        """
        columns = {
            one.name: pa.DictionaryArray.from_arrays(pa.array(rows[:, at].astype(np.int32)), _texts(one))
            for at, one in enumerate(self.survey.quasi)
        }
        return self._release(rows, columns, self._label_schema, {})

    @cached_property
    def _label_schema(self) -> Schema:
        labels = tuple(Attribute(one.name, Role.QUASI, "string") for one in self.survey.quasi)
        return Schema((*labels, *self.schema.attributes[len(labels) :]))

    def _release(
        self, rows: NDArray[np.uint16], columns: Mapping[str, pa.Array], schema: Schema, forms: Mapping[str, Form]
    ) -> SetRelease:
        ends = accumulate((one.l for one in self.questions), initial=len(self.survey.quasi))
        sets = {
            one.name: np.ascontiguousarray(rows[:, start : start + one.l], dtype=np.int32)
            for one, start in zip(self.questions, ends, strict=False)
        }
        return SetRelease.in_memory(
            schema=schema,
            columns=pa.table(dict(columns)),
            sets=sets,
            mechanisms=self.mechanisms,
            forms=forms,
            collected=True,
        )


def to_release(signed: SignedSurvey, part: int, bodies: bytes) -> SetRelease:
    """Turn the reports of one part of a survey into an ordinary release of sets, in a fresh random order.

    Parameters
    ----------
    signed
        The survey.
    part
        Which of its parts; a linked survey has one, another one part for each question.
    bodies
        All stored bodies of the part, joined.

    Raises
    ------
    SchemaError
        When there is no report.
    """
    layout = PartLayout.of(signed, part)
    rows = layout.rows(bodies)
    if not len(rows):
        raise no_records_left()
    return layout.release(rows[random_order(len(rows), FreshWords())])


def _damaged() -> StorageError:
    return StorageError(
        "store",
        "the database must hold reports that devices of this survey send, but has one that is none of this survey",
    ).with_hint("Somebody changed the database: use a copy from before.")


def _type_of(quasi: Ranges | Choice) -> str:
    return "int64" if isinstance(quasi, Ranges) else "string"


def _texts(quasi: Ranges | Choice) -> pa.Array:
    return pa.array(quasi.labels, pa.string())


def _form(quasi: Ranges | Choice) -> Form:
    """Ranges are nodes that stand for numbers, so that estimates and attacks can read them as such."""
    if isinstance(quasi, Choice):
        return Form("exact")
    tree = Hierarchy(tuple((label, _ROOT) for label in quasi.labels))
    first, last = quasi.cuts[0] - 1, quasi.cuts[-1]
    lows = [first if quasi.low is None else quasi.low, *quasi.cuts]
    highs = [*(cut - 1 for cut in quasi.cuts), last if quasi.high is None else quasi.high]
    reaches = {label: Reach(low, high) for label, low, high in zip(quasi.labels, lows, highs, strict=True)}
    if quasi.low is None:
        reaches[quasi.labels[0]] = Reach(first, first, unbounded="low")
    if quasi.high is None:
        reaches[quasi.labels[-1]] = Reach(last, last, unbounded="high")
    return Form("node", tree, lows[0], highs[-1], tree.leaves, reaches=reaches)

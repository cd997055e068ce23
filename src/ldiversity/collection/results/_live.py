"""Results while answers come in."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.collection.results._answer import (
    ResultsAnswer,
    ShownCell,
    ShownDivision,
    ShownQuestion,
    ShownValue,
)
from ldiversity.collection.results._release import PartLayout
from ldiversity.collection.results._remembered import Profiles, Remembered, recall, remember
from ldiversity.collection.results._steps import admitted
from ldiversity.estimation import estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ldiversity.collection.survey import Question, SignedSurvey
    from ldiversity.estimation import EstimatedCell

__all__ = ["LiveResults"]

_ALL_ANSWERS: Final = "all answers"
_MOST_LABELS: Final = 16
"""Results are shown by columns with at most so many ranges or choices: among more, too many groups stay too small."""

_CONFIDENCE: Final = 0.95

_COUNTED: Final = (
    "Shares are of the answers that are counted here. Intervals are about the noise of the sets: they do not say how "
    "well those who answered stand for others."
)
_WAITING: Final = (
    "Some answers are counted later: results change only when every group that changes has gained enough answers, so "
    "that no difference shows a single one. Groups with too few answers are not in the totals yet."
)
_LINKED: Final = (
    "Questions are shown one at a time here. The exported release also tells how two answers of a person go together."
)


class LiveResults:
    """Estimates that change in steps of reports, and only for cells with enough of them.

    Two states that are published one after the other never differ by a few reports: neither overall, nor in a cell, nor
    in any combination of cells. `admitted` says how. Reports that would be seen alone wait.

    Parameters
    ----------
    signed
        The survey.
    remembered
        A file that keeps the published results when the server is started anew. Stored reports have no order, so it
        cannot be known which of them were counted before. The results then stay as they are until every cell that
        changed has gained enough. Without the file, results start anew with all reports.

    Notes
    -----
    Nothing here knows when a report came, or from whom. `add` takes microseconds; `snapshot` computes only when a step
    is complete.
    """

    def __init__(self, signed: SignedSurvey, *, remembered: str | os.PathLike[str] | None = None) -> None:
        self._signed = signed
        self._file = None if remembered is None else Path(remembered)
        self._lock = Lock()
        parts = range(len(signed.survey.parts))
        before = None if self._file is None else recall(self._file, signed.id, len(parts))
        shown = () if before is None else before.results.questions
        counted = [() for _ in parts] if before is None else before.counted
        self._parts = [_Part(PartLayout.of(signed, part), shown, counted[part]) for part in parts]
        self._answer = self._assemble()
        self._unpublished: ResultsAnswer | None = None

    def add(self, part: int, bodies: bytes) -> None:
        """Take the joined bodies of some reports of a part."""
        with self._lock:
            self._parts[part].add(bodies)

    def snapshot(self) -> ResultsAnswer:
        """What may be shown now; the same until the next step is complete.

        Raises
        ------
        StorageError
            When new results cannot be remembered; the next call tries again.
        """
        with self._lock:
            if any([part.advance() for part in self._parts]):  # noqa: C419 - all of them, not only the first
                self._unpublished = self._assemble()
            if self._unpublished is not None:
                if self._file is not None:
                    counted = tuple(part.counted for part in self._parts)
                    # First: what is shown, and forgotten at the next start, could be compared with what is shown then.
                    remember(self._file, Remembered(self._unpublished, counted))
                self._answer, self._unpublished = self._unpublished, None
            return self._answer

    def _assemble(self) -> ResultsAnswer:
        survey, rules = self._signed.survey, self._signed.survey.results
        several = len(survey.parts[0]) > 1
        return ResultsAnswer(
            survey=self._signed.id,
            title=survey.title,
            minimum=rules.minimum,
            step=rules.step,
            goal=rules.goal,
            confidence=_CONFIDENCE,
            questions=tuple(question for part in self._parts for question in part.shown),
            notes=(_COUNTED, _WAITING, *((_LINKED,) if several else ())),
        )


class _Part:
    """The reports of one part: those that are counted, and those that wait."""

    def __init__(self, layout: PartLayout, published: Sequence[ShownQuestion], counted: Profiles) -> None:
        self._layout, rules = layout, layout.survey.results
        self._step, self._minimum = rules.step, max(rules.step, rules.minimum)
        self._columns = [
            (place, one) for place, one in enumerate(layout.survey.quasi) if len(one.labels) <= _MOST_LABELS
        ]
        self._places = [place for place, _ in self._columns]
        self._sizes = [len(one.labels) for _, one in self._columns]
        self._counted = layout.rows(b"")
        self._waiting: list[NDArray[np.uint16]] = []
        self._since = 0
        names = {one.name for one in layout.questions}
        self._restored = tuple(one for one in published if one.overall is not None and one.name in names)
        self._before = Counter(dict(counted))
        self.shown = self._restored or tuple(self._empty(question) for question in layout.questions)

    def add(self, bodies: bytes) -> None:
        rows = self._layout.rows(bodies)
        if len(rows):
            self._waiting.append(rows)
            self._since += len(rows)

    def advance(self) -> bool:
        """Count what may be counted now; whether anything changed."""
        if self._since < self._step:
            return False
        self._since = 0
        waiting = np.concatenate(self._waiting)
        kept = self._after_restart(waiting) if self._restored else self._next_batch(waiting)
        self._waiting = [waiting[~kept]]
        if not kept.any():
            return False
        self._before = (Counter() if self._restored else self._before) + self._profiles(waiting[kept])
        self._restored = ()
        self._counted = np.concatenate([self._counted, waiting[kept]])
        self.shown = self._estimate()
        return True

    def _next_batch(self, waiting: NDArray[np.uint16]) -> NDArray[np.bool_]:
        needed = self._needed(self._counted[:, self._places])
        first = self._step if len(self._counted) else self._minimum
        return admitted(waiting[:, self._places], self._sizes, needed, self._step, first)

    def _needed(self, counted: NDArray[np.uint16]) -> list[NDArray[np.int64]]:
        """How many reports must come at once in each cell: more where nothing was shown before."""
        return [
            np.where(np.bincount(codes, minlength=size) > 0, self._step, self._minimum)
            for codes, size in zip(counted.T, self._sizes, strict=True)
        ]

    def _after_restart(self, rows: NDArray[np.uint16]) -> NDArray[np.bool_]:
        """All reports of the profiles that were counted, and of those that may be, if what is new may be shown.

        Which reports of a profile were counted is not known, so that all of them are counted now, or none.
        """
        profiles = [tuple(codes) for codes in rows[:, self._places].tolist()]
        gained = self._profiles(rows)
        gained.subtract(self._before)
        new = [profile for profile in sorted(gained) for _ in range(gained[profile])]
        added = np.array(new, dtype=np.uint16).reshape(-1, len(self._places))
        counted = np.array([*self._before.elements()], dtype=np.uint16).reshape(-1, len(self._places))
        kept = admitted(added, self._sizes, self._needed(counted), self._step, self._step)
        taken = {profile for profile, may in zip(new, kept.tolist(), strict=True) if may}
        must = {profile for profile, number in gained.items() if number and self._before[profile]}
        if not taken or not must <= taken:  # also if reports are missing that were counted
            return np.zeros(len(rows), dtype=np.bool_)
        return np.array([profile in taken or self._before[profile] > 0 for profile in profiles], dtype=np.bool_)

    @property
    def counted(self) -> Profiles:
        """How many of the counted reports have each profile."""
        return tuple(sorted(self._before.items()))

    def _profiles(self, rows: NDArray[np.uint16]) -> Counter[tuple[int, ...]]:
        return Counter(tuple(codes) for codes in rows[:, self._places].tolist())

    def _estimate(self) -> tuple[ShownQuestion, ...]:
        release = self._layout.for_counting(self._counted)
        found = []
        for question in self._layout.questions:
            (overall,) = estimate(release, sensitive=question.name, confidence=_CONFIDENCE).cells
            divisions = []
            for _, one in self._columns:
                cells = estimate(release, by=one.name, sensitive=question.name, confidence=_CONFIDENCE).cells
                by_label = {str(cell.by[one.name]): cell for cell in cells}
                divisions.append(_division(one.name, one.ask, one.labels, by_label))
            found.append(self._question(question, _cell(_ALL_ANSWERS, overall), tuple(divisions)))
        return tuple(found)

    def _empty(self, question: Question) -> ShownQuestion:
        divisions = (_division(one.name, one.ask, one.labels, {}) for _, one in self._columns)
        return self._question(question, None, tuple(divisions))

    @staticmethod
    def _question(question: Question, overall: ShownCell | None, by: tuple[ShownDivision, ...]) -> ShownQuestion:
        return ShownQuestion(question.name, question.ask, question.l, overall, by)


def _division(name: str, ask: str, labels: Sequence[str], cells: dict[str, EstimatedCell]) -> ShownDivision:
    shown = tuple(_cell(label, cells[label]) for label in labels if label in cells)
    return ShownDivision(name, ask, shown, tuple(label for label in labels if label not in cells))


def _cell(label: str, cell: EstimatedCell) -> ShownCell:
    records = cell.records
    return ShownCell(
        label,
        round(records),
        tuple(
            ShownValue(str(one.value), one.share or 0.0, (one.low or 0.0) / records, (one.high or 0.0) / records)
            for one in cell.values
        ),
    )

"""The two pages of a survey: the one to answer it, and the one with its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ldiversity.base.numbers import counted, level, percent, percent_tenths
from ldiversity.collection.server._modules import needed_modules
from ldiversity.collection.survey import honest_words
from ldiversity.web import page_templates

if TYPE_CHECKING:
    from jinja2 import Environment

    from ldiversity.collection.results import ResultsAnswer, ShownValue
    from ldiversity.collection.survey import Survey

__all__ = ["Pages", "Scale"]

_STATIC: Final = Path(__file__).parents[1] / "static"
_TOPS: Final = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8)


@dataclass(frozen=True)
class Scale:
    """Where shares stand in a drawing whose left end is 0 and whose right end is `top`; places are parts of 100.

    Examples
    --------
    >>> scale = Scale.of([0.11, 0.31])
    >>> scale.ticks, scale.place(0.1), scale.place(-0.1)
    ((0.0, 0.2, 0.4), 25.0, 0.0)
    """

    top: float

    @classmethod
    def of(cls, shares: Sequence[float]) -> Scale:
        """The smallest scale of round numbers that holds all shares."""
        most = max(shares, default=1.0)
        return cls(next((top for top in _TOPS if most <= top), 1.0))

    @property
    def ticks(self) -> tuple[float, float, float]:
        """The shares that are marked."""
        return 0.0, self.top / 2, self.top

    def place(self, share: float) -> float:
        """Where a share stands. Estimates may lie outside 0 and 1; they are drawn at the end."""
        return round(100 * min(max(share, 0.0), self.top) / self.top, 2)


class Pages:
    """The pages of one survey.

    Parameters
    ----------
    survey
        The survey.
    survey_id
        Its hash.
    fingerprint
        That of the collector's key.
    """

    def __init__(self, survey: Survey, survey_id: str, fingerprint: str) -> None:
        self._survey = survey
        self._shared = {"survey": survey, "survey_id": survey_id, "fingerprint": fingerprint}
        self._answer: dict[bool, bytes] = {}
        self._results: tuple[ResultsAnswer, bool, bytes] | None = None

    def answer(self, *, closed: bool) -> bytes:
        """The page to answer: the same for everybody, so it is drawn once."""
        if closed not in self._answer:
            modules = needed_modules(_STATIC, "page/answer.js")
            words = honest_words(self._survey)
            self._answer[closed] = self._draw("answer.html", closed=closed, words=words, modules=modules)
        return self._answer[closed]

    def results(self, results: ResultsAnswer, *, closed: bool) -> bytes:
        """The page with the results so far; it is drawn again when they have changed."""
        if self._results is None or self._results[0] is not results or self._results[1] != closed:
            words = honest_words(self._survey, _known_shares(results))
            page = self._draw("results.html", closed=closed, words=words, results=results)
            self._results = (results, closed, page)
        return self._results[2]

    def _draw(self, name: str, **given: object) -> bytes:
        return self._templates.get_template(name).render(self._shared, **given).encode()

    @cached_property
    def _templates(self) -> Environment:
        made = page_templates(Path(__file__).parent / "templates")
        made.filters.update(percent=percent, tenths=percent_tenths, level=level, counted=counted)
        made.globals["scale_of"] = _scale_of
        return made


def _known_shares(results: ResultsAnswer) -> dict[str, list[float]]:
    """How common the answers are, by question, where it is shown."""
    return {
        question.name: [value.share for value in question.overall.values]
        for question in results.questions
        if question.overall is not None
    }


def _scale_of(values: Sequence[ShownValue]) -> Scale:
    return Scale.of([value.high for value in values])

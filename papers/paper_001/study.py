"""Paper 001 rerun: the predecessor of paper 004, with its comparison with Mondrian."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from papers.exhibits import Exhibit, Setting, Study
from papers.paper_001.adult import adult_comparison
from papers.paper_001.bars import BARS, error_bars
from papers.paper_004.data import education_survey, income_survey, patients_survey, read_adult
from papers.paper_004.histograms import Histogram, histogram
from papers.paper_004.study import INCOMES

__all__ = ["HISTOGRAMS", "Paper001"]

_NAMES: Final = ("Ex-Proposal", "Ex-Existing", "Ex-Simple", "Balanced, MLE")
HISTOGRAMS: Final = (
    Histogram("Fig. 3", "income", None, (2, 4), "001", _NAMES),
    Histogram("Fig. 4", "patients", None, (2, 2), "001", _NAMES),
)
"""The paper's l and d are not readable."""


class Paper001(Study):
    """Histograms and errors on incomes and patients, and Adult beside Mondrian."""

    paper: ClassVar[str] = "001"
    title: ClassVar[str] = (
        "Oishi, Sei, Tahara and Ohsuga, Proposal of l-Diversity Algorithm Considering Distance between Sensitive "
        "Attribute Values, Information Processing Society of Japan, 2017"
    )

    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        """Rerun the evaluation, item by item in the paper's order."""
        surveys = {
            survey.name: survey
            for survey in (income_survey(INCOMES, setting.seed), patients_survey(INCOMES, setting.seed))
        }
        for which in HISTOGRAMS:
            setting.progress(0.1, f"paper 001, {which.item}")
            yield histogram(which, surveys[which.survey], setting)
        for bars in BARS:
            yield error_bars(bars, surveys[bars.survey], setting)
        setting.progress(0.5, "paper 001: Adult and Mondrian")
        adult = read_adult(setting)
        yield adult_comparison(adult, education_survey(adult), setting)
        setting.progress(1.0, "paper 001")

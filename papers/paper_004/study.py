"""Paper 004 rerun: (l, d)-semantic diversity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from papers.exhibits import Exhibit, Setting, Study
from papers.paper_004.accuracy import accuracy
from papers.paper_004.data import Survey, education_survey, fnlwgt_survey, income_survey, read_adult
from papers.paper_004.errors import Sweep, measure, sweep_exhibit, sweeps
from papers.paper_004.example import table_9, table_10
from papers.paper_004.histograms import HISTOGRAMS, histogram
from papers.paper_004.verdicts import CLAIMS, judge_education, judge_fnlwgt, judge_income, ring_leak
from papers.paper_004.violation import figure_6, figures_14_15

__all__ = ["Paper004"]

INCOMES: Final = 100_000
"""Records of the income table, as in the paper."""

# Where each figure of errors begins and ends on the scale of progress; fnlwgt has by far the most values.
_SHARES: Final = {"Fig. 11": (0.15, 0.3), "Fig. 12": (0.3, 0.35), "Fig. 13": (0.35, 0.9)}


class Paper004(Study):
    """Violation probabilities, the worked example, histograms and errors against l and d."""

    paper: ClassVar[str] = "004"
    title: ClassVar[str] = (
        "Oishi, Sei, Tahara and Ohsuga, Semantic Diversity: Privacy Considering Distance Between Values of Sensitive "
        "Attribute"
    )

    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        """Rerun the evaluation, item by item in the paper's order."""
        setting.progress(0.0, "paper 004: reading Adult")
        adult = read_adult(setting)
        surveys = {
            survey.name: survey
            for survey in (income_survey(INCOMES, setting.seed), education_survey(adult), fnlwgt_survey(adult))
        }
        setting.progress(0.02, "paper 004: the worked example")
        yield table_10()
        yield table_9(setting)
        setting.progress(0.05, "paper 004, Fig. 6")
        yield figure_6(setting)
        for which in HISTOGRAMS:
            setting.progress(0.1, f"paper 004, {which.item}")
            yield histogram(which, surveys[which.survey], setting)
        for sweep in sweeps(quick=setting.quick):
            yield _errors(sweep, surveys[sweep.survey], setting)
        setting.progress(0.9, "paper 004, Eq. 2")
        yield accuracy([surveys["education"], surveys["income"]], setting)
        setting.progress(0.95, "paper 004, Fig. 14 and 15")
        yield from figures_14_15([surveys["income"], surveys["fnlwgt"]], setting)
        setting.progress(1.0, "paper 004")


def _errors(sweep: Sweep, survey: Survey, setting: Setting) -> Exhibit:
    data = measure(sweep, survey, setting, _SHARES[sweep.item])
    if survey.name == "income":
        verdict = judge_income(data, sweep, ring_leak(survey))
    elif survey.name == "education":
        verdict = judge_education(data, sweep)
    else:
        verdict = judge_fnlwgt(data, sweep)
    return sweep_exhibit(sweep, survey, data, verdict, CLAIMS[sweep.item])

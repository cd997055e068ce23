"""Paper 001 rerun: the predecessor of paper 004, with its comparison with Mondrian."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from papers.exhibits import Exhibit, Setting, Study
from papers.paper_001.adult import adult_comparison
from papers.paper_001.income import income_errors
from papers.paper_004.data import education_survey, income_survey, read_adult
from papers.paper_004.study import INCOMES

__all__ = ["Paper001"]


class Paper001(Study):
    """Errors on incomes, and on Adult beside Mondrian."""

    paper: ClassVar[str] = "001"
    title: ClassVar[str] = (
        "Oishi, Sei, Tahara and Ohsuga, Proposal of l-Diversity Algorithm Considering Distance between Sensitive "
        "Attribute Values, Information Processing Society of Japan, 2017"
    )

    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        """Rerun the evaluation, item by item in the paper's order."""
        yield income_errors(income_survey(INCOMES, setting.seed), setting)
        setting.progress(0.5, "paper 001: Adult and Mondrian")
        adult = read_adult(setting)
        yield adult_comparison(adult, education_survey(adult), setting)
        setting.progress(1.0, "paper 001")

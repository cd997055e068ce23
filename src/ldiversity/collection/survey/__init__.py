"""Surveys: what is asked and how answers are hidden, as signed data."""

from __future__ import annotations

from ldiversity.collection.survey._document import Choice, Quasi, Question, Ranges, Results, Survey
from ldiversity.collection.survey._draft import DraftForm, blind_key_file, draft_survey
from ldiversity.collection.survey._example import EXAMPLE
from ldiversity.collection.survey._fitted import question_domain, question_mechanism
from ldiversity.collection.survey._mechanism import BalancedForm, UniformForm
from ldiversity.collection.survey._report import MOST_IN_BATCH, Kept, Report, Reports, TooManyReports, write_report
from ldiversity.collection.survey._signed import SignedForm, SignedSurvey, SurveyKey
from ldiversity.collection.survey._words import (
    ChangedAnswer,
    HonestWords,
    best_guess,
    changed_answer,
    honest_words,
    only_common_answer,
)

__all__ = [
    "EXAMPLE",
    "MOST_IN_BATCH",
    "BalancedForm",
    "ChangedAnswer",
    "Choice",
    "DraftForm",
    "HonestWords",
    "Kept",
    "Quasi",
    "Question",
    "Ranges",
    "Report",
    "Reports",
    "Results",
    "SignedForm",
    "SignedSurvey",
    "Survey",
    "SurveyKey",
    "TooManyReports",
    "UniformForm",
    "best_guess",
    "blind_key_file",
    "changed_answer",
    "draft_survey",
    "honest_words",
    "only_common_answer",
    "question_domain",
    "question_mechanism",
    "write_report",
]

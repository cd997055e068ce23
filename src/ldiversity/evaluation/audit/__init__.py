"""What a table gives away: every model in one pass, risks, and a verdict in plain words."""

from __future__ import annotations

from ldiversity.evaluation.audit._advice import Advice
from ldiversity.evaluation.audit._asked import Asked
from ldiversity.evaluation.audit._audit import audit
from ldiversity.evaluation.audit._check import check
from ldiversity.evaluation.audit._classes import CountedTable, count_table
from ldiversity.evaluation.audit._epsilons import EpsilonSum, add_epsilons
from ldiversity.evaluation.audit._figures import Figure
from ldiversity.evaluation.audit._html import fragment, risk_rows, risk_words
from ldiversity.evaluation.audit._inside import count_inside
from ldiversity.evaluation.audit._population import PopulationUsed, Recognition, RecognitionChoices
from ldiversity.evaluation.audit._result import Audit
from ldiversity.evaluation.audit._risk import AttributeRisk, Belief, ClassSizes, RecordRisk
from ldiversity.evaluation.audit._sampled import Sampled
from ldiversity.evaluation.audit._sampled_words import sampled_tables
from ldiversity.evaluation.audit._words import learned

__all__ = [
    "Advice",
    "Asked",
    "AttributeRisk",
    "Audit",
    "Belief",
    "ClassSizes",
    "CountedTable",
    "EpsilonSum",
    "Figure",
    "PopulationUsed",
    "Recognition",
    "RecognitionChoices",
    "RecordRisk",
    "Sampled",
    "add_epsilons",
    "audit",
    "check",
    "count_inside",
    "count_table",
    "fragment",
    "learned",
    "risk_rows",
    "risk_words",
    "sampled_tables",
]

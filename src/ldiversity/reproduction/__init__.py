"""Reruns of the papers' evaluations: for each figure and table the data, the picture and a verdict."""

from __future__ import annotations

from ldiversity.reproduction._base import Exhibit, Outcome, Setting, Study, attempt
from ldiversity.reproduction._registry import STUDIES, load_study
from ldiversity.reproduction._run import Reproduction, StudyResult, reproduce

__all__ = [
    "STUDIES",
    "Exhibit",
    "Outcome",
    "Reproduction",
    "Setting",
    "Study",
    "StudyResult",
    "attempt",
    "load_study",
    "reproduce",
]

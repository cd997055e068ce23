"""The papers' evaluations, rerun: for each figure and table the data, a picture and a verdict.

``python -m papers --help`` shows how to run them. This package is not part of the installed library. It uses the
library as any program does, by its public names.
"""

from __future__ import annotations

from papers.exhibits import Exhibit, Setting, Study, attempt
from papers.registry import STUDIES, load_study
from papers.run import Rerun, StudyResult, rerun
from papers.verdicts import Outcome, Verdict

__all__ = [
    "STUDIES",
    "Exhibit",
    "Outcome",
    "Rerun",
    "Setting",
    "Study",
    "StudyResult",
    "Verdict",
    "attempt",
    "load_study",
    "rerun",
]

"""Reruns of the papers' evaluations: for each figure and table the data, the picture and a verdict."""

from __future__ import annotations

from ldiversity.reproduction._base import Exhibit, Outcome, Setting, Study

__all__ = ["Exhibit", "Outcome", "Setting", "Study"]

"""The data holder's side: the way from a table to a release."""

from ldiversity.anonymization._draw import draw_sets
from ldiversity.anonymization._pipeline import Preparation, anonymize, prepare

__all__ = ["Preparation", "anonymize", "draw_sets", "prepare"]

"""The data holder's side: the way from a table to a release."""

from ldiversity.anonymization._draw import draw_sets
from ldiversity.anonymization._hierarchies import is_made, read_hierarchies
from ldiversity.anonymization._pipeline import anonymize
from ldiversity.anonymization._prepare import GroupPreparation, Preparation, prepare, prepare_groups

__all__ = [
    "GroupPreparation",
    "Preparation",
    "anonymize",
    "draw_sets",
    "is_made",
    "prepare",
    "prepare_groups",
    "read_hierarchies",
]

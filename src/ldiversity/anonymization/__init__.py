"""The data holder's side: methods, and the way from a table to a release."""

from ldiversity.anonymization._draw import draw_sets
from ldiversity.anonymization._method import Method, RandomizingMethod
from ldiversity.anonymization._pipeline import Preparation, anonymize, prepare
from ldiversity.anonymization._randomized_addition import RandomizedAddition
from ldiversity.anonymization._semantic_diversity import SemanticDiversity

__all__ = [
    "METHODS",
    "Method",
    "Preparation",
    "RandomizedAddition",
    "RandomizingMethod",
    "SemanticDiversity",
    "anonymize",
    "draw_sets",
    "prepare",
]

METHODS: dict[str, type[RandomizingMethod]] = {
    method.name: method for method in (RandomizedAddition, SemanticDiversity)
}
"""Every method by its name on the command line and in policies."""

"""Privacy models: rules that every class of a table must satisfy, one file a model, and a registry by name."""

from __future__ import annotations

from ldiversity.models._base import PrivacyModel
from ldiversity.models._counts import ClassCounts, Population, count_classes
from ldiversity.models._distinct import DistinctDiversity
from ldiversity.models._entropy import EntropyDiversity
from ldiversity.models._frequency import FrequencyDiversity
from ldiversity.models._k_anonymity import KAnonymity
from ldiversity.models._level_unique import LevelUnique
from ldiversity.models._recursive import RecursiveDiversity
from ldiversity.models._registry import MODELS, model_from_dict, parse_model
from ldiversity.models._unique import UniqueDiversity

__all__ = [
    "MODELS",
    "ClassCounts",
    "DistinctDiversity",
    "EntropyDiversity",
    "FrequencyDiversity",
    "KAnonymity",
    "LevelUnique",
    "Population",
    "PrivacyModel",
    "RecursiveDiversity",
    "UniqueDiversity",
    "count_classes",
    "model_from_dict",
    "parse_model",
]

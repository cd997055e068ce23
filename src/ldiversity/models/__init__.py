"""Privacy models: rules that every class of a table must satisfy, one file per model, and a registry by name."""

from __future__ import annotations

from ldiversity.models._alpha_k import AlphaK
from ldiversity.models._base import PrivacyModel
from ldiversity.models._beta_likeness import BetaLikeness
from ldiversity.models._contradicted import contradicted, failing_and_contradicted
from ldiversity.models._counts import ClassCounts, Population, SomeClasses, count_classes, sizes_as_classes
from ldiversity.models._delta_disclosure import DeltaDisclosure
from ldiversity.models._distinct import DistinctDiversity
from ldiversity.models._entropy import EntropyDiversity
from ldiversity.models._exact import as_written
from ldiversity.models._frequency import FrequencyDiversity
from ldiversity.models._gap import GapDiversity
from ldiversity.models._k_anonymity import KAnonymity
from ldiversity.models._level import LevelDiversity
from ldiversity.models._level_unique import LevelUnique
from ldiversity.models._measured import Figures, Measured
from ldiversity.models._recursive import RecursiveDiversity
from ldiversity.models._registry import MODELS, model_from_dict, model_text, parse_model, place_model
from ldiversity.models._semantic import SemanticClassDiversity
from ldiversity.models._t_closeness import TCloseness
from ldiversity.models._unique import UniqueDiversity
from ldiversity.models._verdict import Verdict, WorstClass, judge, together

__all__ = [
    "MODELS",
    "AlphaK",
    "BetaLikeness",
    "ClassCounts",
    "DeltaDisclosure",
    "DistinctDiversity",
    "EntropyDiversity",
    "Figures",
    "FrequencyDiversity",
    "GapDiversity",
    "KAnonymity",
    "LevelDiversity",
    "LevelUnique",
    "Measured",
    "Population",
    "PrivacyModel",
    "RecursiveDiversity",
    "SemanticClassDiversity",
    "SomeClasses",
    "TCloseness",
    "UniqueDiversity",
    "Verdict",
    "WorstClass",
    "as_written",
    "contradicted",
    "count_classes",
    "failing_and_contradicted",
    "judge",
    "model_from_dict",
    "model_text",
    "parse_model",
    "place_model",
    "sizes_as_classes",
    "together",
]

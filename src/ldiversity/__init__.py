"""Publish tables about people so that nobody learns any one person's sensitive value, and analyse what was published.

The data holder calls `anonymize`; the data user calls `load_release` and `estimate`. Names are loaded when they are
first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ldiversity._version import __version__

if TYPE_CHECKING:
    from ldiversity import datasets as datasets
    from ldiversity.base.randomness import Key as Key
    from ldiversity.distances import DiscreteDistance as DiscreteDistance
    from ldiversity.distances import Distance as Distance
    from ldiversity.distances import MatrixDistance as MatrixDistance
    from ldiversity.distances import NumericDistance as NumericDistance
    from ldiversity.distances import OrderedDistance as OrderedDistance
    from ldiversity.distances import SemilatticeDistance as SemilatticeDistance
    from ldiversity.distances import TreeDistance as TreeDistance
    from ldiversity.errors import ClaimError as ClaimError
    from ldiversity.errors import InfeasibleError as InfeasibleError
    from ldiversity.errors import InternalError as InternalError
    from ldiversity.errors import LDiversityError as LDiversityError
    from ldiversity.errors import LDiversityWarning as LDiversityWarning
    from ldiversity.errors import NotEnoughMemoryError as NotEnoughMemoryError
    from ldiversity.errors import ParameterError as ParameterError
    from ldiversity.errors import ReleaseFormatError as ReleaseFormatError
    from ldiversity.errors import SchemaError as SchemaError
    from ldiversity.errors import StorageError as StorageError
    from ldiversity.errors import UnsupportedError as UnsupportedError
    from ldiversity.estimation import Estimate as Estimate
    from ldiversity.estimation import Estimator as Estimator
    from ldiversity.estimation import bins as bins
    from ldiversity.estimation import estimate as estimate
    from ldiversity.estimation import groups as groups
    from ldiversity.evaluation.attacks import Attack as Attack
    from ldiversity.evaluation.attacks import AttackReport as AttackReport
    from ldiversity.evaluation.attacks import AttackResult as AttackResult
    from ldiversity.evaluation.attacks import BackgroundKnowledge as BackgroundKnowledge
    from ldiversity.evaluation.attacks import Composition as Composition
    from ldiversity.evaluation.attacks import DeFinetti as DeFinetti
    from ldiversity.evaluation.attacks import Homogeneity as Homogeneity
    from ldiversity.evaluation.attacks import Intersection as Intersection
    from ldiversity.evaluation.attacks import JointAttributes as JointAttributes
    from ldiversity.evaluation.attacks import MechanismAware as MechanismAware
    from ldiversity.evaluation.attacks import Minimality as Minimality
    from ldiversity.evaluation.attacks import OrderLinkage as OrderLinkage
    from ldiversity.evaluation.attacks import Similarity as Similarity
    from ldiversity.evaluation.attacks import Skewness as Skewness
    from ldiversity.evaluation.attacks import attack as attack
    from ldiversity.evaluation.audit import Audit as Audit
    from ldiversity.evaluation.audit import audit as audit
    from ldiversity.evaluation.audit import check as check
    from ldiversity.evaluation.compare import Comparison as Comparison
    from ldiversity.evaluation.compare import compare as compare
    from ldiversity.evaluation.measures import QueryWorkload as QueryWorkload
    from ldiversity.evaluation.measures import additional_loss as additional_loss
    from ldiversity.evaluation.measures import average_class_size as average_class_size
    from ldiversity.evaluation.measures import discernibility as discernibility
    from ldiversity.evaluation.measures import distribution_mse as distribution_mse
    from ldiversity.evaluation.measures import hide_loss as hide_loss
    from ldiversity.evaluation.measures import kl_divergence as kl_divergence
    from ldiversity.evaluation.measures import ncp as ncp
    from ldiversity.evaluation.measures import suppression as suppression
    from ldiversity.faces.report import Report as Report
    from ldiversity.faces.report import describe as describe
    from ldiversity.faces.report import holder_report as holder_report
    from ldiversity.faces.report import user_report as user_report
    from ldiversity.hierarchies import Hierarchy as Hierarchy
    from ldiversity.methods import BSGI as BSGI
    from ldiversity.methods import LLMSU as LLMSU
    from ldiversity.methods import MBF as MBF
    from ldiversity.methods import TP as TP
    from ldiversity.methods import Anatomy as Anatomy
    from ldiversity.methods import Incognito as Incognito
    from ldiversity.methods import Method as Method
    from ldiversity.methods import Mondrian as Mondrian
    from ldiversity.methods import RandomizedAddition as RandomizedAddition
    from ldiversity.methods import SemanticAnatomy as SemanticAnatomy
    from ldiversity.methods import SemanticDiversity as SemanticDiversity
    from ldiversity.models import AlphaK as AlphaK
    from ldiversity.models import BetaLikeness as BetaLikeness
    from ldiversity.models import DeltaDisclosure as DeltaDisclosure
    from ldiversity.models import DistinctDiversity as DistinctDiversity
    from ldiversity.models import EntropyDiversity as EntropyDiversity
    from ldiversity.models import FrequencyDiversity as FrequencyDiversity
    from ldiversity.models import KAnonymity as KAnonymity
    from ldiversity.models import LevelDiversity as LevelDiversity
    from ldiversity.models import LevelUnique as LevelUnique
    from ldiversity.models import PrivacyModel as PrivacyModel
    from ldiversity.models import RecursiveDiversity as RecursiveDiversity
    from ldiversity.models import SemanticClassDiversity as SemanticClassDiversity
    from ldiversity.models import TCloseness as TCloseness
    from ldiversity.models import UniqueDiversity as UniqueDiversity
    from ldiversity.models import Verdict as Verdict
    from ldiversity.publish import Policy as Policy
    from ldiversity.publish import Publication as Publication
    from ldiversity.publish import anonymize as anonymize
    from ldiversity.publish import plan as plan
    from ldiversity.release import ClassRelease as ClassRelease
    from ldiversity.release import Release as Release
    from ldiversity.release import SetRelease as SetRelease
    from ldiversity.release import load_release as load_release
    from ldiversity.schema import Domain as Domain
    from ldiversity.tables import Sensitive as Sensitive

_ROOMS = {
    "base.randomness": ("Key",),
    "publish": ("Policy", "Publication", "anonymize", "plan"),
    "evaluation.attacks": (
        "Attack",
        "AttackReport",
        "AttackResult",
        "BackgroundKnowledge",
        "Composition",
        "DeFinetti",
        "Homogeneity",
        "Intersection",
        "JointAttributes",
        "MechanismAware",
        "Minimality",
        "OrderLinkage",
        "Similarity",
        "Skewness",
        "attack",
    ),
    "evaluation.audit": ("Audit", "audit", "check"),
    "evaluation.compare": ("Comparison", "compare"),
    "datasets": ("datasets",),
    "distances": (
        "DiscreteDistance",
        "Distance",
        "MatrixDistance",
        "NumericDistance",
        "OrderedDistance",
        "SemilatticeDistance",
        "TreeDistance",
    ),
    "errors": (
        "ClaimError",
        "InfeasibleError",
        "InternalError",
        "LDiversityError",
        "LDiversityWarning",
        "NotEnoughMemoryError",
        "ParameterError",
        "ReleaseFormatError",
        "SchemaError",
        "StorageError",
        "UnsupportedError",
    ),
    "estimation": ("Estimate", "Estimator", "bins", "estimate", "groups"),
    "hierarchies": ("Hierarchy",),
    "evaluation.measures": (
        "QueryWorkload",
        "additional_loss",
        "average_class_size",
        "discernibility",
        "distribution_mse",
        "hide_loss",
        "kl_divergence",
        "ncp",
        "suppression",
    ),
    "methods": (
        "BSGI",
        "LLMSU",
        "MBF",
        "TP",
        "Anatomy",
        "Incognito",
        "Method",
        "Mondrian",
        "RandomizedAddition",
        "SemanticAnatomy",
        "SemanticDiversity",
    ),
    "models": (
        "AlphaK",
        "BetaLikeness",
        "DeltaDisclosure",
        "DistinctDiversity",
        "EntropyDiversity",
        "FrequencyDiversity",
        "KAnonymity",
        "LevelDiversity",
        "LevelUnique",
        "PrivacyModel",
        "RecursiveDiversity",
        "SemanticClassDiversity",
        "TCloseness",
        "UniqueDiversity",
        "Verdict",
    ),
    "release": ("ClassRelease", "Release", "SetRelease", "load_release"),
    "faces.report": ("Report", "describe", "holder_report", "user_report"),
    "schema": ("Domain",),
    "tables": ("Sensitive",),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = ["__version__", *sorted(_ROOM_OF)]  # noqa: PLE0604 - all of them are texts


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public object
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'ldiversity' has no attribute {name!r}")
    module = import_module(f"ldiversity.{_ROOM_OF[name]}")
    found = module if name == _ROOM_OF[name] else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__

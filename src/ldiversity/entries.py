"""What this package registers: one line for each entry, by kind and name, as plain data.

A registry (`ldiversity.base.registry`) loads an entry when somebody asks for it, so that ``--help`` can name all of
them without loading any. Other packages announce theirs as entry points in the group ``ldiversity.<kind>``. Methods
also have options, so `ldiversity.catalog` lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["ENTRIES"]

_ATTACKS: Final = "ldiversity.evaluation.attacks"
_ESTIMATION: Final = "ldiversity.estimation"
_DISTANCES: Final = "ldiversity.distances"
_HIERARCHIES: Final = "ldiversity.hierarchies"
_TABLES: Final = "ldiversity.tables"
_MODELS: Final = "ldiversity.models"
_MECHANISMS: Final = "ldiversity.mechanisms"

ENTRIES: Final[Mapping[str, Mapping[str, str]]] = {
    "models": {
        "frequency": f"{_MODELS}:FrequencyDiversity",
        "unique": f"{_MODELS}:UniqueDiversity",
        "level-unique": f"{_MODELS}:LevelUnique",
        "k-anonymity": f"{_MODELS}:KAnonymity",
        "distinct": f"{_MODELS}:DistinctDiversity",
        "entropy": f"{_MODELS}:EntropyDiversity",
        "recursive": f"{_MODELS}:RecursiveDiversity",
        "alpha-k": f"{_MODELS}:AlphaK",
        "level": f"{_MODELS}:LevelDiversity",
        "semantic": f"{_MODELS}:SemanticClassDiversity",
        "gap": f"{_MODELS}:GapDiversity",
        "t-closeness": f"{_MODELS}:TCloseness",
        "beta-likeness": f"{_MODELS}:BetaLikeness",
        "delta-disclosure": f"{_MODELS}:DeltaDisclosure",
    },
    "mechanisms": {
        "uniform": f"{_MECHANISMS}:UniformSelection",
        "balanced": f"{_MECHANISMS}:BalancedSelection",
        "simple": f"{_MECHANISMS}:SimpleSelection",
        "ring": f"{_MECHANISMS}:RingSelection",
        "epsilon": f"{_MECHANISMS}:EpsilonSelection",
        "minmax": f"{_MECHANISMS}:MinMaxSelection",
    },
    "attacks": {
        "homogeneity": f"{_ATTACKS}:Homogeneity",
        "background": f"{_ATTACKS}:BackgroundKnowledge",
        "similarity": f"{_ATTACKS}:Similarity",
        "skewness": f"{_ATTACKS}:Skewness",
        "mechanism": f"{_ATTACKS}:MechanismAware",
        "intersection": f"{_ATTACKS}:Intersection",
        "changes": f"{_ATTACKS}:Changes",
        "composition": f"{_ATTACKS}:Composition",
        "minimality": f"{_ATTACKS}:Minimality",
        "definetti": f"{_ATTACKS}:DeFinetti",
        "joint": f"{_ATTACKS}:JointAttributes",
        "order": f"{_ATTACKS}:OrderLinkage",
        "extremes": f"{_ATTACKS}:Extremes",
        "singling-out": f"{_ATTACKS}:SinglingOut",
        "linkability": f"{_ATTACKS}:Linkability",
        "inference": f"{_ATTACKS}:Inference",
        "downcoding": f"{_ATTACKS}:Downcoding",
        "several-rows": f"{_ATTACKS}:SeveralRows",
    },
    "estimators": {
        "auto": f"{_ESTIMATION}._set_estimators:Auto",
        "linear": f"{_ESTIMATION}._matrix_estimators:Linear",
        "mle": f"{_ESTIMATION}._set_estimators:MaximumLikelihood",
        "map": f"{_ESTIMATION}._set_estimators:MaximumPosterior",
        "hierarchical": f"{_ESTIMATION}._set_estimators:Hierarchical",
        "simplex": f"{_ESTIMATION}._set_estimators:Simplex",
        "paper": f"{_ESTIMATION}._matrix_estimators:Paper",
        "existing": f"{_ESTIMATION}._matrix_estimators:Existing",
        "naive": f"{_ESTIMATION}._matrix_estimators:Naive",
    },
    "class_estimators": {
        "auto": f"{_ESTIMATION}._class_estimators:ClassAuto",
        "classes": f"{_ESTIMATION}._class_estimators:ClassShares",
        "linear": f"{_ESTIMATION}._class_estimators:ClassLinear",
        "simplex": f"{_ESTIMATION}._class_estimators:ClassSimplex",
    },
    "distances": {
        "discrete": f"{_DISTANCES}:DiscreteDistance",
        "ordered": f"{_DISTANCES}:OrderedDistance",
        "cyclic": f"{_DISTANCES}:CyclicDistance",
        "numeric": f"{_DISTANCES}:NumericDistance",
        "tree": f"{_DISTANCES}:TreeDistance",
        "semilattice": f"{_DISTANCES}:SemilatticeDistance",
        "matrix": f"{_DISTANCES}:MatrixDistance",
    },
    "hierarchies": {
        "auto": f"{_HIERARCHIES}:AutomaticMaker",
        "date": f"{_HIERARCHIES}:DateMaker",
        "prefix": f"{_HIERARCHIES}:PrefixMaker",
        "width": f"{_HIERARCHIES}:WidthMaker",
        "quantiles": f"{_HIERARCHIES}:QuantileMaker",
    },
    "file_endings": {
        ".csv": f"{_TABLES}:CsvSource",
        ".csv.gz": f"{_TABLES}:CsvSource",
        ".tsv": f"{_TABLES}:CsvSource",
        ".tsv.gz": f"{_TABLES}:CsvSource",
        ".parquet": f"{_TABLES}:ParquetSource",
        ".pq": f"{_TABLES}:ParquetSource",
        ".arrow": f"{_TABLES}:IpcSource",
        ".feather": f"{_TABLES}:IpcSource",
        ".ipc": f"{_TABLES}:IpcSource",
        ".jsonl": f"{_TABLES}:JsonLinesSource",
        ".jsonl.gz": f"{_TABLES}:JsonLinesSource",
        ".ndjson": f"{_TABLES}:JsonLinesSource",
        ".ndjson.gz": f"{_TABLES}:JsonLinesSource",
        ".xlsx": f"{_TABLES}:ExcelSource",
    },
}
"""The homes of the entries, each ``module:name``. A name is never removed and never changes its meaning."""

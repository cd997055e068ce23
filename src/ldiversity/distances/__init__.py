"""How unlike two sensitive values are: one file per kind, and a registry by name."""

from __future__ import annotations

from ldiversity.distances._base import Distance
from ldiversity.distances._cyclic import CyclicDistance
from ldiversity.distances._discrete import DiscreteDistance
from ldiversity.distances._icd import IcdDistance
from ldiversity.distances._matrix import MatrixDistance
from ldiversity.distances._numeric import NumericDistance
from ldiversity.distances._ordered import OrderedDistance
from ldiversity.distances._parse import distance_text, parse_distance, place_distance
from ldiversity.distances._registry import DISTANCES, distance_from_dict
from ldiversity.distances._semilattice import SemilatticeDistance
from ldiversity.distances._tree import TreeDistance

__all__ = [
    "DISTANCES",
    "CyclicDistance",
    "DiscreteDistance",
    "Distance",
    "IcdDistance",
    "MatrixDistance",
    "NumericDistance",
    "OrderedDistance",
    "SemilatticeDistance",
    "TreeDistance",
    "distance_from_dict",
    "distance_text",
    "parse_distance",
    "place_distance",
]

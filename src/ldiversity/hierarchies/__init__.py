"""Hierarchies of values: trees, where a node has one parent, and semilattices, where it may have several."""

from __future__ import annotations

from ldiversity.hierarchies._automatic import automatic_hierarchy
from ldiversity.hierarchies._icd import icd_hierarchy
from ldiversity.hierarchies._semilattice import SemiLattice
from ldiversity.hierarchies._text import MATCHED_BY_TEXT
from ldiversity.hierarchies._tree import Hierarchy, Node
from ldiversity.hierarchies._unambiguous import check_unambiguous

__all__ = [
    "MATCHED_BY_TEXT",
    "Hierarchy",
    "Node",
    "SemiLattice",
    "automatic_hierarchy",
    "check_unambiguous",
    "icd_hierarchy",
]

"""Hierarchies of values: trees, where a node has one parent, and semilattices, where it may have several."""

from __future__ import annotations

from ldiversity.hierarchies._automatic import are_codes, automatic_hierarchy
from ldiversity.hierarchies._dates import are_dates, calendar_level
from ldiversity.hierarchies._files import read_cells
from ldiversity.hierarchies._icd import icd_hierarchy
from ldiversity.hierarchies._makers import (
    HIERARCHY_MAKERS,
    AutomaticMaker,
    DateMaker,
    HierarchyMaker,
    PrefixMaker,
    QuantileMaker,
    WidthMaker,
)
from ldiversity.hierarchies._origin import Origin
from ldiversity.hierarchies._reach import days_of, span_of, starts_of
from ldiversity.hierarchies._semilattice import SemiLattice
from ldiversity.hierarchies._text import MATCHED_BY_TEXT, check_unique, text_of
from ldiversity.hierarchies._tree import MAX_LEAVES, Hierarchy, Node
from ldiversity.hierarchies._unambiguous import check_unambiguous, free_label
from ldiversity.hierarchies._widths import decimal_text, doubling_widths

__all__ = [
    "HIERARCHY_MAKERS",
    "MATCHED_BY_TEXT",
    "MAX_LEAVES",
    "AutomaticMaker",
    "DateMaker",
    "Hierarchy",
    "HierarchyMaker",
    "Node",
    "Origin",
    "PrefixMaker",
    "QuantileMaker",
    "SemiLattice",
    "WidthMaker",
    "are_codes",
    "are_dates",
    "automatic_hierarchy",
    "calendar_level",
    "check_unambiguous",
    "check_unique",
    "days_of",
    "decimal_text",
    "doubling_widths",
    "free_label",
    "icd_hierarchy",
    "read_cells",
    "span_of",
    "starts_of",
    "text_of",
]

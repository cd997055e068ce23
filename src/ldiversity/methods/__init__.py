"""Methods: the data holder's choices of how sensitive values are hidden, one file per method.

Classes are loaded when they are first asked for; `ldiversity.catalog` says which there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from ldiversity.base.registry import Registry
from ldiversity.catalog import LISTED, METHOD_CLASSES
from ldiversity.methods._anatomy_classes import most_classes
from ldiversity.methods._base import Grouping, GroupingMethod, GroupingRun, Method, Partition, RandomizingMethod
from ldiversity.methods._coded import CategoryColumn, CodedTable, NumberColumn, QuasiColumn, SensitiveColumn
from ldiversity.methods._combinations import number_combinations
from ldiversity.methods._part_facts import PartFacts
from ldiversity.methods._parts_cells import eligible_cell_moves
from ldiversity.methods._parts_cuts import Cuts
from ldiversity.methods._parts_exact import Candidates, ExactMoves
from ldiversity.methods._parts_left_out import leave_out
from ldiversity.methods._parts_moves import Moves, eligible, eligible_moves
from ldiversity.methods._parts_route import AlikeParts, Parts, RandomParts
from ldiversity.methods._parts_rule import PartCounts, PartRule, rows_that_matter
from ldiversity.methods._parts_tree import PartTree, join_parts, pair_parts
from ldiversity.methods._people import Dealer, check_people
from ldiversity.methods._rule import Models, Rules, check_whole, describe_rules, given_models, refuse_persons, rules_of

if TYPE_CHECKING:
    from ldiversity.methods._anatomy import Anatomy as Anatomy
    from ldiversity.methods._bsgi import BSGI as BSGI
    from ldiversity.methods._incognito import Incognito as Incognito
    from ldiversity.methods._llmsu import LLMSU as LLMSU
    from ldiversity.methods._mbf import MBF as MBF
    from ldiversity.methods._mondrian import Mondrian as Mondrian
    from ldiversity.methods._randomized_addition import RandomizedAddition as RandomizedAddition
    from ldiversity.methods._semantic_anatomy import SemanticAnatomy as SemanticAnatomy
    from ldiversity.methods._semantic_diversity import SemanticDiversity as SemanticDiversity
    from ldiversity.methods._tp import TP as TP

__all__ = [  # noqa: PLE0604 - all of them are texts
    "number_combinations",
    "METHODS",
    "AlikeParts",
    "Candidates",
    "CategoryColumn",
    "CodedTable",
    "Cuts",
    "Dealer",
    "ExactMoves",
    "Grouping",
    "GroupingMethod",
    "GroupingRun",
    "Method",
    "Models",
    "Moves",
    "NumberColumn",
    "PartCounts",
    "PartFacts",
    "PartRule",
    "PartTree",
    "Partition",
    "Parts",
    "QuasiColumn",
    "RandomParts",
    "RandomizingMethod",
    "Rules",
    "SensitiveColumn",
    "check_people",
    "check_whole",
    "describe_rules",
    "eligible",
    "eligible_cell_moves",
    "eligible_moves",
    "given_models",
    "join_parts",
    "leave_out",
    "most_classes",
    "pair_parts",
    "refuse_persons",
    "rows_that_matter",
    "rules_of",
    *sorted(entry.class_name for entry in LISTED.values()),
]

METHODS: Final = cast("Registry[type[Method]]", METHOD_CLASSES)
"""Every method by its name on the command line and in policies, loaded when it is first asked for."""

_NAMES: Final = {entry.class_name: entry.name for entry in LISTED.values()}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a class of the catalog
    if name not in _NAMES:
        raise AttributeError(f"module 'ldiversity.methods' has no attribute {name!r}")
    return METHODS[_NAMES[name]]

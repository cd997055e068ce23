"""The catalog of methods: their names, options and homes, as plain data.

The command line, policies and `METHODS` all read it. It imports nothing of this package, so that ``--help`` can list
every option without loading a single method. A method is registered here once: its name, its class and the names of
its options, which are the fields of its class; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["CATALOG", "OPTIONS", "MethodEntry", "Option", "methods_with"]


@dataclass(frozen=True)
class Option:
    """An option of one or several methods, as users write it.

    Parameters
    ----------
    name
        The field of the method's class, and the key in a policy.
    kind
        What may be written: ``integer``, ``number``, ``text``, ``file``, ``distance`` (a text that may name a file),
        ``choice``, ``switch`` (yes or no) or ``shares`` (a number for each name; on the command line ``name=number``,
        several times). Files in a policy are relative to it.
    help
        One sentence for people; which methods have the option is said by `methods_with`.
    flag
        How it is written on the command line; ``None`` when it is offered in policies and Python alone.
    choices
        The words of a ``choice``; a method may take fewer of them.
    minimum
        The least number.
    several
        Whether it may be given several times, and as a list in policies and Python.
    """

    name: str
    kind: Literal["integer", "number", "text", "file", "distance", "choice", "switch", "shares"]
    help: str
    flag: str | None
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    several: bool = False


@dataclass(frozen=True)
class MethodEntry:
    """A method: where its class is, and which options it has.

    Parameters
    ----------
    name
        The name on the command line and in policies.
    home
        The module and the class, as ``module:Class``.
    family
        ``sets``: each record's value is hidden in a set, column by column; ``classes``: records are grouped, for all
        sensitive columns together.
    summary
        One line for people.
    options
        Names in `OPTIONS`, the fields of the class.
    """

    name: str
    home: str
    family: Literal["sets", "classes"]
    summary: str
    options: tuple[str, ...]

    @property
    def class_name(self) -> str:
        """The name of the class."""
        return self.home.partition(":")[2]


_OPTIONS = (
    Option("l", "integer", "How many values hide each other.", "-l", minimum=2),
    Option("d", "number", "Least distance between two values of a set.", "-d", minimum=0),
    Option(
        "distance",
        "distance",
        "How unlike values are: ordered, numeric:<unit>, discrete; tree:, semilattice: or matrix:<file>.",
        "--distance",
    ),
    Option(
        "selection",
        "choice",
        "How partners are chosen. semantic: balanced (the default), simple or ring; bsgi: near (the default) or paper.",
        "--selection",
        choices=("balanced", "simple", "ring", "near", "paper"),
    ),
    Option("prior", "shares", "A public belief about the values, with balanced selection.", None),
    Option("swaps", "integer", "Passes that swap records between classes to lower the loss.", "--swaps", minimum=0),
    Option(
        "overflow",
        "choice",
        "When one value is too frequent: refuse (the default), or suppress so many of its records.",
        "--overflow",
        choices=("refuse", "suppress"),
    ),
    Option("weights", "shares", "How much the loss of each quasi-identifier counts.", "--weight"),
    Option("merge", "switch", "Merge sensitive values into levels first, as published.", "--merge/--no-merge"),
    Option("joint", "switch", "One partition for all sensitive columns.", "--joint/--separate"),
    Option("e", "integer", "Depth at which values of the tree must differ.", "-e", minimum=1),
    Option("tree", "file", "A hierarchy file of the sensitive values.", "--tree"),
    Option(
        "model",
        "text",
        "What every class must satisfy: frequency:3, distinct:3, entropy:3, k-anonymity:5, ... Given several times, "
        "all hold.",
        "--model",
        several=True,
    ),
    Option("strict", "switch", "Equal values never part.", "--strict/--relaxed"),
    Option(
        "suppression",
        "number",
        "The largest share of records that may be left out.",
        "--suppression",
        minimum=0,
    ),
)

OPTIONS: Final[Mapping[str, Option]] = {option.name: option for option in _OPTIONS}
"""Every option by name."""

_METHODS = (
    MethodEntry(
        "randomized-addition",
        "ldiversity.methods._randomized_addition:RandomizedAddition",
        "sets",
        "Each value among l - 1 others, drawn uniformly; quasi-identifiers as they are.",
        ("l",),
    ),
    MethodEntry(
        "semantic",
        "ldiversity.methods._semantic_diversity:SemanticDiversity",
        "sets",
        "Each value among l - 1 others, all at least d apart; quasi-identifiers as they are.",
        ("l", "d", "distance", "selection", "prior"),
    ),
    MethodEntry(
        "bsgi",
        "ldiversity.methods._bsgi:BSGI",
        "classes",
        "Classes of l different values with the least loss of detail.",
        ("l", "selection", "swaps", "overflow", "weights"),
    ),
    MethodEntry(
        "llmsu",
        "ldiversity.methods._llmsu:LLMSU",
        "classes",
        "Classes of L different levels of every sensitive column; the rest is hidden.",
        ("l", "merge", "joint"),
    ),
    MethodEntry(
        "mbf",
        "ldiversity.methods._mbf:MBF",
        "classes",
        "Classes from the fullest cells of a grid of several sensitive columns.",
        ("l",),
    ),
    MethodEntry(
        "anatomy",
        "ldiversity.methods._anatomy:Anatomy",
        "classes",
        "Exact quasi-identifiers in one table, l different values a class in another.",
        ("l", "overflow"),
    ),
    MethodEntry(
        "le-anatomy",
        "ldiversity.methods._semantic_anatomy:SemanticAnatomy",
        "classes",
        "Anatomy whose values also differ at depth e of a tree.",
        ("l", "e", "tree", "overflow"),
    ),
    MethodEntry(
        "mondrian",
        "ldiversity.methods._mondrian:Mondrian",
        "classes",
        "Median cuts while every class satisfies one or several privacy models.",
        ("l", "model", "strict", "weights"),
    ),
    MethodEntry(
        "incognito",
        "ldiversity.methods._incognito:Incognito",
        "classes",
        "The least full-domain generalization that satisfies one or several privacy models.",
        ("l", "model", "suppression"),
    ),
    MethodEntry(
        "tp",
        "ldiversity.methods._tp:TP",
        "classes",
        "Suppression of whole records in three phases.",
        ("l",),
    ),
)

CATALOG: Final[Mapping[str, MethodEntry]] = {entry.name: entry for entry in _METHODS}
"""Every method by name."""


def methods_with(option: str) -> tuple[str, ...]:
    """The methods that have an option.

    Examples
    --------
    >>> methods_with("prior")
    ('semantic',)
    """
    return tuple(name for name, entry in CATALOG.items() if option in entry.options)

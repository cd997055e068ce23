"""The catalog of methods: their names, options and homes.

The command line, policies and `METHODS` all read it. The methods of this package are plain data here, so that
``--help`` can list every option without loading a single method: a method is registered once, by its name, its class
and the names of its options, which are the fields of its class; a test checks that the two agree. A method that another
package announces, or that a program registers, is described from its class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import Field, dataclass, fields
from functools import lru_cache
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from ldiversity.base.registry import Registry
from ldiversity.errors import ParameterError

__all__ = ["CATALOG", "LISTED", "LISTED_OPTIONS", "METHOD_CLASSES", "OPTIONS", "MethodEntry", "Option", "methods_with"]


@dataclass(frozen=True)
class Option:
    """An option of one or several methods, as users write it.

    Parameters
    ----------
    name
        The field of the method's class, and the key in a policy.
    kind
        What may be written: ``integer``, ``number``, ``text``, ``file``, ``distance`` or ``model`` (texts that may name
        a file), ``choice``, ``switch`` (yes or no), ``shares`` (a number for each name; on the command line
        ``name=number``, several times) or ``levels`` (an integer, or for methods that group one for each sensitive
        column; on the command line ``name=number,name=number``). Files in a policy are relative to it.
    help
        One sentence for people; `methods_with` says which methods have the option.
    flag
        How it is written on the command line; ``None`` if only policies and Python offer it.
    choices
        The words of a ``choice``; a method may accept only some of them.
    minimum
        The least number.
    several
        Whether it may be given several times, and as a list in policies and Python.
    """

    name: str
    kind: Literal["integer", "number", "text", "file", "distance", "model", "choice", "switch", "shares", "levels"]
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
    brought
        Those of them that only this method has, where the catalog does not list them.
    for_comparison
        Whether it is kept to compare others with, and not meant for publishing.
    """

    name: str
    home: str
    family: Literal["sets", "classes"]
    summary: str
    options: tuple[str, ...]
    brought: tuple[Option, ...] = ()
    for_comparison: bool = False

    @property
    def class_name(self) -> str:
        """The name of the class."""
        return self.home.partition(":")[2]


_OPTIONS = (
    Option(
        "l",
        "levels",
        "How many values hide each other; bsgi and llmsu also take one for each sensitive column: job=3,pay=2.",
        "-l",
        minimum=1,
    ),
    Option(
        "epsilon",
        "number",
        "Local differential privacy: the true value may be missing from its set. Without -l, the l of least error.",
        "--epsilon",
        minimum=0.01,
    ),
    Option("d", "number", "Least distance between two values of a set.", "-d", minimum=0),
    Option(
        "distance",
        "distance",
        "How far apart values are: ordered, cyclic, numeric:<unit>, discrete; tree:, semilattice: or matrix:<file>.",
        "--distance",
    ),
    Option(
        "selection",
        "choice",
        "How partners are chosen. semantic: balanced (the default), minmax, simple or ring; bsgi: near (the default) "
        "or paper.",
        "--selection",
        choices=("balanced", "minmax", "simple", "ring", "near", "paper"),
    ),
    Option("prior", "shares", "A public belief about the values, with balanced selection.", None),
    Option(
        "effort",
        "integer",
        "Moves a record to lower the loss once classes are formed; 150 unless given, 0 for none.",
        "--effort",
        minimum=0,
    ),
    Option(
        "overflow",
        "choice",
        "When one value is too frequent: refuse (the default), or suppress as many of its records as needed.",
        "--overflow",
        choices=("refuse", "suppress"),
    ),
    Option("weights", "shares", "How much the loss of each quasi-identifier counts.", "--weight"),
    Option("merge", "switch", "First merge sensitive values into levels, as in the paper.", "--merge/--no-merge"),
    Option(
        "gap",
        "shares",
        "Numbers of a sensitive column that are closer than this do not count as different.",
        "--gap",
    ),
    Option("swaps", "integer", "The former name of --effort: each counts as 50 moves a record.", "--swaps", minimum=0),
    Option("joint", "switch", "One partition for all sensitive columns.", "--joint/--separate"),
    Option("e", "integer", "Depth at which values of the tree must differ.", "-e", minimum=1),
    Option("tree", "file", "A hierarchy file of the sensitive values.", "--tree"),
    Option(
        "model",
        "model",
        "What every class must satisfy: frequency:3, distinct:3, entropy:3, k-anonymity:5, ... Given several times, "
        "all hold. With methods that do not generalize: k-anonymity:5, by raising levels of quasi-identifiers.",
        "--model",
        several=True,
    ),
    Option("strict", "switch", "Keep equal values together.", "--strict/--relaxed"),
    Option("suppression", "number", "The largest share of records that may be left out.", "--suppression", minimum=0),
)

LISTED_OPTIONS: Final[Mapping[str, Option]] = {option.name: option for option in _OPTIONS}
"""The options of the methods of this package by name."""

_METHODS = (
    MethodEntry(
        "randomized-addition",
        "ldiversity.methods._randomized_addition:RandomizedAddition",
        "sets",
        "Each value among l - 1 others, drawn uniformly; quasi-identifiers as they are.",
        ("l", "epsilon"),
    ),
    MethodEntry(
        "semantic",
        "ldiversity.methods._semantic_diversity:SemanticDiversity",
        "sets",
        "Each value among l - 1 others, all at least d apart; quasi-identifiers as they are.",
        ("l", "d", "distance", "selection", "prior", "epsilon"),
    ),
    MethodEntry(
        "bsgi",
        "ldiversity.methods._bsgi:BSGI",
        "classes",
        "Classes of l different values with the least loss of detail.",
        ("l", "selection", "effort", "overflow", "weights", "gap", "swaps"),
    ),
    MethodEntry(
        "llmsu",
        "ldiversity.methods._llmsu:LLMSU",
        "classes",
        "Classes of L different levels of every sensitive column; the rest is hidden.",
        ("l", "merge", "joint", "gap"),
    ),
    MethodEntry(
        "mbf",
        "ldiversity.methods._mbf:MBF",
        "classes",
        "Classes from the fullest cells of a grid of several sensitive columns.",
        ("l",),
        for_comparison=True,
    ),
    MethodEntry(
        "anatomy",
        "ldiversity.methods._anatomy:Anatomy",
        "classes",
        "Exact quasi-identifiers in one table, l different values per class in another.",
        ("l", "overflow", "gap"),
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
    MethodEntry("tp", "ldiversity.methods._tp:TP", "classes", "Suppression of whole records in three phases.", ("l",)),
)

LISTED: Final[Mapping[str, MethodEntry]] = {entry.name: entry for entry in _METHODS}
"""The methods of this package by name."""

METHOD_CLASSES: Final = Registry[type]("methods", {name: entry.home for name, entry in LISTED.items()})
"""The class of every method by name; `ldiversity.methods.METHODS` is the same."""


class _Catalog(Mapping[str, MethodEntry]):
    """The methods of this package and of other packages."""

    def __getitem__(self, name: str) -> MethodEntry:
        return LISTED[name] if name in LISTED else _described(name, METHOD_CLASSES[name])

    def __iter__(self) -> Iterator[str]:
        # What cannot be described is refused when it is asked for by name, and must not stand in the way of others.
        for name in METHOD_CLASSES:
            with suppress(ParameterError):
                yield self[name].name

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Options(Mapping[str, Option]):
    """The options of this package, and those of methods from other packages."""

    def __getitem__(self, name: str) -> Option:
        return LISTED_OPTIONS[name] if name in LISTED_OPTIONS else self._brought()[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*LISTED_OPTIONS, *self._brought()])

    def __len__(self) -> int:
        return len(LISTED_OPTIONS) + len(self._brought())

    def _brought(self) -> dict[str, Option]:
        brought: dict[str, Option] = {}
        for name in CATALOG:
            for option in () if name in LISTED else CATALOG[name].brought:
                brought.setdefault(option.name, option)  # of two packages that bring one name, the first keeps it
        return brought


CATALOG: Final[Mapping[str, MethodEntry]] = _Catalog()
"""Every method by name."""

OPTIONS: Final[Mapping[str, Option]] = _Options()
"""Every option by name."""


def methods_with(option: str) -> tuple[str, ...]:
    """The methods that have an option.

    Examples
    --------
    >>> methods_with("prior")
    ('semantic',)
    """
    return tuple(name for name, entry in CATALOG.items() if option in entry.options)


@lru_cache
def _described(name: str, method: type) -> MethodEntry:
    """Describe the method of another package: its options are the fields of its class, whose types say their kinds.

    A field that is called like a listed option is that option.
    """
    try:
        types = get_type_hints(method)
        own = {field.name: field for field in fields(method)}
    except (NameError, TypeError):
        raise ParameterError("methods", f"{name!r} must be a dataclass whose types can be looked up").with_hint(
            f"It is {method.__module__}.{method.__qualname__}. Import what its annotations name outside TYPE_CHECKING."
        ) from None
    brought = tuple(_option(name, field, types[key]) for key, field in own.items() if key not in LISTED_OPTIONS)
    summary = (method.__doc__ or name).strip().partition("\n")[0]
    home = f"{method.__module__}:{method.__qualname__}"
    kept = bool(getattr(method, "for_comparison", False))
    return MethodEntry(name, home, method.family, summary, tuple(own), brought, kept)  # type: ignore[attr-defined]


_KINDS: Final[tuple[tuple[type, Literal["switch", "integer", "number", "text", "file", "shares"]], ...]] = (
    (bool, "switch"),  # a bool is an int, too
    (int, "integer"),
    (float, "number"),
    (str, "text"),
    (Path, "file"),
    (Mapping, "shares"),
)


def _option(method: str, field: Field[Any], kind: object) -> Option:
    several = get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)
    said = str(field.metadata.get("help", f"An option of {method}."))
    flag = f"--{field.name.replace('_', '-')}"
    for one in several:
        if get_origin(one) is Literal:
            return Option(field.name, "choice", said, flag, choices=get_args(one))
    plain = {get_origin(one) or one for one in several}
    for known, word in _KINDS:
        if any(isinstance(one, type) and issubclass(one, known) for one in plain):
            both = f"{flag}/--no-{flag[2:]}" if word == "switch" else flag
            return Option(field.name, word, said, both, minimum=field.metadata.get("minimum"))
    return Option(field.name, "text", said, None)  # an object: for Python alone

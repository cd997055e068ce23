"""What a method is: the data holder's choice of how sensitive values are hidden."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, Json
from ldiversity.base.checks import name_all
from ldiversity.errors import ParameterError
from ldiversity.mechanisms import SetMechanism
from ldiversity.methods._coded import CodedTable, SensitiveColumn
from ldiversity.methods._option_hints import example_of, taken_by
from ldiversity.methods._part_facts import PartFacts, join_usual_facts
from ldiversity.methods._parts_route import AlikeParts
from ldiversity.methods._parts_rule import PartCounts, PartRule
from ldiversity.models import PrivacyModel
from ldiversity.schema import Domain
from ldiversity.sentences import Options, Sentence, say

__all__ = ["NEEDED", "Grouping", "GroupingMethod", "GroupingRun", "Method", "Partition", "RandomizingMethod"]

NEEDED: Final = MappingProxyType({"needed": True})
"""Marks a field that must be given, though it follows one that may be left out."""


class Method(ABC):
    """A frozen choice of method and parameters, checked when it is made.

    A method is a frozen dataclass that extends `RandomizingMethod` or `GroupingMethod`. Its fields are its options: on
    the command line, in policies and in comparisons. A field that is called like an option of another method (`l`,
    `model`, `weights`, ...) is that option; of others the type says what may be written, and
    ``field(metadata={"help": ..., "minimum": ...})`` what help texts say about them. The first line of the
    docstring is its line in help texts. A method is listed in `ldiversity.catalog`, or announced by another package as
    an entry point in the group ``ldiversity.methods``; nothing else lists methods.
    """

    name: ClassVar[str]
    """The name on the command line and in policies."""

    family: ClassVar[Literal["sets", "classes"]]
    """What it publishes; its base class says so."""

    engines: ClassVar[frozenset[str]] = frozenset({"local"})
    """The engines that can run it. Of a method that groups records, `GroupingMethod.parts` decides."""

    strength: ClassVar[str | None] = None
    """The whole number among its parameters by which people choose how much is hidden: comparisons and plans vary it
    from 2 on. None when there is no such parameter."""

    for_comparison: ClassVar[bool] = False
    """Whether it is kept to compare others with, and not meant for publishing: a comparison recommends another method
    where the two cannot be told apart."""

    @property
    def level(self) -> int | None:
        """The parameter that `strength` names; None when there is none, or none was given for all columns.

        Examples
        --------
        >>> from ldiversity.methods import BSGI, Mondrian
        >>> BSGI(l=3).level, BSGI(l={"job": 3, "pay": 2}).level, Mondrian(model="k-anonymity:5").level
        (3, None, None)
        """
        given = None if self.strength is None else getattr(self, self.strength)
        return None if given is None or isinstance(given, Mapping) else int(given)

    @classmethod
    def of_level(cls, level: int, **others: Any) -> Self:  # noqa: ANN401 - any option
        """Make the method with a strength, where it has one, and other options.

        Examples
        --------
        >>> from ldiversity.methods import Anatomy
        >>> Anatomy.of_level(3, overflow="suppress")
        Anatomy(l=3, overflow='suppress', gap=None)
        """
        return cls.from_options(others if cls.strength is None else {cls.strength: level, **others})

    def at(self, level: int) -> Self:
        """The same method with another strength.

        Examples
        --------
        >>> from ldiversity.methods import BSGI
        >>> BSGI(l=3).at(4).l
        4
        """
        changed: Self = replace(self, **{str(self.strength): level})  # type: ignore[type-var]
        return changed

    @classmethod
    def needed(cls) -> tuple[str, ...]:
        """The options that must be given: those without a default, and those marked as `NEEDED`.

        Examples
        --------
        >>> from ldiversity.methods import SemanticDiversity
        >>> SemanticDiversity.needed()
        ('d', 'distance')
        """
        own = fields(cls)  # type: ignore[arg-type]
        return tuple(
            one.name
            for one in own
            if (one.default is MISSING and one.default_factory is MISSING) or one.metadata.get("needed")
        )

    @classmethod
    def from_options(cls, options: Mapping[str, object]) -> Self:
        """Make the method from named options, as a command line or a policy gives them.

        Raises
        ------
        ParameterError
            When an option is not one of this method's, or one without a default is missing.
        """
        known = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]
        given = {name: value for name, value in options.items() if value is not None}
        unknown = [name for name in given if name not in known]
        hint = say("Its options are {}.", Options(tuple(known)))
        if unknown:
            rule = f"{name_all(unknown, 'is not an option', 'are not options')} of this method"
            raise ParameterError(cls.name, rule, hint=Sentence(hint, taken_by(unknown[0])))
        missing = [name for name in cls.needed() if name not in given]
        if missing:
            raise ParameterError(cls.name, missing[0], "must be given", hint=Sentence(example_of(missing[0]), hint))
        return cls(**given)


class RandomizingMethod(Method):
    """A method that hides each record's value on its own: it needs the domain, not the other records."""

    family: ClassVar[Literal["sets", "classes"]] = "sets"
    engines: ClassVar[frozenset[str]] = frozenset({"local", "spark"})

    @abstractmethod
    def fit(self, domain: Domain) -> SetMechanism:
        """The mechanism for this domain.

        Raises
        ------
        InfeasibleError
            When no such mechanism exists; names the bound and the nearest feasible parameters.
        """


@dataclass(frozen=True, eq=False)
class Partition:
    """Which class each row belongs to.

    Parameters
    ----------
    class_of
        Shape (n,): classes from 0 without gaps; -1 for rows that are not published.
    n_classes
        The number of classes.
    """

    class_of: CodeArray
    n_classes: int

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each class has."""
        return np.bincount(self.class_of[self.class_of >= 0], minlength=self.n_classes).astype(np.int64)

    @property
    def suppressed(self) -> int:
        """How many rows are not published."""
        return int(np.count_nonzero(self.class_of < 0))


@dataclass(frozen=True, eq=False)
class Grouping:
    """What a grouping method decided.

    Parameters
    ----------
    partitions
        One for all sensitive columns, or (L-LMSU's separate mode) one for each, in their order.
    levels
        Full-domain recoding: every category is published as its ancestor at this level of its hierarchy. Columns that
        are not named are recoded class by class.
    suppress_differences
        Publish a quasi-identifier of a class only when all its records agree on it, and nothing otherwise.
    facts
        Public facts about how it went, in JSON's types, for the release.
    of_values
        Public facts about the values of sensitive columns: by name and column a number for each code. Nothing
        is said about values that no published record has.
    notes
        What the holder should know; never published.
    warnings
        What every reader of the release must know: it is published, and a warning when the release is made.
    """

    partitions: tuple[Partition, ...]
    levels: Mapping[str, int] = field(default_factory=dict)
    suppress_differences: bool = False
    facts: Mapping[str, Json] = field(default_factory=dict)
    of_values: Mapping[str, Mapping[str, CodeArray]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def _silent(share: float, what: str) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class GroupingRun:
    """Where a method runs.

    Parameters
    ----------
    workers
        Threads that may compute at the same time.
    progress
        Called now and then with the share of the work that is done and a word for what is being done; from any
        thread.
    """

    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    progress: Callable[[float, str], None] = _silent


class GroupingMethod(Method):
    """A method that groups records into classes, so that it needs all of them at once."""

    family: ClassVar[Literal["sets", "classes"]] = "classes"

    layout: ClassVar[Literal["generalized", "bucketized"]]
    """``generalized``: a class shares one region of the quasi-identifiers, records keep their values;
    ``bucketized``: records keep their quasi-identifiers, and the values of a class stand in a table of their own."""

    blind: ClassVar[bool] = False
    """Whether classes are formed without looking at quasi-identifiers: then which of the records with the same values
    share a class is pure chance, and an unbiased estimate exists."""

    leaves_out: ClassVar[bool] = False
    """Whether it leaves records out without being asked, such as those of too frequent values; `may_leave_out` is then
    no limit."""

    needs_hierarchies: ClassVar[bool] = False
    """Whether every quasi-identifier must have a hierarchy; those without one get an automatic one."""

    parts: ClassVar[Literal["near", "random", "alike"] | None] = None
    """How a table that does not fit into memory is cut, so that `group` runs on each part by itself: records that lie
    ``near`` each other together; at ``random``, for methods that do not look at quasi-identifiers; or records that are
    ``alike`` in all of them together. None: the method needs all records at once.

    Classes never cross parts, so what every class satisfies holds for all parts together. `group` sees the counts of
    the whole table in `SensitiveColumn.population`; nothing that it decides for a part may need more."""

    decides_by_counts: ClassVar[bool] = False
    """Whether parts can be grouped only by what `decided` returns, after it has seen how often each combination of
    quasi-identifiers and sensitive values occurs in the whole table. Then records are never left out, and a person must
    have one row."""

    def __init_subclass__(cls, **given: Any) -> None:  # noqa: ANN401 - what a base class takes
        """Say which engines can run the method: where rows are never in one place, it must group parts."""
        super().__init_subclass__(**given)
        if "engines" not in vars(cls):
            cls.engines = frozenset({"local"} if cls.parts is None else {"local", "spark"})

    @abstractmethod
    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:
        """Divide the rows into classes.

        A pure function of the table: its rows come in a random order, so no randomness is needed here.

        Raises
        ------
        InfeasibleError
            When the promise cannot be kept; names the bound and the nearest feasible parameters.
        """

    @abstractmethod
    def promises(self, domain: Domain) -> tuple[PrivacyModel, ...]:
        """What every published class satisfies, for a sensitive column with this domain: all of these models.

        Each becomes a claim of the release, and is checked by itself on what was written. At least one.
        """

    @property
    def by_column(self) -> bool:
        """Whether the strength was given for each sensitive column by name."""
        return self.strength is not None and isinstance(getattr(self, self.strength), Mapping)

    def promises_of(self, column: str, domain: Domain) -> tuple[PrivacyModel, ...]:  # noqa: ARG002 - the same, mostly
        """What every published class satisfies for this sensitive column: by default what it does for any.

        A method that treats columns differently says here what it promises for each, and in `promises` what holds for
        all of them.
        """
        return self.promises(domain)

    def check_names(self, sensitive: Sequence[str]) -> None:
        """Refuse options that name sensitive columns, where these are others."""

    def n_partitions(self, n_sensitive: int) -> int:  # noqa: ARG002 - one, mostly
        """How many partitions `group` makes for so many sensitive columns: one, or one for each."""
        return 1

    def plan_notes(self, n_rows: int) -> tuple[str, ...]:  # noqa: ARG002 - most say nothing
        """What a plan for so many rows says besides: what an option costs, and what more of it would buy."""
        return ()

    def check_counts(self, columns: Sequence[SensitiveColumn]) -> None:
        """Refuse a table by how often values occur in the whole of it, as `group` would; `columns` need no rows."""

    def decided(self, table: CodedTable, counts: NDArray[np.int64]) -> Self:  # noqa: ARG002 - most decide nothing
        """The method with what it decides for all parts, from the distinct rows of a table and how often each is."""
        return self

    def alike_parts(self, n_parts: int) -> AlikeParts:
        """How records that must be together come together, where `parts` is ``alike``."""
        return AlikeParts(n_parts)

    def join_facts(self, parts: Sequence[PartFacts]) -> dict[str, Json]:
        """Public facts about how it went, where parts of the table were grouped one by one."""
        return join_usual_facts(parts)

    def part_rule(self, n_sensitive: int) -> PartRule:  # noqa: ARG002 - the same for any number, mostly
        """How parts are made fit for this method, for a table with so many sensitive columns.

        By default no value may have more than 1/level of a part; if the method has no level, parts are joined until
        they are `feasible`.
        """
        return PartRule(self.level, leave_out=self.may_leave_out > 0)

    def part_levels(self, domain: Domain, counts: NDArray[np.int64]) -> CodeArray:  # noqa: ARG002 - values differ
        """Shape (F,): the level of each value; records of a class must differ in levels. By default in values.

        Parameters
        ----------
        domain
            The values.
        counts
            How often each occurs in the whole table.
        """
        return np.arange(len(domain), dtype=np.int32)

    def feasible(self, part: PartCounts) -> bool:
        """Whether `group` can keep the promise in a part with these counts.

        By default no level and no person has more than 1/level of it; without a level (see `part_rule`), the part as
        one class satisfies all that is promised. An empty part is feasible. For one sensitive column, and where nobody
        has several rows, this is all that `group` needs. Otherwise it may still find that records cannot be placed:
        the part is then joined to the one beside it.
        """
        level = self.part_rule(len(part.values)).level
        n_rows = part.n_rows
        if n_rows == 0:
            return True
        names = part.names or ("",) * len(part.values)
        promises = [
            self.promises_of(name, population.domain) for name, population in zip(names, part.populations, strict=True)
        ]
        for counts, population, models in zip(part.values, part.populations, promises, strict=True):
            if level is not None:
                levels = np.zeros(len(counts), dtype=np.int64)
                np.add.at(levels, self.part_levels(population.domain, population.counts), counts)
                if int(levels.max()) * level > n_rows:
                    return False
            elif not all(model.holds(counts[None, :], population)[0] for model in models):
                return False
        least = level or max(math.ceil(1 / model.posterior - 1e-9) for models in promises for model in models)
        return part.most_of_person * least <= n_rows

    @property
    def may_leave_out(self) -> float:
        """The largest share of records that the holder allows the method to leave out: any, to suppress overflow."""
        return float(getattr(self, "overflow", "refuse") == "suppress")

    def parameters(self) -> dict[str, Json]:
        """The public parameters in JSON's types, for the release."""
        plain = (str, int, float, bool)
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        given: dict[str, Json] = {name: value for name, value in values.items() if isinstance(value, plain)}
        named: dict[str, Json] = {
            name: dict(values[name]) for name in (str(self.strength), "gap") if isinstance(values.get(name), Mapping)
        }
        return {**named, **given}

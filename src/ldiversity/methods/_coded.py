"""A table as grouping methods see it: columns of numbers and codes, all rows at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, CodeArray
from ldiversity.base.checks import name_some
from ldiversity.errors import ParameterError
from ldiversity.hierarchies import Hierarchy
from ldiversity.models import Population
from ldiversity.schema import Domain

__all__ = ["CategoryColumn", "CodedTable", "NumberColumn", "QuasiColumn", "SensitiveColumn"]


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A quasi-identifier of numbers (integers, fractions, days or instants), generalized to intervals.

    Parameters
    ----------
    name
        The column.
    values
        Shape (n,), integers or floats; days and instants as integers of their unit. Zero where missing.
    low, high
        The range of the domain, by which lengths of intervals are measured.
    missing
        Which rows have no value; None when all have one.

    Examples
    --------
    >>> NumberColumn("age", np.array([20, 30, 60]), low=20, high=60).scaled.tolist()
    [0.0, 0.25, 1.0]
    """

    name: str
    values: NDArray[Any]
    low: float
    high: float
    missing: BoolArray | None = None

    @property
    def scaled(self) -> NDArray[np.float32]:
        """Shape (n,): the domain's range as 0 to 1; 2.0 where missing, as far from every number as any two are."""
        span = self.high - self.low
        scaled = (np.asarray(self.values, dtype=np.float64) - self.low) / (span if span > 0 else 1.0)
        if self.missing is not None:
            scaled[self.missing] = 2.0
        return scaled.astype(np.float32)


@dataclass(frozen=True, eq=False)
class CategoryColumn:
    """A quasi-identifier of categories, generalized to nodes of a hierarchy or to lists of values.

    Parameters
    ----------
    name
        The column.
    codes
        Shape (n,): positions in `labels`.
    labels
        The texts of the values, all leaves of the hierarchy; a missing value is a category of its own.
    hierarchy
        Its rows stand in the order of `labels`. None: no values are alike, and a class lists what it holds.
    """

    name: str
    codes: CodeArray
    labels: tuple[str, ...]
    hierarchy: Hierarchy | None = None

    @cached_property
    def nodes(self) -> CodeArray:
        """Shape (labels, levels): the ancestor of each value at each level; level 0 is the value, the last the root."""
        if self.hierarchy is not None:
            return self.hierarchy.nodes
        values = np.arange(len(self.labels), dtype=np.int32)
        return np.column_stack([values, np.zeros_like(values)])

    @cached_property
    def costs(self) -> NDArray[np.float32]:
        """Shape (labels, levels): the loss of publishing each ancestor: its leaves over all leaves, 0 for one leaf."""
        costs = np.empty(self.nodes.shape, dtype=np.float32)
        for level in range(self.nodes.shape[1]):
            under = np.bincount(self.nodes[:, level])[self.nodes[:, level]]
            costs[:, level] = np.where(under > 1, under / len(self.labels), 0.0)
        return costs


QuasiColumn: TypeAlias = NumberColumn | CategoryColumn


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """A sensitive column as codes of its public domain.

    Parameters
    ----------
    name
        The column.
    codes
        Shape (n,).
    domain
        The public values.
    whole
        Shape (F,): how often each value occurs in the whole table, if the rows are a part of it. None: they are all.
    """

    name: str
    codes: CodeArray
    domain: Domain
    whole: NDArray[np.int64] | None = None

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How often each value of the domain occurs."""
        return np.bincount(self.codes, minlength=len(self.domain)).astype(np.int64)

    @property
    def population(self) -> Population:
        """The values of the whole table, to which some privacy models compare a class.

        Examples
        --------
        >>> codes = np.array([0, 1], dtype=np.int32)
        >>> SensitiveColumn("disease", codes, Domain(("flu", "cut")), whole=np.array([7, 3])).population.counts.tolist()
        [7, 3]
        """
        return Population(self.domain, self.counts if self.whole is None else self.whole)


@dataclass(frozen=True, eq=False)
class CodedTable:
    """All rows of a table in an order that was drawn uniformly: a method's "random record" is simply the next one.

    Parameters
    ----------
    quasi
        The quasi-identifiers.
    sensitive
        The sensitive columns; at least one. Where none is published, a column without a name in which all are alike.
    person
        Shape (n,): who a row belongs to, when one person may have several; None when each row is a person.
    """

    quasi: tuple[QuasiColumn, ...]
    sensitive: tuple[SensitiveColumn, ...]
    person: NDArray[np.int64] | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.sensitive[0].codes)

    def only(self, rows: NDArray[np.integer]) -> CodedTable:
        """The table of some rows; its columns still know the counts of the whole table.

        Examples
        --------
        >>> rows = SensitiveColumn("disease", np.array([0, 1, 0], dtype=np.int32), Domain(("flu", "cut")))
        >>> CodedTable((), (rows,)).only(np.array([2, 1])).sensitive[0].codes.tolist()
        [0, 1]
        """
        quasi: list[QuasiColumn] = []
        for column in self.quasi:
            if isinstance(column, NumberColumn):
                missing = None if column.missing is None else column.missing[rows]
                quasi.append(replace(column, values=column.values[rows], missing=missing))
            else:
                quasi.append(replace(column, codes=column.codes[rows]))
        sensitive = [replace(one, codes=one.codes[rows], whole=one.population.counts) for one in self.sensitive]
        return CodedTable(tuple(quasi), tuple(sensitive), None if self.person is None else self.person[rows])

    @cached_property
    def several(self) -> NDArray[np.int64] | None:
        """Shape (n,): the person of each row, numbered from 0 without gaps; None when nobody has several rows.

        Examples
        --------
        >>> rows = SensitiveColumn("disease", np.array([0, 1, 0], dtype=np.int32), Domain(("flu", "cut")))
        >>> CodedTable((), (rows,), person=np.array([7, 9, 7])).several.tolist()
        [0, 1, 0]
        >>> CodedTable((), (rows,), person=np.array([7, 8, 9])).several is None
        True
        """
        if self.person is None:
            return None
        people, numbered = np.unique(self.person, return_inverse=True)
        return None if len(people) == self.n_rows else numbered.ravel().astype(np.int64)

    def weights(self, owner: str, given: Mapping[str, float] | None) -> dict[str, float]:
        """How much each quasi-identifier counts, 1 for those that are not given; refuses names of other columns."""
        names = [column.name for column in self.quasi]
        unknown = [name for name in given or {} if name not in names]
        if unknown:
            raise ParameterError(owner, "weights", "must name quasi-identifiers", got=name_some(unknown)).with_hint(
                f"The quasi-identifiers are {name_some(names)}."
            )
        return {name: float((given or {}).get(name, 1.0)) for name in names}

    @property
    def numbers(self) -> tuple[NumberColumn, ...]:
        """The quasi-identifiers that are numbers."""
        return tuple(column for column in self.quasi if isinstance(column, NumberColumn))

    @property
    def categories(self) -> tuple[CategoryColumn, ...]:
        """The quasi-identifiers that are categories."""
        return tuple(column for column in self.quasi if isinstance(column, CategoryColumn))

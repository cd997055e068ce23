"""What a cell is: published columns, numbers in bins, declared groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.checks import check_integer, column_name, name_all, name_some
from ldiversity.base.warned import warn
from ldiversity.errors import LDiversityWarning, ParameterError, SchemaError
from ldiversity.estimation._threads import map_threads, slices
from ldiversity.schema import MISSING_LABEL
from ldiversity.sentences import Setting, say
from ldiversity.tables import Bins, locate, matcher, numbers_of

if TYPE_CHECKING:
    from ldiversity.base.arrays import CodeArray, Scalar
    from ldiversity.hierarchies import Hierarchy

__all__ = [
    "BinnedColumn",
    "By",
    "Coded",
    "GroupedColumn",
    "PlainColumn",
    "as_by",
    "bins",
    "different_values",
    "groups",
]

_SHORT_RANGE: Final = 1 << 16
"""Integers in a range shorter than this are coded by their offset instead of by hashing."""

_FIRST_ROWS: Final = 1 << 14
_FEW: Final = 8
"""A column has few values when its first rows have at least this many rows per value."""

_MOST_INT64: Final = (1 << 63) - 1

ByLike: TypeAlias = "str | By | Sequence[str | By] | None"


@dataclass(frozen=True, eq=False)
class Coded:
    """One by-column of every row: `codes` are positions in `labels`, which have the order of the cells."""

    name: str
    codes: CodeArray
    labels: pa.Array


class By(ABC):
    """How one published column divides the records into cells. A missing value is a cell of its own."""

    column: str

    @abstractmethod
    def _label(self, distinct: pa.Array, frequency: Callable[[], NDArray[np.int64]]) -> tuple[CodeArray, pa.Array]:
        """Give the code of each distinct value, none of them missing, and the labels in code order."""

    def check(self, column: pa.ChunkedArray) -> None:  # noqa: B027 - most divisions suit every column
        """Refuse a division that does not suit the values of this whole column, or warn of one."""

    def encode(self, column: pa.ChunkedArray, weights: NDArray[np.int64] | None = None) -> Coded:
        """Code every row of an Arrow column; a row stands for as many records as `weights` says, or for one."""
        indices, distinct = different_values(self.column, column)
        present = np.flatnonzero(np.asarray(pc.is_valid(distinct)))

        def frequency() -> NDArray[np.int64]:
            return np.bincount(indices, weights=weights, minlength=len(distinct)).astype(np.int64)[present]

        codes, labels = self._label(distinct.take(pa.array(present)), frequency)
        code_of = np.full(len(distinct), len(labels), dtype=np.int32)
        code_of[present] = codes
        if len(present) < len(distinct):
            labels = pa.concat_arrays([labels, pa.nulls(1, labels.type)])
        identity = np.array_equal(code_of, np.arange(len(code_of)))
        return Coded(self.column, indices if identity else code_of[indices], labels)


@dataclass(frozen=True)
class PlainColumn(By):
    """Every value of a column is a cell, in ascending order."""

    column: str

    def _label(self, distinct: pa.Array, frequency: Callable[[], NDArray[np.int64]]) -> tuple[CodeArray, pa.Array]:  # noqa: ARG002
        sortable = distinct.cast(pa.int8()) if pa.types.is_boolean(distinct.type) else distinct
        order = np.asarray(pc.sort_indices(sortable))
        codes = np.empty(len(order), dtype=np.int32)
        codes[order] = np.arange(len(order), dtype=np.int32)
        return codes, distinct.take(pa.array(order))


@dataclass(frozen=True)
class BinnedColumn(By):
    """Numbers in bins. Made by `bins`."""

    column: str
    rule: Bins

    def _label(self, distinct: pa.Array, frequency: Callable[[], NDArray[np.int64]]) -> tuple[CodeArray, pa.Array]:
        if not len(distinct):
            return np.empty(0, dtype=np.int32), pa.array([], pa.string())
        edges = self.fit(distinct, None if self.rule.quantiles is None else frequency())
        return self.place(numbers_of(distinct)[0], edges), self.names(edges)

    def fit(self, values: pa.Array, frequency: NDArray[np.int64] | None = None) -> tuple[float, ...]:
        """The edges for these numbers, none of them missing; those without quantiles need the ends alone."""
        self._finite(values)
        return self.rule.fit(values, frequency)

    def names(self, edges: Sequence[float]) -> pa.Array:
        """The labels: below the edges, every bin, above the edges."""
        labels = list(Bins.labels(edges))
        if self.rule.width is not None:
            labels[-1] = f"{labels[-1][:-1]})"
        low, high = labels[0].partition(",")[0][1:], labels[-1].rpartition(" ")[2][:-1]
        return pa.array([f"< {low}", *labels, f"> {high}"], pa.string())

    @staticmethod
    def place(numbers: NDArray[Any], edges: Sequence[float]) -> CodeArray:
        """The positions of numbers in the labels that `names` gives."""
        codes = locate(numbers, edges) + np.int32(1)
        codes[numbers > edges[-1]] = len(edges)
        return codes

    def check_numbers(self, kind: pa.DataType) -> None:
        """Refuse a column that holds no numbers, with another way to divide it."""
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            return
        name = self.column
        dated = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
        raise SchemaError("bins", "must hold numbers", column=name, got=kind).with_hint(
            say("Divide it by the calendar: {}.", Setting("by", f"{name}:month", python=f"groups({name!r}, 'month')"))
            if dated
            else say(
                "Name the column alone for a cell of each value: {}; or take a hierarchy of its values: {}.",
                Setting("by", name),
                Setting("by", f"{name}@file.csv", python=f"groups({name!r}, hierarchy)"),
            )
        )

    def _finite(self, values: pa.Array) -> None:
        self.check_numbers(values.type)
        if not np.isfinite(numbers_of(values)[0]).all():
            raise SchemaError("bins", "must hold finite numbers", column=self.column)


@dataclass(frozen=True)
class GroupedColumn(By):
    """Declared groups of values, matched by their text. Made by `groups`.

    `group_of` has the group of each value, by its text; all other values are in `other`. With `each`, a group without a
    record is worth a warning; a hierarchy has nodes whose values need not occur. `calendar` gives the group of a day
    that is not listed, where groups are parts of the calendar.
    """

    column: str
    group_of: Mapping[str, str]
    labels: tuple[str, ...]
    other: str
    each: bool = True
    calendar: Callable[[str], str] | None = None

    def check(self, column: pa.ChunkedArray) -> None:
        """Refuse groups when no value of the column is in any of them, and warn of an empty group."""
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        found = self._groups_of(pc.unique(column.cast(kind)).drop_null())
        empty = [label for label in self.labels if label not in set(found)]
        if not found or not empty:
            return
        hint = (
            "Values are matched by their text, dates as 2020-01-31; an estimate by the column alone lists the values "
            "that occur."
        )
        if len(empty) == len(self.labels) or set(found) == {self.other}:
            raise ParameterError(
                "groups",
                f"must hold values of at least one group, but no value of {name_some(empty)} occurs in the release",
                column=self.column,
            ).with_hint(hint)
        if self.each:
            rule = f"no value of {name_some(empty)} occurs in column {self.column!r} of the release. {hint}"
            warn(LDiversityWarning("groups", rule))

    def _groups_of(self, distinct: pa.Array) -> list[str]:
        match = matcher(distinct.type)
        group_of = {match(text): label for text, label in self.group_of.items()}
        texts = [match(value) for value in _python_values(distinct)]
        if self.calendar is None:
            return [group_of.get(text, self.other) for text in texts]
        # A hierarchy made from a table lists the days of that table; a release may have other days.
        known = {label: label for label in self.labels}
        return [group_of.get(text) or known.get(self.calendar(text), self.other) for text in texts]

    def _label(self, distinct: pa.Array, frequency: Callable[[], NDArray[np.int64]]) -> tuple[CodeArray, pa.Array]:  # noqa: ARG002
        labels = [*self.labels, *([] if self.other in self.labels else [self.other])]
        code_of = {label: code for code, label in enumerate(labels)}
        found = self._groups_of(distinct)
        return np.array([code_of[label] for label in found], dtype=np.int32), pa.array(labels, pa.string())


def bins(
    column: str,
    *,
    width: float | None = None,
    edges: Sequence[float | str | date] | None = None,
    quantiles: int | None = None,
) -> By:
    """Divide a column of numbers, or of days, into bins.

    Parameters
    ----------
    column
        A published column of numbers; with days as edges, of days or instants.
    width
        Bins of this width; one of them starts at 0.
    edges
        The edges of the bins. A bin holds ``low <= x < high``; the last one also holds its upper edge. Numbers
        below and above are cells of their own. Days, as dates or as texts such as ``"1980-01-01"``, begin a cell each.
    quantiles
        This many bins, with about equally many of the selected records.

    Examples
    --------
    >>> coded = bins("age", width=10).encode(pa.chunked_array([[31, 25, None, 38]]))
    >>> coded.labels.take(pa.array(coded.codes)).to_pylist()
    ['[30, 40)', '[20, 30)', None, '[30, 40)']
    """
    from ldiversity.estimation._date_edges import are_days, by_days

    column_name("bins", "column", column)
    if edges is not None and width is None and quantiles is None and are_days(edges):
        return by_days(column, cast("Sequence[str | date]", edges))
    numbers = None if edges is None else cast("tuple[float, ...]", tuple(edges))
    try:
        return BinnedColumn(column, Bins(width=width, edges=numbers, quantiles=quantiles))
    except ParameterError as fault:
        if fault.parameter is None:
            raise
        rule = f"the {fault.parameter} of the bins of {column!r} {fault.rule}"
        raise ParameterError("bins", rule, got=fault.got, hint=fault.hint) from None


def groups(
    column: str,
    members: Mapping[str, Iterable[Scalar]] | Hierarchy | str,
    *,
    level: int | None = None,
    other: str = "other",
) -> By:
    """Divide a column into declared groups.

    Values are matched by their text: days and instants as 2020-01-31, with a time where there is one, numbers as
    numbers. A missing value stays a cell of its own. When no value of any group occurs in the release, this is an
    error; when one declared group is empty, this is a warning.

    Parameters
    ----------
    column
        A published column.
    members
        The values of each group; or a hierarchy whose nodes at `level` are the groups; or, for days and instants,
        ``"year"``, ``"quarter"``, ``"month"`` or ``"day"``.
    level
        The level of the hierarchy; 1, the parents of the leaves, when None.
    other
        The group of values that no group lists.

    Examples
    --------
    >>> zones = groups("zip", {"north": ["130", "131"]}, other="elsewhere")
    >>> zones.encode(pa.chunked_array([["131", "999"]])).labels.to_pylist()
    ['north', 'elsewhere']
    """
    column_name("groups", "column", column)
    if isinstance(members, str):
        from ldiversity.estimation._calendar import by_calendar

        return by_calendar(column, members)
    if not isinstance(members, Mapping):
        return _groups_of_tree(column, members, 1 if level is None else level, other)
    if level is not None:
        raise ParameterError("groups", "level", "must be left out unless members is a hierarchy")
    group_of: dict[str, str] = {}
    twice = []
    for label, values in members.items():
        if isinstance(values, str):
            raise ParameterError("groups", f"group {label!r} must list its values", got="one text")
        for text in map(str, values):
            twice += [text] if group_of.setdefault(text, label) != label else []
    if twice:
        raise ParameterError("groups", f"a value must be in one group, but {name_all(twice, 'is', 'are')} in several")
    return GroupedColumn(column, group_of, tuple(members), other)


def _groups_of_tree(column: str, tree: Hierarchy, level: int, other: str) -> GroupedColumn:
    from ldiversity.hierarchies import calendar_level

    check_integer("groups", "level", level, minimum=0, maximum=max(tree.depth - 1, 0))
    # Nodes below the groups too: a release shows them where the leaves are not public.
    group_of = {label: row[level] for row in reversed(tree.rows) for label in reversed(row[: level + 1])}
    group_of.pop(MISSING_LABEL, None)
    return GroupedColumn(column, group_of, tree.labels[level], other, False, calendar_level(tree.rows, level))


def as_by(by: ByLike) -> tuple[By, ...]:
    """Turn any form of by-columns that `estimate` accepts into a tuple of `By`."""
    if by is None:
        return ()
    parts = [by] if isinstance(by, str | By) or not isinstance(by, Sequence) else list(by)
    wrong = [type(part).__name__ for part in parts if not isinstance(part, str | By)]
    if wrong:
        example = Setting("by", "sex,age", python="by=['sex', 'age']")
        raise ParameterError("estimate", "by", "must hold names of columns, bins and groups", got=wrong[0]).with_hint(
            say("Give names, as in {}.", example)
        )
    known = tuple(PlainColumn(part) if isinstance(part, str) else part for part in parts)
    names = [part.column for part in known]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ParameterError("estimate", "by", "must name each column once", got=f"{name_some(twice)} more than once")
    return known


def _python_values(distinct: pa.Array) -> list[Any]:
    # Python's datetimes have no nanoseconds.
    if pa.types.is_timestamp(distinct.type) and distinct.type.unit == "ns":
        distinct = distinct.cast(pa.timestamp("us", distinct.type.tz), safe=False)
    values: list[Any] = distinct.to_pylist()
    return values


def different_values(name: str, column: pa.ChunkedArray) -> tuple[NDArray[np.int32], pa.Array]:
    """Where each row of a column finds its value, and the different values, missing included."""
    one = isinstance(column, pa.ChunkedArray) and column.num_chunks == 1
    array = column.chunk(0) if one else column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):  # too long for one array
        array = array.cast(pa.large_string()).combine_chunks()
    if pa.types.is_nested(array.type):
        raise SchemaError("estimate", f"by column {name!r} must hold single values", got=array.type)
    if pa.types.is_dictionary(array.type):
        known = array.dictionary.dictionary_encode(null_encoding="encode")
        distinct = pa.concat_arrays([known.dictionary, pa.nulls(1, known.dictionary.type)])
        of_entry = np.append(np.asarray(known.indices), len(distinct) - 1).astype(np.int32)
        return of_entry[np.asarray(pc.fill_null(array.indices.cast(pa.int64()), len(known)))], distinct
    if pa.types.is_integer(array.type) and not array.null_count and len(array):
        least, greatest = (int(limit.as_py()) for limit in pc.min_max(array).values())
        if greatest - least < _SHORT_RANGE and greatest <= _MOST_INT64:
            return _offsets(array, least, greatest)
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    return _look_up(array) or _encode(array)


def _look_up(array: pa.Array) -> tuple[NDArray[np.int32], pa.Array] | None:
    # Most long text columns have few values, all of them in the first rows: then a lookup is cheaper than hashing.
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return None
    first = array[:_FIRST_ROWS].dictionary_encode(null_encoding="encode").dictionary
    if len(array) <= _FIRST_ROWS or len(first) > _FIRST_ROWS // _FEW:
        return None
    found = map_threads(lambda rows: pc.index_in(array[rows], value_set=first), slices(len(array)))
    if any(part.null_count for part in found):
        return None
    return np.concatenate([np.asarray(part) for part in found]), first


def _encode(array: pa.Array) -> tuple[NDArray[np.int32], pa.Array]:
    encoded = array.dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary


def _offsets(array: pa.Array, least: int, greatest: int) -> tuple[NDArray[np.int32], pa.Array]:
    from ldiversity._kernels.cells import offset_codes

    codes = np.empty(len(array), dtype=np.int32)
    seen = np.zeros(greatest - least + 1, dtype=np.bool_)
    offset_codes(np.asarray(array.cast(pa.int64())), least, seen, codes)
    present = np.flatnonzero(seen)
    values = pa.array(present + least, pa.int64()).cast(array.type)
    if len(present) < len(seen):
        codes = (np.cumsum(seen, dtype=np.int32) - np.int32(1))[codes]
    return codes, values

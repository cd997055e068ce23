"""`Region`: what a release says about one quasi-identifier, read as numbers, positions, ends and labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray, CodeArray
from ldiversity.errors import SchemaError
from ldiversity.release._cells import Cells, cells_of, node_labels, to_texts
from ldiversity.release._coded import parse_type
from ldiversity.release._damage import damaged
from ldiversity.release._forms import Form
from ldiversity.release._grid import grid_of
from ldiversity.release._reached import places_of
from ldiversity.schema import MISSING_LABEL, Attribute
from ldiversity.sentences import Setting, say, type_word

__all__ = ["Intervals", "Lists", "Region", "label_array", "number_array", "to_numbers", "whole_array"]


@dataclass(frozen=True, eq=False)
class Intervals:
    """The intervals of a column, one for each cell.

    Parameters
    ----------
    low, high
        Shape (cells,): the least and the greatest number of each, integers (days and instants in their unit) or
        floats; zero where unknown.
    unknown
        Which cells say nothing: any number of the public range, or none.
    ends
        The lower and the upper ends as they are published.
    """

    low: NDArray[Any]
    high: NDArray[Any]
    unknown: BoolArray
    ends: tuple[pa.Array, pa.Array]


@dataclass(frozen=True, eq=False)
class Lists:
    """The values that each distinct region of a category holds: row r is ``starts[r]:starts[r + 1]`` of `values`."""

    region_of: NDArray[np.int64]
    starts: NDArray[np.int64]
    values: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Region:
    """What a release says about one quasi-identifier.

    Parameters
    ----------
    name
        The column.
    form
        How it is published.
    kind
        The type of its cells before.
    column
        What is published: one cell for each class, for each label of a declared level, or for each row where it is
        exact.
    link
        Gives the cell of each row, when it is asked for.

    Examples
    --------
    >>> interval = pa.struct([("low", pa.int64()), ("high", pa.int64())])
    >>> ages = pa.array([{"low": 20, "high": 30}, {"low": 50, "high": 60}], interval)
    >>> region = Region("age", Form("interval", low=20, high=60), pa.int64(), ages, lambda: np.array([0, 1, 1]))
    >>> region.intervals.low.tolist(), region.ends[1].to_pylist(), region.texts.to_pylist()
    ([20, 50], [30, 60], ['20..30', '50..60'])
    """

    name: str
    form: Form
    kind: pa.DataType
    column: pa.Array
    link: Callable[[], CodeArray]

    @classmethod
    def of_classes(cls, column: Attribute, form: Form, cells: pa.ChunkedArray, link: Callable[[], CodeArray]) -> Self:
        """What the cells of classes say about a column."""
        return cls(column.name, form, parse_type(column.type), whole_array(cells), link)

    @cached_property
    def of_row(self) -> CodeArray:
        """Shape (rows,): the cell of each row."""
        return self.link()

    @cached_property
    def cells(self) -> Cells:
        """The cells as runs of numbers."""
        return cells_of(self.name, self.column, self.form, self.kind, in_range=False)

    @cached_property
    def intervals(self) -> Intervals:
        """Cells that are intervals, as numbers."""
        cells, ends = self.cells, [self.column.field(end) for end in ("low", "high")]
        whole = np.issubdtype(cells.flat.dtype, np.integer) and cells.flat.dtype != np.uint64
        low = np.zeros(len(cells), dtype=np.int64 if whole else np.float64)
        high, unknown = np.zeros_like(low), cells.lengths == 0
        low[~unknown], high[~unknown] = cells.flat[::2], cells.flat[1::2]
        if self.form.grid is not None:
            high = np.where(unknown, high, grid_of(self.form.grid, self.kind).closed(high))
        return Intervals(low, high, unknown, (ends[0], ends[1]))

    @cached_property
    def lists(self) -> Lists:
        """Cells that are nodes or lists, as the public values in them."""
        cells, form = self.cells, self.form
        if form.kind == "values":
            return Lists(np.arange(len(cells)), cells.starts, cells.flat.astype(np.int64))
        if form.hierarchy is None:
            raise damaged(f"column {self.name!r} must come with its hierarchy")
        number = {label: position for position, label in enumerate(form.labels)}
        leaves = np.array([number.get(leaf, -1) for leaf in form.hierarchy.leaves], dtype=np.int64)
        used, region_of = np.unique(cells.flat, return_inverse=True)
        labels, members = node_labels(form), []
        for code in used.tolist():
            level = next(level for level, known in enumerate(form.hierarchy.labels) if labels[code] in known)
            position = form.hierarchy.labels[level].index(labels[code])
            under = leaves[form.hierarchy.nodes[:, level] == position]
            members.append(under[under >= 0])
        if not all(len(under) for under in members):
            raise damaged(f"column {self.name!r} must hold nodes above public values")
        starts = np.concatenate([[0], np.cumsum([len(under) for under in members])]).astype(np.int64)
        return Lists(region_of.astype(np.int64), starts, np.concatenate([np.zeros(0, np.int64), *members]))

    @property
    def texts(self) -> pa.Array:
        """Each cell as one text, as in CSV; missing where nothing is known."""
        return self.column if self.form.kind == "exact" else to_texts(self.column, self.form)

    @property
    def ends(self) -> tuple[pa.Array, pa.Array]:
        """The least and the greatest value of each cell, in the type of the column; missing where there is no order."""
        if self.form.kind == "exact":
            return self.column, self.column
        if self.form.kind == "interval":
            return self.intervals.ends
        if self.form.spans:
            intervals, missing = self.spans
            nothing, none = intervals.unknown | missing, pa.nulls(1, self.kind)[0]
            low, high = (
                pc.if_else(pa.array(nothing | self.unbounded(which)), none, end)
                for which, end in zip(("low", "high"), intervals.ends, strict=True)
            )
            return low, high
        values = label_array(self.form.labels, self.kind)
        if self.form.reaches is not None or values.type != self.kind or pa.types.is_string(self.kind):
            return pa.nulls(len(self.column), self.kind), pa.nulls(len(self.column), self.kind)
        numbers, known = to_numbers(values)
        order = np.lexsort((numbers, ~known))  # missing values last
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        lists = self.lists
        least, most = (reduce.reduceat(rank[lists.values], lists.starts[:-1]) for reduce in (np.minimum, np.maximum))
        # A region with a missing value in it has no greatest one.
        ends = [values.take(pa.array(order[end][lists.region_of])) for end in (least, most)]
        return pc.if_else(ends[1].is_null(), ends[1], ends[0]), ends[1]

    @property
    def ordered_texts(self) -> pa.Array:
        """The different texts of cells, by their ends, or by the first and the last public value in them."""
        texts = self.texts
        first, last = self._extremes()
        _, place = np.unique(np.asarray(pc.fill_null(texts, "")).astype(str), return_index=True)
        place = place[~np.asarray(texts.is_null())[place]]
        return texts.take(pa.array(place[np.lexsort((last[place], first[place]))]))

    def _extremes(self) -> tuple[NDArray[Any], NDArray[Any]]:
        if self.form.spans:
            intervals, missing = self.spans
            nothing = missing | intervals.unknown
            return np.where(nothing, np.inf, intervals.low), np.where(nothing, np.inf, intervals.high)
        low, high = self.ends
        # Intervals have an order even if every one of them says nothing; there is no list of values then.
        if self.form.kind == "interval" or low.null_count < len(low):
            (first, known), (last, _) = to_numbers(low), to_numbers(high)
            # Cells without ends, such as missing values, come last.
            return np.where(known, first.astype(np.float64), np.inf), np.where(known, last.astype(np.float64), np.inf)
        lists = self.lists
        pieces = (reduce.reduceat(lists.values, lists.starts[:-1]) for reduce in (np.minimum, np.maximum))
        first, last = (piece[lists.region_of] for piece in pieces)
        return first, last

    @cached_property
    def spans(self) -> tuple[Intervals, BoolArray]:
        """Nodes that stand for intervals of numbers, as intervals; and which cells hold only missing numbers."""
        encoded, reaches = self.column.dictionary_encode(), self.form.reaches or {}
        labels = encoded.dictionary.to_pylist()
        found = [reaches.get(label) for label in labels]
        number = np.float64 if pa.types.is_floating(self.kind) else np.int64
        codes, least = np.asarray(encoded.indices), self.form.low or 0
        low = np.array([least if one is None or one.low is None else one.low for one in found], dtype=number)[codes]
        high = np.array([least if one is None or one.high is None else one.high for one in found], dtype=number)[codes]
        unknown = np.array([one is not None and one.anything for one in found], dtype=np.bool_)[codes]
        missing = np.array([label == MISSING_LABEL for label in labels], dtype=np.bool_)[codes]
        ends = number_array(low, self.kind), number_array(high, self.kind)
        return Intervals(low, high, unknown, ends), missing

    def unbounded(self, end: str) -> BoolArray:
        """Which cells reach beyond this end, ``"low"`` or ``"high"``, without a limit."""
        labels = [label for label, reach in (self.form.reaches or {}).items() if reach.unbounded == end]
        if self.form.kind != "node" or not labels:
            return np.zeros(len(self.column), dtype=np.bool_)
        return np.asarray(pc.is_in(self.column, value_set=pa.array(labels, pa.string())))

    @cached_property
    def says_nothing(self) -> BoolArray:
        """Which cells may stand for any value."""
        if self.form.kind == "interval":
            return self.intervals.unknown
        reaches = self.form.reaches or {}
        silent = [label for label, reach in reaches.items() if reach.anything]
        if self.form.kind != "node" or not silent:
            return np.zeros(len(self.column), dtype=np.bool_)
        return np.asarray(pc.is_in(self.column, value_set=pa.array(silent, pa.string())))

    def places(self, cells: pa.Array | pa.ChunkedArray) -> NDArray[np.int64]:
        """The position of original cells among the public values; their number for one that none of them holds."""
        return places_of(self.name, self.form, cells, self.kind)

    def numbers(self, cells: pa.Array | pa.ChunkedArray) -> tuple[NDArray[Any], BoolArray]:
        """Original cells as numbers that can be compared with the ends, and where they are known."""
        try:
            return to_numbers(cells.cast(self.kind))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            # The cause is left out on purpose: Arrow quotes the cell.
            raise SchemaError(
                "original",
                f"must hold what the release was made from, {type_word(self.kind)}",
                column=self.name,
                got=cells.type,
            ).with_hint(say("Declare its type, for example {}.", Setting("types", ("age", "integer")))) from None


def whole_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole


def to_numbers(column: pa.Array | pa.ChunkedArray) -> tuple[NDArray[Any], BoolArray]:
    """Give numbers, days and instants (as integers of their unit), and where they are known; zero elsewhere.

    Examples
    --------
    >>> to_numbers(pa.array([1.5, None]))
    (array([1.5, 0. ]), array([ True, False]))
    """
    kind = column.type
    known: BoolArray = np.asarray(pc.invert(pc.is_null(column, nan_is_null=True)))
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        column = column.cast(pa.int32())
    whole = (pa.types.is_integer(kind) and kind != pa.uint64()) or pa.types.is_temporal(kind)
    numbers = pc.fill_null(column.cast(pa.int64() if whole else pa.float64(), safe=False), 0)
    return np.where(known, np.asarray(numbers), 0), known


def label_array(labels: tuple[str, ...], kind: pa.DataType) -> pa.Array:
    """The public values of a category as cells of the column were before; texts where they cannot be read so.

    Examples
    --------
    >>> label_array(("10", "(missing)"), pa.int64()).to_pylist()
    [10, None]
    """
    texts = pa.array([None if label == MISSING_LABEL else label for label in labels], pa.string())
    try:
        return texts.cast(kind.value_type if pa.types.is_dictionary(kind) else kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return texts


def number_array(numbers: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Numbers as cells of a column: days and instants from integers of their unit.

    Examples
    --------
    >>> number_array(np.array([1, 2]), pa.date32()).to_pylist()[0].isoformat()
    '1970-01-02'
    """
    array = pa.array(numbers)
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        array = array.cast(pa.int32())
    return array.cast(kind, safe=False)

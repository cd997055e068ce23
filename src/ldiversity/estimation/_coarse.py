"""Questions about columns that every record shows at a declared level: what is asked of values, answered by labels.

A label stands for several values. Where a filter selects all or none of them, or they all belong to one cell, the label
decides. A label that would be divided is a cell of its own. Where it holds a part of a cell that other labels fill, and
where a filter would divide it, the question is refused: the release does not say how its values are distributed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.base.limits import LARGEST_NUMBER
from ldiversity.errors import UnsupportedError
from ldiversity.estimation._by import BinnedColumn, By, Coded, GroupedColumn, PlainColumn
from ldiversity.estimation._divided import bins_near, check_whole, divided
from ldiversity.estimation._reached import check_group, decide, parted
from ldiversity.estimation._where import Filter
from ldiversity.release import Region, label_array, number_array
from ldiversity.schema import MISSING_LABEL
from ldiversity.tables import Bins

if TYPE_CHECKING:
    from collections.abc import Callable

    from ldiversity.base.arrays import BoolArray, CodeArray
    from ldiversity.release import Reach, Release

__all__ = ["CoarseBy", "CoarseFilter", "ask_labels", "check_unbounded", "true_cells"]

_MOST_LISTED: Final = 100_000
"""A label with more whole numbers is known by its ends and by the values that a question names."""


def ask_labels(
    release: Release,
    by: Iterable[By],
    filters: Iterable[Filter],
    region_of: Callable[[str], Region] | None = None,
) -> tuple[tuple[By, ...], tuple[Filter, ...]]:
    """The same questions, put to labels where a column is published at a declared level.

    `region_of` gives the region of such a column where the release should not be asked for all of its rows.
    """
    by, filters = tuple(by), tuple(filters)
    asked = {*(part.column for part in by), *(part.column for part in filters)} & set(release.coarse)
    if not asked:
        return by, filters
    levels = {name: _Labels((region_of or release.region)(name)) for name in asked}
    return (
        tuple(CoarseBy(part.column, part, levels[part.column]) if part.column in levels else part for part in by),
        tuple(CoarseFilter.of(part, levels[part.column]) if part.column in levels else part for part in filters),
    )


def true_cells(release: Release, by: By, original: pa.Table) -> Coded:
    """The cell of each record of the original, as an estimate from the release divides them."""
    (asked,), _ = ask_labels(release, [by], ())
    shown = release.as_published(original.select([by.column]))
    return asked.encode(shown.column(by.column))


def check_unbounded(region: Region, filters: Iterable[Filter]) -> None:
    """Refuse a filter that would divide a label without an end, such as ``>= 90``: nothing says how it is filled."""
    endless = region.unbounded("low") | region.unbounded("high")
    labels = _Labels(region)
    for label in dict.fromkeys(region.column.filter(pa.array(endless)).to_pylist()):
        for condition in filters:
            CoarseFilter.of(condition, labels).matches(label)


@dataclass(frozen=True, eq=False)
class _Labels:
    """The labels of a column, and the values that each stands for."""

    region: Region

    @cached_property
    def texts(self) -> list[str]:
        """The labels in their order, the category of missing values last."""
        texts: list[str] = self.region.ordered_texts.to_pylist()
        return sorted(texts, key=lambda text: text == MISSING_LABEL)

    @cached_property
    def under(self) -> dict[str, list[str]]:
        """The public values under each label, where these are public."""
        lists, labels = self.region.lists, np.array(self.region.form.labels, dtype=object)
        cells = self.region.texts.to_pylist()
        return {
            label: labels[lists.values[lists.starts[region] : lists.starts[region + 1]]].tolist()
            for label, region in zip(cells, lists.region_of.tolist(), strict=True)
        }

    def reach(self, label: str) -> Reach | None:
        return (self.region.form.reaches or {}).get(label)

    def values(self, label: str, named: pa.Array | None = None) -> pa.Array:
        """Values under a label that together show whether a question divides it.

        These are all of them, where they are public or few whole numbers; otherwise its ends, and those that the
        question names.
        """
        kind, reach = self.region.kind, self.reach(label)
        if label == MISSING_LABEL:
            return pa.nulls(1, kind)
        if reach is None:
            return label_array(tuple(self.under[label]), kind)
        if reach.low is None or reach.high is None:
            raise parted(self.region.name, label, "This")
        low, high = (int(end) if float(end).is_integer() else end for end in (reach.low, reach.high))
        whole = not pa.types.is_floating(kind)
        if reach.unbounded is None and whole and high - low < _MOST_LISTED:
            return number_array(np.arange(low, high + 1), kind)
        ends = [_farthest(kind, -1) if reach.unbounded == "low" else low, _farthest(kind, 1)]
        ends = [*ends[:1], low, high, *(ends[1:] if reach.unbounded == "high" else [])]
        listed = number_array(np.array(ends, dtype=np.int64 if whole else np.float64), kind)
        if named is None:
            return listed
        inside = pc.and_(
            pc.greater_equal(named, pc.min(listed).cast(named.type)),
            pc.less_equal(named, pc.max(listed).cast(named.type)),
        )
        return pa.concat_arrays([listed.cast(named.type), named.filter(inside)])


def _farthest(kind: pa.DataType, sign: int) -> float:
    """A number that no end of a question is beyond; days and instants stay where calendars know them."""
    if pa.types.is_floating(kind):
        return sign * (LARGEST_NUMBER if kind.bit_width > 32 else 3e38)  # noqa: PLR2004 - bits
    if pa.types.is_integer(kind):
        limits = np.iinfo(kind.to_pandas_dtype())
        return max(int(limits.min), -(2**62)) if sign < 0 else min(int(limits.max), 2**62)
    text = "9999-12-31" if sign > 0 else "0001-01-01"
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        text = "2262-01-01" if sign > 0 else "1678-01-01"
    day = pa.scalar(text).cast(pa.date32())
    if pa.types.is_date32(kind):
        return int(day.value)
    unit = "ms" if pa.types.is_date64(kind) else kind.unit
    return int(day.cast(pa.timestamp(unit)).value)


@dataclass(frozen=True)
class CoarseFilter(Filter):
    """A condition on values, put to labels."""

    labels: _Labels | None = None

    @classmethod
    def of(cls, asked: Filter, labels: _Labels) -> CoarseFilter:
        """The same condition."""
        return cls(asked.column, asked.operator, asked.values, labels)

    def mask(self, column: pa.ChunkedArray) -> BoolArray:
        """Whether each label matches; refuses a condition that would divide one."""
        found: BoolArray = np.asarray(pc.is_in(column, value_set=pa.array(self.as_labels().values, pa.string())))
        return found

    def as_labels(self) -> Filter:
        """The same condition as a list of labels; refuses one that would divide a label."""
        return Filter(self.column, "in", tuple(label for label in self._known.texts if self.matches(label)))

    def check(self, column: pa.ChunkedArray) -> None:
        """Nothing to warn of: a value may be under a label without being shown."""

    @property
    def _known(self) -> _Labels:
        if self.labels is None:
            raise TypeError(self)
        return self.labels

    def matches(self, label: str) -> bool:
        """Whether all values under a label match; refuses to divide it."""
        named = self.operator in {"in", "not in"}
        if named and label in self.values:
            return self.operator == "in"
        others = tuple(value for value in self.values if not (named and value in self._known.texts))
        if named and not others:
            return self.operator == "not in"
        asked = Filter(self.column, self.operator, others)
        reach = self._known.reach(label)
        if reach is not None and reach.low is None:
            verdict = decide(reach, label, asked)
        else:
            found = asked.mask(pa.chunked_array([self._known.values(label, self._named(others))]))
            verdict = bool(found[0]) if (found == found[0]).all() else None
        if verdict is None:
            raise parted(self.column, label, str(asked))
        return verdict

    def _named(self, values: tuple[str, ...]) -> pa.Array | None:
        kind = self._known.region.kind
        for own in (kind, pa.float64()) if pa.types.is_integer(kind) else (kind,):
            try:
                return pa.array(values, pa.string()).cast(own)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                continue  # the condition itself says what is wrong
        return None


@dataclass(frozen=True, eq=False)
class CoarseBy(By):
    """Cells of values, put to labels."""

    column: str
    asked: By
    labels: _Labels

    def check(self, column: pa.ChunkedArray) -> None:  # noqa: ARG002 - labels are asked, not rows
        """Refuse quantiles, which labels do not have, and what does not suit the values."""
        if isinstance(self.asked, BinnedColumn) and self.asked.rule.quantiles is not None:
            raise UnsupportedError(
                "estimate", f"quantiles of {self.column!r} are not known, because it was published in labels"
            ).with_hint("Ask for bins of a width, or name the column alone.")
        if isinstance(self.asked, PlainColumn):
            return
        known = [self.labels.values(label) for label in self.labels.texts if self._has_values(label)]
        if known:
            self.asked.check(pa.chunked_array(known))

    def encode(self, column: pa.ChunkedArray, weights: NDArray[np.int64] | None = None) -> Coded:  # noqa: ARG002
        """Code every row of a column of labels."""
        texts = self.labels.texts
        cells = self._cells
        found = list(dict.fromkeys(cell for cell in cells.values() if cell is not None))
        if isinstance(self.asked, GroupedColumn):
            declared = {label: place for place, label in enumerate([*self.asked.labels, self.asked.other])}
            found.sort(key=lambda cell: declared.get(cell, len(declared)))
        place: dict[str | None, int] = {cell: code for code, cell in enumerate(found)}
        place[None] = len(found)
        # One more code, for people of whom no record shows the label.
        code_of = np.array([*(place[cells[label]] for label in texts), len(found)], dtype=np.int32)
        rows = np.asarray(pc.fill_null(pc.index_in(column, value_set=pa.array(texts, pa.string())), len(texts)))
        shown = pa.array([*found, None], pa.string())
        return Coded(self.column, code_of[rows], shown)

    def _label(self, distinct: pa.Array, frequency: Callable[[], NDArray[np.int64]]) -> tuple[CodeArray, pa.Array]:
        return self.asked._label(distinct, frequency)  # noqa: SLF001 - of its own kind

    def _has_values(self, label: str) -> bool:
        reach = self.labels.reach(label)
        return reach is None or (reach.low is not None and reach.unbounded is None)

    @cached_property
    def _cells(self) -> dict[str, str | None]:
        """The cell of each label: its own where values under it are in several, and they do not lack elsewhere."""
        cells_of = {label: self._cells_of(label) for label in self.labels.texts if label != MISSING_LABEL}
        check_whole(self.column, cells_of, self._fitting)
        own = {label: cells[0] if len(cells) == 1 else label for label, cells in cells_of.items()}
        return {label: own.get(label) for label in self.labels.texts}

    def _fitting(self) -> Bins | None:
        """Bins that hold whole labels, if bins were asked for; None where none are found."""
        known = [reach for reach in map(self.labels.reach, self.labels.texts) if reach is not None]
        ends = [(one.low, one.high) for one in known if one.low is not None and one.high is not None]
        if not isinstance(self.asked, BinnedColumn) or not ends:
            return None
        step = 0 if pa.types.is_floating(self.labels.region.kind) else 1
        tried = bins_near(self.asked.rule, max(high - low + step for low, high in ends), max(high for _, high in ends))
        return next((rule for rule in tried if self._fits(rule)), None)

    def _fits(self, rule: Bins) -> bool:
        asked = CoarseBy(self.column, BinnedColumn(self.column, rule), self.labels)
        known = [label for label in self.labels.texts if label != MISSING_LABEL]
        return divided({label: asked._cells_of(label) for label in known}) is None

    def _cells_of(self, label: str) -> tuple[str, ...]:
        """The cells in which values under a label are; of a label without an end, those at its end and itself."""
        asked, reach = self.asked, self.labels.reach(label)
        if isinstance(asked, PlainColumn):
            return (label,)
        if isinstance(asked, GroupedColumn) and label in asked.group_of:
            return (asked.group_of[label],)
        if reach is not None and reach.low is None:
            if isinstance(asked, GroupedColumn):
                check_group(self.column, reach, label, asked)
                return (asked.other,)
            return (label,)
        values = self.labels.values(label)
        if (
            reach is not None
            and reach.unbounded is not None
            and not (isinstance(asked, BinnedColumn) and asked.rule.edges is not None)
        ):
            end = reach.low if reach.unbounded == "high" else reach.high
            whole = not pa.types.is_floating(self.labels.region.kind)
            known = number_array(np.array([end], dtype=np.int64 if whole else np.float64), self.labels.region.kind)
            return (*self._asked_of(known), label)
        return self._asked_of(values)

    def _asked_of(self, values: pa.Array) -> tuple[str, ...]:
        """The different cells of some values, as they were asked for."""
        coded = self.asked.encode(pa.chunked_array([values]))
        return tuple(str(coded.labels[int(code)]) for code in np.unique(coded.codes))

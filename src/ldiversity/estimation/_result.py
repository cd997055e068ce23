"""The answer of an estimate: counts with their errors, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Final, Generic, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.answers import HIDDEN, Answer, Scalar, fact, fit_screen
from ldiversity.base.checks import check_integer
from ldiversity.base.notebook import ShownInNotebooks
from ldiversity.base.numbers import counted, decimal, level, percent
from ldiversity.errors import UnsupportedError
from ldiversity.estimation._derived import Derived
from ldiversity.pictures import Drawn, plot_estimate
from ldiversity.schema import label_text
from ldiversity.tables import Frame_co, domain_array, python_rows, to_native

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._cells import CellData
    from ldiversity.estimation._class_cells import ClassCells
    from ldiversity.estimation._moments import Moments
    from ldiversity.pictures import Axes, Figure
    from ldiversity.schema import Domain

__all__ = ["Estimate", "EstimatedCell", "EstimatedValue"]

_FEW: Final = 24
_NUMBERS: Final = ("count", "share", "std_error", "low", "high", "share_low", "share_high")


@dataclass(frozen=True)
class EstimatedValue:
    """A value, or one value of each attribute, in one cell; unknown numbers are None."""

    value: Scalar | tuple[Scalar, ...]
    count: float | None
    share: float | None
    std_error: float | None
    low: float | None
    high: float | None
    share_low: float | None
    share_high: float | None

    @property
    def name(self) -> str:
        """The name for readers.

        Examples
        --------
        >>> EstimatedValue(("flu", "nurse"), 1, 0.5, None, 0, 2, 0, 1).name
        'flu & nurse'
        """
        return " & ".join(map(label_text, self.value if isinstance(self.value, tuple) else [self.value]))


@dataclass(frozen=True)
class EstimatedCell:
    """One cell: its labels by column, its number of records, its estimator, why it is marked, its values."""

    by: Mapping[str, Scalar]
    records: float
    estimator: str
    note: str
    values: tuple[EstimatedValue, ...]

    @property
    def name(self) -> str:
        """The name for readers.

        Examples
        --------
        >>> EstimatedCell({"sex": "F", "zip": None}, 3, "linear", "", ()).name, EstimatedCell({}, 3, "mle", "", ()).name
        ('F, (missing)', 'all records')
        """
        return ", ".join(map(label_text, self.by.values())) or "all records"


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Derived, ShownInNotebooks, Drawn, Answer, Generic[Frame_co], schema="estimate", version=1):
    """Estimated counts of the sensitive values in every cell, with standard errors and intervals.

    Arrays have one row per cell and one column per value (or per combination of values; the last attribute
    runs fastest). `count`, `std_error`, `low` and `high` are numbers of records; `share`, `share_low` and `share_high`
    are the same divided by `records`, unless the latter are estimates themselves, as in cells of hidden columns.

    Attributes
    ----------
    sensitive
        The attributes whose (joint) distribution this is.
    by
        The columns that make the cells.
    labels
        An Arrow table with the by-values of each cell.
    domains
        The public domain of each attribute in `sensitive`.
    records
        How many records each cell has: exact whole numbers, or expected numbers where regions of classes extend over
        several cells.
    count, std_error, low, high
        Shape (cells, F). Standard errors and intervals are about the noise of the dummies, or about what classes hide.
        They do not treat the records as a sample. Those of ``mle``, ``map``, ``hierarchical`` and ``auto`` follow from
        the likelihood in cells with at least 10 records per value whose sets tell enough; in other cells, and for
        ``simplex``, they are those of ``linear``.
        Where there is no formula, as for ``classes``, `std_error` is NaN here and empty in tables; it is zero for
        counts that are certain.
    estimator
        Which estimator gave each cell's counts.
    note
        For each cell "" or why it is marked.
    caveats
        What the user should know, one sentence each.
    confidence
        How often an interval should hold the true count.
    where
        The filters that selected the records, as texts.
    """

    sensitive: tuple[str, ...]
    by: tuple[str, ...]
    labels: pa.Table = field(metadata=HIDDEN)
    domains: tuple[Domain, ...] = field(metadata=HIDDEN)
    records: NDArray[np.int64] | FloatArray = field(metadata=HIDDEN)
    count: FloatArray = field(metadata=HIDDEN)
    std_error: FloatArray = field(metadata=HIDDEN)
    low: FloatArray = field(metadata=HIDDEN)
    high: FloatArray = field(metadata=HIDDEN)
    estimator: tuple[str, ...] = field(metadata=HIDDEN)
    note: tuple[str, ...] = field(metadata=HIDDEN)
    caveats: tuple[str, ...]
    confidence: float
    where: tuple[str, ...]
    frame_kind: str = field(metadata=HIDDEN)
    _cells: CellData | ClassCells = field(repr=False, metadata=HIDDEN)
    _covariance: Callable[[int], FloatArray] | None = field(repr=False, metadata=HIDDEN)
    _moments: Moments | None = field(default=None, repr=False, metadata=HIDDEN)
    _share_ends: tuple[FloatArray, FloatArray] | None = field(default=None, repr=False, metadata=HIDDEN)

    def __repr__(self) -> str:
        cells, values = self.count.shape
        names = " x ".join(self.sensitive)
        shape = (counted(cells, "cell"), counted(values, "value"), counted(self.n_records, "record"))
        return fit_screen([f"Estimate({names}: {', '.join(shape)})"])

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return len(self.records)

    @fact
    def n_records(self) -> int:
        """The number of selected records."""
        return round(float(self.records.sum()))

    @property
    def share(self) -> FloatArray:
        """Counts divided by the records of their cell, shape (cells, F)."""
        return self.count / self.records[:, None]

    @property
    def shares_apart(self) -> bool:
        """Whether intervals of shares are not those of counts divided by `records`, which are estimates themselves."""
        return self._share_ends is not None

    @property
    def share_low(self) -> FloatArray:
        """Lower limits of shares, shape (cells, F)."""
        return self.low / self.records[:, None] if self._share_ends is None else self._share_ends[0]

    @property
    def share_high(self) -> FloatArray:
        """Upper limits of shares, shape (cells, F)."""
        return self.high / self.records[:, None] if self._share_ends is None else self._share_ends[1]

    def covariance(self, cell: int = 0) -> FloatArray:
        """Give the covariance matrix of one cell's counts, shape (F, F), estimated from what was published.

        For ``mle``, ``map``, ``hierarchical`` and ``auto`` it follows from the likelihood in cells with at least 10
        records per value whose sets tell enough. It then has the expected products of errors, and its diagonal is
        `std_error` squared. In other cells, and for ``simplex``, it is that of ``linear``; for ``classes`` there is
        none.
        """
        position = check_integer("Estimate.covariance", "cell", cell, minimum=0, maximum=self.n_cells - 1)
        if self._covariance is None:
            raise UnsupportedError(
                "Estimate", f"covariance is not offered for the estimator {self.estimator[position]!r}"
            ).with_hint("See std_error, low and high for the errors of single counts.")
        return self._covariance(position)

    def to_arrow(self) -> pa.Table:
        """Give an Arrow table with one row per cell and value."""
        n_values = self.count.shape[1]
        rows = np.repeat(np.arange(self.n_cells), n_values)
        columns = {name: self.labels.column(name).take(pa.array(rows)) for name in self.by}
        taken = {*self.by, *(self.sensitive if len(self.sensitive) > 1 else ())}
        for name, values in self._value_columns().items():
            key = name if len(self.sensitive) > 1 else _free("value", taken)
            columns[key] = values.take(pa.array(np.tile(np.arange(n_values), self.n_cells)))
        for name in _NUMBERS:
            numbers = getattr(self, name).ravel()
            columns[_free(name, taken)] = pa.array(numbers, mask=np.isnan(numbers))
        columns[_free("records", taken)] = pa.array(np.repeat(self.records, n_values))
        for name in ("note", "estimator"):
            columns[_free(name, taken)] = pa.array(getattr(self, name), pa.string()).take(pa.array(rows))
        return pa.table(columns)

    def to_frame(self) -> Frame_co:
        """Give one row per cell and value, in the kind of frame that the release came from.

        The columns are those of `by`, ``value`` (or one column per attribute for a joint distribution), ``count``,
        ``share``, ``std_error``, ``low``, ``high``, ``share_low``, ``share_high``, ``records``, ``note`` and
        ``estimator``. A name that is also a by-column gets a trailing underscore.
        """
        return cast("Frame_co", to_native(self.to_arrow(), self.frame_kind))

    def figure(self, *, title: str | None = None, truth: ArrayLike | None = None) -> Figure:
        """Draw the estimate; notebooks show the same picture.

        Parameters
        ----------
        title
            The title of the picture; names the columns when None.
        truth
            True shares, shape (cells, F), which only the data holder knows.
        """
        return self._drawn(title=self.title if title is None else title, truth=truth)

    def _draw_into(self, ax: Axes) -> None:
        self._drawn(ax=ax)

    def _drawn(self, *, title: str = "", truth: ArrayLike | None = None, ax: Axes | None = None) -> Figure:
        cells = self.cells
        return plot_estimate(
            [cell.name for cell in cells],
            [value.name for value in cells[0].values] if cells else [],
            self.share,
            self.share_low,
            self.share_high,
            title=title,
            truth=truth,
            marked=[bool(note) for note in self.note],
            records=self.records.tolist(),
            confidence=self.confidence,
            interval="certain interval" if self.certain else None,
            ax=ax,
        )

    @fact
    def cells(self) -> tuple[EstimatedCell, ...]:
        """Every cell with its values."""
        return self._cells_to(self.n_cells)

    def _cells_to(self, end: int) -> tuple[EstimatedCell, ...]:
        """The first cells: a text needs few of them."""
        parts = [column.to_pylist() for column in self._value_columns().values()]
        values = parts[0] if len(parts) == 1 else list(zip(*parts, strict=True))
        labels = python_rows(self.labels.slice(0, end)) if self.by else [{}]
        numbers = [_known(getattr(self, name)[:end]) for name in _NUMBERS]
        return tuple(
            EstimatedCell(
                {name: _plain(label) for name, label in labels[cell].items()},
                self.records[cell].item(),
                self.estimator[cell],
                self.note[cell],
                tuple(
                    EstimatedValue(value, *(every[cell][code] for every in numbers))
                    for code, value in enumerate(values)
                ),
            )
            for cell in range(min(end, self.n_cells))
        )

    @property
    def title(self) -> str:
        """What the estimate is about."""
        divided = f" by {', '.join(self.by)}" if self.by else ""
        return f"{' and '.join(self.sensitive)}{divided}, estimated from the release"

    @property
    def certain(self) -> bool:
        """Whether intervals hold for certain: they are the least and the greatest counts that classes allow."""
        return set(self.estimator) == {"classes"}

    def __str__(self) -> str:
        said = "for certain" if self.certain else level(self.confidence)
        rows = [
            f"{cell.name}: {value.name}: {decimal(value.count)} ({percent(value.share)}), "
            f"{decimal(value.low)} to {decimal(value.high)}"
            for cell in self._cells_to(_FEW)
            for value in cell.values[:_FEW]
        ]
        return fit_screen([f"{self.title}; {counted(self.n_records, 'record')}, intervals {said}", *rows])

    def _value_columns(self) -> dict[str, pa.Array]:
        # Each attribute's values for the F columns of the arrays.
        sizes = [len(domain) for domain in self.domains]
        codes = np.unravel_index(np.arange(self.count.shape[1]), sizes)
        parts = zip(self.sensitive, self.domains, codes, strict=True)
        return {name: domain_array(domain).take(pa.array(code)) for name, domain, code in parts}


def _known(numbers: FloatArray) -> list[list[float | None]]:
    return [[None if math.isnan(number) else number for number in row] for row in numbers.tolist()]


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _plain(value: object) -> Scalar:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)

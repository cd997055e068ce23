"""Numbers and dates in cells of texts, in the forms that the holder named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.errors import SchemaError
from ldiversity.sentences import Parameter, Setting, say
from ldiversity.tables._date_forms import DateForm
from ldiversity.tables._read_options import ReadOptions

__all__ = ["ColumnFit", "TextForms"]

_COMMA: Final = r"^\s*-?(0|[1-9][0-9]*)?(,[0-9]+)?([eE][+-]?[0-9]+)?\s*$"
_ENOUGH: Final = 4
"""A column holds dates if one in so many cells is a date; days up to the twelfth fit the wrong order as well."""

_DIGIT: Final = r"[0-9]"
_INSTANT: Final = pa.timestamp("us")


@dataclass(frozen=True)
class TextForms:
    """The forms in which texts are read as numbers and dates.

    Examples
    --------
    >>> forms = TextForms(",", DateForm("dmy"))
    >>> forms.numbers(pa.array(["1,5", "2"])).to_pylist()
    [1.5, 2.0]
    >>> forms.dates(pa.array(["31.12.2020"]), pa.date32()).to_pylist()
    [datetime.date(2020, 12, 31)]
    """

    decimal: str | None
    date_form: DateForm | None

    @classmethod
    def of(cls, read: ReadOptions) -> TextForms | None:
        """The forms that options name; None when these are the usual ones."""
        form = None if read.date_format is None else DateForm(read.date_format)
        comma = "," if read.decimal == "," else None
        return None if form is None and comma is None else cls(comma, form)

    def cover(self, target: pa.DataType) -> bool:
        """Whether these forms say how values of a type are written.

        Examples
        --------
        >>> TextForms(",", None).cover(pa.float64()), TextForms(",", None).cover(pa.date32())
        (True, False)
        """
        if pa.types.is_floating(target):
            return self.decimal is not None
        return self.date_form is not None and bool(pa.types.is_temporal(target))

    def convert(self, cells: pa.Array, target: pa.DataType) -> pa.Array | None:
        """Texts as values of a type that these forms cover; None when a text does not fit."""
        return self.numbers(cells) if pa.types.is_floating(target) else self.dates(cells, target)

    def numbers(self, cells: pa.Array) -> pa.Array | None:
        """Texts with decimal commas as numbers; None when one does not fit. A point is no decimal mark then."""
        fits = pc.and_(pc.match_substring_regex(cells, _COMMA), pc.match_substring_regex(cells, _DIGIT))
        if pc.all(fits, min_count=0).as_py() is False:
            return None
        try:
            return pc.cast(pc.replace_substring(pc.utf8_trim_whitespace(cells), ",", "."), pa.float64())
        except pa.ArrowInvalid:
            return None

    def dates(self, cells: pa.Array, target: pa.DataType) -> pa.Array | None:
        """Texts as days or instants; None when one does not fit."""
        if self.date_form is None:
            return None
        read = self.date_form.read_all(cells)
        if read.null_count > cells.null_count:
            return None
        try:
            return pc.cast(read, target)
        except pa.ArrowInvalid:  # a time of day does not fit a day
            return None


class ColumnFit:
    """How far the texts of one column fit the forms, seen batch by batch.

    Examples
    --------
    >>> fit = ColumnFit("born", TextForms(None, DateForm("dmy")))
    >>> fit.see(pa.array(["31.12.2020", None]))
    >>> fit.settle("patients.csv")
    DataType(date32[day])
    """

    def __init__(self, name: str, forms: TextForms) -> None:
        self.name = name
        self._forms = forms
        self._numbers = forms.decimal is not None
        self._comma = False
        self._dates = forms.date_form is not None
        self._timed = False
        self._rows = self._cells = self._fit = 0
        self._first_misfit: int | None = None

    def see(self, cells: pa.Array) -> None:
        """Look at one more batch of texts."""
        n_cells = len(cells) - cells.null_count
        if n_cells and self._numbers:
            self._numbers = self._forms.numbers(cells) is not None
            self._comma = self._comma or bool(pc.any(pc.match_substring(cells, ",")).as_py())
        if n_cells and self._dates:
            self._see_dates(cells)
        self._rows += len(cells)
        self._cells += n_cells

    def _see_dates(self, cells: pa.Array) -> None:
        form = self._forms.date_form
        assert form is not None  # noqa: S101 - only then are dates looked for
        read = form.read_all(cells)
        self._fit += len(read) - read.null_count
        self._timed = self._timed or _has_times(read)
        misfits = np.flatnonzero(np.asarray(pc.and_(pc.is_null(read), pc.is_valid(cells))))
        if len(misfits) and self._first_misfit is None:
            self._first_misfit = self._rows + int(misfits[0]) + 1
        if not self._fit:  # a column of something else
            self._dates = False

    def settle(self, owner: str) -> pa.DataType | None:
        """The type as which all texts can be read; None when they stay texts.

        Raises
        ------
        SchemaError
            When many texts are dates in the declared form, but not all: that is a mistake, or another form.
        """
        if not self._cells:
            return None
        if self._dates and _ENOUGH * self._fit >= self._cells:
            if self._first_misfit is not None:
                raise self.misfit(owner, self._first_misfit)
            return _INSTANT if self._timed else pa.date32()
        return pa.float64() if self._numbers and self._comma else None

    def check(self, owner: str, target: pa.DataType) -> None:
        """Refuse a column that was declared to hold dates and has a text that is none."""
        if pa.types.is_temporal(target) and self._forms.date_form is not None and self._first_misfit is not None:
            raise self.misfit(owner, self._first_misfit)

    def misfit(self, owner: str, row: int) -> SchemaError:
        """The error about a text that is no date in the declared form; it names the row, never the text."""
        rule = say("must hold dates in the form of {}", Parameter("date_format"))
        as_text = Setting("types", (self.name, "text"))
        got = f"something else in row {row} below the names"
        hint = say("Correct that row, or name another form; {} keeps the column as it is.", as_text)
        return SchemaError(owner, rule, column=self.name, got=got, hint=hint)


def _has_times(instants: pa.Array) -> bool:
    days = pc.floor_temporal(instants, unit="day")
    return pc.all(pc.equal(days, instants), min_count=0).as_py() is False

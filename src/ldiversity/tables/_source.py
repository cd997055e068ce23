"""The base class of sources: tables that can be read several times, batch by batch."""

from __future__ import annotations

import re
import shlex
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.checks import check_integer, did_you_mean, name_some
from ldiversity.base.memory import lacks_memory, not_enough_memory
from ldiversity.base.numbers import counted
from ldiversity.base.progress import reading
from ldiversity.base.well_formed import check_well_formed
from ldiversity.errors import LDiversityError, SchemaError
from ldiversity.schema import Dtype
from ldiversity.sentences import Setting, say, type_word
from ldiversity.tables._guard import guarded
from ldiversity.tables._misfits import count_misfits
from ldiversity.tables._opened import OpenedFile
from ldiversity.tables._order import category_order
from ldiversity.tables._rechunk import rechunk
from ldiversity.tables._text_forms import ColumnFit, TextForms

__all__ = ["DEFAULT_CHUNK_ROWS", "Source", "check_header", "check_names", "plain_type", "unknown_column"]

DEFAULT_CHUNK_ROWS: Final = 262_144
"""Rows per batch, unless the caller asks for another number."""

_MOST_NAMED: Final = 10
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Source(ABC):
    """A table that can be read several times, batch by batch.

    Dictionaries (categories) are decoded to their values, because a dictionary may list values of rows that are no
    longer in the table, in an order that reveals something. If a column declares that the order of its categories
    matters, `category_order` returns it.

    Attributes
    ----------
    name
        What messages call the table, for example ``"patients.csv"``.
    columns
        The Arrow type of each column, in order; settled once, before the first batch.
    frame_kind
        The kind of frame to return: ``"arrow"``, ``"pandas"``, ``"polars"``, ...
    n_rows
        The number of rows, or None if it is unknown before reading.
    dtypes
        What a frame says about a column beyond its Arrow type.
    from_file
        Whether the table is a file. If a file has no header, its first record passes for the names, so messages
        show only names that the user nearly typed.
    forms
        The forms of numbers and dates in texts that the holder named; None for the usual ones.
    remarks
        What the holder should know about how it was read, one sentence each.
    published_as
        The format of a release that is made from the table, unless another is chosen.
    """

    published_as: Literal["csv", "parquet"] = "parquet"

    shows: Source | None = None
    """The table that this one shows in another way, row by row; it can then be read where that one is."""

    needs_values: tuple[str, ...] = ()
    """Columns of it without which a row is left out here."""

    _opened: OpenedFile | None = None
    """The file that is read again in every pass; None when there is none."""

    def __init__(
        self,
        name: str,
        columns: Mapping[str, pa.DataType],
        *,
        frame_kind: str = "arrow",
        n_rows: int | None = None,
        from_file: bool = True,
        dtypes: Mapping[str, Dtype] | None = None,
    ) -> None:
        self.name = name
        self.dtypes: dict[str, Dtype] = dict(dtypes or {})
        self.columns: dict[str, pa.DataType] = dict(columns)
        self.frame_kind = frame_kind
        self.n_rows = n_rows
        self.from_file = from_file
        self.forms: TextForms | None = None
        self.remarks: tuple[str, ...] = ()

    def batches(
        self,
        columns: Sequence[str] | None = None,
        *,
        chunk_rows: int = DEFAULT_CHUNK_ROWS,
        encoded: Collection[str] = (),
    ) -> Iterator[pa.RecordBatch]:
        """Read the table from its first row, in batches of `chunk_rows` rows; the last one may be shorter.

        Parameters
        ----------
        columns
            The columns to read, in this order; all when None.
        chunk_rows
            Rows per batch.
        encoded
            Columns that may stay dictionary-encoded if that is cheaper to read.

        Raises
        ------
        SchemaError
            When a column does not exist, or the table turns out to be damaged.
        """
        wanted = list(self.columns) if columns is None else list(columns)
        for column in wanted:
            if column not in self.columns:
                raise unknown_column(self.name, column, self.columns, from_file=self.from_file)
        chunk_rows = check_integer("batches", "chunk_rows", chunk_rows, minimum=1)
        keep = frozenset(encoded)
        return _reported(rechunk(self._settled(wanted, chunk_rows, keep), chunk_rows), reading(self.n_rows))

    def first(self, columns: Sequence[str], n_rows: int) -> pa.RecordBatch | None:
        """Read some rows, to see what a table is like; None when it has none."""
        return next(self.batches(columns, chunk_rows=n_rows), None)

    def read_texts(self, forms: TextForms, declared: Collection[str] = ()) -> None:
        """Read columns of texts in these forms, where all their cells fit.

        Columns whose type was declared keep it; what does not fit is an error that names the row.
        """
        self.forms = forms
        fits = {
            name: ColumnFit(name, forms)
            for name, kind in self.columns.items()
            if (kind == pa.string()) != (name in declared)
        }
        with self._without_cells():
            for batch in self._read(list(fits), DEFAULT_CHUNK_ROWS, frozenset()) if fits else ():
                for name, fit in fits.items():
                    texts = _texts(batch.column(name))
                    if texts is not None:
                        fit.see(texts)
        for name, fit in fits.items():
            if name in declared:
                fit.check(self.name, self.columns[name])
            else:
                self.columns[name] = fit.settle(self.name) or self.columns[name]

    def refuse_changes(self) -> None:
        """Raise `SchemaError` if the table is a file that was changed or replaced since it was opened."""
        if self._opened is not None:
            self._opened.check()
        if self.shows is not None:
            self.shows.refuse_changes()

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Say that the table was changed, where work in the block fails because of that."""
        try:
            yield
        except Exception:
            self.refuse_changes()
            raise

    def category_order(self, column: str) -> pa.Array | None:
        """Return the categories of a column in order, in the column's type; None unless it declares an order.

        Some may not occur in the table: publish only those that do.
        """
        with self._without_cells():
            listed = category_order(self._categories(column))
        return None if listed is None else self._convert(column, listed).drop_null().unique()

    def _without_cells(self) -> AbstractContextManager[None]:
        return guarded(
            self.name, "the table must be readable to its end", got="one that is not", hint="Write or copy it again."
        )

    def _categories(self, column: str) -> Iterable[pa.Array]:  # noqa: ARG002 - for subclasses
        """Return the chunks of a column if their dictionaries are sure to be as the holder made them, else none."""
        return ()

    def _settled(self, columns: list[str], chunk_rows: int, encoded: frozenset[str]) -> Iterator[pa.RecordBatch]:
        self.refuse_changes()
        try:
            with self._without_cells():
                for batch in self._read(columns, chunk_rows, encoded):
                    yield self._settle(batch, columns, encoded)
        except LDiversityError:
            self.refuse_changes()  # a file that was changed explains an error better than what followed from it
            raise
        self.refuse_changes()

    @abstractmethod
    def _read(self, columns: list[str], chunk_rows: int, encoded: frozenset[str]) -> Iterator[pa.RecordBatch]:
        """Read at least these columns, in any order, in batches of any size."""

    def _settle(self, batch: pa.RecordBatch, columns: list[str], encoded: frozenset[str]) -> pa.RecordBatch:
        arrays = []
        for name in columns:
            array = batch.column(name)
            self._check_cells(name, array)
            settled = name in encoded and _is_kept(array) and plain_type(array.type) == self.columns[name]
            arrays.append(array if settled else self._convert(name, array))
        return pa.RecordBatch.from_arrays(arrays, names=columns)

    def _check_cells(self, name: str, array: pa.Array) -> None:
        # Readers trust what a file claims about itself; this is the last place to find that it is wrong.
        try:
            if array.type == pa.date64():  # in which days with a time of day are allowed
                array.validate()
            else:
                check_well_formed(array)
        except pa.ArrowException as error:
            if lacks_memory(error):
                raise not_enough_memory(self.name) from None
            raise SchemaError(
                self.name, "must hold well-formed cells and texts in UTF-8", column=name, got="others"
            ).with_hint("Write the table again; texts in another encoding must be converted first.") from None

    def _convert(self, name: str, array: pa.Array) -> pa.Array:
        target = self.columns[name]
        if array.type == target:
            return array
        texts = None if self.forms is None else _texts(array)
        if texts is not None and self.forms is not None and self.forms.cover(target):
            read = self.forms.convert(texts, target)
            if read is None:
                raise self._misfit(name)
            return read
        try:
            plain = pc.run_end_decode(array) if pa.types.is_run_end_encoded(array.type) else array
            if pa.types.is_dictionary(plain.type):  # its values may be views, which Arrow does not decode
                values = plain.dictionary
                plain = pa.DictionaryArray.from_arrays(plain.indices, pc.cast(values, plain_type(values.type)))
            return plain if plain.type == target else pc.cast(plain, target)
        except pa.ArrowException as error:
            if lacks_memory(error):
                raise not_enough_memory(self.name) from None
            raise self._misfit(name) from None  # the cause is left out on purpose: Arrow quotes the cell

    def _misfit(self, name: str) -> SchemaError:
        target = self.columns[name]
        written = None if self.forms is not None and self.forms.cover(target) else _WRITTEN.get(str(target))
        rows = self._count_misfits(name, target)
        rule = f"must hold values that can be read as {type_word(target)}"
        got = "others" if rows is None else f"others in {counted(rows, 'row')}"
        way = "{}Correct these cells or make them empty; {} keeps the column as it is."
        return SchemaError(self.name, rule, column=name, got=got).with_hint(
            say(way, written, Setting("types", (name, "text")))
        )

    def _count_misfits(self, name: str, target: pa.DataType) -> int | None:
        """In how many rows a cell cannot be read as a value of a type; None when the table cannot be read again."""
        try:
            batches = self._read([name], _COUNTED_ROWS, frozenset())
            return sum(count_misfits(batch.column(name), target, self.forms) for batch in batches)
        except Exception:  # noqa: BLE001 - the error that is being told matters more
            return None


_COUNTED_ROWS: Final = 65_536

_WRITTEN: Final = {
    "double": say(
        "Fractions are written with a point, as in 2.5, unless {} is given. ",
        Setting("decimal", ",", python="read={'decimal': ','}"),
    ),
    "date32[day]": say(
        "Days are written as 2020-01-31, unless another form is named, such as {}. ",
        Setting("date_format", "dmy", python="read={'date_format': 'dmy'}"),
    ),
    "bool": "Booleans are written as true and false. ",
}
"""How to write values of a type for which other ways are common."""


def _is_kept(array: pa.Array) -> bool:
    """Whether cells may stay a dictionary: of no views, and without an entry for what is missing."""
    dictionary = pa.types.is_dictionary(array.type)
    return dictionary and array.type.value_type != pa.string_view() and not array.dictionary.null_count


def _texts(array: pa.Array) -> pa.Array | None:
    """The cells as plain texts; None when they are no texts."""
    plain = pc.run_end_decode(array) if pa.types.is_run_end_encoded(array.type) else array
    if plain_type(plain.type) != pa.string():
        return None
    return plain if plain.type == pa.string() else pc.cast(plain, pa.string())


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of cells without dictionaries and views; half floats become floats.

    Examples
    --------
    >>> plain_type(pa.dictionary(pa.int32(), pa.large_string()))
    DataType(string)
    """
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_float16(kind):  # which Arrow hardly supports
        return pa.float32()
    return kind


def _reported(batches: Iterator[pa.RecordBatch], step: Callable[[int], None]) -> Iterator[pa.RecordBatch]:
    """Pass the batches on, and report how many rows were read."""
    for batch in batches:
        step(batch.num_rows)
        yield batch


def check_names(owner: str, names: Sequence[object], *, from_file: bool = True) -> list[str]:
    """Return the column names, or raise `SchemaError` if they are unusable.

    If a file has no header, its first record passes for the names, so names of files are never quoted.

    Examples
    --------
    >>> check_names("patients.csv", ["age", "sex"])
    ['age', 'sex']
    """
    if not names:
        raise SchemaError(owner, "the table must have at least one column", got="none")
    checked = [name for name in names if isinstance(name, str)]
    if len(checked) < len(names):
        raise SchemaError(
            owner, "column names must be texts", got=f"{len(names) - len(checked)} that are not"
        ).with_hint("Rename the columns, for example frame.columns = frame.columns.map(str).")
    empty = [position for position, name in enumerate(checked, start=1) if not name.strip()]
    if empty:
        raise SchemaError(owner, "every column must have a name", got=f"none for column {name_some(empty)}").with_hint(
            "Name the columns in the first row of the table."
        )
    repeated = sorted(name for name, count in Counter(checked).items() if count > 1)
    if repeated:
        same = [position for position, name in enumerate(checked, start=1) if name == repeated[0]]
        got = (
            f"a table where columns {_name_positions(same)} have the same name"
            if from_file
            else f"{name_some(repeated)} more than once"
        )
        raise SchemaError(
            owner, "column names must be distinct", got=got, hint="Rename the columns so that each name occurs once."
        )
    return checked


def check_header(owner: str, names: Sequence[str]) -> list[str]:
    """Return the names in the first row of a file, or raise `SchemaError` if these are not names.

    Examples
    --------
    >>> check_header("patients.csv", ["age", "2024"])
    ['age', '2024']
    """
    checked = check_names(owner, names)
    if all(_NUMBER.fullmatch(name) for name in checked):
        raise SchemaError(owner, "the first row must hold the column names", got="numbers only").with_hint(
            "Add a row of names at the top of the file."
        )
    return checked


def _name_positions(positions: list[int]) -> str:
    if len(positions) > _MOST_NAMED:
        return f"{', '.join(map(str, positions[:_MOST_NAMED]))} and {len(positions) - _MOST_NAMED} more"
    return f"{', '.join(map(str, positions[:-1]))} and {positions[-1]}"


def unknown_column(owner: str, column: object, known: Collection[str], *, from_file: bool = True) -> SchemaError:
    """Build the error for a column that does not exist, with the nearest names as its hint.

    Examples
    --------
    >>> print(unknown_column("patients.csv", "diseases", ["age", "disease"]))
    patients.csv: column 'diseases' does not exist.
    Hint: Did you mean 'disease'?
    """
    hint = did_you_mean(column, known)
    if hint is None and from_file:
        described = f"ldiversity describe {shlex.quote(owner)}"
        hint = f"The first row of the file must hold the names; to see the columns, run: {described}"
    elif hint is None:
        hint = f"The columns are {name_some(known)}."
    return SchemaError(owner, "does not exist", column=str(column), hint=hint)

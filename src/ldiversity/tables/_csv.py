"""Comma-, semicolon- and tab-separated files, plain or compressed with gzip."""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import ClassVar, Final

import pyarrow as pa
import pyarrow.csv as pacsv

from ldiversity.base.hashing import repeats
from ldiversity.base.memory import lacks_memory, not_enough_memory
from ldiversity.base.progress import reading
from ldiversity.errors import SchemaError
from ldiversity.sentences import Sentence
from ldiversity.tables._csv_head import find_head, skip_hint, title_lines, without_lines
from ldiversity.tables._csv_types import FALSE_WORDS, TRUE_WORDS, TypeGuess
from ldiversity.tables._encodings import misfit, text_stream
from ldiversity.tables._headless import check_names_are_names
from ldiversity.tables._held_rows import HeldRows
from ldiversity.tables._known_texts import KnownTexts
from ldiversity.tables._opened import OpenedFile
from ldiversity.tables._read_options import USUAL_READING, ReadOptions
from ldiversity.tables._source import Source, check_header
from ldiversity.tables._text_forms import ColumnFit, TextForms
from ldiversity.tables._type_names import declared_types

__all__ = ["CsvSource"]

_BLOCK_BYTES: Final = 1 << 20  # Arrow reads up to 32 blocks ahead
_HEAD_BYTES: Final = 1 << 20
_ENTRIES: Final = pa.dictionary(pa.int32(), pa.string())
_RAGGED: Final = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


class CsvSource(Source):
    """A text file with one row per line and the column names in the first line.

    The first pass reads every cell as text and settles the types over the whole file; later passes convert to these
    types. An empty cell is missing; words such as ``NA`` stay texts.

    Up to `hold` bytes of what the first pass read stay in memory, so that the file is parsed once.
    """

    understands: ClassVar = frozenset({"encoding", "skip_rows"})
    holds: ClassVar = True
    published_as = "csv"

    def __init__(
        self,
        path: Path,
        types: Mapping[str, str] | None = None,
        read: ReadOptions = USUAL_READING,
        *,
        hold: int = 0,
    ) -> None:
        self._path, self._opened = path, OpenedFile.at(path)
        self._encoding = read.encoding
        self._skipped_lines = read.skip_rows
        self._titles = 0
        tab = ".tsv" in [suffix.lower() for suffix in path.suffixes]
        with self._explained():
            self._delimiter, names, self._skip, self._bare = self._read_header("\t" if tab else None)
        texts = dict.fromkeys(names, pa.string())
        super().__init__(path.name, texts, n_rows=0)
        self.forms = TextForms.of(read)
        declared = declared_types(self.name, types, texts)
        self._as_text = frozenset(declared)
        self.columns |= declared
        self._held: HeldRows | None = None
        # Last, because reading needs the delimiter, the names and the declared types.
        self._settle_types(hold)

    def _read_header(self, delimiter: str | None) -> tuple[str, list[str], int, bool]:
        """Return the delimiter, the names, the number of rows before the data, and whether there are no data."""
        with self._stream() as stream:
            head = stream.read(_HEAD_BYTES)
        whole = self._decode_head(head)
        text = without_lines(whole, self._skipped_lines)
        if not text.strip("\r\n"):
            got = "an empty file" if not self._skipped_lines else "nothing below the rows that are skipped"
            raise SchemaError(self._path.name, "the file must have a row of column names", got=got).with_hint(
                "Check that the right file was saved completely."
            )
        found = find_head(text, delimiter)
        self._titles = title_lines(whole)
        check_names_are_names(self._path.name, text, found.delimiter)
        try:
            checked = check_header(self._path.name, found.names)
        except SchemaError as error:
            raise error.with_hint(self._title_hint() or error.hint) from None
        return found.delimiter, checked, found.rows, found.bare and len(head) < _HEAD_BYTES

    def _decode_head(self, head: bytes) -> str:
        if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in head[:1024]:
            raise misfit(self._path, self._encoding)
        try:
            return head.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            # Otherwise the head only ends inside a character.
            if error.start < len(head) - 4 or len(head) < _HEAD_BYTES:
                raise misfit(self._path, self._encoding) from None
            return head[: error.start].decode("utf-8-sig")

    def _title_hint(self) -> Sentence | None:
        return skip_hint(self._titles) if self._titles != self._skipped_lines else None

    def _settle_types(self, hold: int) -> None:
        points = self.forms is None or self.forms.decimal is None
        guesses = {name: TypeGuess(points=points) for name in self.columns if name not in self._as_text}
        fits = {} if self.forms is None else {name: ColumnFit(name, self.forms) for name in self.columns}
        held = HeldRows(hold) if hold and not fits else None
        last: pa.RecordBatch | None = None
        n_rows = 0
        step = reading(None if self._path.suffix.lower() == ".gz" else self._path.stat().st_size)
        repeated = {name: KnownTexts() for name in (self._repeated() if held is not None else ())}
        for batch in self._parsed(list(self.columns), frozenset(), not repeated):
            step(batch.nbytes)
            cells = dict(zip(batch.schema.names, batch.columns, strict=True))
            texts = {name for name in cells if name not in guesses or guesses[name].type == pa.string()}
            seen = self._seen(cells, repeated, texts)
            for name, guess in guesses.items():
                # What a column allows depends on which cells it has, not on how often.
                guess.see(seen[name])
                if repeated and name not in texts and guess.type == pa.string():  # no number or date any more
                    self._check_texts(seen[name])
            for name, fit in fits.items():
                fit.see(cells[name])
            for name in self._as_text:  # refuse now what does not fit, not halfway through the work
                if name in fits:
                    fits[name].check(self.name, self.columns[name])
                cells[name] = self._convert(name, cells[name])
            if held is not None and not held.add(_as_guessed(cells, guesses)):
                held = None
            n_rows += batch.num_rows
            last = batch if batch.num_rows else last
        self._refuse_open_quote(last)
        self.n_rows = n_rows
        formed = {name: kind for name in guesses if name in fits and (kind := fits[name].settle(self.name)) is not None}
        self._as_text |= set(formed)  # Arrow's reader does not know these forms
        self.columns |= {name: guess.type for name, guess in guesses.items()} | formed
        self._held = held if held is not None and held.settle(dict(self.columns)) else None

    def _seen(
        self, cells: dict[str, pa.Array], repeated: Mapping[str, KnownTexts], texts: Collection[str]
    ) -> dict[str, pa.Array]:
        """Each different text of a block that may be new; cells of `repeated` columns become entries on the way.

        Where there are such columns, nothing has looked yet whether `texts` are UTF-8. All numbers and dates are.
        """
        seen = dict(cells)
        for name, column in cells.items():
            if name in repeated:
                with self._explained():
                    cells[name], seen[name] = repeated[name].entries(column)
            elif repeated and name in texts:
                self._check_texts(column)
        return seen

    def _check_texts(self, cells: pa.Array) -> None:
        """Refuse bytes that are no text in UTF-8."""
        with self._explained():
            cells.validate(full=True)

    def _repeated(self) -> frozenset[str]:
        """The columns of which many of the first rows have the same text."""
        with closing(self._parsed(list(self.columns), frozenset())) as batches:
            first = next(batches, None)
        if first is None:
            return frozenset()
        return frozenset(name for name in self.columns if name not in self._as_text and repeats(first.column(name)))

    def _refuse_open_quote(self, last: pa.RecordBatch | None) -> None:
        cell = None if last is None else last.column(last.num_columns - 1)[-1].as_py()
        if cell is not None and cell.endswith("\n"):
            raise SchemaError(
                self.name, "every quotation mark must be closed", got="one that is still open at the end of the file"
            ).with_hint('Inside a quoted cell, write a quotation mark as "".')

    def _read(
        self,
        columns: list[str],
        chunk_rows: int,
        encoded: frozenset[str],
    ) -> Iterator[pa.RecordBatch]:
        # A file is parsed in blocks of bytes.
        return self._parsed(columns, encoded) if self._held is None else self._held.read(columns, chunk_rows)

    def _parsed(
        self,
        columns: list[str],
        encoded: frozenset[str],
        checked: bool = True,  # noqa: FBT001, FBT002 - a plain fact
    ) -> Generator[pa.RecordBatch]:
        """Some columns, block by block; texts of `encoded` ones as entries of dictionaries.

        `checked` says whether to look that texts are UTF-8.
        """
        if self._bare:
            return
        kinds = {name: pa.string() if name in self._as_text else self.columns[name] for name in columns}
        kinds |= {name: _ENTRIES for name in columns if name in encoded and self.columns[name] == pa.string()}
        with self._explained(), self._stream() as stream:
            yield from pacsv.open_csv(
                stream,
                read_options=pacsv.ReadOptions(
                    use_threads=False,  # otherwise messages lack the number of the row
                    block_size=_BLOCK_BYTES,
                    skip_rows=self._skipped_lines,
                    column_names=list(self.columns),
                    skip_rows_after_names=self._skip,
                ),
                parse_options=pacsv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
                convert_options=pacsv.ConvertOptions(
                    include_columns=columns,
                    column_types=kinds,
                    null_values=[""],
                    strings_can_be_null=True,
                    true_values=list(TRUE_WORDS),
                    false_values=list(FALSE_WORDS),
                    check_utf8=checked,
                ),
            )

    def _stream(self) -> pa.NativeFile:
        return text_stream(self._path, self._encoding)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Replace Arrow's messages, which quote cells, with ours, which do not."""
        owner = self._path.name
        try:
            yield
        except UnicodeError:
            raise misfit(self._path, self._encoding) from None
        except pa.ArrowInvalid as error:
            raise self._explain(str(error)) from None
        except (OSError, pa.ArrowException) as error:
            if lacks_memory(error):
                raise not_enough_memory(owner) from None
            raise SchemaError(owner, "the file must be readable to its end", got="a damaged one").with_hint(
                "Copy or compress the file again."
            ) from None

    def _explain(self, message: str) -> SchemaError:
        owner = self._path.name
        ragged = _RAGGED.search(message)
        if ragged:
            row, expected, got = ragged.groups()
            return SchemaError(
                owner, f"every row must have {expected} cells as the header does", got=f"{got} in row {row}"
            ).with_hint(
                self._title_hint()
                or f"The header is row {self._skipped_lines + 1}; quote cells that contain the delimiter."
            )
        if "UTF8" in message:
            return misfit(self._path, self._encoding)
        if "straddling" in message:
            return SchemaError(
                owner, f"a row must be shorter than {_BLOCK_BYTES >> 20} MB", got="a longer one"
            ).with_hint("Look for a quotation mark that is not closed.")
        return SchemaError(owner, "the file must be a well-formed table", got="one that cannot be read").with_hint(
            "Check the delimiter and the quotation marks."
        )


def _as_guessed(cells: Mapping[str, pa.Array], guesses: Mapping[str, TypeGuess]) -> pa.RecordBatch:
    """Cells as values of the types that they allow so far; those of dictionaries stay texts."""
    arrays = [
        guesses[name].as_values(array) if name in guesses and array.type == pa.string() else array
        for name, array in cells.items()
    ]
    return pa.RecordBatch.from_arrays(arrays, names=list(cells))

"""Comma-, semicolon- and tab-separated files, plain or compressed with gzip."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.csv as pacsv

from ldiversity.base.memory import lacks_memory, not_enough_memory
from ldiversity.base.progress import reading
from ldiversity.errors import SchemaError
from ldiversity.tables._csv_types import FALSE_WORDS, TRUE_WORDS, TypeGuess
from ldiversity.tables._source import Source, check_header
from ldiversity.tables._type_names import declared_types

__all__ = ["CsvSource"]

_BLOCK_BYTES: Final = 1 << 20  # Arrow reads up to 32 blocks ahead
_HEAD_BYTES: Final = 1 << 20
_DELIMITERS: Final = (",", ";", "\t")
_RAGGED: Final = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


class CsvSource(Source):
    """A text file with one row per line and the column names in the first line.

    The first pass reads every cell as text and settles the types over the whole file; later passes convert to these
    types. An empty cell is missing; words such as ``NA`` stay texts.
    """

    def __init__(self, path: Path, types: Mapping[str, str] | None = None) -> None:
        self._path = path
        self._gzip = path.suffix.lower() == ".gz"
        tab = ".tsv" in [suffix.lower() for suffix in path.suffixes]
        with _without_cells(path.name):
            self._delimiter, names, self._skip, self._bare = self._read_header("\t" if tab else None)
        texts = dict.fromkeys(names, pa.string())
        super().__init__(path.name, texts, n_rows=0)
        declared = declared_types(self.name, types, texts)
        self._as_text = frozenset(declared)
        self.columns |= declared
        # Last, because reading needs the delimiter, the names and the declared types.
        self._settle_types()

    def _read_header(self, delimiter: str | None) -> tuple[str, list[str], int, bool]:
        """Return the delimiter, the names, the number of rows before the data, and whether there are no data."""
        with self._stream() as stream:
            head = stream.read(_HEAD_BYTES)
        text = _decode_head(self._path.name, head)
        if not text.strip("\r\n"):
            raise SchemaError(
                self._path.name, "the file must have a row of column names", got="an empty file"
            ).with_hint("Check that the right file was saved completely.")
        options = {sep: _first_rows(text, sep) for sep in ([delimiter] if delimiter else _DELIMITERS)}
        chosen = max(options, key=lambda sep: len(options[sep][0]))
        names, skip, bare = options[chosen]
        checked = check_header(self._path.name, names)
        return chosen, checked, skip, bare and len(head) < _HEAD_BYTES

    def _settle_types(self) -> None:
        guesses = {name: TypeGuess() for name in self.columns if name not in self._as_text}
        last: pa.RecordBatch | None = None
        n_rows = 0
        step = reading(None if self._gzip else self._path.stat().st_size)
        for batch in self._read(list(self.columns), 0, frozenset()):
            step(batch.nbytes)
            for name, guess in guesses.items():
                guess.see(batch.column(name))
            for name in self._as_text:  # refuse now what does not fit, not halfway through the work
                self._convert(name, batch.column(name))
            n_rows += batch.num_rows
            last = batch if batch.num_rows else last
        self._refuse_open_quote(last)
        self.n_rows = n_rows
        self.columns |= {name: guess.type for name, guess in guesses.items()}

    def _refuse_open_quote(self, last: pa.RecordBatch | None) -> None:
        cell = None if last is None else last.column(last.num_columns - 1)[-1].as_py()
        if cell is not None and cell.endswith("\n"):
            raise SchemaError(
                self.name, "every quotation mark must be closed", got="one that is still open at the end of the file"
            ).with_hint('Inside a quoted cell, write a quotation mark as "".')

    def _read(
        self,
        columns: list[str],
        chunk_rows: int,  # noqa: ARG002 - blocks of bytes
        encoded: frozenset[str],  # noqa: ARG002 - same
    ) -> Iterator[pa.RecordBatch]:
        if self._bare:
            return
        kinds = {name: pa.string() if name in self._as_text else self.columns[name] for name in columns}
        with _without_cells(self.name), self._stream() as stream:
            yield from pacsv.open_csv(
                stream,
                read_options=pacsv.ReadOptions(
                    use_threads=False,  # otherwise messages lack the number of the row
                    block_size=_BLOCK_BYTES,
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
                ),
            )

    def _stream(self) -> pa.NativeFile:
        return pa.input_stream(str(self._path), compression="gzip" if self._gzip else None)


def _first_rows(text: str, delimiter: str) -> tuple[list[str], int, bool]:
    """Return the names, the number of rows up to the names, and whether nothing follows them."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    names: list[str] = []
    skip = 0
    try:
        for row in rows:
            if names and row:
                return names, skip, False
            if not names:
                skip += 1
                names = row
    except csv.Error:  # a cell is too long for this reader: it is data, or there is no header
        return names, skip, False
    return names, skip, True


def _decode_head(owner: str, head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in head[:1024]:
        raise _not_utf8(owner)
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4 or len(head) < _HEAD_BYTES:  # otherwise the head only ends inside a character
            raise _not_utf8(owner) from None
        return head[: error.start].decode("utf-8-sig")


def _not_utf8(owner: str) -> SchemaError:
    return SchemaError(owner, "the file must be UTF-8 text", got="bytes that are not").with_hint(
        'Save it again with the encoding "UTF-8" (in Excel: "CSV UTF-8").'
    )


@contextmanager
def _without_cells(owner: str) -> Iterator[None]:
    """Replace Arrow's messages, which quote cells, with ours, which do not."""
    try:
        yield
    except pa.ArrowInvalid as error:
        raise _explain(owner, str(error)) from None
    except (OSError, pa.ArrowException) as error:
        if lacks_memory(error):
            raise not_enough_memory(owner) from None
        raise SchemaError(
            owner, "the file must be readable to its end", got="a damaged one", hint="Copy or compress the file again."
        ) from None


def _explain(owner: str, message: str) -> SchemaError:
    ragged = _RAGGED.search(message)
    if ragged:
        row, expected, got = ragged.groups()
        return SchemaError(
            owner, f"every row must have {expected} cells as the header does", got=f"{got} in row {row}"
        ).with_hint("The header is row 1; quote cells that contain the delimiter.")
    if "UTF8" in message:
        return _not_utf8(owner)
    if "straddling" in message:
        return SchemaError(owner, f"a row must be shorter than {_BLOCK_BYTES >> 20} MB", got="a longer one").with_hint(
            "Look for a quotation mark that is not closed."
        )
    return SchemaError(owner, "the file must be a well-formed table", got="one that cannot be read").with_hint(
        "Check the delimiter and the quotation marks."
    )

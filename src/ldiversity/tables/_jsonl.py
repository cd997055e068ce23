"""JSON lines: one JSON object per line, plain or compressed with gzip."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pajson

from ldiversity.base.memory import lacks_memory, not_enough_memory
from ldiversity.base.progress import reading
from ldiversity.errors import SchemaError
from ldiversity.sentences import type_word
from ldiversity.tables._encodings import misfit, text_stream
from ldiversity.tables._opened import OpenedFile
from ldiversity.tables._read_options import USUAL_READING, ReadOptions
from ldiversity.tables._source import Source, check_names, plain_type
from ldiversity.tables._type_names import declared_types

__all__ = ["JsonLinesSource"]

_BLOCK_BYTES: Final = 4 << 20
_EXACT_FLOAT: Final = float(2**53)
_ROW: Final = re.compile(r"^(?:JSON parse error: )?(.*?)\.? in row (\d+)$")


class JsonLinesSource(Source):
    """A file with one JSON object per line; a key that a line leaves out is missing there.

    The first pass settles the types over the whole file. Texts stay texts, even if they look like dates.
    """

    understands: ClassVar = frozenset({"encoding"})

    def __init__(self, path: Path, types: Mapping[str, str] | None = None, read: ReadOptions = USUAL_READING) -> None:
        self._path, self._opened = path, OpenedFile.at(path)
        self._encoding = read.encoding
        self._gzip = path.suffix.lower() == ".gz"
        super().__init__(path.name, {})
        kinds: dict[str, pa.DataType] = {}
        n_rows = 0
        step = reading(None if self._gzip else path.stat().st_size)
        for block in self._blocks():
            step(len(block))
            table = self._parse(block, n_rows, None)
            for name, kind in zip(table.schema.names, table.schema.types, strict=True):
                kinds[name] = self._unify(name, kinds.get(name, pa.null()), _kind(kind))
                self._refuse_wide(name, table.column(name), block)
            n_rows += table.num_rows
        if not kinds:
            raise SchemaError(self.name, "the file must have at least one object with a key", got="none").with_hint(
                "Write one JSON object per line."
            )
        check_names(self.name, list(kinds))
        self.n_rows = n_rows
        self._stored = {name: pa.string() if kind == pa.null() else kind for name, kind in kinds.items()}
        self.columns = {name: plain_type(kind) for name, kind in self._stored.items()}
        self.columns |= declared_types(self.name, types, self.columns)

    def _read(
        self,
        columns: list[str],
        chunk_rows: int,  # noqa: ARG002 - blocks of bytes
        encoded: frozenset[str],  # noqa: ARG002 - same
    ) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([(name, self._stored[name]) for name in columns])
        n_rows = 0
        for block in self._blocks():
            table = self._parse(block, n_rows, schema)
            n_rows += table.num_rows
            yield from table.to_batches()

    def _blocks(self) -> Iterator[bytes]:
        """Read the file in blocks that end where a line ends."""
        rest = b""
        try:
            with text_stream(self._path, self._encoding) as stream:
                while read := stream.read(_BLOCK_BYTES):
                    end = read.rfind(b"\n") + 1
                    if end:
                        yield rest + read[:end]
                        rest = read[end:]
                    else:
                        rest += read
        except UnicodeError:
            raise misfit(self._path, self._encoding) from None
        except (OSError, pa.ArrowException) as error:
            if lacks_memory(error):
                raise not_enough_memory(self.name) from None
            raise SchemaError(self.name, "the file must be readable to its end", got="a damaged one").with_hint(
                "Copy or compress the file again."
            ) from None
        if rest.strip():
            yield rest

    def _parse(self, block: bytes, before: int, schema: pa.Schema | None) -> pa.Table:
        try:
            block.decode()
        except UnicodeDecodeError:
            raise misfit(self._path, self._encoding) from None
        if not block.strip():
            return pa.table({})
        try:
            return pajson.read_json(
                io.BytesIO(block),
                read_options=pajson.ReadOptions(use_threads=False, block_size=len(block) + 1),
                parse_options=pajson.ParseOptions(
                    explicit_schema=schema,
                    unexpected_field_behavior="infer" if schema is None else "ignore",
                ),
            )
        except pa.ArrowException as error:
            if lacks_memory(error):
                raise not_enough_memory(self.name) from None
            raise self._explain(str(error), before) from None

    def _explain(self, message: str, before: int) -> SchemaError:
        match = _ROW.match(message)
        reason, row = (match[1], before + int(match[2]) + 1) if match else ("unreadable", before + 1)
        changed = re.fullmatch(r"Column\((.*)\) changed from (.*) to (.*)", reason)
        if changed and changed[1]:
            return self._mixed(
                changed[1].strip("/"), f"{type_word(changed[3])} after {type_word(changed[2])} in row {row}"
            )
        return SchemaError(
            self.name, "every line must be one JSON object with distinct keys", got=f"something else in row {row}"
        ).with_hint("Write one object per line, without commas between the lines.")

    def _mixed(self, column: str, what: str) -> SchemaError:
        return SchemaError(self.name, "must hold values of one type", column=column, got=what).with_hint(
            "Write all of its values as texts, or all as numbers."
        )

    def _unify(self, name: str, earlier: pa.DataType, later: pa.DataType) -> pa.DataType:
        try:
            return pa.unify_schemas(
                [pa.schema([(name, earlier)]), pa.schema([(name, later)])], promote_options="permissive"
            ).types[0]
        except pa.ArrowException:
            raise self._mixed(name, f"{type_word(later)} after {type_word(earlier)}") from None

    def _refuse_wide(self, name: str, column: pa.ChunkedArray, block: bytes) -> None:
        if not pa.types.is_floating(column.type):
            return
        if not pc.any(pc.greater_equal(pc.abs(column), _EXACT_FLOAT), min_count=0).as_py():
            return
        key = re.escape(json.dumps(name, ensure_ascii=False).encode())
        if re.search(key + rb"\s*:\s*-?[0-9]{16,}\s*[,}]", block):
            raise SchemaError(
                self.name, "must hold numbers that fit their type", column=name, got="integers too wide for it"
            ).with_hint("Write them as texts, in quotation marks.")


def _kind(kind: pa.DataType) -> pa.DataType:
    # Arrow reads texts that look like times as times; we keep them as texts.
    return pa.string() if pa.types.is_timestamp(kind) else kind

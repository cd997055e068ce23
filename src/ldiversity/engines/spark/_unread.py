"""Why Spark does not read some Parquet files that Arrow reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa

from ldiversity.base.checks import name_some
from ldiversity.errors import SchemaError
from ldiversity.sentences import Parameter, say

__all__ = ["why_not_read", "without_content"]

_MOST_FILES: Final = 100
_MOST_DIGITS: Final = 38


def why_not_read(path: Path) -> SchemaError:
    """The error about files that Spark refused, and what is wrong with them, as far as this machine sees it."""
    for file in _some_files(path):
        if _is_empty(file):
            return without_content(file.name)
    for schema in _schemas(path):
        often = Counter(name.lower() for name in schema.names)
        alike = [name for name in schema.names if often[name.lower()] > 1]
        if alike:
            return SchemaError(
                path.name, "names of columns must differ in more than large and small letters", got=name_some(alike)
            ).with_hint(say("Rename one, or leave {} out.", Parameter("engine")))
        for field in schema:
            if _is_foreign(field.type):
                return SchemaError(
                    path.name, "must have a type that Spark reads", column=field.name, got=str(field.type)
                ).with_hint(
                    say(
                        "Write the file with another type, such as times of microseconds, or leave {} out.",
                        Parameter("engine"),
                    )
                )
    return SchemaError(path.name, "must be whole Parquet files that Spark can read").with_hint(
        "Spark reads Parquet; other files are read without it, or are converted first."
    )


def without_content(name: str) -> SchemaError:
    """The error for a file that Spark passes over or refuses; one without rows has a few bytes, which say so."""
    return SchemaError("table", f"file {name!r} must be a whole Parquet file", got="none of its bytes").with_hint(
        "Write it again, or move it elsewhere if it never held a row."
    )


def _some_files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(path.glob("*.parquet"))[:_MOST_FILES]


def _is_empty(file: Path) -> bool:
    try:
        return file.stat().st_size == 0
    except OSError:
        return False


def _schemas(path: Path) -> Iterator[pa.Schema]:
    import pyarrow.parquet as pq

    try:
        for file in _some_files(path):
            yield pq.read_schema(file)
    except (OSError, pa.ArrowException):
        return


def _is_foreign(kind: pa.DataType) -> bool:
    """Whether Spark does not read a type, or one within it."""
    if pa.types.is_nested(kind):
        return any(_is_foreign(kind.field(place).type) for place in range(kind.num_fields))
    return bool(
        (pa.types.is_timestamp(kind) and kind.unit == "ns")
        or pa.types.is_time(kind)
        or pa.types.is_float16(kind)
        or (pa.types.is_decimal(kind) and kind.precision > _MOST_DIGITS)
    )

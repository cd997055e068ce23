"""Where files and frames become Arrow batches and codes, and codes become values again."""

from __future__ import annotations

from ldiversity.tables._bins import Bins, locate, numbers_of
from ldiversity.tables._coder import Coder
from ldiversity.tables._column_values import ColumnValues, column_values
from ldiversity.tables._csv import CsvSource
from ldiversity.tables._excel import ExcelSource
from ldiversity.tables._files import FILE_ENDINGS
from ldiversity.tables._fit import COUNT, count_values, fit_coder, sensitive_type
from ldiversity.tables._frame_kinds import Frame_co, PandasFrame, PolarsFrame, PolarsTable
from ldiversity.tables._frames import check_frame_kind, to_native
from ldiversity.tables._guard import guarded
from ldiversity.tables._ipc import IpcSource
from ldiversity.tables._jsonl import JsonLinesSource
from ldiversity.tables._matching import matcher
from ldiversity.tables._no_value import NO_VALUE_MARKS, count_marks, empty_marks, say_no_values
from ldiversity.tables._noticed import Noticed, notice_texts, refuses_dates
from ldiversity.tables._open import is_spark_frame, open_source, options_for
from ldiversity.tables._parquet import ParquetSource
from ldiversity.tables._read_options import USUAL_READING, GivenReadOptions, ReadOptions, as_read_options
from ldiversity.tables._rechunk import rechunk
from ldiversity.tables._roles import Suggestion, check_roles, suggest_role
from ldiversity.tables._rows_per_id import RowsPerId, rows_per_id
from ldiversity.tables._selected import Missing, SelectedRows, with_values
from ldiversity.tables._sensitive import MISSING_POLICIES, Sensitive, as_sensitive
from ldiversity.tables._separation import Combination, SampledRows, separate, smallest_combinations
from ldiversity.tables._sets import decode_entries, decode_sets, encode_sets, encode_values, short_texts
from ldiversity.tables._short_texts import MANY_CELLS, ShortTexts
from ldiversity.tables._source import DEFAULT_CHUNK_ROWS, Source, check_names, plain_type, unknown_column
from ldiversity.tables._spreadsheet import write_spreadsheet
from ldiversity.tables._summary import ColumnSummary, summarize_columns
from ldiversity.tables._type_names import TYPE_NAMES, TYPE_WORDS, column_types
from ldiversity.tables._typed_roles import (
    ColumnTexts,
    Reading,
    ReadingTexts,
    Roles,
    read_reading,
    read_roles,
    reading_words,
    role_words,
)
from ldiversity.tables._values import Tally, domain_array, python_rows, time_texts, to_values, value_type
from ldiversity.tables._weights import sampling_weights, stratum_numbers

__all__ = [
    "COUNT",
    "DEFAULT_CHUNK_ROWS",
    "FILE_ENDINGS",
    "MANY_CELLS",
    "MISSING_POLICIES",
    "NO_VALUE_MARKS",
    "TYPE_NAMES",
    "TYPE_WORDS",
    "USUAL_READING",
    "Bins",
    "Coder",
    "ColumnSummary",
    "ColumnTexts",
    "ColumnValues",
    "Combination",
    "CsvSource",
    "ExcelSource",
    "Frame_co",
    "GivenReadOptions",
    "IpcSource",
    "JsonLinesSource",
    "Missing",
    "Noticed",
    "PandasFrame",
    "ParquetSource",
    "PolarsFrame",
    "PolarsTable",
    "ReadOptions",
    "Reading",
    "ReadingTexts",
    "Roles",
    "RowsPerId",
    "SampledRows",
    "SelectedRows",
    "Sensitive",
    "ShortTexts",
    "Source",
    "Suggestion",
    "Tally",
    "as_read_options",
    "as_sensitive",
    "check_frame_kind",
    "check_names",
    "check_roles",
    "column_types",
    "column_values",
    "count_marks",
    "count_values",
    "decode_entries",
    "decode_sets",
    "domain_array",
    "empty_marks",
    "encode_sets",
    "encode_values",
    "fit_coder",
    "guarded",
    "is_spark_frame",
    "locate",
    "matcher",
    "notice_texts",
    "numbers_of",
    "open_source",
    "options_for",
    "plain_type",
    "python_rows",
    "read_reading",
    "read_roles",
    "reading_words",
    "rechunk",
    "refuses_dates",
    "role_words",
    "rows_per_id",
    "sampling_weights",
    "say_no_values",
    "sensitive_type",
    "separate",
    "short_texts",
    "smallest_combinations",
    "stratum_numbers",
    "suggest_role",
    "summarize_columns",
    "time_texts",
    "to_native",
    "to_values",
    "unknown_column",
    "value_type",
    "with_values",
    "write_spreadsheet",
]

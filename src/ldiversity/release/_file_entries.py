"""What ``release.json`` says about the other files of the folder."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ldiversity.base.limits import MOST_FILES
from ldiversity.release._entry import Entry, SparseEntry, Text

__all__ = ["DataEntry", "FileEntry", "TableEntry"]

_Count = Annotated[int, Field(ge=0)]
_Sum = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class FileEntry(Entry):
    """One of several files."""

    file: Annotated[str, Field(pattern=r"^(data|sensitive_[1-9][0-9]{0,4})(_[1-9][0-9]{0,5})?\.(parquet|csv)$")]
    rows: _Count
    bytes: _Count
    sha256: _Sum


_Files = Annotated[list[FileEntry], Field(min_length=2, max_length=MOST_FILES, fail_fast=True)]


class _OneOrSeveral(SparseEntry):
    """Rows in one file, as in the first version, or in several."""

    @property
    def parts(self) -> list[FileEntry]:
        """All files, in the order of their rows."""
        files: list[FileEntry] | None = getattr(self, "files", None)
        if files is not None:
            return files
        said = {name: getattr(self, name) for name in ("file", "rows", "bytes", "sha256")}
        return [FileEntry.model_validate(said)]

    @property
    def is_one(self) -> bool:
        """Whether there is one file, which the first version can tell."""
        return getattr(self, "files", None) is None

    def check_parts(self, stem: str, data_format: str) -> None:
        """Refuse files with other names than this one's, and sums that are not theirs."""
        files: list[FileEntry] | None = getattr(self, "files", None)
        named = {getattr(self, name, None) is not None for name in ("file", "sha256")}
        if named != {files is None}:
            raise ValueError("must have either file and sha256 or files")
        names = [part.file for part in self.parts]
        expected = [f"{stem}.{data_format}"]
        if files is not None:
            expected = [f"{stem}_{number}.{data_format}" for number in range(1, len(files) + 1)]
        if names != expected:
            raise ValueError(f"must have files with the names {expected[0]}, ..., each once and in order")
        for total in ("rows", "bytes"):
            if sum(getattr(part, total) for part in self.parts) != getattr(self, total):
                raise ValueError(f"must have as many {total} as its files together")


class DataEntry(_OneOrSeveral):
    """The file with the rows, or several."""

    later = frozenset({"file", "sha256", "files"})
    file: Literal["data.parquet", "data.csv"] | None = Field(default=None, description="Where there is one file.")
    format: Literal["parquet", "csv"]
    layout: Literal["sets", "exploded", "generalized", "bucketized"] = Field(
        description="sets: one row per record; exploded: one row per member of a record's set; generalized: one row "
        "per record, alike within a class; bucketized: one row per record, values in tables of their own."
    )
    rows: _Count = Field(description="Of all files together.")
    bytes: _Count = Field(description="Of all files together.")
    sha256: _Sum | None = Field(default=None, description="Where there is one file.")
    files: _Files | None = Field(
        default=None, description="Version 2, where there are several files: data_1, data_2, ..., in this order."
    )

    @model_validator(mode="after")
    def _check(self) -> DataEntry:
        self.check_parts("data", self.format)
        return self


class TableEntry(_OneOrSeveral):
    """The file with the values of one sensitive attribute, or several: class, value and count."""

    later = frozenset({"file", "sha256", "files"})
    attribute: Text
    file: Annotated[str, Field(pattern=r"^sensitive_[1-9][0-9]{0,4}\.(parquet|csv)$")] | None = Field(
        default=None, description="Where there is one file."
    )
    rows: _Count = Field(description="Of all files together.")
    bytes: _Count = Field(description="Of all files together.")
    sha256: _Sum | None = Field(default=None, description="Where there is one file.")
    files: _Files | None = Field(
        default=None, description="Version 2, where there are several files, in the order of classes and values."
    )

    @model_validator(mode="after")
    def _check(self) -> TableEntry:
        first = self.files[0].file if self.files else self.file or ""
        stem, _, data_format = first.partition(".")
        self.check_parts(stem.rpartition("_")[0] if self.files else stem, data_format)
        return self

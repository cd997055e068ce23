"""Reading the rows of a release folder that may come from a stranger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from ldiversity.base.arrays import CodeArray, SetArray, all_ascend
from ldiversity.mechanisms import SetMechanism
from ldiversity.release._batches import RowBatch
from ldiversity.release._coded import code_column, code_set_columns, member_names, parse_type
from ldiversity.release._damage import damage, damaged
from ldiversity.release._description import Format, SetLayout
from ldiversity.release._files import DataFiles, Identity, Listed, Reader, gather, identity_of
from ldiversity.release._forms import Form
from ldiversity.release._own_cells import own_cells, own_type
from ldiversity.schema import Role, Schema
from ldiversity.tables import MANY_CELLS, ShortTexts, encode_sets, short_texts

__all__ = ["FolderData"]


@dataclass(frozen=True)
class FolderData:
    """The rows of a folder, read column by column when they are asked for."""

    folder: Path
    files: Sequence[Listed]
    data_format: Format
    layout: SetLayout
    schema: Schema
    mechanisms: Mapping[str, SetMechanism]
    forms: Mapping[str, Form] = field(default_factory=dict)
    reader: Reader | None = None
    _seen: Identity | None = field(init=False, repr=False, compare=False)
    _known: dict[str, ShortTexts | None] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_seen", identity_of(self.folder))

    def anywhere(self) -> FolderData:
        """The same for readers on other machines, where the folder has another identity."""
        same = replace(self)
        object.__setattr__(same, "_seen", None)
        return same

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Published columns that are not sensitive, in row order."""
        types = self._arrow_types(names)
        batches = (own_cells(batch, types, self.schema, self.forms) for batch in self.file.batches(list(names)))
        return gather(batches, types, self.file.n_rows)

    def sets(self, attribute: str) -> SetArray:
        """All sets of an attribute, shape (n, l), members in code order."""
        parts = [_ascending(sets, attribute) for sets in self.iterate_sets(attribute)]
        return np.concatenate(parts) if parts else np.empty((0, self.mechanisms[attribute].l), dtype=np.int32)

    def iterate_sets(self, attribute: str) -> Iterator[SetArray]:
        """The sets of an attribute as they were written, a batch at a time."""
        for batch in self.file.batches(self.published(attribute)):
            yield self.sets_in(batch, attribute)

    def members(self, attribute: str) -> CodeArray:
        """The codes of an exploded attribute, one a row."""
        parts = [self._members_in(batch, attribute) for batch in self.file.batches([attribute])]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)

    def batches(self, names: Sequence[str], attributes: Sequence[str]) -> Iterator[RowBatch]:
        """Columns that are not sensitive, and sets or members of attributes, some rows at a time."""
        types = self._arrow_types(names)
        published = [column for attribute in attributes for column in self.published(attribute)]
        for batch in self.file.batches([*names, *published]):
            codes = {attribute: self._codes_in(batch, attribute) for attribute in attributes}
            yield RowBatch(batch.num_rows, own_cells(batch, types, self.schema, self.forms), codes)

    def published(self, attribute: str) -> list[str]:
        """The columns of the file that hold an attribute."""
        as_columns = self.data_format == "csv" and self.layout == "sets"
        return member_names(attribute, self.mechanisms[attribute].l) if as_columns else [attribute]

    def _codes_in(self, batch: pa.Table, attribute: str) -> SetArray | CodeArray:
        if self.layout == "exploded":
            return self._members_in(batch, attribute)
        return _ascending(self.sets_in(batch, attribute), attribute)

    def sets_in(self, batch: pa.Table, attribute: str) -> SetArray:
        """The sets of an attribute in some rows of the file, as they were written."""
        domain, kind = self.schema.domain(attribute), parse_type(self.schema[attribute].type)
        l = self.mechanisms[attribute].l
        with damage(attribute):
            if self.data_format == "csv":
                members = [batch.column(name) for name in member_names(attribute, l)]
                return code_set_columns(members, domain, kind, self._known_texts(attribute))
            sets = encode_sets(batch.column(attribute), domain, as_written=True)
        if len(sets) and sets.shape[1] != l:
            raise damaged(f"column {attribute!r} must hold sets of {l} values")
        return sets

    def _known_texts(self, attribute: str) -> ShortTexts | None:
        """The values of an attribute whose members are many texts."""
        many = self.mechanisms[attribute].l * sum(one.rows for one in self.files) > MANY_CELLS
        if many and attribute not in self._known:
            self._known[attribute] = short_texts(self.schema.domain(attribute))
        return self._known.get(attribute)

    def _members_in(self, batch: pa.Table, attribute: str) -> CodeArray:
        domain, kind = self.schema.domain(attribute), parse_type(self.schema[attribute].type)
        with damage(attribute):
            return code_column(batch.column(attribute), domain, kind)

    @property
    def file(self) -> DataFiles:
        """The file of the rows, or several."""
        longest = max(mechanism.l for mechanism in self.mechanisms.values())
        types = self._csv_types()
        return DataFiles(self.folder, self.files, self.data_format, types, longest, self._seen, self.reader)

    def _csv_types(self) -> dict[str, pa.DataType]:
        types: dict[str, pa.DataType] = {}
        for attribute in self.schema.attributes:
            if attribute.role is not Role.SENSITIVE:
                types[attribute.name] = own_type(attribute.name, self.schema, self.forms)
                continue
            types.update(dict.fromkeys(self.published(attribute.name), parse_type(attribute.type)))
        return types

    def _arrow_types(self, names: Sequence[str]) -> dict[str, pa.DataType]:
        return {name: own_type(name, self.schema, self.forms) for name in names}


def _ascending(sets: SetArray, attribute: str) -> SetArray:
    """Members in code order, so that no reader depends on the order of a file; a repeated one is damage."""
    if all_ascend(sets):
        return sets
    ordered: SetArray = np.sort(sets, axis=1)
    if bool((ordered[:, 1:] == ordered[:, :-1]).any()):
        raise damaged(f"column {attribute!r} must hold sets of distinct values")
    return ordered

"""What all parts of ``release.json`` share."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from ldiversity.base.limits import MOST_CHARACTERS

__all__ = ["Entry", "SparseEntry", "Text"]

Text: TypeAlias = Annotated[str, Field(max_length=MOST_CHARACTERS)]


class Entry(BaseModel):
    """A part of ``release.json`` that may come from a stranger."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, allow_inf_nan=False)


class SparseEntry(Entry):
    """Leaves out later fields that say nothing: readers of the first version do not know them."""

    later: ClassVar[frozenset[str]]

    @model_serializer(mode="wrap")
    def _without_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {key: value for key, value in serialize(self).items() if key not in self.later or value}

"""What the holder says about the columns of a table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypedDict, Unpack

from ldiversity.base.checks import check_keywords, column_name, column_names
from ldiversity.base.typed import join_assignment
from ldiversity.errors import ParameterError
from ldiversity.hierarchies import Hierarchy
from ldiversity.publish._grids import GivenGrid, check_grid, grid_words
from ldiversity.publish._hierarchies import is_made
from ldiversity.publish._level_texts import GivenLevel, as_level
from ldiversity.publish._levels import Level
from ldiversity.publish._method import locate, shorten
from ldiversity.tables import (
    TYPE_NAMES,
    TYPE_WORDS,
    GivenReadOptions,
    ReadOptions,
    Sensitive,
    as_read_options,
    as_sensitive,
    role_words,
)

__all__ = ["ColumnDecisions", "Columns"]

_OWNER = "Publication"
GivenHierarchy: TypeAlias = Hierarchy | str | os.PathLike[str]


class ColumnDecisions(TypedDict, total=False):
    """What may be said about columns, in every form that is accepted; `Publication` explains each."""

    quasi: str | Sequence[str]
    sensitive: str | Sensitive | Sequence[str | Sensitive]
    drop: str | Sequence[str]
    plain: str | Sequence[str]
    types: Mapping[str, str] | None
    read: GivenReadOptions
    hierarchies: Mapping[str, GivenHierarchy] | None
    levels: Mapping[str, GivenLevel] | None
    grid: GivenGrid | None
    person: str | None


@dataclass(frozen=True, init=False)
class Columns:
    """The roles of columns, and what is said about each, in one form.

    Examples
    --------
    >>> Columns(quasi="age", sensitive="disease", hierarchies={"age": "width:5/10"}).sensitive[0].name
    'disease'
    """

    quasi: tuple[str, ...]
    sensitive: tuple[Sensitive, ...]
    drop: tuple[str, ...]
    plain: tuple[str, ...]
    types: Mapping[str, str]
    read: ReadOptions
    hierarchies: Mapping[str, Hierarchy | str | Path]
    levels: Mapping[str, Level]
    grid: GivenGrid
    person: str | None

    def __init__(self, **said: Unpack[ColumnDecisions]) -> None:
        check_keywords(_OWNER, ColumnDecisions, said)
        person = said.get("person")
        self._set(
            quasi=tuple(column_names(_OWNER, "quasi", said.get("quasi", ()))),
            sensitive=tuple(as_sensitive(_OWNER, said.get("sensitive", ()))),
            drop=tuple(column_names(_OWNER, "drop", said.get("drop", ()))),
            plain=tuple(column_names(_OWNER, "plain", said.get("plain", ()))),
            types={column: _type(column, word) for column, word in (said.get("types") or {}).items()},
            read=as_read_options(_OWNER, said.get("read")),
            hierarchies={column: _hierarchy(one) for column, one in (said.get("hierarchies") or {}).items()},
            levels={column: as_level(column, one) for column, one in (said.get("levels") or {}).items()},
            grid=check_grid(_OWNER, said.get("grid")),
            person=None if person is None else column_name(_OWNER, "person", person),
        )

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def words(self) -> list[str]:
        """The same as options of the command line; a hierarchy without a file is shown as one."""
        words = list(
            role_words(
                quasi=self.quasi,
                sensitive=self.sensitive,
                drop=self.drop,
                plain=self.plain,
                types=self.types,
                read=self.read,
            )
        )
        for name, given in self.hierarchies.items():
            text = (
                f"{name}.csv" if isinstance(given, Hierarchy) else given if isinstance(given, str) else shorten(given)
            )
            words += ["--hierarchy", f"{join_assignment(name)}={text}"]
        for name, level in self.levels.items():
            words += ["--publish", f"{join_assignment(name)}={level}"]
        words += grid_words(self.grid)
        return [*words, *([] if self.person is None else ["--person", self.person])]


def _hierarchy(given: GivenHierarchy) -> Hierarchy | str | Path:
    """A hierarchy, how to make it, or the absolute path of its file."""
    if isinstance(given, Hierarchy):
        return given
    return str(given).strip() if is_made(given) else Path(locate(given.strip() if isinstance(given, str) else given))


def _type(column: str, word: str) -> str:
    """The word for a type that is offered, also when Arrow's name is given."""
    if word not in TYPE_NAMES:
        raise ParameterError(_OWNER, f"types[{column!r}] must be one of {', '.join(TYPE_WORDS)}", got=repr(word))
    return next(offered for offered in TYPE_WORDS if TYPE_NAMES[offered] == TYPE_NAMES[word])

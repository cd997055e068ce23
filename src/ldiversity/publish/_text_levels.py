"""Levels of texts: beginnings, nodes of a declared hierarchy, and nothing at all."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.limits import MOST_VALUES
from ldiversity.errors import SchemaError
from ldiversity.hierarchies import MATCHED_BY_TEXT, Hierarchy, check_unambiguous
from ldiversity.publish._levels import Level
from ldiversity.publish._method import shorten
from ldiversity.publish._shapes import leaf_texts, with_missing_leaf
from ldiversity.release import Form, Reach
from ldiversity.schema import MISSING_LABEL
from ldiversity.sentences import Setting, say

__all__ = ["PrefixLevel", "SuppressLevel", "TreeLevel"]

_ROOT: Final = "*"


@dataclass(frozen=True)
class PrefixLevel(Level):
    """The first characters of texts and whole numbers; a shorter text stays as it is.

    Examples
    --------
    >>> PrefixLevel(3).labels("zip", pa.array(["13053", "13068", "14"])).to_pylist()
    ['130*', '130*', '14']
    """

    length: int

    def __str__(self) -> str:
        return f"prefix:{self.length}"

    def check(self, name: str, kind: pa.DataType) -> None:
        """Refuse anything but texts and whole numbers."""
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind)):
            raise SchemaError(
                "levels", "must hold texts or whole numbers to be published by prefix", column=name, got=kind
            ).with_hint(say("Declare its type: {}.", Setting("types", (name, "text"))))

    def reach(self, label: str, kind: pa.DataType) -> Reach | None:  # noqa: ARG002 - texts are texts
        """All texts with this beginning; a text that is shorter is itself."""
        whole = len(label) == self.length + 1 and label.endswith("*")
        return Reach(starts=(label[:-1],)) if whole else None

    def _label(self, name: str, cells: pa.Array) -> pa.Array:
        texts = cells.cast(pa.string())
        if texts.null_count and pc.any(pc.equal(texts, MISSING_LABEL)).as_py():
            raise SchemaError(
                "table", f"must not have the text {MISSING_LABEL!r} beside missing values", column=name
            ).with_hint("Replace the text, or the missing values.")
        cut = pc.utf8_slice_codeunits(texts, 0, self.length)
        masked = pc.binary_join_element_wise(cut, pa.scalar("*"), "")
        return pc.if_else(pc.less(pc.utf8_length(texts), self.length), texts, masked)


@dataclass(frozen=True)
class TreeLevel(Level):
    """The nodes of a declared hierarchy at one level; level 1 are the parents of the values."""

    tree: Hierarchy | Path
    level: int

    def __str__(self) -> str:
        return f"{shorten(self.tree) if isinstance(self.tree, Path) else 'hierarchy'}:{self.level}"

    def form(self, name: str, shown: Iterable[str], kind: pa.DataType) -> Form:  # noqa: ARG002 - values are texts
        """The declared hierarchy whole, because the holder made it public."""
        tree = self.public_tree(missing=MISSING_LABEL in set(shown))
        return Form("node", hierarchy=tree, labels=tree.leaves)

    def ready(self) -> TreeLevel:
        """Read and check the hierarchy of its file."""
        tree = self.tree if isinstance(self.tree, Hierarchy) else Hierarchy.read(shorten(self.tree))
        if not 0 <= self.level < tree.depth:
            raise SchemaError(
                "levels", f"the level of a hierarchy must be from 0 to {tree.depth - 1}", got=self.level
            ).with_hint("Level 0 are the values, level 1 their parents; the highest is the root.")
        if len(tree) > MOST_VALUES:
            raise SchemaError("levels", f"a hierarchy must have at most {MOST_VALUES} values", got=len(tree))
        return TreeLevel(check_unambiguous(tree), self.level)

    def public_tree(self, *, missing: bool) -> Hierarchy:
        """The declared hierarchy; with a category of missing values if a published record needs it."""
        if not isinstance(self.tree, Hierarchy):
            raise TypeError(self.tree)
        return with_missing_leaf(self.tree) if missing and MISSING_LABEL not in self.tree else self.tree

    def check(self, name: str, kind: pa.DataType) -> None:
        """Take every column: values are matched by their text."""

    def _label(self, name: str, cells: pa.Array) -> pa.Array:
        encoded = cells.dictionary_encode()
        rows = {row[0]: row[self.level] for row in self.public_tree(missing=False).rows}
        found = [rows.get(text) for text in leaf_texts(encoded.dictionary, rows)]
        lacking = found.count(None)
        if lacking:
            raise SchemaError(
                "levels",
                f"every value of column {name!r} must be a leaf of its hierarchy",
                got=f"{lacking} that are not",
            ).with_hint(
                f"{MATCHED_BY_TEXT}; add a row for each. To see all values of the column, run: "
                f"ldiversity hierarchy TABLE --column {shlex.quote(name)}"
            )
        return pa.array(found, pa.string()).take(encoded.indices)


@dataclass(frozen=True)
class SuppressLevel(Level):
    """One label for everything, missing values included: the column is there, and says nothing.

    Examples
    --------
    >>> SuppressLevel().labels("zip", pa.array(["13053", None])).to_pylist()
    ['*', '*']
    """

    def __str__(self) -> str:
        return "suppress"

    def check(self, name: str, kind: pa.DataType) -> None:
        """Take every column."""

    def reach(self, label: str, kind: pa.DataType) -> Reach | None:  # noqa: ARG002 - there is one label
        """Anything."""
        return Reach(starts=("",))

    def _label(self, name: str, cells: pa.Array) -> pa.Array:  # noqa: ARG002 - nothing can be wrong
        return pa.array([_ROOT], pa.string()).take(pa.array([0] * len(cells), pa.int32()))

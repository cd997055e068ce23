"""Draw a tree as text."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from ldiversity.base.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["picture"]


def picture(rows: Sequence[tuple[str, ...]], most: int | None) -> str:
    """Draw rows ``leaf, ..., root`` as a tree from the root down, with at most `most` children per node.

    A node that is repeated up its path is drawn once.

    Examples
    --------
    >>> print(picture([("a", "x", "*"), ("b", "x", "*"), ("c", "c", "*")], 4))
    * (3 values)
    ├── x (2)
    │   ├── a
    │   └── b
    └── c
    """
    if not rows:
        return "(no values)"
    ordered = _ordered(rows)
    return "\n".join(
        [f"{ordered[0][-1]} ({counted(len(ordered), 'value')})", *_children(ordered, len(rows[0]) - 2, "", most)]
    )


def _ordered(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Bring the leaves of each node together, with nodes in order of appearance."""
    ordered = list(rows)
    for level in range(len(rows[0])):
        position = {label: number for number, label in enumerate(dict.fromkeys(row[level] for row in rows))}
        ordered.sort(key=lambda row, level=level, position=position: position[row[level]])  # type: ignore[misc]
    return ordered


def _children(rows: Sequence[tuple[str, ...]], level: int, indent: str, most: int | None) -> Iterator[str]:
    while level >= 0 and rows[0][level] == rows[0][level + 1] and len({row[level] for row in rows}) == 1:
        level -= 1  # a repeated label is one node
    if level < 0:
        return
    nodes = [(label, list(members)) for label, members in groupby(rows, key=lambda row: row[level])]
    shown = nodes if most is None else nodes[:most]
    n_hidden = len(nodes) - len(shown)
    for number, (label, members) in enumerate(shown):
        last = number == len(shown) - 1 and not n_hidden
        leaf = len(members) == 1 and members[0][0] == label
        yield f"{indent}{'└── ' if last else '├── '}{label}{'' if leaf else f' ({len(members)})'}"
        yield from _children(members, level - 1, indent + ("    " if last else "│   "), most)
    if n_hidden:
        yield f"{indent}└── and {n_hidden} more"

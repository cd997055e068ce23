"""What the holder should know about a publication. It is for the holder alone, and never part of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.checks import name_some
from ldiversity.base.numbers import counted
from ldiversity.mechanisms import SetMechanism
from ldiversity.publish._levels import Level
from ldiversity.release import what_changes_tell
from ldiversity.tables import Sensitive, Source

__all__ = [
    "domain_notes",
    "draw_notes",
    "hierarchy_notes",
    "holder_notes",
    "is_declared",
    "plain_notes",
    "raised_notes",
]


def is_declared(sensitive: Sensitive) -> bool:
    """Whether the domain was declared. Then it tells nothing about the table, and stays when the table changes.

    Examples
    --------
    >>> is_declared(Sensitive("income", width=100, low=0, high=2000)), is_declared(Sensitive("income", width=100))
    (True, False)
    """
    bounded = sensitive.width is not None and sensitive.low is not None and sensitive.high is not None
    return sensitive.domain is not None or sensitive.edges is not None or bounded


def holder_notes(
    source: Source,
    wanted: Sequence[Sensitive],
    counts: Mapping[str, NDArray[np.int64]],
    *,
    missing: Mapping[str, int] | None = None,
    without_role: Sequence[str],
) -> tuple[str, ...]:
    """Everything that deserves a second look, one sentence each."""
    notes = []
    if without_role:
        notes.append(f"Not published, because they were given no role: {name_some(without_role)}.")
    for sensitive in wanted:
        own = counts[sensitive.name]
        n_missing = None if source.n_rows is None else source.n_rows - int(own.sum())
        left_out = n_missing if missing is None else missing.get(sensitive.name)
        if sensitive.missing == "drop" and left_out:
            lost = counted(left_out, "row is", "rows are")
            notes.append(f"{sensitive.name}: {lost} not published, because the value is missing.")
    return tuple(notes)


def domain_notes(undeclared: Sequence[str]) -> tuple[str, ...]:
    """What each undeclared domain tells about the table."""
    return tuple(
        f"{name}: the domain was read off the table and becomes public, so it tells which values occur."
        for name in undeclared
    )


def hierarchy_notes(unused: Sequence[str]) -> tuple[str, ...]:
    """Which hierarchies have no effect, because their columns are published as they are."""
    if not unused:
        return ()
    kept = (
        f"The method publishes quasi-identifiers as they are, so the hierarchies of {name_some(unused)} change nothing."
    )
    return (f"{kept} To publish coarser values, choose a method that generalizes, such as bsgi.",)


def plain_notes(plain: Sequence[str], *, secrets: bool = True) -> tuple[str, ...]:
    """What plain columns tell beside classes; `secrets`: whether classes hide sensitive values."""
    if not plain:
        return ()
    said = f"Plain columns are published as they are, row by row: {name_some(plain)}."
    apart = ", but no sensitive value of the class is linked to them" if secrets else ""
    return (f"{said} Rows of a class can differ in them{apart}.",)


def raised_notes(declared: Mapping[str, Level], reached: Mapping[str, Level]) -> tuple[str, ...]:
    """Which levels were raised so that a promise about quasi-identifiers holds."""
    raised = [f"{name}={level}" for name, level in reached.items() if declared.get(name) != level]
    if not raised:
        return ()
    said = f"Levels were raised so that the promise about quasi-identifiers holds: {', '.join(raised)}."
    return (f"{said} That they are no lower tells readers that some record would have been too rare.",)


def draw_notes(
    undeclared: Sequence[str], mechanisms: Mapping[str, SetMechanism], *, keyed: bool, stable_order: bool
) -> list[str]:
    """What stays the same when draws belong to records or persons, and what a change tells; for the holder.

    A record gets the same set again only under the same domain.
    """
    notes = []
    if keyed and undeclared:
        notes.append(
            f"Draws are keyed, but the values of {name_some(undeclared)} were read off the table. One new value "
            "changes the domain, all sets are drawn again, and the two releases can be intersected. Declare the domain."
        )
    elif keyed:
        notes.append("Draws are keyed: a record with the same value shows the same set in every release made this way.")
    notes += [f"{name_some(names)}: {text}" for text, names in what_changes_tell(mechanisms).items()]
    if stable_order:
        notes.append(
            "The order of rows is stable: people stand in the same order in every release made with this key, so those "
            "who look alike can be linked between releases by their places."
        )
    return notes

"""Whether a table can be the one that a release was made from: attackers are scored with no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ldiversity.errors import ParameterError
from ldiversity.evaluation.attacks._matching import number_alike
from ldiversity.evaluation.audit import count_inside
from ldiversity.evaluation.measures import read_columns
from ldiversity.release import membership
from ldiversity.schema import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ldiversity.base.arrays import BoolArray
    from ldiversity.release import Release
    from ldiversity.tables import Source

__all__ = ["check_original"]


def check_original(release: Release, source: Source) -> None:
    """Refuse a table of which the release cannot be made: too few records, or none that fits a published row.

    A part of the table, or another version of it, would be scored as if the release were about its people, and every
    attack on it would fail.
    """
    names = release.schema.names(Role.QUASI)
    if not names or not release.n_rows or any(name not in source.columns for name in names):
        return  # nobody is looked up, or what needs the column says that it lacks
    people = read_columns("attack", source, names, release)
    fits = _regions_fit if release.generalized else _rows_fit
    if not fits(release, people, names).all():
        raise ParameterError(
            "attack",
            "original",
            "must be the table that the release was made from, but records of the release fit no row of it",
        ).with_hint(
            "Name the table as it was when it was published, with the same types of columns, or leave the original out."
        )


def _rows_fit(release: Release, people: pa.Table, names: Sequence[str]) -> BoolArray:
    """Whether somebody looks like each published row."""
    of_row, of_person = number_alike([release.columns(names), release.as_published(people)], names)
    here = np.zeros(int(max(of_row.max(initial=-1), of_person.max(initial=-1))) + 1, dtype=np.bool_)
    here[of_person] = True
    found: BoolArray = here[of_row]
    return found


def _regions_fit(release: Release, people: pa.Table, names: Sequence[str]) -> BoolArray:
    """Whether as many people lie in the region of each class as it has records."""
    (alike,) = number_alike([people], names)
    _, first, sizes = np.unique(alike, return_index=True, return_counts=True)
    different = people.take(pa.array(first))
    sides = [membership(release.region(name), different.column(name)) for name in names]
    own = release.evidence(release.subjects[0]).candidates.sizes
    found: BoolArray = count_inside(sides, [np.arange(len(own))] * len(names), sizes) >= own
    return found

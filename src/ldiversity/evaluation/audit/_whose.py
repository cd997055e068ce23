"""How many people a release's classes hold, where the holder has the table that says whose row each is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.errors import SchemaError
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._classes import check_people
from ldiversity.evaluation.audit._linking import as_published, pairs_alike
from ldiversity.evaluation.audit._numbering import number_rows, plain_cells
from ldiversity.evaluation.audit._sets import SetView
from ldiversity.evaluation.audit._tally import Tally, counts_of
from ldiversity.evaluation.audit._views import View
from ldiversity.release import Release, parse_type
from ldiversity.schema import Role
from ldiversity.tables import Coder, Source, unknown_column

__all__ = ["count_people_of"]

Ints: TypeAlias = NDArray[np.int64]


def count_people_of(seen: AttackerView, release: Release, original: Source, person: str) -> AttackerView:
    """See people instead of records: in `sizes`, everybody counts once in a class.

    Where quasi-identifiers are published as they were, or at a declared level, the number is exact. Where regions
    overlap, nothing says in which class a row of the original is. Then the fewest people are taken to whom as many rows
    of the region may belong as the class has records, so that nobody seems better hidden than they are. In a release
    whose holder said whose row each is, no class holds two rows of one person.
    """
    for name in (*seen.quasi, person):
        if name not in original.columns:
            raise unknown_column(original.name, name, original.columns, from_file=original.from_file)
    hidden = [
        one.name
        for one in release.schema.attributes
        if one.role is Role.SENSITIVE and one.domain is not None and None not in one.domain.values
    ]
    needed = [*seen.quasi, person, *(name for name in hidden if name in original.columns)]
    shown = as_published("original", original, release, needed)
    cells = _tallied(shown, needed, person, seen.quasi)
    whose, first = number_rows(cells, [person])
    rows, sizes = counts_of(cells), np.zeros(len(seen.sizes), dtype=np.int64)
    for classes, places in pairs_alike("original", seen, cells):
        pairs, back = np.unique(classes * len(first) + whose[places], return_inverse=True)
        own = np.rint(np.bincount(back.ravel(), weights=rows[places])).astype(np.int64)
        sizes += _fewest(pairs // len(first), own, seen.sizes)
    if not sizes.all():
        raise SchemaError(
            "audit", "original", "must be the table that the release was made from, but records of it fit no row"
        ).with_hint("Name the table as it was when it was published, with the same types of columns.")
    if release.person and seen.largest is not None:
        sizes = np.maximum(sizes, seen.largest)
    views = {name: _with_truth(view, release, original, name) for name, view in seen.views.items()}
    return replace(seen, sizes=sizes, views=views, n_rows=release.n_rows, n_people=len(first), person=person)


def _with_truth(view: View, release: Release, original: Source, name: str) -> View:
    """The view of sets with the frequencies of the original instead of estimated ones."""
    if not isinstance(view, SetView) or name not in original.columns:
        return view
    missing = "category" if None in view.domain.values else "drop"
    coder = Coder(name, view.domain, parse_type(release.schema[name].type), missing=missing)
    counts = np.zeros(len(view.domain), dtype=np.int64)
    for batch in original.batches([name]):
        codes = coder.codes(batch.column(name))
        counts += np.bincount(codes[codes >= 0], minlength=len(counts))
    return replace(view, estimated=counts, counted=True) if counts.any() else view


def _tallied(source: Source, needed: Sequence[str], person: str, quasi: Sequence[str]) -> pa.Table:
    """The different rows, with how often each occurs; rows without a value that the others need are not published."""
    names = list(dict.fromkeys(needed))
    counted = list(dict.fromkeys([*quasi, person]))
    tally = Tally(counted)
    for batch in source.batches(names):
        check_people(batch, person)
        rows = pa.table({name: plain_cells(batch.column(name)) for name in names})
        for name in names:
            if name not in counted:
                rows = rows.filter(rows.column(name).is_valid())
        tally.add(rows.select(counted))
    return tally.result()


def _fewest(class_of: Ints, rows: Ints, records: Ints) -> Ints:
    """For each class the fewest people to whom as many rows belong as it has records.

    `class_of` and `rows` have an entry for each person in the region of a class.

    Examples
    --------
    Three people have 3, 1 and 1 rows in a region: one of them may have all records of a class of 3.

    >>> _fewest(np.array([0, 0, 0, 1, 1]), np.array([1, 3, 1, 1, 1]), np.array([3, 2])).tolist()
    [1, 2]
    """
    order = np.lexsort((-rows, class_of))
    class_of, rows = class_of[order], rows[order]
    before = np.cumsum(rows) - rows
    begins = np.searchsorted(class_of, class_of)  # where the entries of its class begin
    counts = before - before[begins] < records[class_of] if len(rows) else np.zeros(0, dtype=np.bool_)
    return np.bincount(class_of[counts], minlength=len(records)).astype(np.int64)

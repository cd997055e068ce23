"""The classes of a release, as seen by an attacker who knows quasi-identifiers. The original is not needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.checks import name_some
from ldiversity.errors import ParameterError, SchemaError
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._classes import class_counts
from ldiversity.evaluation.audit._numbering import number_rows, plain_cells
from ldiversity.evaluation.audit._sets import ExplodedView, view_of
from ldiversity.evaluation.audit._tally import Tally, counts_of
from ldiversity.evaluation.audit._views import ClassView, View
from ldiversity.models import ClassCounts
from ldiversity.release import Release, RowBatch
from ldiversity.schema import Domain, Role

__all__ = [
    "CLASS",
    "CODE",
    "NOBODY",
    "chosen_columns",
    "keys_of",
    "plain_columns",
    "plain_table",
    "see_release",
    "seen_without_classes",
]

CODE: Final = "\0code"
CLASS: Final = "\0class"
_REGION: Final = "\0region"
NOBODY: Final = "\0nobody"
"""Columns of tallies; no column of a table has such a name."""

_AS_THEY_WERE: Final = "Quasi-identifiers are published as they were."
_OF_SETS: Final = "Classes of equal quasi-identifiers say who can be recognized; the sets say what can then be learned."
_OF_CLASSES: Final = (
    "Classes of equal quasi-identifiers say who can be recognized; the published classes of values say what can then "
    "be learned."
)


def see_release(release: Release, *, quasi: Sequence[str], sensitive: Sequence[str]) -> AttackerView:
    """See a release as an attacker who knows the columns `quasi` does; all columns when empty."""
    quasi, sensitive = chosen_columns(release, quasi, sensitive)
    if release.sensitive:
        see = _see_regions if release.generalized else _see_exact
        return replace(see(release, quasi, sensitive), confirmed=release.confirmed)
    # Records alone are grouped: who looks alike is all there is to see.
    seen = _see_regions(release, quasi, release.subjects)
    return replace(seen, views={}, by_class_id={}, confirmed=release.confirmed)


def chosen_columns(
    release: Release, quasi: Sequence[str], sensitive: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns that an audit looks at, of a release that has records."""
    quasi = _chosen("quasi", quasi, release.schema.names(Role.QUASI))
    sensitive = _chosen("sensitive", sensitive, release.sensitive)
    if not release.n_rows:
        raise SchemaError("release", "there must be at least one record to audit", got="none")
    return quasi, sensitive


def seen_without_classes(
    release: Release,
    quasi: tuple[str, ...],
    views: Mapping[str, tuple[View, View | None]],
    unseen: Mapping[str, int],
) -> AttackerView:
    """What is known of a release whose classes were judged some at a time; `views` are those of some classes."""
    return AttackerView(
        kind=release.layout,
        name="release",
        quasi=quasi,
        keys=pa.table({}),
        sizes=np.zeros(0, dtype=np.int64),
        views={name: view for name, (view, _) in views.items()},
        by_class_id={name: view for name, (_, view) in views.items() if view is not None},
        n_suppressed=release.suppressed,
        frame_kind=release.frame_kind,
        notes=() if release.generalized else _notes(release, quasi),
        unseen=unseen,
        confirmed=release.confirmed,
    )


def _notes(release: Release, quasi: Sequence[str]) -> tuple[str]:
    return (f"{_shown_as(release, quasi)} {_OF_CLASSES if release.grouped else _OF_SETS}",)


def _see_exact(release: Release, quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> AttackerView:
    """Count who looks alike apart from what is published about them: quasi-identifiers are exact."""
    apart = release.rows_per_record > 1
    people = Tally(quasi or [NOBODY])
    members = {name: Tally([*quasi, CODE]) for name in sensitive if apart}
    tallies = {name: release.tally(name) for name in sensitive if not apart}
    unseen = dict.fromkeys(sensitive, 0)
    for batch in release.batches(quasi, sensitive):
        cells = plain_columns(batch)
        people.add(cells)
        for name, of_members in members.items():
            of_members.add(cells.append_column(CODE, pa.array(batch.codes[name])))
        for tally in tallies.values():
            tally.add(batch)
        for name, class_of in batch.classes.items():
            unseen[name] += int(np.count_nonzero(class_of < 0))
    counted = people.result()
    _, first = number_rows(counted, quasi)
    views: dict[str, View] = {name: view_of(tally.result()) for name, tally in tallies.items()}
    for name, of_members in members.items():
        held = _counted(of_members.result(), quasi, release.domain(name))
        views[name] = ExplodedView.of(held, release.drawn_by(name))
    return AttackerView(
        kind=release.layout,
        name="release",
        quasi=quasi,
        keys=keys_of(counted, quasi, first),
        sizes=counts_of(counted)[first] // release.rows_per_record,
        views=views,
        n_suppressed=release.suppressed,
        frame_kind=release.frame_kind,
        notes=_notes(release, quasi),
        unseen=unseen,
    )


def _shown_as(release: Release, quasi: Sequence[str]) -> str:
    coarse = [name for name in quasi if name in release.coarse]
    if not coarse:
        return _AS_THEY_WERE
    return f"Coarser than they were: {name_some(coarse)}. Other quasi-identifiers are published as they were."


def _see_regions(release: Release, quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> AttackerView:
    exact = [name for name in quasi if release.forms[name].kind == "exact"]
    generalized = [name for name in quasi if name not in exact]
    tallies = {name: Tally([*exact, CLASS, CODE]) for name in sensitive}
    for batch in release.batches(exact, sensitive):
        cells = plain_columns(batch)
        for name, tally in tallies.items():
            seen = cells.append_column(CLASS, pa.array(batch.classes[name]))
            tally.add(seen.append_column(CODE, pa.array(batch.codes[name])))
    # Classes with equal regions look alike to an attacker.
    alike = _same_regions(release, generalized) if generalized else None
    known = [*exact, _REGION] if generalized else exact
    views: dict[str, View] = {}
    by_class_id: dict[str, View] = {}
    for name, tally in tallies.items():
        counted, domain = tally.result(), release.domain(name)
        by_class_id[name] = ClassView(_counted(counted, [CLASS], domain))
        if alike is not None:
            counted = counted.append_column(_REGION, pa.array(alike[counted.column(CLASS).to_numpy()]))
        views[name] = ClassView(_counted(counted, known, domain))
    ids, first = number_rows(counted, known)
    class_of = counted.column(CLASS).to_numpy().astype(np.int64)
    own = np.bincount(class_of, weights=counts_of(counted)).astype(np.int64)
    largest = np.zeros(len(first), dtype=np.int64)
    np.maximum.at(largest, ids, own[class_of])
    return AttackerView(
        kind=release.layout,
        name="release",
        quasi=quasi,
        keys=keys_of(counted, exact, first),
        sizes=views[name].sizes,
        views=views,
        by_class_id=by_class_id,
        largest=largest,
        regions={name: (release.region(name), class_of[first]) for name in generalized},
        n_suppressed=release.suppressed,
        frame_kind=release.frame_kind,
    )


def _counted(cells: pa.Table, known: Sequence[str], domain: Domain) -> ClassCounts:
    """Make classes of equal known columns from tallied codes."""
    ids, first = number_rows(cells, known)
    codes = cells.column(CODE).to_numpy().astype(np.int32)
    return class_counts(ids, codes, counts_of(cells), len(first), domain)


def _same_regions(release: Release, names: Sequence[str]) -> NDArray[np.int64]:
    """Shape (classes,): a number for each class, the same for classes that show the same region."""
    return number_rows(pa.table({name: release.region(name).texts for name in names}), list(names))[0]


def plain_columns(batch: RowBatch) -> pa.Table:
    """Make cells that can be grouped; one constant column where the attacker knows nothing about anybody."""
    plain = plain_table(batch.columns)
    return plain if plain.num_columns else pa.table({NOBODY: pa.array(np.zeros(batch.n_rows, dtype=np.int8))})


def plain_table(table: pa.Table) -> pa.Table:
    """Make cells that can be grouped."""
    columns = {}
    for name in table.column_names:
        column = table.column(name)
        columns[name] = pa.chunked_array(map(plain_cells, column.chunks), None if column.chunks else column.type)
    return pa.table(columns)


def keys_of(cells: pa.Table, quasi: Sequence[str], first: NDArray[np.int64]) -> pa.Table:
    return cells.select(list(quasi)).take(pa.array(first)) if quasi else pa.table({})


def _chosen(owner: str, given: Sequence[str], known: tuple[str, ...]) -> tuple[str, ...]:
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ParameterError(
            "audit", owner, f"must be among {name_some(known)} for this release", got=repr(unknown[0])
        ).with_hint("Leave it out to take what the release says.")
    return tuple(given) or known

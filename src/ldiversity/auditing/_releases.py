"""The classes of a release, as an attacker sees them who knows quasi-identifiers; the original is never needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity._checks import name_some
from ldiversity.auditing._numbering import number_codes, number_rows, plain_cells, ranked_codes
from ldiversity.auditing._seen import Seen
from ldiversity.auditing._sets import ExplodedView, SetView
from ldiversity.auditing._views import ClassView, View
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.models import count_classes
from ldiversity.release import ClassRelease, Release, SetRelease
from ldiversity.release._cells import to_texts
from ldiversity.schema import Role

__all__ = ["see_release"]


def see_release(release: Release, *, quasi: Sequence[str], sensitive: Sequence[str]) -> Seen:
    """See a release as an attacker does.

    Parameters
    ----------
    release
        What was published.
    quasi
        The quasi-identifiers that the attacker knows; all when empty.
    sensitive
        The attributes; all when empty.
    """
    quasi = _chosen("quasi", quasi, release.schema.names(Role.QUASI))
    sensitive = _chosen("sensitive", sensitive, release.sensitive)
    if isinstance(release, SetRelease):
        return _see_sets(release, quasi, sensitive)
    if isinstance(release, ClassRelease):
        return _see_classes(release, quasi, sensitive)
    raise UnsupportedError(f"audit: a release of the kind {type(release).__name__} is not known.")


def _see_sets(release: SetRelease, quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> Seen:
    exploded = release.layout == "exploded"
    cells = _plain(release.columns(list(quasi))) if quasi else pa.table({})
    l = release.mechanism(release.sensitive[0]).l if exploded else 1
    ids, first = _numbered(cells, quasi, release.n_rows * l)
    views: dict[str, View] = {
        name: ExplodedView.of(release, name, ids, len(first)) if exploded else SetView.of(release, name)
        for name in sensitive
    }
    note = (
        "Quasi-identifiers are published as they were: classes of equal ones say who can be recognized, the sets what "
        "is then learned."
    )
    return Seen(
        kind=release.layout,
        name="release",
        quasi=quasi,
        keys=_keys(cells, first),
        sizes=np.bincount(ids, minlength=len(first)) // l,
        views=views,
        frame_kind=release.frame_kind,
        notes=(note,),
    )


def _see_classes(release: ClassRelease, quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> Seen:
    exact = [name for name in quasi if release.forms[name].kind == "exact"]
    cells = _plain(release.columns(exact)) if exact else pa.table({})
    columns = [ranked_codes(cells.column(name)) for name in exact]
    generalized = [name for name in quasi if name not in exact]
    if generalized:
        of_class = _same_regions(release, generalized)
        columns.append((of_class[release.class_of(release.sensitive[0])], int(of_class.max(initial=-1)) + 1))
    ids, first = number_codes(columns, release.n_rows)
    by_class_id: dict[str, View] = {}
    views: dict[str, View] = {}
    notes = []
    if release.layout == "bucketized":
        views = {name: ClassView(release.classes(name)) for name in sensitive}
        notes.append(
            "Quasi-identifiers are published as they were: classes of equal ones say who can be recognized. What is "
            "then learned is read from the published classes of values.",
        )
    else:
        domains = {name: release.domain(name) for name in sensitive}
        views = {n: ClassView(count_classes(ids, release.values(n), len(first), domains[n])) for n in sensitive}
        by_class_id = {name: ClassView(release.classes(name)) for name in sensitive}
    return Seen(
        kind=release.layout,
        name="release",
        quasi=quasi,
        keys=None if generalized else _keys(cells, first),
        sizes=np.bincount(ids, minlength=len(first)),
        views=views,
        by_class_id=by_class_id,
        n_suppressed=release.suppressed,
        frame_kind=release.frame_kind,
        notes=tuple(notes),
        unseen=_unseen(release, sensitive),
    )


def _same_regions(release: ClassRelease, names: Sequence[str]) -> NDArray[np.int64]:
    """Shape (classes,): a number for each class, the same for classes that show the same region."""
    regions = release.regions()
    texts = {}
    for name in names:
        column = regions.column(name)
        whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        texts[name] = to_texts(whole, release.forms[name])
    return number_rows(pa.table(texts), list(names))[0]


def _unseen(release: ClassRelease, sensitive: Sequence[str]) -> Mapping[str, int]:
    """How many rows show no value of an attribute."""
    return {name: int(np.count_nonzero(release.class_of(name) < 0)) for name in sensitive}


def _plain(cells: pa.Table) -> pa.Table:
    whole = cells.combine_chunks()
    return pa.table(
        {
            name: pa.chunked_array(map(plain_cells, whole.column(name).chunks), None if whole.num_rows else pa.null())
            for name in whole.column_names
        }
    )


def _numbered(cells: pa.Table, quasi: Sequence[str], n_rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return number_codes((ranked_codes(cells.column(name)) for name in quasi), n_rows)


def _keys(cells: pa.Table, first: NDArray[np.int64]) -> pa.Table:
    return cells.take(pa.array(first)) if cells.num_columns else pa.table({})


def _chosen(owner: str, given: Sequence[str], known: tuple[str, ...]) -> tuple[str, ...]:
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ParameterError(
            f"audit: {owner} must be among {name_some(known)} for this release, got {unknown[0]!r}.",
            hint="Leave it out to take what the release says.",
        )
    return tuple(given) or known

"""Find people in a release by their quasi-identifiers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ldiversity.errors import SchemaError
from ldiversity.evaluation.attacks._base import Beliefs, Targets
from ldiversity.methods import number_combinations
from ldiversity.release import Release
from ldiversity.schema import Role
from ldiversity.sentences import Parameter, Setting, say, type_word

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Matches",
    "as_type",
    "draw_one",
    "match_evidence",
    "match_rows",
    "match_shown_rows",
    "number_alike",
    "number_people",
    "pick_one",
    "pick_piece",
    "turns",
]


@dataclass(frozen=True, eq=False)
class Matches:
    """Where targets may be.

    `of_target` has the group of people who look alike of each target, -1 when nothing published fits. `weights` is a
    sparse matrix, groups by candidates (rows or classes): how likely each candidate is; each group sums to one.
    """

    of_target: NDArray[np.int64]
    weights: Any

    def beliefs(self, posteriors: Any, **more: Any) -> Beliefs:  # noqa: ANN401 - dense or sparse, candidates by values
        """What attackers believe when each candidate has its own posterior."""
        mixed = self.weights @ posteriors
        return Beliefs(np.asarray(mixed if isinstance(mixed, np.ndarray) else mixed.toarray()), self.of_target, **more)


def number_alike(tables: Sequence[pa.Table], names: Sequence[str]) -> list[NDArray[np.int64]]:
    """Number the combinations of cells: equal cells of all tables, missing ones too, get the same number.

    Columns of later tables are converted to the types of the first.

    Examples
    --------
    >>> number_alike([pa.table({"a": [3, None]}), pa.table({"a": [None, 4, 3]})], ["a"])
    [array([0, 2]), array([2, 1, 0])]
    """
    sizes = [table.num_rows for table in tables]
    coded = []
    for name in names:
        kind = tables[0].column(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        parts = [as_type(table.column(name), kind, name) for table in tables]
        cells = pa.chunked_array([chunk for part in parts for chunk in part.chunks], kind)
        if pa.types.is_floating(kind):
            cells = pc.if_else(pc.is_nan(cells), pa.scalar(None, kind), cells)
        encoded = cells.combine_chunks()
        encoded = pa.concat_arrays(encoded.chunks) if isinstance(encoded, pa.ChunkedArray) else encoded
        encoded = encoded.dictionary_encode()
        n_known = len(encoded.dictionary)
        coded.append((np.asarray(pc.fill_null(encoded.indices.cast(pa.int64()), n_known)), n_known + 1))
    numbers, _ = number_combinations(coded, sum(sizes))
    return np.split(numbers, np.cumsum(sizes)[:-1])


def number_people(cells: pa.ChunkedArray, person: str) -> NDArray[np.int64]:
    """A number for the person of each row; `person` is the name of the column that says whose row it is.

    Examples
    --------
    >>> number_people(pa.chunked_array([["x", "y", "x"]]), "who")
    array([0, 1, 0])
    """
    if cells.null_count:
        raise SchemaError("person", "must not have missing values", column=person).with_hint(
            say("Fill them in, or leave {} out.", Parameter("person"))
        )
    return number_alike([pa.table({person: cells})], [person])[0]


_KNOWN: Final[WeakKeyDictionary[Targets, WeakKeyDictionary[Release, dict[tuple[str, ...], Matches]]]] = (
    WeakKeyDictionary()
)
"""Attackers of one kind after another look for the same people, who are found once."""


def _once(find: Callable[..., Matches]) -> Callable[..., Matches]:
    """Remember what was found for as long as there are the release and the targets."""

    @wraps(find)
    def found(release: Release, targets: Targets, *attribute: str) -> Matches:
        known = _KNOWN.setdefault(targets, WeakKeyDictionary()).setdefault(release, {})
        key = (find.__name__, *attribute)
        if key not in known:
            known[key] = find(release, targets, *attribute)
        return known[key]

    return found


@_once
def match_rows(release: Release, targets: Targets) -> Matches:
    """Find the published rows that may be a target's, where quasi-identifiers are exact."""
    from scipy.sparse import csr_array

    names = release.schema.names(Role.QUASI)
    n_rows = release.n_rows * release.rows_per_record
    if not names:
        weights = csr_array(np.full((1, n_rows), 1.0 / n_rows))
        return Matches(np.zeros(targets.n, dtype=np.int64), weights)
    people = release.as_published(targets.columns.select(names))
    of_row, of_target = number_alike([release.columns(names), people], names)
    wanted = np.zeros(int(max(of_row.max(initial=-1), of_target.max(initial=-1))) + 1, dtype=bool)
    wanted[of_target] = True
    here = np.zeros_like(wanted)
    here[of_row] = True
    group = np.full(len(wanted), -1, dtype=np.int64)
    both = np.flatnonzero(wanted & here)
    group[both] = np.arange(len(both))
    rows = np.flatnonzero(group[of_row] >= 0)
    groups = group[of_row[rows]]
    sizes = np.bincount(groups, minlength=len(both))
    weights = csr_array((1.0 / sizes[groups], (groups, rows)), shape=(len(both), n_rows))
    return Matches(group[of_target], weights)


@_once
def match_shown_rows(release: Release, targets: Targets, attribute: str) -> Matches:
    """Find the rows that may be a target's among those that show this attribute."""
    from scipy.sparse import csr_array, diags_array

    rows = match_rows(release, targets)
    there = release.evidence(attribute).of_row >= 0
    if there.all():
        return rows
    shown = csr_array(rows.weights @ diags_array(there.astype(float)))
    shown.eliminate_zeros()
    return normalized(rows.of_target, shown)


@_once
def match_evidence(release: Release, targets: Targets, attribute: str) -> Matches:
    """Find the pieces of evidence that may be about a target: classes that hold them, or sets of people like them.

    Exact quasi-identifiers are looked up. Where they are generalized, every class whose region contains the target is
    possible; its weight is its number of records over the size of its region.
    """
    from scipy.sparse import csr_array, eye_array

    evidence = release.evidence(attribute)
    of_row, n_pieces = evidence.of_row, evidence.n_pieces
    if release.generalized:
        if targets.published:
            return Matches(of_row.astype(np.int64), csr_array(eye_array(n_pieces)))
        from ldiversity.evaluation.attacks._regions import match_regions

        return match_regions(release, targets, attribute)
    rows = match_rows(release, targets)
    shown = np.flatnonzero(of_row >= 0)
    of_piece = csr_array((np.ones(len(shown)), (shown, of_row[shown])), shape=(len(of_row), n_pieces))
    return normalized(rows.of_target, rows.weights @ of_piece)


def normalized(of_target: NDArray[np.int64], weights: Any) -> Matches:  # noqa: ANN401 - a sparse matrix
    """Scale the weights of each group to sum to one; a group without any weight is not found."""
    from scipy.sparse import csr_array, diags_array

    weights = csr_array(weights)
    totals = np.asarray(weights.sum(axis=1)).reshape(-1)
    scaled = diags_array(np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)) @ weights
    lost = np.append(totals <= 0, False)  # the last entry is for group -1
    return Matches(np.where(lost[of_target], -1, of_target), csr_array(scaled))


def pick_one(matches: Matches) -> NDArray[np.int64]:
    """Choose one of the equally likely rows of each target at random; -1 if there is none."""
    starts, columns = matches.weights.indptr, matches.weights.indices
    rng = np.random.default_rng(0)  # ties may be broken in any way that does not depend on the rows
    picked = np.full(len(matches.of_target), -1, dtype=np.int64)
    found = np.flatnonzero(matches.of_target >= 0)
    group = matches.of_target[found]
    # Targets who look alike get different rows where there are enough.
    picked[found] = columns[starts[group] + turns(group, rng) % np.diff(starts)[group]]
    return picked


def turns(group: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Number the members of each group 0, 1, 2, ... in a random order.

    Examples
    --------
    >>> sorted(turns(np.array([4, 4, 4]), np.random.default_rng(0)).tolist())
    [0, 1, 2]
    """
    order = np.lexsort((rng.random(len(group)), group))
    turn = np.empty(len(group), dtype=np.int64)
    turn[order] = np.arange(len(group)) - np.searchsorted(group[order], group[order])
    return turn


def pick_piece(release: Release, targets: Targets, attribute: str) -> NDArray[np.int64]:
    """Draw one of the pieces of evidence that may be about each target, by weight; -1 if there is none."""
    if release.generalized:
        return draw_one(match_evidence(release, targets, attribute))
    picked = pick_one(match_shown_rows(release, targets, attribute))
    of_row = release.evidence(attribute).of_row
    return np.where(picked >= 0, of_row[np.maximum(picked, 0)], -1).astype(np.int64)


def draw_one(matches: Matches) -> NDArray[np.int64]:
    """Draw a candidate for each target, by weight; -1 if there is none."""
    weights = matches.weights
    reached = np.cumsum(weights.data)  # each group sums to one, so group g ends at g + 1, except for empty ones
    starts = weights.indptr[:-1]
    before = np.concatenate([[0.0], reached])[starts]
    picked = np.full(len(matches.of_target), -1, dtype=np.int64)
    found = np.flatnonzero(matches.of_target >= 0)
    group = matches.of_target[found]
    drawn = before[group] + np.random.default_rng(0).random(len(found))
    place = np.searchsorted(reached, drawn, side="right")
    picked[found] = weights.indices[np.clip(place, starts[group], weights.indptr[1:][group] - 1)]
    return picked


def as_type(column: pa.ChunkedArray, kind: pa.DataType, name: str) -> pa.ChunkedArray:
    """Convert a column of the original to the type of the release; the error quotes no cell."""
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        # Without the cause, because Arrow quotes the cell.
        raise SchemaError(
            "original", f"must hold what the release publishes, {type_word(kind)}", column=name, got=column.type
        ).with_hint(say("Declare its type, for example {}.", Setting("types", ("zip", "text")))) from None

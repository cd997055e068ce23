"""Audit a release where an engine works: workers read parts of it, and judge whole classes."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa

from ldiversity.engines import Engine, Part, PartFunction, Secrets, task_for_each
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._found import Found, FoundIn, found_together
from ldiversity.evaluation.audit._hashes import bucket_numbers, row_hashes
from ldiversity.evaluation.audit._release_aspects import Aspect, Ints, Judge, People, Wanted, aspect_of
from ldiversity.evaluation.audit._release_parts import Views, found_of_all, note_views
from ldiversity.evaluation.audit._releases import seen_without_classes
from ldiversity.evaluation.audit._tally import Tally, renamed_count
from ldiversity.evaluation.audit._views import check_cells
from ldiversity.release import Release, ReleaseParts

__all__ = ["audit_release_on"]

_READ_ROWS: Final = 1_000_000
_JUDGED_ROWS: Final = 250_000
"""Rows of a part that is read, and of one that is judged; a worker has one part in memory."""

_ROWS: Final = "\0rows"
_PART: Final = "\0part"
_NOTHING: Final = pa.schema([("nothing", pa.int8())])


def audit_release_on(
    engine: Engine,
    release: Release,
    quasi: tuple[str, ...],
    sensitive: tuple[str, ...],
    wanted: Sequence[Wanted],
    *,
    threshold: float,
    fraction: float | None,
) -> FoundIn:
    """Find what a release gives away, where an engine works; the same as `audit_release` finds.

    Workers count combinations in parts of the rows, and keep them. Those of a class come together by a hash, and are
    judged where they are. Only what is found comes back.
    """
    work = _Work(engine, release, tuple(wanted), threshold, fraction)
    views: Views = {}
    if release.generalized:
        names = sensitive or release.subjects
        found = {}
        for name in names:
            found[name], seen, _ = work.found(aspect_of(release, quasi, name), name, people=name == names[-1])
            note_views(seen, name, views)
        told = found_of_all(wanted, found[names[-1]], found if sensitive else {})
        return FoundIn(seen_without_classes(release, quasi, views, dict.fromkeys(sensitive, 0)), told)
    people, _, missing = work.found(People(release, quasi, "", sensitive), None, people=True)
    unseen, found = dict(zip(sensitive, missing.tolist(), strict=True)), {}
    for name in sensitive:
        found[name], seen, _ = work.found(
            aspect_of(release, quasi, name), name, people=False, smallest=people.sizes.smallest or 0
        )
        note_views(seen, name, views)
    return FoundIn(seen_without_classes(release, quasi, views, unseen), found_of_all(wanted, people, found))


@dataclass(frozen=True, eq=False)
class _Work:
    """One audit: each aspect is read, counted and judged on the engine."""

    engine: Engine
    release: Release
    wanted: tuple[Wanted, ...]
    threshold: float
    fraction: float | None

    def found(
        self, aspect: Aspect, attribute: str | None, *, people: bool, smallest: int | None = None
    ) -> tuple[Found, AttackerView, Ints]:
        """What all classes say, how they are seen, and the totals of all rows."""
        parts = aspect.parts(_READ_ROWS)
        aspect = replace(aspect, release=parts.release)
        n_parts = max(1, -(-self.release.n_rows // _JUDGED_ROWS))
        reading = _ReadParts(parts, aspect, _types(parts, aspect), n_parts)
        kept = self.engine.keep(task_for_each(self.engine, reading, len(parts)), scratch=None)
        totals = np.zeros(aspect.n_totals, dtype=np.int64)
        for note in kept.notes():
            totals += np.frombuffer(note, dtype=np.int64)
        judge = Judge(self.wanted, self.threshold, self.fraction, attribute, people, smallest)
        judged = self.engine.partition(
            _JudgeParts(aspect, judge, totals), kept, by=_PART, n_parts=n_parts, secrets=Secrets(), scratch=None
        )
        several: list[Found] = []
        for note in judged.notes():
            several.append(pickle.loads(note))  # noqa: S301 - from our own workers
            for name in several[0].attributes:
                n_classes = sum(part.attributes[name].sizes.n_classes for part in several)
                check_cells(n_classes, len(self.release.domain(name)))
        nothing = reading.schema.empty_table().select([*aspect.names, _ROWS])
        return found_together(several), aspect.seen(renamed_count(nothing, None), totals), totals


def _types(parts: ReleaseParts, aspect: Aspect) -> pa.Schema:
    """The types of the columns that are counted, as the first rows have them."""
    cells, _ = next(aspect.read(parts.part(0)))
    return pa.schema([cells.schema.field(name) for name in aspect.names])


@dataclass(frozen=True, eq=False)
class _ReadParts:
    """Counts the combinations of a part of the rows, and says where each is judged; notes the totals."""

    parts: ReleaseParts
    aspect: Aspect
    types: pa.Schema
    n_parts: int

    @property
    def schema(self) -> pa.Schema:
        """The columns that are counted, how many rows are alike, and the part."""
        return pa.schema([*self.types, (_ROWS, pa.int64()), (_PART, pa.int32())])

    def __call__(self, secrets: Secrets, /) -> PartFunction:
        """The function of a worker."""
        del secrets
        return self._read

    def _read(self, part: Part) -> tuple[pa.Table, bytes]:
        aspect = self.aspect
        tally, totals = Tally(aspect.names), np.zeros(aspect.n_totals, dtype=np.int64)
        for cells, some in aspect.read(self.parts.part(part.number)):
            totals += some
            if aspect.counted:
                tally.add_counted(cells, repeated=False)
            else:
                tally.add(cells)
        counted = renamed_count(tally.result(), _ROWS)
        numbers = bucket_numbers(row_hashes(counted, aspect.by), self.n_parts).astype(np.int32)
        return counted.append_column(_PART, pa.array(numbers)).cast(self.schema), totals.tobytes()


@dataclass(frozen=True, eq=False)
class _JudgeParts:
    """Judges whole classes; returns no rows, only a note."""

    aspect: Aspect
    judge: Judge
    totals: Ints

    @property
    def schema(self) -> pa.Schema:
        """Nothing."""
        return _NOTHING

    def __call__(self, secrets: Secrets, /) -> PartFunction:
        """The function of a worker."""
        del secrets
        return self._judge

    def _judge(self, part: Part) -> tuple[pa.Table, bytes]:
        tally = Tally(self.aspect.names)
        tally.add_counted(renamed_count(part.rows.select([*self.aspect.names, _ROWS]), None), repeated=True)
        found = self.judge.find(self.aspect.seen(tally.result(), self.totals))
        return _NOTHING.empty_table(), pickle.dumps(found)

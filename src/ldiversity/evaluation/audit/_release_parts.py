"""Audit a release within a memory setting: who looks alike, and what is said about them, some classes at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from ldiversity.base.budget import Budget
from ldiversity.base.numbers import in_bytes
from ldiversity.base.spill import Spill
from ldiversity.errors import UnsupportedError
from ldiversity.evaluation.audit._asked import Asked
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._found import Found, FoundIn, found_together
from ldiversity.evaluation.audit._release_aspects import Aspect, Judge, People, Regions, Wanted, aspect_of
from ldiversity.evaluation.audit._releases import CLASS, CODE, plain_columns, seen_without_classes
from ldiversity.evaluation.audit._tally import DividedTallies
from ldiversity.evaluation.audit._views import ClassView, View, check_cells
from ldiversity.models import Population, SomeClasses
from ldiversity.release import Release
from ldiversity.sentences import Setting, say

__all__ = ["Views", "audit_release", "check_whole", "found_of_all", "note_views"]

_WHOLE_BYTES: Final = 400
"""What a row takes where all rows are counted at once."""

_OF_WAITING: Final = 10

Views: TypeAlias = dict[str, tuple[View, View | None]]
"""How an attacker sees each attribute, and how they do where classes are as the release numbers them."""


def check_whole(budget: Budget, n_rows: int | None, what: str) -> None:
    """Refuse what needs all rows at once, before work begins, if they do not fit in memory."""
    needed = budget.bytes - budget.for_rows + _WHOLE_BYTES * (n_rows or 0)
    if needed > budget.bytes:
        raise UnsupportedError(
            "audit", "memory", f"must be at least {in_bytes(needed)} for {what}", got=in_bytes(budget.bytes)
        ).with_hint(say("Use {}.", Setting("memory", f"{needed // 1_000_000 + 1}MB")))


def audit_release(
    release: Release,
    quasi: tuple[str, ...],
    sensitive: tuple[str, ...],
    wanted: Sequence[Wanted],
    *,
    threshold: float,
    fraction: float | None,
    budget: Budget,
) -> FoundIn:
    """Find what a release gives away, within a memory setting; the same as in memory."""
    work = _Work(release, quasi, sensitive, tuple(wanted), threshold, fraction, budget)
    found, views = work.of_regions() if release.generalized else work.of_exact()
    return FoundIn(seen_without_classes(release, quasi, views, work.unseen), found)


@dataclass(eq=False)
class _Work:
    """One audit: several readings of the release, each of which keeps no more than fits."""

    release: Release
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    wanted: tuple[Wanted, ...]
    threshold: float
    fraction: float | None
    budget: Budget

    def __post_init__(self) -> None:
        self.unseen = dict.fromkeys(self.sensitive, 0)

    def of_exact(self) -> tuple[Found, Views]:
        """Quasi-identifiers are exact: who looks alike is counted apart from what is published about them."""
        views: Views = {}
        with Spill(waiting_bytes=self._waiting) as spill:
            people = self._together(self._counted(People(self.release, self.quasi, "", self.sensitive), spill), None)
        smallest = people.sizes.smallest or 0
        of_attributes: dict[str, Found] = {}
        for name in self.sensitive:
            with Spill(waiting_bytes=self._waiting) as spill:
                aspect = aspect_of(self.release, self.quasi, name)
                parts = self._pieces(aspect) if self.release.grouped else self._counted(aspect, spill)
                of_attributes[name] = self._together(_noted(parts, name, views), name, smallest=smallest)
        return found_of_all(self.wanted, people, of_attributes), views

    def of_regions(self) -> tuple[Found, Views]:
        """Classes show regions: those with the same regions look alike, and come together by their regions."""
        views: Views = {}
        names, of_attributes = self.sensitive or self.release.subjects, {}
        for name in names:
            with Spill(waiting_bytes=self._waiting) as spill:
                parts = self._regions(Regions(self.release, self.quasi, name), spill)
                of_attributes[name] = self._together(_noted(parts, name, views), name, people=name == names[-1])
        found = found_of_all(self.wanted, of_attributes[names[-1]], of_attributes if self.sensitive else {})
        return found, views

    @property
    def _waiting(self) -> int:
        return max(1 << 20, self.budget.for_rows // _OF_WAITING)

    def _together(
        self, parts: Iterable[AttackerView], name: str | None, *, people: bool = False, smallest: int | None = None
    ) -> Found:
        """What all parts say about an attribute, or about people."""
        judge = Judge(self.wanted, self.threshold, self.fraction, name, people or name is None, smallest)
        several: list[Found] = []
        for seen in parts:
            several.append(judge.find(seen))
            for one, view in seen.views.items():
                check_cells(sum(part.attributes[one].sizes.n_classes for part in several), len(view.domain))
        return found_together(several)

    def _counted(self, aspect: Aspect, spill: Spill) -> Iterator[AttackerView]:
        """What some combinations at a time say, after all rows are counted."""
        tallies = DividedTallies([aspect.names], by=aspect.by, budget=self.budget, spill=spill)
        totals = np.zeros(aspect.n_totals, dtype=np.int64)
        for cells, some in aspect.read(self.release):
            tallies.add(0, cells)
            totals += some
        if isinstance(aspect, People):
            self.unseen = dict(zip(aspect.shown, totals.tolist(), strict=True))
        for (cells,) in tallies.parts():
            yield aspect.seen(cells, totals)

    def _pieces(self, aspect: Aspect) -> Iterator[AttackerView]:
        """The values of published classes, piece by piece; all are counted first."""
        name = aspect.attribute
        domain = self.release.domain(name)
        total = np.zeros(len(domain), dtype=np.int64)
        for piece in self.release.pieces(self.budget, name, columns=()):
            total += piece.classes(name).population.counts
        for piece in self.release.pieces(self.budget, name, columns=()):
            view = ClassView(SomeClasses.of(piece.classes(name), Population(domain, total)))
            yield aspect.alone(view)

    def _regions(self, aspect: Regions, spill: Spill) -> Iterator[AttackerView]:
        """Classes with the same regions, with their values; rows come piece by piece, so that texts are made once."""
        name, exact, regions = aspect.attribute, aspect.exact, aspect.by
        tallies = DividedTallies([aspect.names], by=regions, budget=self.budget, spill=spill)
        totals, n_before = np.zeros(aspect.n_totals, dtype=np.int64), 0
        for piece in self.release.pieces(self.budget, name, columns=exact):
            texts = {one: piece.region(one).texts for one in regions}
            for batch in piece.batches(exact, (name,)):
                class_of, codes = batch.classes[name].astype(np.int64), batch.codes[name]
                totals += np.bincount(codes, minlength=len(totals))
                plain, places = plain_columns(batch), pa.array(class_of)
                cells = {one: plain.column(one) for one in exact}
                cells |= {one: texts[one].take(places) for one in regions}
                tallies.add(0, pa.table({**cells, CLASS: pa.array(class_of + n_before), CODE: pa.array(codes)}))
            n_before += len(texts[regions[0]]) if regions else 0
        for (cells,) in tallies.parts():
            yield aspect.seen(cells, totals)


def _noted(parts: Iterable[AttackerView], name: str, views: Views) -> Iterator[AttackerView]:
    """The same, while the view of the last part is kept: it says what every part would."""
    for seen in parts:
        note_views(seen, name, views)
        yield seen


def note_views(seen: AttackerView, name: str, views: Views) -> None:
    """Keep the views of an attribute, if it has any."""
    if name in seen.views:
        views[name] = (seen.views[name], seen.by_class_id.get(name))


def found_of_all(wanted: Sequence[Wanted], people: Found, of_attributes: Mapping[str, Found]) -> Found:
    """What was found about people and about each attribute, in the order in which it was asked for."""
    told: list[Asked] = []
    for one in wanted:
        place = people if one.attribute is None else of_attributes[one.attribute]
        judged = next(found for found in place.asked if found.model == one.model and found.attribute == one.attribute)
        if judged not in told or not one.by_class_id:
            told.append(judged)
    return replace(
        people,
        asked=tuple(told),
        attributes={name: found.attributes[name] for name, found in of_attributes.items()},
        by_class_id={
            name: found.by_class_id[name] for name, found in of_attributes.items() if name in found.by_class_id
        },
    )

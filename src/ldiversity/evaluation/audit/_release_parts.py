"""Audit a release within a memory setting: who looks alike, and what is said about them, some classes at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.budget import Budget
from ldiversity.base.numbers import in_bytes
from ldiversity.base.spill import Spill
from ldiversity.errors import UnsupportedError
from ldiversity.evaluation.audit._asked import Asked, ask
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._classes import class_counts
from ldiversity.evaluation.audit._found import Found, FoundIn, find, found_together
from ldiversity.evaluation.audit._numbering import number_rows
from ldiversity.evaluation.audit._population import look_outside
from ldiversity.evaluation.audit._releases import CLASS, CODE, NOBODY, keys_of, plain_columns, seen_without_classes
from ldiversity.evaluation.audit._sets import ExplodedView, SetView, estimated_marginal
from ldiversity.evaluation.audit._tally import DividedTallies, counts_of
from ldiversity.evaluation.audit._views import ClassView, View, check_cells
from ldiversity.models import Population, PrivacyModel, SomeClasses
from ldiversity.release import Release
from ldiversity.schema import Domain
from ldiversity.sentences import Setting, say

__all__ = ["Wanted", "audit_release", "check_whole"]

_WHOLE_BYTES: Final = 400
"""What a row takes where all rows are counted at once."""

_OF_WAITING: Final = 10
_MEMBER: Final = "member"

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Wanted:
    """A model that is asked for, of an attribute; of none where it is about people.

    `by_class_id` says that the classes are judged as the release numbers them.
    """

    model: PrivacyModel
    attribute: str | None
    by_class_id: bool = False

    def judged(self, seen: AttackerView) -> Asked:
        """The verdict on some classes."""
        if self.by_class_id:
            seen = replace(seen, views={**seen.views, **seen.by_class_id})
        return ask(seen, [self.model], None if self.attribute is None else [self.attribute])[0]


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

    def of_exact(self) -> tuple[Found, dict[str, tuple[View, View | None]]]:
        """Quasi-identifiers are exact: who looks alike is counted apart from what is published about them."""
        views: dict[str, tuple[View, View | None]] = {}
        with Spill(waiting_bytes=self._waiting) as spill:
            people = self._together(self._people_parts(spill), None)
        smallest = people.sizes.smallest or 0
        of_attributes: dict[str, Found] = {}
        for name in self.sensitive:
            with Spill(waiting_bytes=self._waiting) as spill:
                if self.release.grouped:
                    parts: Iterable[View] = self._class_parts(name)
                elif self.release.rows_per_record > 1:
                    parts = self._member_parts(name, spill)
                else:
                    parts = self._set_parts(name, spill)
                seen = (self._alone(name, view, smallest, views) for view in parts)
                of_attributes[name] = self._together(seen, name)
        return self._all(people, of_attributes), views

    def of_regions(self) -> tuple[Found, dict[str, tuple[View, View | None]]]:
        """Classes show regions: those with the same regions look alike, and come together by their regions."""
        views: dict[str, tuple[View, View | None]] = {}
        names, of_attributes = self.sensitive or self.release.subjects, {}
        for name in names:
            with Spill(waiting_bytes=self._waiting) as spill:
                of_attributes[name] = self._together(
                    self._region_parts(name, spill, views), name, people=name == names[-1]
                )
        found = self._all(of_attributes[names[-1]], of_attributes if self.sensitive else {})
        return found, views if self.sensitive else {}

    @property
    def _waiting(self) -> int:
        return max(1 << 20, self.budget.for_rows // _OF_WAITING)

    def _together(self, parts: Iterable[AttackerView], name: str | None, *, people: bool = False) -> Found:
        """What all parts say about an attribute, or about people."""
        several: list[Found] = []
        for seen in parts:
            asked = tuple(
                one.judged(seen)
                for one in self.wanted
                if (one.attribute is None and (name is None or people)) or (one.attribute == name and name is not None)
            )
            several.append(find(seen, asked, look_outside(seen, None, self.fraction), self.threshold))
            for one, view in seen.views.items():
                check_cells(sum(part.attributes[one].sizes.n_classes for part in several), len(view.domain))
        return found_together(several)

    def _all(self, people: Found, of_attributes: dict[str, Found]) -> Found:
        """What was found about people and about each attribute, in the order in which it was asked for."""
        told: list[Asked] = []
        for one in self.wanted:
            place = people if one.attribute is None else of_attributes[one.attribute]
            judged = next(
                found for found in place.asked if found.model == one.model and found.attribute == one.attribute
            )
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

    def _seen(self, sizes: Ints, keys: pa.Table | None = None) -> AttackerView:
        return AttackerView(
            kind=self.release.layout,
            name="release",
            quasi=self.quasi,
            keys=pa.table({}) if keys is None else keys,
            sizes=sizes,
            views={},
        )

    def _alone(self, name: str, view: View, smallest: int, views: dict[str, tuple[View, View | None]]) -> AttackerView:
        views[name] = (view, None)
        return replace(self._seen(np.zeros(0, dtype=np.int64)), views={name: view}, smallest=smallest)

    def _people_parts(self, spill: Spill) -> Iterator[AttackerView]:
        """Who looks alike, in records."""
        names = list(self.quasi) or [NOBODY]
        tallies = DividedTallies([names], by=self.quasi, budget=self.budget, spill=spill)
        for batch in self.release.batches(self.quasi, self.sensitive if self.release.grouped else ()):
            tallies.add(0, plain_columns(batch))
            for name, class_of in batch.classes.items():
                self.unseen[name] += int(np.count_nonzero(class_of < 0))
        for (cells,) in tallies.parts():
            _, first = number_rows(cells, self.quasi)
            sizes = counts_of(cells)[first] // self.release.rows_per_record
            yield self._seen(sizes, keys_of(cells, self.quasi, first))

    def _set_parts(self, name: str, spill: Spill) -> Iterator[View]:
        """The different sets, and how many records show each."""
        mechanism = self.release.drawn_by(name)
        columns = [f"{_MEMBER}{place}" for place in range(mechanism.l)]
        tallies = DividedTallies([columns], by=columns, budget=self.budget, spill=spill)
        shown = np.zeros(mechanism.n_values, dtype=np.int64)
        for batch in self.release.batches((), (name,)):
            sets = batch.codes[name]
            shown += np.bincount(sets.reshape(-1), minlength=mechanism.n_values)
            tallies.add(0, pa.table({column: sets[:, place] for place, column in enumerate(columns)}))
        estimated = estimated_marginal(mechanism, shown)
        evidence = self.release.tally(name).result()
        for (cells,) in tallies.parts():
            sets = np.column_stack([cells.column(column).to_numpy() for column in columns]).astype(np.int32)
            own = replace(evidence.of_sets(np.ascontiguousarray(sets)), records=counts_of(cells))
            yield SetView(own, estimated)

    def _member_parts(self, name: str, spill: Spill) -> Iterator[View]:
        """Rows that show one member each, in classes of equal quasi-identifiers."""
        mechanism, domain = self.release.drawn_by(name), self.release.domain(name)
        tallies = DividedTallies([[*self.quasi, CODE]], by=self.quasi, budget=self.budget, spill=spill)
        shown = np.zeros(len(domain), dtype=np.int64)
        for batch in self.release.batches(self.quasi, (name,)):
            shown += np.bincount(batch.codes[name], minlength=len(domain))
            tallies.add(0, plain_columns(batch).append_column(CODE, pa.array(batch.codes[name])))
        estimated = estimated_marginal(mechanism, shown)
        for (cells,) in tallies.parts():
            yield ExplodedView(_classes(cells, self.quasi, Population(domain, shown)), mechanism, estimated)

    def _class_parts(self, name: str) -> Iterator[View]:
        """The values of published classes, piece by piece; all are counted first."""
        domain = self.release.domain(name)
        total = np.zeros(len(domain), dtype=np.int64)
        for piece in self.release.pieces(self.budget, name, columns=()):
            total += piece.classes(name).population.counts
        for piece in self.release.pieces(self.budget, name, columns=()):
            yield ClassView(SomeClasses.of(piece.classes(name), Population(domain, total)))

    def _region_parts(
        self, name: str, spill: Spill, views: dict[str, tuple[View, View | None]]
    ) -> Iterator[AttackerView]:
        """Classes with the same regions, with their values."""
        domain = self.release.domain(name)
        exact = [one for one in self.quasi if self.release.forms[one].kind == "exact"]
        regions = [one for one in self.quasi if one not in exact]
        names = [*exact, *regions, CLASS, CODE]
        tallies = DividedTallies([names], by=regions, budget=self.budget, spill=spill)
        total, n_before = np.zeros(len(domain), dtype=np.int64), 0
        for piece in self.release.pieces(self.budget, name, columns=exact):
            texts = {one: piece.region(one).texts for one in regions}
            for batch in piece.batches(exact, (name,)):
                class_of, codes = batch.classes[name].astype(np.int64), batch.codes[name]
                total += np.bincount(codes, minlength=len(domain))
                plain, places = plain_columns(batch), pa.array(class_of)
                cells = {one: plain.column(one) for one in exact}
                cells |= {one: texts[one].take(places) for one in regions}
                tallies.add(0, pa.table({**cells, CLASS: pa.array(class_of + n_before), CODE: pa.array(codes)}))
            n_before += len(texts[regions[0]]) if regions else 0
        everyone = Population(domain, total)
        for (cells,) in tallies.parts():
            view = ClassView(_classes(cells, [*exact, *regions], everyone))
            by_id = ClassView(_classes(cells, [CLASS], everyone))
            views[name] = (view, by_id)
            shown = {name: view} if self.sensitive else {}
            numbered = {name: by_id} if self.sensitive else {}
            yield replace(self._seen(view.sizes), views=shown, by_class_id=numbered)


def _classes(cells: pa.Table, known: Sequence[str], everyone: Population) -> SomeClasses:
    """Classes of equal known columns, from tallied codes."""
    domain: Domain = everyone.domain
    ids, first = number_rows(cells, known)
    codes = cells.column(CODE).to_numpy().astype(np.int32)
    return SomeClasses.of(class_counts(ids, codes, counts_of(cells), len(first), domain), everyone)

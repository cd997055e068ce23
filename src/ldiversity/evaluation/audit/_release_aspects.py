"""What is counted in the rows of a release, on this machine or by workers, and what the classes so counted say.

A release is read for one aspect after the other: who looks alike, and what is said about each sensitive attribute.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.evaluation.audit._asked import Asked, ask
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._classes import class_counts
from ldiversity.evaluation.audit._found import Found, find
from ldiversity.evaluation.audit._numbering import number_rows
from ldiversity.evaluation.audit._population import look_outside
from ldiversity.evaluation.audit._releases import CLASS, CODE, NOBODY, keys_of, plain_columns, plain_table
from ldiversity.evaluation.audit._sets import ExplodedView, SetView, estimated_marginal
from ldiversity.evaluation.audit._tally import counts_of, renamed_count
from ldiversity.evaluation.audit._views import ClassView, View
from ldiversity.models import Population, PrivacyModel, SomeClasses
from ldiversity.release import Cells, Region, Release, ReleaseParts, column_of, parse_type

__all__ = ["Aspect", "Ints", "Judge", "Members", "People", "Regions", "Sets", "Values", "Wanted", "aspect_of"]

_MEMBER: Final = "member"

Ints: TypeAlias = NDArray[np.int64]


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


@dataclass(frozen=True)
class Judge:
    """How classes are judged; can be pickled.

    Parameters
    ----------
    wanted, threshold, fraction
        What was asked.
    attribute
        What the classes are about; None where they are about people.
    people
        Whether models of people are judged too.
    smallest
        The size of the smallest class of people, where it was found before.
    """

    wanted: tuple[Wanted, ...]
    threshold: float
    fraction: float | None
    attribute: str | None
    people: bool
    smallest: int | None = None

    def find(self, seen: AttackerView) -> Found:
        """What some classes give away."""
        if self.smallest is not None:
            seen = replace(seen, smallest=self.smallest)
        asked = tuple(
            one.judged(seen)
            for one in self.wanted
            if (one.attribute is None and self.people)
            or (one.attribute is not None and one.attribute == self.attribute)
        )
        return find(seen, asked, look_outside(seen, None, self.fraction), self.threshold)


@dataclass(frozen=True, eq=False)
class Aspect(ABC):
    """One thing that is counted; can be pickled where its release can.

    Parameters
    ----------
    release
        What is read; workers read parts of it.
    quasi
        The columns that an attacker knows.
    attribute
        Whose values are counted.
    """

    release: Release
    quasi: tuple[str, ...]
    attribute: str

    counted: ClassVar[bool] = False
    """Whether what is read has counts already, as its last column."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The columns whose combinations are counted."""

    @property
    @abstractmethod
    def by(self) -> list[str]:
        """Those by which combinations come together that are judged together."""

    @property
    def n_totals(self) -> int:
        """How many numbers are added up over all rows."""
        return len(self.release.domain(self.attribute))

    def parts(self, most_rows: int) -> ReleaseParts:
        """What workers read, each a part of at most about so many rows."""
        return self.release.parts(most_rows)

    @abstractmethod
    def read(self, release: Release) -> Iterator[tuple[pa.Table, Ints]]:
        """The columns of some rows at a time, of the release or a part of it, and what they add to the totals."""

    @abstractmethod
    def seen(self, cells: pa.Table, totals: Ints) -> AttackerView:
        """What some counted combinations say."""

    def alone(self, view: View) -> AttackerView:
        """What some classes say about the attribute."""
        return self._seen(view=view)

    def _seen(self, sizes: Ints | None = None, keys: pa.Table | None = None, view: View | None = None) -> AttackerView:
        return AttackerView(
            kind=self.release.layout,
            name="release",
            quasi=self.quasi,
            keys=pa.table({}) if keys is None else keys,
            sizes=np.zeros(0, dtype=np.int64) if sizes is None else sizes,
            views={} if view is None else {self.attribute: view},
        )

    def _classes(self, cells: pa.Table, known: Sequence[str], totals: Ints) -> SomeClasses:
        """Classes of equal known columns, from counted codes."""
        domain = self.release.domain(self.attribute)
        ids, first = number_rows(cells, known)
        codes = cells.column(CODE).to_numpy().astype(np.int32)
        counts = class_counts(ids, codes, counts_of(cells), len(first), domain)
        return SomeClasses.of(counts, Population(domain, totals))


@dataclass(frozen=True, eq=False)
class People(Aspect):
    """Who looks alike, in records. Totals are how many rows show no value of each of `shown`."""

    shown: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The quasi-identifiers."""
        return list(self.quasi) or [NOBODY]

    @property
    def by(self) -> list[str]:
        """All of them."""
        return list(self.quasi)

    @property
    def n_totals(self) -> int:
        """One for each attribute."""
        return len(self.shown)

    def read(self, release: Release) -> Iterator[tuple[pa.Table, Ints]]:
        """The quasi-identifiers."""
        for batch in release.batches(self.quasi, self.shown if release.grouped else ()):
            missing = [np.count_nonzero(batch.classes[name] < 0) if batch.classes else 0 for name in self.shown]
            yield plain_columns(batch), np.array(missing, dtype=np.int64)

    def seen(self, cells: pa.Table, totals: Ints) -> AttackerView:
        """Their sizes."""
        del totals
        _, first = number_rows(cells, self.quasi)
        sizes = counts_of(cells)[first] // self.release.rows_per_record
        return self._seen(sizes, keys_of(cells, self.quasi, first))


@dataclass(frozen=True, eq=False)
class Sets(Aspect):
    """The different sets, and how many records show each. Totals are how often each value is shown."""

    @property
    def names(self) -> list[str]:
        """The members."""
        return [f"{_MEMBER}{place}" for place in range(self.release.drawn_by(self.attribute).l)]

    @property
    def by(self) -> list[str]:
        """All of them."""
        return self.names

    @property
    def n_totals(self) -> int:
        """One for each value."""
        return self.release.drawn_by(self.attribute).n_values

    def read(self, release: Release) -> Iterator[tuple[pa.Table, Ints]]:
        """The sets."""
        names, n_values = self.names, self.n_totals
        for batch in release.batches((), (self.attribute,)):
            sets = batch.codes[self.attribute]
            shown = np.bincount(sets.reshape(-1), minlength=n_values)
            yield pa.table({column: sets[:, place] for place, column in enumerate(names)}), shown

    def seen(self, cells: pa.Table, totals: Ints) -> AttackerView:
        """What each set says."""
        mechanism = self.release.drawn_by(self.attribute)
        sets = np.column_stack([cells.column(column).to_numpy() for column in self.names]).astype(np.int32)
        evidence = self.release.tally(self.attribute).result()
        own = replace(evidence.of_sets(np.ascontiguousarray(sets)), records=counts_of(cells))
        return self.alone(SetView(own, estimated_marginal(mechanism, totals)))


@dataclass(frozen=True, eq=False)
class Members(Aspect):
    """Rows that show one member each, in classes of equal quasi-identifiers. Totals as for sets."""

    @property
    def names(self) -> list[str]:
        """Quasi-identifiers and member."""
        return [*self.quasi, CODE]

    @property
    def by(self) -> list[str]:
        """Quasi-identifiers."""
        return list(self.quasi)

    def read(self, release: Release) -> Iterator[tuple[pa.Table, Ints]]:
        """Quasi-identifiers and member of each row."""
        for batch in release.batches(self.quasi, (self.attribute,)):
            codes = batch.codes[self.attribute]
            yield plain_columns(batch).append_column(CODE, pa.array(codes)), _times(codes, self.n_totals)

    def seen(self, cells: pa.Table, totals: Ints) -> AttackerView:
        """What the members of a class say."""
        mechanism = self.release.drawn_by(self.attribute)
        counts = self._classes(cells, self.quasi, totals)
        return self.alone(ExplodedView(counts, mechanism, estimated_marginal(mechanism, totals)))


@dataclass(frozen=True, eq=False)
class Values(Aspect):
    """The values of published classes, from a table of their own. Totals are how often each value occurs."""

    counted: ClassVar[bool] = True

    @property
    def names(self) -> list[str]:
        """Class and value."""
        return [CLASS, CODE]

    @property
    def by(self) -> list[str]:
        """The class."""
        return [CLASS]

    def parts(self, most_rows: int) -> ReleaseParts:
        """Parts of the table of values."""
        return self.release.parts(most_rows, values_of=self.attribute)

    def read(self, release: Release) -> Iterator[tuple[pa.Table, Ints]]:
        """Classes, values and counts."""
        for classes, codes, counts in release.value_batches(self.attribute):
            totals = np.zeros(self.n_totals, dtype=np.int64)
            np.add.at(totals, codes, counts)
            cells = {CLASS: pa.array(classes.astype(np.int64)), CODE: pa.array(codes), "n": pa.array(counts)}
            yield renamed_count(pa.table(cells), None), totals

    def seen(self, cells: pa.Table, totals: Ints) -> AttackerView:
        """What the classes say."""
        return self.alone(ClassView(self._classes(cells, [CLASS], totals)))


@dataclass(frozen=True, eq=False)
class Regions(Aspect):
    """Classes that show regions, which look alike where these are the same. Totals are how often each value occurs."""

    @property
    def exact(self) -> list[str]:
        """Quasi-identifiers that are published as they were."""
        return [one for one in self.quasi if self.release.forms[one].kind == "exact"]

    @property
    def by(self) -> list[str]:
        """Quasi-identifiers that are published as regions, which all rows of a class share."""
        exact = self.exact
        return [one for one in self.quasi if one not in exact]

    @property
    def names(self) -> list[str]:
        """Quasi-identifiers, class and value."""
        return [*self.exact, *self.by, CLASS, CODE]

    def read(self, release: Release) -> Iterator[tuple[pa.Table, Ints]]:
        """Quasi-identifiers, class and value of each row; regions as texts."""
        exact, regions = self.exact, self.by
        values = [name for name in (self.attribute,) if name in release.sensitive]
        for batch in release.class_batches(self.attribute, own=exact, regions=regions, values=values):
            nothing = np.zeros(len(batch.classes), dtype=np.int32)
            codes = batch.codes.get(self.attribute, nothing)
            _, first, of_row = np.unique(batch.classes, return_index=True, return_inverse=True)
            texts = {name: self._texts(name, batch.cells[name].take(first)).take(pa.array(of_row)) for name in regions}
            own = plain_table(batch.own.select(exact))
            cells = {name: own.column(name) for name in exact} | texts
            numbered = {CLASS: pa.array(batch.classes.astype(np.int64)), CODE: pa.array(codes)}
            yield pa.table(cells | numbered), _times(codes, self.n_totals)

    def _texts(self, name: str, cells: Cells) -> pa.Array:
        form, kind = self.release.forms[name], parse_type(self.release.schema[name].type)
        column = column_of(cells, form, kind)
        return Region(name, form, kind, column, lambda: np.arange(len(cells), dtype=np.int32)).texts

    def seen(self, cells: pa.Table, totals: Ints) -> AttackerView:
        """What classes that look alike say, and what classes do as they are numbered."""
        view = ClassView(self._classes(cells, [*self.exact, *self.by], totals))
        by_id = ClassView(self._classes(cells, [CLASS], totals))
        if not self.release.sensitive:  # who looks alike is all there is to see
            return self._seen(view.sizes)
        return replace(self._seen(view.sizes, view=view), by_class_id={self.attribute: by_id})


def aspect_of(release: Release, quasi: tuple[str, ...], attribute: str) -> Aspect:
    """What is counted of an attribute in the rows of a release."""
    if release.generalized:
        return Regions(release, quasi, attribute)
    if release.grouped:
        return Values(release, quasi, attribute)
    return (Members if release.rows_per_record > 1 else Sets)(release, quasi, attribute)


def _times(codes: NDArray[np.int32], n_values: int) -> Ints:
    return np.bincount(codes, minlength=n_values).astype(np.int64)

"""Screen a table as it would be published, in one pass over its rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from ldiversity.base.checks import name_some
from ldiversity.base.findings import Confirmed, Finding
from ldiversity.base.hashing import repeats
from ldiversity.base.numbers import percent
from ldiversity.errors import SchemaError
from ldiversity.publish._screening._cell_counts import is_numeric
from ldiversity.publish._screening._columns import ENOUGH_ROWS, Seen, about_column, leave_out, ways_out
from ldiversity.publish._screening._content import look_at
from ldiversity.publish._screening._counted import Counted, Spread, count
from ldiversity.publish._screening._people import about_people, even_samples, next_levels
from ldiversity.publish._screening._sketch import Sketch, SketchRows
from ldiversity.publish._screening._telling import telling
from ldiversity.publish._screening._values import about_domain, about_spellings, merged_codes
from ldiversity.release import subjects_of
from ldiversity.schema import Role, Schema
from ldiversity.sentences import Setting, say
from ldiversity.tables import Source, rows_per_id, unknown_column

if TYPE_CHECKING:
    from ldiversity.publish._prepare import Preparation

__all__ = ["Screening", "screen"]

_TOLD: Final = 0.5
_GAIN: Final = 0.3
_TOLD_OUTRIGHT: Final = 0.9
_GAIN_OUTRIGHT: Final = 0.8
_MOST_TEXTS: Final = 2_000
_FIRST_ROWS: Final = 2_000
_SAMPLED_FROM: Final = 1 << 15


@dataclass(frozen=True)
class Screening:
    """What was found about a table before it is published.

    Attributes
    ----------
    findings
        Everything, the most important first. What the holder confirmed does not block any more.
    confirmed
        The columns that would have blocked, and that the holder confirmed.
    """

    findings: tuple[Finding, ...] = ()
    confirmed: tuple[Confirmed, ...] = ()

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """What must be confirmed or left out."""
        return tuple(one for one in self.findings if one.blocking)

    def refuse(self, table: str, schema: Schema) -> None:
        """Raise `SchemaError` while something blocks: it names each column, the figure and both ways out."""
        if not self.blocking:
            return
        first, *others = self.blocking
        columns = list(dict.fromkeys(one.column or "" for one in self.blocking))
        more = "".join(f", and column {one.column!r}: {_inside(one.text)}" for one in others)
        raise SchemaError(
            table, f"must be dropped or confirmed: {_inside(first.text)}{more}", column=first.column
        ).with_hint(ways_out({name: schema[name].role for name in columns}))


def _inside(sentence: str) -> str:
    """A sentence as a part of another."""
    return f"{sentence[0].lower()}{sentence[1:].rstrip('.')}"


def check_confirm(confirm: Iterable[str], source: Source) -> None:
    """Refuse to confirm a column that the table does not have."""
    for name in confirm:
        if name not in source.columns:
            raise unknown_column(source.name, name, source.columns, from_file=source.from_file)


def screen(preparation: Preparation) -> Screening:
    """Look at everything that would be published, and say what it would give away."""
    question = preparation.question
    check_confirm(question.confirm, preparation.source)
    found = [*_about_sensitive(preparation)]
    published = preparation.schema.names(Role.QUASI, Role.PLAIN)
    if published or len(preparation.coders) > 1:
        choices = _choices(preparation)
        counted = count(choices, preparation.shown, preparation.engine)
        found += about_people(preparation, choices, counted)
        found += _about_columns(preparation, counted)
        found += _about_telling(preparation, counted)
        found += _about_ids(preparation, counted)
    found.sort(key=lambda one: not one.blocking)
    found[:0] = _about_several_rows(preparation)
    return _confirmed(found, question.confirm)


def _about_several_rows(preparation: Preparation) -> Iterator[Finding]:
    """Whether a person may have several rows, which nothing says: that changes what every promise means."""
    question, source = preparation.question, preparation.source
    if question.person is not None:
        return
    sensitive = {one.name for one in question.sensitive}
    for one in rows_per_id(source, [name for name in source.columns if name not in sensitive])[:1]:
        remedy = say("Say whose row it is: {}.", Setting("person", one.column))
        yield Finding(one.column, "several-rows", one.several, one.text, remedy)


def _confirmed(found: Sequence[Finding], confirm: Collection[str]) -> Screening:
    kept, confirmed = [], []
    for one in found:
        if one.blocking and one.column is not None and one.column in confirm:
            confirmed.append(Confirmed(one.column, one.kind, one.attribute))
            kept.append(replace(one, blocking=False, remedy="You confirmed it, and the release says so."))
        else:
            kept.append(one)
    needed = {one.column for one in confirmed}
    unneeded = [name for name in confirm if name not in needed]
    if unneeded:
        text = f"Nothing needs to be confirmed about {name_some(unneeded)}."
        kept.append(Finding(None, "unneeded-confirm", None, text, ""))
    return Screening(tuple(kept), tuple(confirmed))


def _exact(preparation: Preparation) -> frozenset[str]:
    """The columns whose cells are published as they are."""
    grouping = preparation.question.grouping
    generalized = grouping is not None and grouping.layout == "generalized"
    return frozenset(preparation.schema.names(*([Role.PLAIN] if generalized else [Role.QUASI, Role.PLAIN])))


def _choices(preparation: Preparation) -> SketchRows:
    source, schema, exact = preparation.shown, preparation.schema, _exact(preparation)
    sensitive, quasi = subjects_of(schema), schema.names(Role.QUASI)
    published = schema.names(Role.QUASI, Role.PLAIN)
    first = _first_rows(preparation.source, published)
    levels = next_levels(preparation, first)
    sketches = [Sketch("rows")]
    for name in published:
        sketches += _of_column(name, source.columns[name], sensitive if name in exact else sensitive[:1], name in exact)
    sketches += [Sketch("values", one, other) for one in sensitive for other in sensitive if one != other]
    sketches += [Sketch("ids", name) for name in _ids(preparation)]
    if quasi:
        sketches += [Sketch("persons"), Sketch("people")]
        sketches += [Sketch(what, name) for name in levels for what in ("coarser", "taken")]
    sampled = (preparation.n_rows // _SAMPLED_FROM).bit_length()
    return SketchRows(
        tuple(sketches),
        preparation.coders,
        {name: merged_codes(domain) for name, domain in preparation.domains.items()},
        quasi,
        preparation.question.person,
        levels,
        sampled,
        frozenset(name for name, cells in first.items() if not repeats(cells)),
        even_samples(quasi, first, sampled) if sampled else {},
    )


def _ids(preparation: Preparation) -> list[str]:
    """The columns of texts that say whose row it is."""
    question, columns = preparation.question, preparation.shown.columns
    ids = question.record_id if question.person is None else (question.person,)
    return [name for name in ids if pa.types.is_string(columns[name])]


def _about_ids(preparation: Preparation, counted: Counted) -> Iterator[Finding]:
    """Two spellings of an id are two people to the draws, whose sets can then be intersected."""
    for name in _ids(preparation):
        rows = counted.n_rows >> counted.choices.sampled
        yield from about_spellings(name, counted.hashed[Sketch("ids", name)], rows, ids=True)


def _first_rows(source: Source, names: Sequence[str]) -> dict[str, pa.Array]:
    """Some rows that tell what kind of values a column has; nothing is decided by them but how to count."""
    batch = source.first(names, _FIRST_ROWS) if names else None
    return {} if batch is None else dict(zip(names, batch.columns, strict=True))


def _of_column(name: str, kind: pa.DataType, sensitive: Sequence[str], exact: bool) -> Iterator[Sketch]:  # noqa: FBT001 - a plain fact
    yield from (Sketch("values", name, one) for one in sensitive)
    if pa.types.is_string(kind):
        yield Sketch("looks", name)
        yield Sketch("spellings", name)
    if exact and pa.types.is_integer(kind):
        yield Sketch("extremes", name)
    if exact and is_numeric(kind):
        yield Sketch("looks", name)
    if exact and (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind)):
        yield from (Sketch("rounded", name, one) for one in sensitive)


def _about_sensitive(preparation: Preparation) -> Iterator[Finding]:
    """What the domains tell: they become public."""
    groups = preparation.question.grouping is not None
    for name, coder in preparation.coders.items():
        counts, domain = preparation.counts[name], coder.domain
        replaced = not groups and getattr(preparation.question.methods[name], "epsilon", None) is not None
        yield from about_domain(name, domain, counts, groups=groups, replaced=replaced)
        texts = [value for value in domain.values if isinstance(value, str)]
        if domain.edges is not None or name not in preparation.undeclared:
            continue
        step = max(1, len(texts) // _MOST_TEXTS)
        total = int(counts.sum())
        spread = Spread(total, int(np.count_nonzero(counts)), int(np.count_nonzero(counts == 1)), exact=True)
        seen = Seen(name, coder.type, Role.SENSITIVE, False, spread, look_at(texts[::step]))
        found = about_column(seen)
        if found is not None:
            yield found


def _about_columns(preparation: Preparation, counted: Counted) -> Iterator[Finding]:
    source, question, exact = preparation.shown, preparation.question, _exact(preparation)
    first = subjects_of(preparation.schema)[0]
    ids = question.record_id if question.person is None else (question.person,)
    for attribute in preparation.schema.attributes:
        name, kind = attribute.name, source.columns.get(attribute.name)
        if attribute.role is Role.SENSITIVE or kind is None:
            continue
        textual = pa.types.is_string(kind)
        seen = Seen(
            name,
            kind,
            attribute.role,
            name in exact,
            counted.spread(name, first),
            counted.looked(name),
            counted.extremes.get(Sketch("extremes", name)),
            is_id=tuple(ids) == (name,),
            coarse=name in preparation.levels,
        )
        found = about_column(seen)
        if found is not None:
            yield found
        if textual and (found is None or not found.blocking):
            yield from about_spellings(name, counted.hashed[Sketch("spellings", name)], counted.n_rows)


def _about_telling(preparation: Preparation, counted: Counted) -> Iterator[Finding]:
    """Which columns tell a sensitive value that is hidden elsewhere."""
    sensitive, exact = preparation.schema.names(Role.SENSITIVE), _exact(preparation)
    groups = preparation.question.grouping is not None
    for attribute in sensitive:
        merged = merged_codes(preparation.coders[attribute].domain).astype(np.int64)  # numpy 2.0 takes no other
        own = np.bincount(merged, weights=preparation.counts[attribute])
        guess = int(own.max(initial=0)) / max(int(own.sum()), 1)
        for name in [*(one for one in preparation.schema.names() if one in exact), *sensitive]:
            if name == attribute:
                continue
            tried = [counted.hashed.get(Sketch(what, name, attribute)) for what in ("values", "rounded")]
            told = [telling(one, counted.n_rows) for one in tried if one is not None]
            best = max(told, key=lambda one: one.share)
            gain = (best.share - guess) / (1 - guess) if guess < 1 else 0.0
            if best.share < _TOLD or gain < _GAIN:
                continue
            # In a few rows two columns may go together by chance.
            outright = best.share >= _TOLD_OUTRIGHT and gain >= _GAIN_OUTRIGHT and counted.n_rows >= ENOUGH_ROWS
            # Classes show how often values occur in them, whatever another sensitive column says.
            blocking = outright and not (name in sensitive and groups)
            coding = "is a copy or a coding, and " if best.one_to_one else ""
            text = (
                f"It {coding}tells {attribute!r} for {percent(best.share)} of the records, to anyone who knows how the "
                f"two go together; without it a guess is right for {percent(guess)}."
            )
            role = preparation.schema[name].role
            remedy = ways_out({name: role}) if blocking else leave_out(role, ", or publish it coarser.")
            yield Finding(name, "tells", best.share, text, remedy, blocking=blocking, attribute=attribute)

"""How many people are alone with what would be published of them, and the first thing to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from ldiversity.base.checks import name_some
from ldiversity.base.findings import Finding
from ldiversity.base.hashing import cell_hashes, mixed
from ldiversity.base.numbers import counted as in_words
from ldiversity.base.numbers import counted_of, number
from ldiversity.methods import Rules
from ldiversity.publish._ladders import ladder_of
from ldiversity.publish._levels import UNITS, CalendarLevel, Level
from ldiversity.publish._screening._counted import EVEN, Counted, count
from ldiversity.publish._screening._sketch import Sketch, SketchRows
from ldiversity.publish._text_levels import PrefixLevel, SuppressLevel
from ldiversity.release import Release
from ldiversity.schema import Role
from ldiversity.sentences import Method, Parameter, Sentence, Setting, say

if TYPE_CHECKING:
    from ldiversity.publish._prepare import Preparation

__all__ = ["UNIQUE_PEOPLE", "about_people", "even_samples", "next_levels", "with_regions"]

UNIQUE_PEOPLE: Final = "unique-people"


def next_levels(preparation: Preparation, first: Mapping[str, pa.Array]) -> dict[str, Level]:
    """For each quasi-identifier the level to try next; none where the method generalizes by itself."""
    grouping, quasi = preparation.question.grouping, preparation.schema.names(Role.QUASI)
    if grouping is not None and grouping.layout == "generalized":
        return {}
    open_ones = [name for name in quasi if name in first and name not in preparation.levels]
    return {name: _next_level(preparation, name, first[name]) for name in open_ones}


def _next_level(preparation: Preparation, name: str, cells: pa.Array) -> Level:
    """Dates by the year, beginnings of codes without their last two signs, else the first level that is coarser."""
    rungs = ladder_of(cells.unique(), None, preparation.declared_trees.get(name))
    by_text = {str(level): level for level in rungs}
    shorter = [level for text, level in by_text.items() if text.startswith("prefix:")][1:2]
    return by_text.get("year") or next(iter([*shorter, *rungs]))


def even_samples(quasi: Sequence[str], first: Mapping[str, pa.Array], sampled: int) -> dict[str, int]:
    """For each quasi-identifier: how often the combinations of the others may be halved so that a sample stays even.

    If combinations have the shares p, the share of rows in one of 2 ** s of them has the relative variance
    2 ** s * sum(p ** 2). The first rows estimate the sum by how many pairs of them agree.
    """
    hashes = {name: mixed(cell_hashes(first[name]), salt=place) for place, name in enumerate(quasi) if name in first}
    together = sum(hashes.values(), np.zeros(1, dtype=np.uint64))
    found = {}
    for name, own in hashes.items():
        _, counts = np.unique(together - own, return_counts=True)
        agreeing, pairs = int((counts * (counts - 1)).sum()) // 2 + 1, len(own) * (len(own) - 1) // 2 + 1
        most = (EVEN / 2) ** 2 * pairs / agreeing
        found[name] = min(sampled, max(0, int(most).bit_length() - 1))
    return found


def about_people(preparation: Preparation, choices: SketchRows, counted: Counted) -> Iterator[Finding]:
    """How many people are unique on the quasi-identifiers, before and as published."""
    if not choices.quasi:
        return
    unique, exact = counted.unique_people()
    before, before_exact = unique, exact
    if preparation.levels:
        alone = replace(choices, sketches=(Sketch("rows"), Sketch("people")), levels={})
        before, before_exact = count(alone, preparation.source, preparation.engine).unique_people()
    if not before:
        return
    (n, n_exact), names = counted.n_people, name_some(choices.quasi)
    before = min(before, n)  # estimates of two readings may disagree
    noun = "person|people" if counted.people else "record"
    of = counted_of(before, n, noun, "is", "are")
    of = of if n_exact else of.replace(" of ", " of about ", 1)
    who = f"{'' if before_exact else 'About '}{of} unique on {names}"
    after, remedy = _published(preparation, choices, counted, (unique, exact))
    yield Finding(None, UNIQUE_PEOPLE, before / max(n, 1), f"{who}{after}.", remedy)


def _published(
    preparation: Preparation, choices: SketchRows, counted: Counted, shown: tuple[int, bool]
) -> tuple[str, Sentence | str]:
    """What becomes of them when the table is published, and what to do first."""
    grouping = preparation.question.grouping
    if grouping is not None and grouping.layout == "generalized":
        return "; the method makes them coarser, class by class", ""
    unique, exact = shown
    if not unique:
        return f"; as published, {'nobody' if exact else 'hardly anybody'} is", ""
    after = (
        f"; as published, {'' if exact else 'about '}{number(unique)} {'is' if unique == 1 else 'are'}"
        if preparation.levels
        else ""
    )
    tried = _tried(preparation, choices, counted)
    if not tried or min(tried.values()) >= unique:
        return after, say("Drop some of them, or choose a method that generalizes, such as {}.", Method("BSGI"))
    best = min(tried, key=lambda name: (isinstance(choices.levels[name], SuppressLevel), tried[name]))
    if tried[best] >= unique:
        best = min(tried, key=lambda name: tried[name])
    about = "about " if choices.sampled else ""
    left = f"{about}{number(tried[best])}" if tried[best] else "nobody"
    level = _finest(preparation, choices, best, tried[best])
    if isinstance(level, SuppressLevel):
        return after, say("First: drop {} (take it out of {}), which leaves {}.", best, Parameter("quasi"), left)
    return after, say(
        "First: publish {} as {} ({}), which leaves {}.", best, str(level), Setting("levels", (best, str(level))), left
    )


def _finest(preparation: Preparation, choices: SketchRows, name: str, left: int) -> Level:
    """The finest level of a column that leaves as few; of a sample, whose figures are rough, the one that was tried."""
    for finer in () if choices.sampled else _finer(choices.levels[name]):
        alone = replace(choices, sketches=(Sketch("rows"), Sketch("coarser", name)), levels={name: finer})
        counted = count(alone, preparation.shown, preparation.engine)
        if name not in counted.without_label and counted.unique_people(name)[0] <= left:
            return finer
    return choices.levels[name]


def _finer(level: Level) -> Sequence[Level]:
    """The levels that `_next_level` passed over, the finest first."""
    if isinstance(level, PrefixLevel):
        return [PrefixLevel(level.length + 1)]
    if isinstance(level, CalendarLevel):
        return [replace(level, unit=unit) for unit in list(UNITS)[: list(UNITS).index(level.unit)]]
    return []


def _tried(preparation: Preparation, choices: SketchRows, counted: Counted) -> dict[str, int]:
    """How many stay unique with each column at its next level; where a sample is of no use, all rows are read again."""
    open_ones = [name for name in choices.levels if name not in counted.without_label]
    uneven = [name for name in open_ones if choices.sampled_for(name) and not counted.is_even(name)]
    tried = {name: counted.unique_people(name)[0] for name in open_ones if name not in uneven}
    if uneven:
        sketches = (Sketch("rows"), *(Sketch("coarser", name) for name in uneven))
        everybody = replace(choices, sketches=sketches, sampled=0, sampling={})
        whole = count(everybody, preparation.shown, preparation.engine)
        tried |= {name: whole.unique_people(name)[0] for name in uneven if name not in whole.without_label}
    return tried


def with_regions(finding: Finding, release: Release) -> Finding:
    """The same of a release whose classes share a region: how many of its records are alone in theirs."""
    if finding.kind != UNIQUE_PEOPLE or not release.generalized:
        return finding
    alone = 0
    promised = Rules(tuple(release.promised(release.subjects[0])))
    # A promise that no class has one record alone saves reading all of them.
    sizes = np.zeros(0) if promised.least_size > 1 else release.evidence(release.subjects[0]).records
    if (sizes == 1).any():  # a record alone in its class may still share the region with other classes
        totals: Counter[str] = Counter()
        for size, region in zip(sizes.tolist(), release.regions().to_pylist(), strict=True):
            totals[repr(region)] += size
        alone = sum(total == 1 for total in totals.values())
    text = finding.text.partition(";")[0]
    told = in_words(alone, "record is", "records are") if alone else "nobody is"
    return replace(finding, text=f"{text}; as published, {told} alone in a region.")

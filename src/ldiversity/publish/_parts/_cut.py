"""Cutting a table into parts that fit into memory, each of which a method can group by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.base.held import LARGE_PIECE, give_back
from ldiversity.base.randomness import row_identities
from ldiversity.engines import Engine, Rows, Secrets
from ldiversity.errors import InfeasibleError, InternalError
from ldiversity.methods import (
    Candidates,
    CodedTable,
    Cuts,
    ExactMoves,
    GroupingMethod,
    Moves,
    PartCounts,
    Parts,
    RandomParts,
    eligible_cell_moves,
    eligible_moves,
    join_parts,
    leave_out,
    pair_parts,
)
from ldiversity.models import Population
from ldiversity.publish._parts._measure import SAMPLE_ROWS
from ldiversity.publish._parts._route import ChooseRows, MoveRows, RouteRows, Rule
from ldiversity.publish._parts._table import PART, TableShape, code_name
from ldiversity.publish._prepare import Preparation
from ldiversity.release import RECORDS
from ldiversity.schema import Domain
from ldiversity.tables import COUNT

__all__ = ["CutTable", "cut_table"]

_MOST_COMBINATIONS: Final = 1 << 21
_TRIES: Final = 4

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CutTable:
    """A table in parts.

    Parameters
    ----------
    rows
        Its rows in codes, with their parts in `PART`.
    n_parts
        How many parts there may be.
    shape
        The shape of the table, with how often values occur in it.
    n_rows, left_out
        How many rows it has, and how many of them are in no part.
    largest
        How many rows the largest part has.
    """

    rows: Rows
    n_parts: int
    shape: TableShape
    n_rows: int
    left_out: int
    largest: int


def cut_table(
    preparation: Preparation, shape: TableShape, n_parts: int, *, largest: int, secrets: Secrets, scratch: Path | None
) -> CutTable:
    """Cut a table into about so many parts, and let rows change parts until the method can group each.

    Where that needs parts that are put together, they have at most `largest` rows, if that is possible.
    """
    engine, method = preparation.engine, preparation.method
    give_back(ahead=LARGE_PIECE)
    parts = _ways(preparation, shape, n_parts, secrets)
    give_back()  # what the sample took is free for rows
    routed = engine.map(RouteRows(shape, parts), preparation.shown, list(shape.columns), secrets=secrets)
    return _Cutter(engine, method, shape, engine.keep(routed, scratch=scratch), parts, secrets, largest).cut()


def _ways(preparation: Preparation, shape: TableShape, n_parts: int, secrets: Secrets) -> Parts:
    method = preparation.method
    if n_parts == 1 or method.parts == "random" or not shape.quasi:
        return RandomParts(n_parts)
    if method.parts == "alike":
        return method.alike_parts(n_parts)
    sample = _sample(preparation, shape, secrets)
    # Compiled loops are loaded now, for the first time: not on top of what drawing the sample took and freed.
    give_back(ahead=LARGE_PIECE)
    level = method.part_rule(len(sample.sensitive)).level
    everyone = tuple(column.population for column in sample.sensitive)
    names = tuple(column.name for column in sample.sensitive)

    def feasible(counts: tuple[Ints, ...]) -> bool:
        return method.feasible(PartCounts(counts, everyone, names=names))

    return Cuts.of_sample(
        method.name,
        sample,
        n_parts,
        l=level,
        weights=getattr(method, "weights", None),
        split_ties=not getattr(method, "strict", False),
        # Where rows can move, they do; where they cannot, cuts must do.
        feasible=feasible if level is None else None,
    )


def _sample(preparation: Preparation, shape: TableShape, secrets: Secrets) -> CodedTable:
    known = replace(shape, plain=(), person=None)
    drawn = preparation.engine.sample(preparation.shown, list(known.columns), SAMPLE_ROWS, secrets=secrets)
    batch = drawn.combine_chunks().to_batches()
    coded = [known.code(one, row_identities(0, 0, one.num_rows)) for one in batch]
    return known.reading(pa.Table.from_batches(coded, known.schema)).grouped


@dataclass(frozen=True, eq=False)
class _Cutter:
    """Counts rows by part and value, and decides by these counts alone who moves."""

    engine: Engine
    method: GroupingMethod
    shape: TableShape
    routed: Rows
    parts: Parts
    secrets: Secrets
    largest: int

    @property
    def n_parts(self) -> int:
        return self.parts.tree.n_parts

    @property
    def domains(self) -> tuple[Domain, ...]:
        return tuple(coder.domain for coder in self.shape.coders.values()) or (RECORDS,)

    def cut(self) -> CutTable:
        """Leave rows out, move rows, and put parts together: what the method needs, in this order."""
        rule = self.method.part_rule(len(self.domains))
        rows = self.routed
        moves: list[tuple[Rule, ExactMoves]] = []
        counts = self._counts(rows)
        n_rows = int(counts[0].sum())
        left_out = 0
        # Of all rows, those that are left out too: what is merged into levels must not change on the way.
        populations = [own.sum(axis=0) for own in counts]
        levels = self._levels(populations)
        if rule.level is not None and rule.leave_out and self.shape.coders:
            found = self._leave_out(rows, populations, levels, rule.level)
            if found is not None:
                moves.append(found[1:])
                left_out = found[0].n_rows
                rows = self._moved(moves)
                counts = self._counts(rows)
                if not counts[0].sum():
                    raise self._nothing_left()
        if rule.level is not None and self.shape.coders:
            change = self._change_parts(rows, counts, levels, rule.level)
            if change is not None:
                moves.append(change)
                rows = self._moved(moves)
                counts = self._counts(rows)
        home = self._joined(counts, populations)
        if home is not None:
            rows = self._moved(moves, home)
        sizes = counts[0].sum(axis=1)
        sizes = np.bincount(np.arange(self.n_parts) if home is None else home, weights=sizes, minlength=self.n_parts)
        whole = dict(zip(self.shape.coders, populations, strict=False))
        return CutTable(
            rows, self.n_parts, replace(self.shape, populations=whole), n_rows, left_out, int(sizes.max(initial=0))
        )

    def _moved(self, moves: Sequence[tuple[Rule, ExactMoves]], home: NDArray[np.int32] | None = None) -> Rows:
        factory = MoveRows(self.routed.schema, tuple(moves), home)
        return self.engine.map(factory, self.routed, self.routed.schema.names, secrets=self.secrets)

    def _counts(self, rows: Rows) -> list[Ints]:
        """For each sensitive column, shape (parts, F): how often each value occurs in each part."""
        found = []
        names = [code_name(name) for name in self.shape.coders]
        for place, domain in enumerate(self.domains):
            own = names[place : place + 1]  # none where records alone are counted
            counted = self.engine.count(rows, [PART, *own])
            if counted is None:
                raise InternalError("Parts", "counts without a limit must be complete")
            counts = np.zeros((self.n_parts, len(domain)), dtype=np.int64)
            values = np.asarray(counted.column(own[0])) if own else 0
            counts[np.asarray(counted.column(PART)), values] = np.asarray(counted.column(COUNT))
            found.append(counts)
        return found

    def _levels(self, populations: Sequence[Ints]) -> list[CodeArray]:
        return [self.method.part_levels(*known) for known in zip(self.domains, populations, strict=True)]

    def _leave_out(
        self, rows: Rows, populations: Sequence[Ints], levels: Sequence[CodeArray], l: int
    ) -> tuple[Moves, Rule, ExactMoves] | None:
        """Who is left out of the whole table, so that no value has more than 1/l of what stays; None when nobody is."""
        by = Rule("leave out", tuple(self.shape.coders), tuple(levels), anywhere=True)
        if len(levels) == 1:
            totals = _by_level(populations[0][None, :], levels[0])
            planned = leave_out(totals[0], l)
        else:
            found = self._combinations(rows, by)
            if found is None:
                raise InfeasibleError(
                    self.method.name,
                    f"combinations of sensitive values must be at most {_MOST_COMBINATIONS} to leave records out",
                ).with_hint("Publish fewer sensitive columns together.")
            by, totals, cells = found
            totals = totals.sum(axis=0, keepdims=True)
            planned = leave_out(totals[0], l, cells)
        return (planned, by, self._settle(rows, planned, totals, by)) if planned.n_rows else None

    def _change_parts(
        self, rows: Rows, counts: Sequence[Ints], levels: Sequence[CodeArray], l: int
    ) -> tuple[Rule, ExactMoves] | None:
        """Who changes parts, so that no value has more than 1/l of any; None when nobody does."""
        by_level = [_by_level(own, numbers) for own, numbers in zip(counts, levels, strict=True)]
        worst = int(np.argmax([own.sum(axis=0).max(initial=0) for own in by_level]))
        names, totals = tuple(self.shape.coders), by_level[worst]
        by = Rule("change parts", (names[worst],), (levels[worst],))
        several = Rule("change parts", names, tuple(levels))
        found = self._combinations(rows, several) if len(names) > 1 else None
        if found is None:
            planned = eligible_moves(totals, l, self.parts.tree)
        else:
            by, totals, cells = found
            planned = eligible_cell_moves(totals, l, self.parts.tree, cells)
        return (by, self._settle(rows, planned, totals, by)) if planned.n_rows else None

    def _combinations(self, rows: Rows, by: Rule) -> tuple[Rule, Ints, CodeArray] | None:
        """Rows by part and combination of levels, and the levels of each combination; None when there are too many."""
        names = [code_name(name) for name in by.columns]
        counted = self.engine.count(rows, [PART, *names], most=_MOST_COMBINATIONS)
        if counted is None:
            return None
        codes = [np.asarray(counted.column(name)) for name in names]
        known, places = np.unique(by.key(codes), return_inverse=True)
        if len(known) * self.n_parts > _MOST_COMBINATIONS:
            return None
        totals = np.zeros((self.n_parts, len(known)), dtype=np.int64)
        np.add.at(totals, (np.asarray(counted.column(PART)), places.ravel()), np.asarray(counted.column(COUNT)))
        cells = np.zeros((len(known), len(names)), dtype=np.int32)
        for key, (own, numbers) in enumerate(zip(codes, by.levels, strict=True)):
            cells[places.ravel(), key] = numbers[own]
        return replace(by, combinations=known), totals, cells

    def _settle(self, rows: Rows, moves: Moves, counts: Ints, rule: Rule) -> ExactMoves:
        """Which rows move: exactly as many as were decided."""
        deviations = 6.0
        for _ in range(_TRIES):
            candidates = Candidates.of(moves, counts, deviations=deviations)
            chosen = self.engine.map(ChooseRows(rule, candidates), rows, rows.schema.names, secrets=self.secrets)
            table = pa.Table.from_batches(list(chosen), chosen.schema)
            parts, values, words = (np.asarray(table.column(name)) for name in ("part", "value", "word"))
            exact = ExactMoves.settle(moves, counts, parts, values, words)
            if exact is not None:
                return exact
            deviations *= 2
        raise InternalError("Parts", "there must be enough rows that can move")

    def _joined(self, counts: Sequence[Ints], populations: Sequence[Ints]) -> NDArray[np.int32] | None:
        """The part of each part when those that the method cannot group alone are put together; None when all can."""
        running = [np.cumsum(np.vstack([np.zeros_like(own[:1]), own]), axis=0) for own in counts]
        everyone = tuple(Population(*known) for known in zip(self.domains, populations, strict=True))

        def holds(first: int, last: int) -> bool:
            counted = tuple(own[last] - own[first] for own in running)
            return self.method.feasible(PartCounts(counted, everyone, names=tuple(self.shape.coders)))

        def hold_together(parts: Sequence[int]) -> bool:
            counted = tuple(own[list(parts)].sum(axis=0) for own in counts)
            return self.method.feasible(PartCounts(counted, everyone, names=tuple(self.shape.coders)))

        home, sizes = join_parts(self.parts.tree, holds), counts[0].sum(axis=1)
        if np.bincount(home, weights=sizes).max() > self.largest:
            paired = pair_parts(sizes, hold_together, self.largest)
            home = home if paired is None else paired
        return None if np.array_equal(home, np.arange(self.n_parts)) else home

    def _nothing_left(self) -> InfeasibleError:
        return InfeasibleError(self.method.name, "no class can be formed, so no record can be published").with_hint(
            "Choose a smaller l, or another method."
        )


def _by_level(counts: Ints, levels: CodeArray) -> Ints:
    """Shape (parts, levels): how often each level occurs in each part."""
    found = np.zeros((len(counts), int(levels.max(initial=0)) + 1), dtype=np.int64)
    np.add.at(found.T, levels, counts.T)
    return found

"""Cuts that divide a table into parts of near records, made from a sample of it."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray
from ldiversity.base.randomness import Identities
from ldiversity.errors import InternalError
from ldiversity.methods._anatomy_classes import keep_eligible
from ldiversity.methods._bsgi_near import set_aside
from ldiversity.methods._bsgi_space import Keys, Space, make_space, places_of
from ldiversity.methods._coded import CodedTable, NumberColumn, QuasiColumn
from ldiversity.methods._parts_tree import PartTree

if TYPE_CHECKING:
    from ldiversity._kernels.part_routes import Branches

__all__ = ["Cuts"]

Feasible: TypeAlias = Callable[[tuple[NDArray[np.int64], ...]], bool]

_TOLERANCE: Final = 0.005
"""The share of records that may change sides at a cut. On Adult in eight parts, 0.02 loses a sixth more (l=4)."""

_LARGEST: Final = 1.5
"""How many times the wanted number of rows a part may have."""

_LEAST_ROWS: Final = 64
_LEAST_CLASSES: Final = 16
"""Rows and classes of the sample that a part needs to be cut by a coordinate; smaller ones are cut by chance."""

_LEAST_SIDE: Final = 8
"""A side of a cut has at least one in so many rows: parts are for bounding memory, and classes set outliers apart."""

_SHARES: Final = (3 / 8, 5 / 8, 1 / 4, 3 / 4)
"""Where else than in the middle a coordinate is cut if the sides are not feasible."""

_DEVIATIONS: Final = 1.0
"""How many standard deviations the counts of a sample may be off before a side is not feasible. With none, parts often
had to be put together again; with three, many were cut by chance, and Mondrian lost a quarter more on Adult."""

_LEAST_OF_A_VALUE: Final = 16
"""Rows of the sample that a value needs for a threshold of its own."""


@dataclass(frozen=True, eq=False)
class _Axis:
    """How a quasi-identifier becomes a coordinate: a scaled number, or the place of a category in its tree."""

    name: str
    weight: float
    low: float
    high: float
    places: NDArray[np.float32] | None


@dataclass(frozen=True, eq=False)
class Cuts:
    """A tree of cuts. A row goes left or right by a coordinate of BSGI's space, down to its part.

    Thresholds differ by sensitive value where a value would else be too frequent on a side: then no more rows need to
    be moved between parts than chance requires. With several sensitive columns they differ by the one with the most
    frequent value, as within BSGI itself. A threshold for each combination would rest on few rows of the sample, and
    the other columns have more room.

    Made by `of_sample`. It can be pickled; thresholds are cells of the table, and as secret as these.

    Parameters
    ----------
    axes
        How quasi-identifiers become coordinates, numbers first.
    column
        The sensitive column by whose values thresholds differ.
    tree
        The parts.
    branches
        What each inner node of the tree compares.
    """

    axes: tuple[_Axis, ...]
    column: int
    tree: PartTree
    branches: Branches

    @classmethod
    def of_sample(
        cls,
        owner: str,
        sample: CodedTable,
        n_parts: int,
        *,
        l: int | None,
        weights: Mapping[str, float] | None = None,
        split_ties: bool = True,
        feasible: Feasible | None = None,
    ) -> Self:
        """Cut a sample, the largest part first, until no part has more than 1.5 times as many rows as wanted.

        The coordinate of greatest expected loss is cut in the middle, categories between nodes of their tree. What has
        too few rows in the sample, or no spread, is cut by chance. So sizes are bounded, and numbers of parts are about
        what is wanted: at most a third less, and seldom more than half above.

        Parameters
        ----------
        owner
            The method, for messages.
        sample
            Rows of the table in random order, at most about 131,072. Its columns have the labels, hierarchies and
            ranges of the whole table.
        n_parts
            About how many parts to make: a part shall have one in so many rows.
        l
            No value shall have more than 1/l of a part. None: values are not looked at.
        weights
            How much each quasi-identifier counts.
        split_ties
            Whether rows with the same coordinate may go to different sides.
        feasible
            Whether a part can be grouped, if its rows of the sample have these counts for each sensitive column. Cuts
            that leave a side that cannot are not made. A part that no such cut divides, and is too large, is cut by
            chance: then both sides are what it was. None: sides are not looked at.
        """
        space = make_space(owner, sample, weights)
        weight_of = sample.weights(owner, weights)
        numbers = [_Axis(own.name, weight_of[own.name], own.low, own.high, None) for own in sample.numbers]
        categories = [_Axis(own.name, 1.0, 0.0, 1.0, places_of(own).astype(np.float32)) for own in sample.categories]
        worst = int(np.argmax([own.counts.max(initial=0) for own in sample.sensitive]))
        codes, n_values = sample.sensitive[worst].codes, len(sample.sensitive[worst].domain)
        if l is None:
            codes, n_values = np.zeros(sample.n_rows, dtype=np.int32), 1
        known = tuple((own.codes, len(own.domain)) for own in sample.sensitive)
        cutter = _Cutter(space, np.ascontiguousarray(codes), n_values, l or 1, split_ties, known, feasible)
        tree, branches = _listed(cutter.cut_all(n_parts))
        return cls((*numbers, *categories), worst, tree, branches)

    @property
    def n_parts(self) -> int:
        """The number of parts."""
        return self.tree.n_parts

    def identities(self, table: CodedTable, rows: Identities) -> Identities:  # noqa: ARG002 - rows as they are
        """Each row has words of its own."""
        return rows

    def route(self, table: CodedTable, words: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Shape (n,): the part of each row, from its cells and its uniformly random word alone."""
        from ldiversity._kernels.part_routes import route

        parts = np.zeros(table.n_rows, dtype=np.int32)
        if self.n_parts > 1 and table.n_rows:
            codes = np.ascontiguousarray(table.sensitive[self.column].codes, dtype=np.int32)
            route(self.branches, self.points(table), codes, np.ascontiguousarray(words), parts)
        return parts

    def points(self, table: CodedTable) -> NDArray[np.float32]:
        """Shape (n, coordinates): the rows in the space of the sample."""
        columns: tuple[QuasiColumn, ...] = (*table.numbers, *table.categories)
        if [column.name for column in columns] != [axis.name for axis in self.axes]:
            raise InternalError("Parts", "a table to route has other quasi-identifiers than the sample")
        points = np.empty((table.n_rows, len(columns)), dtype=np.float32)
        for d, (axis, column) in enumerate(zip(self.axes, columns, strict=True)):
            if isinstance(column, NumberColumn):
                scaled = replace(column, low=axis.low, high=axis.high).scaled
                np.multiply(scaled, np.float32(axis.weight), out=points[:, d])
            elif axis.places is None or len(axis.places) != len(column.labels):
                raise InternalError("Parts", f"{column.name!r} has other labels than in the sample")
            else:
                points[:, d] = axis.places[column.codes]
        return points


@dataclass(eq=False)
class _Node:
    """A node: its rows of the sample; when it is cut, its children and what they are told apart by."""

    rows: NDArray[np.int32]
    size: float
    children: tuple[_Node, _Node] | None = None
    coordinate: int = -1
    threshold: float = 0.0
    share: float = 0.5
    own: tuple[tuple[int, float, float], ...] = ()


@dataclass(frozen=True, eq=False)
class _Cutter:
    """Cuts a sample."""

    space: Space
    codes: CodeArray
    n_values: int
    l: int
    split_ties: bool
    sensitive: tuple[tuple[CodeArray, int], ...] = ()
    feasible: Feasible | None = None

    def cut_all(self, n_parts: int) -> _Node:
        """The root of a tree with about so many leaves."""
        keys = Keys(self.codes.reshape(-1, 1), np.array([self.n_values]), ("",), 1)
        rows = np.arange(len(self.codes), dtype=np.int32)
        if self.l > 1:
            rows = keep_eligible(keys.codes, keys.sizes, rows, self.l)
            rows = set_aside(keys, rows, len(rows) % self.l)
        root = _Node(rows, float(len(rows)))
        number = count()
        largest = [(-root.size, next(number), root)]
        while -largest[0][0] * n_parts > _LARGEST * root.size:
            _, _, node = heapq.heappop(largest)
            for child in self._cut(node):
                heapq.heappush(largest, (-child.size, next(number), child))
        return root

    def _cut(self, node: _Node) -> tuple[_Node, _Node]:
        if len(node.rows) < max(_LEAST_ROWS, _LEAST_CLASSES * self.l) or not self._cut_near(node):
            halves = node.rows[::2], node.rows[1::2]  # only for nodes below, which are cut by chance too
            node.children = _Node(halves[0], node.size / 2), _Node(halves[1], node.size / 2)
        if node.children is None:
            raise TypeError(node)
        return node.children

    def _cut_near(self, node: _Node) -> bool:
        """Cut by a coordinate; False where all rows are nearly alike, or no cut leaves two feasible sides."""
        from ldiversity._kernels.bsgi_parts import cut

        rows, space = node.rows, self.space
        points, codes = space.points[rows], self.codes[rows]
        while True:
            order = np.arange(len(rows), dtype=np.int32)
            place, coordinate = cut(space.loss, points, codes, self.n_values, order, self.l, _TOLERANCE)
            if coordinate < 0:
                return False
            own = points[:, coordinate].copy()
            if self.split_ties and self.l > 1:
                node.threshold, node.share = _threshold(own, place, snap=self.l)
                left: NDArray[np.integer] = order[:place]
                if self._is_worth_it(rows, left):
                    node.own = self._own_thresholds(codes, left, own)
                    break
            else:
                found = self._plain_cut(node, own, place)
                if found is not None:
                    left = found
                    break
            points[:, coordinate] = 0  # not cut by this one: a category that nearly all have, or not feasible
        node.coordinate = coordinate
        others = np.ones(len(rows), dtype=bool)
        others[left] = False
        node.children = _Node(rows[left], float(len(left))), _Node(rows[others], float(len(rows) - len(left)))
        return True

    def _plain_cut(self, node: _Node, own: NDArray[np.float32], middle: int) -> NDArray[np.int64] | None:
        """The rows on the left of one threshold for all values: the first of some that is worth it."""
        for place in (middle, *(int(share * len(own)) for share in _SHARES)):
            threshold, share = _threshold(own, place, snap=self.l if self.split_ties else len(own))
            ties = np.flatnonzero(own == threshold)
            left = np.append(np.flatnonzero(own < threshold), ties[: round(share * len(ties))])
            left.sort()
            if self._is_worth_it(node.rows, left):
                node.threshold, node.share = threshold, share
                return left
            if self.feasible is None:
                break
        return None

    def _is_worth_it(self, rows: NDArray[np.int32], left: NDArray[np.integer]) -> bool:
        """Whether no side is very small, and both are feasible."""
        if min(len(left), len(rows) - len(left)) * _LEAST_SIDE < len(rows):
            return False
        if self.feasible is None:
            return True
        among = np.zeros(len(rows), dtype=bool)
        among[left] = True
        return all(self._is_feasible(own) for own in (rows[among], rows[~among]))

    def _is_feasible(self, rows: NDArray[np.int32]) -> bool:
        """Whether a side is feasible, also if the sample has too few rows of its most frequent values by chance."""
        counts = [np.bincount(codes[rows], minlength=size) for codes, size in self.sensitive]
        likely = [own.copy() for own in counts]
        for own in likely:
            own[np.argmax(own)] += int(_DEVIATIONS * np.sqrt(own.max()))
        return self.feasible is None or (self.feasible(tuple(counts)) and self.feasible(tuple(likely)))

    def _own_thresholds(
        self, codes: CodeArray, left: NDArray[np.integer], own: NDArray[np.float32]
    ) -> tuple[tuple[int, float, float], ...]:
        """Thresholds of values of which the cut sends more or fewer to the left than one threshold for all would."""
        nearest = np.argsort(own, kind="stable")[: len(left)]
        by_all = np.bincount(codes[nearest], minlength=self.n_values)
        by_cut = np.bincount(codes[left], minlength=self.n_values)
        totals = np.bincount(codes, minlength=self.n_values)
        differ = np.abs(by_all - by_cut) > 1 + totals // 200
        return tuple(
            (value, *_threshold(own[codes == value], int(by_cut[value]), snap=0))
            for value in np.flatnonzero(differ & (totals >= _LEAST_OF_A_VALUE)).tolist()
        )


def _threshold(own: NDArray[np.float32], place: int, snap: int) -> tuple[float, float]:
    """The coordinate and the share of ties that send the first `place` rows to the left.

    Ties are not split if fewer than `snap` of them then change sides.
    """
    if place >= len(own):
        return float("inf"), 1.0
    if place <= 0:
        return float("-inf"), 0.0
    threshold = np.partition(own, place)[place]
    less, ties = int(np.count_nonzero(own < threshold)), int(np.count_nonzero(own == threshold))
    first = place - less
    if min(first, ties - first) < snap:
        # Not to an end of all rows, where nothing would be cut.
        to_right = less > 0 and (first <= ties - first or less + ties == len(own))
        return float(threshold), 0.0 if to_right else 1.0
    return float(threshold), first / ties


def _listed(root: _Node) -> tuple[PartTree, Branches]:
    """The tree as arrays, nodes before their children, parts numbered from left to right."""
    from ldiversity._kernels.part_routes import Branches

    nodes: list[_Node] = []
    sides: list[list[int]] = []
    n_parts = 0
    pending: list[tuple[_Node, int, int]] = [(root, -1, 0)]
    while pending:
        node, parent, side = pending.pop()
        number = -1 - n_parts if node.children is None else len(nodes)
        if parent >= 0:
            sides[parent][side] = number
        if node.children is None:
            n_parts += 1
            continue
        nodes.append(node)
        sides.append([0, 0])
        pending += [(node.children[1], number, 1), (node.children[0], number, 0)]
    left, right = np.array(sides, dtype=np.int32).reshape(-1, 2).T.copy()
    own = [one for node in nodes for one in node.own]
    branches = Branches(
        left,
        right,
        np.array([node.coordinate for node in nodes], dtype=np.int32),
        np.array([node.threshold for node in nodes], dtype=np.float32),
        np.array([node.share for node in nodes], dtype=np.float64),
        np.cumsum([0, *(len(node.own) for node in nodes)]).astype(np.int32),
        np.array([value for value, _, _ in own], dtype=np.int32),
        np.array([threshold for _, threshold, _ in own], dtype=np.float32),
        np.array([share for _, _, share in own], dtype=np.float64),
    )
    return PartTree(left, right), branches

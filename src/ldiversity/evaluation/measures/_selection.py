"""Which records each query of a workload selects.

Queries are answered 64 at a time. Each value of a quasi-identifier has a word with a bit for every query: whether the
query accepts the value, or does not name the column. The words of a record's values, combined by "and", say which of
the queries select it. So a record is looked at once for 64 queries, and not once for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.products import multiply
from ldiversity.evaluation.measures._axes import Reach

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray

__all__ = ["Chosen", "Rows"]

Chosen = Mapping[str, "BoolArray"]
"""What a query asks of the quasi-identifiers: for each that it names, the values of its axis that it selects."""

_QUERIES: Final = 64
"""The bits of a word."""

_ROWS: Final = 1 << 14
"""Rows whose weights are held at once, for 64 queries: 8 MB."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The position of each row on some axes, or the label by which it is spread over one.

    Examples
    --------
    Two queries on four records; the codes of the records that each selects are counted:

    >>> rows = Rows({"age": np.array([0, 1, 1, 2])}, 4)
    >>> codes = np.array([[0], [0], [1], [1]], dtype=np.int32)
    >>> asked = [{"age": np.array([True, True, False])}, {"age": np.array([False, False, True])}]
    >>> next(rows.tally(asked, lambda part: codes[part], 2)).tolist()
    [[2.0, 1.0], [0.0, 1.0]]
    """

    positions: Mapping[str, NDArray[np.intp]]
    n_rows: int
    reaches: Mapping[str, tuple[Reach, CodeArray]] = field(default_factory=dict)

    def tally(
        self, queries: Sequence[Chosen], codes: Callable[[slice], CodeArray], n_codes: int
    ) -> Iterator[FloatArray]:
        """Sum what each query selects of the rows, by their codes: shape (some queries, codes), query after query.

        Parameters
        ----------
        queries
            What is asked.
        codes
            Gives the codes of some rows, shape (rows, codes of a row). A row whose first code is negative has none.
        n_codes
            How many codes there are.
        """
        from scipy.sparse import csr_array

        def marked(part: slice) -> Any:  # noqa: ANN401 - a sparse matrix
            found = codes(part)
            known = found[:, 0] >= 0
            ends = np.concatenate([[0], np.cumsum(known * found.shape[1])])
            members = found[known].reshape(-1)
            return csr_array((np.ones(len(members)), members, ends), shape=(len(found), n_codes))

        return self.sums(queries, marked, n_codes)

    def sums(self, queries: Sequence[Chosen], numbers: Callable[[slice], Any], width: int) -> Iterator[FloatArray]:
        """Sum numbers of the rows that each query selects: shape (some queries, width), query after query.

        `numbers` gives those of some rows, shape (rows, width), dense or sparse.
        """
        room = np.empty((min(self.n_rows, _ROWS), _QUERIES))  # the same for all weights: new pages take longer
        for first in range(0, len(queries), _QUERIES):
            block = queries[first : first + _QUERIES]
            weigh = self._weigher(block, room)
            total = np.zeros((width, _QUERIES))
            for start in range(0, self.n_rows, _ROWS):
                part = slice(start, min(start + _ROWS, self.n_rows))
                some = numbers(part)
                weights = weigh(part)
                total += multiply(some.T, weights) if isinstance(some, np.ndarray) else np.asarray(some.T @ weights)
            yield np.ascontiguousarray(total.T[: len(block)])

    def _weigher(self, block: Sequence[Chosen], room: FloatArray) -> Callable[[slice], FloatArray]:
        """Give a function from rows to the share of each that each query selects, shape (rows, 64), in `room`."""
        words = {
            name: _words([query.get(name) for query in block])
            for name in dict.fromkeys(name for query in block for name in query if name in self.positions)
        }
        spread = [
            (place, reach.shares(chosen[None, :])[0], of_row)
            for place, query in enumerate(block)
            for name, chosen in query.items()
            if name in self.reaches
            for reach, of_row in [self.reaches[name]]
        ]

        def weigh(part: slice) -> FloatArray:
            bits = np.full(part.stop - part.start, np.iinfo(np.uint64).max, dtype=np.uint64)
            for name, of_value in words.items():
                bits &= of_value.take(self.positions[name][part])
            selected = np.unpackbits(bits.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
            weights = room[: len(selected)]
            weights[:] = selected
            for place, shares, of_row in spread:
                weights[:, place] *= shares[of_row[part]]
            return weights

        return weigh


def _words(chosen: Sequence[BoolArray | None]) -> NDArray[np.uint64]:
    """A word for each value of an axis, and one more for values that are not on it; None is a query without the axis.

    Examples
    --------
    >>> _words([np.array([True, False]), None]).tolist()
    [3, 2, 2]
    """
    size = next(len(values) for values in chosen if values is not None)
    accepted = np.zeros((size + 1, _QUERIES), dtype=np.bool_)
    for place, values in enumerate(chosen):
        if values is None:
            accepted[:, place] = True
        else:
            accepted[:size, place] = values
    packed = np.packbits(accepted, axis=1, bitorder="little")
    return packed.view(np.uint64).reshape(-1)

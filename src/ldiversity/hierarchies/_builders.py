"""Build a hierarchy from values: by width, quantiles, prefixes or the calendar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from ldiversity.hierarchies._dates import date_rows
from ldiversity.hierarchies._origin import Origin
from ldiversity.hierarchies._prefixes import flat_rows, prefix_rows
from ldiversity.hierarchies._quantiles import quantile_rows
from ldiversity.hierarchies._unambiguous import check_unambiguous
from ldiversity.hierarchies._widths import width_rows

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Sequence

__all__ = ["Builders"]


class Builders:
    """The ways to build a `Hierarchy` from the values of a column.

    Each takes a list, an array or a column of a data frame, in which values may repeat. ``None`` and NaN become the
    category of missing values, directly under the root. A release publishes leaves that come from values only where
    its rows show them; it publishes a range that is declared with `low` and `high` as a whole.
    """

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[str]], *, origin: Origin | None = None) -> Self:
        """Make a hierarchy from rows; `Hierarchy` implements it."""
        raise NotImplementedError

    @classmethod
    def by_width(
        cls, values: Iterable[object], widths: Sequence[float], *, low: float | None = None, high: float | None = None
    ) -> Self:
        """Put numbers into intervals of equal width, one width per level.

        Parameters
        ----------
        values
            Numbers; may be empty when `low` and `high` are given.
        widths
            From narrow to wide, each a multiple of the one before it. Intervals start at multiples of their width
            and include their lower end: ``[20, 30)``.
        low, high
            The public range. All integers of ``low..high`` become leaves, whether they occur or not; of fractions,
            only those that occur.

        Examples
        --------
        >>> from ldiversity.hierarchies import Hierarchy
        >>> Hierarchy.by_width([23, 38, 67], [10, 20]).rows
        (('23', '[20, 30)', '[20, 40)', '*'), ('38', '[30, 40)', '[20, 40)', '*'), ('67', '[60, 70)', '[60, 80)', '*'))
        >>> Hierarchy.by_width([], [5, 10], low=0, high=99)
        Hierarchy(100 leaves, 4 levels)
        """
        made = width_rows("Hierarchy.by_width", values, widths, low, high)
        return cls._made(made.rows, None if made.declared else Origin("width"))

    @classmethod
    def by_quantiles(
        cls, values: Iterable[object], n_bins: Sequence[int] = (16, 4), *, counts: Iterable[int] | None = None
    ) -> Self:
        """Put numbers into intervals that hold about equally many records.

        A value is never split, so a frequent one may fill an interval alone, and there may be fewer intervals than
        asked for. The limits come from the records: they reveal roughly how these are distributed.

        Parameters
        ----------
        values
            Numbers, repeated as they occur, or once each with `counts`.
        n_bins
            The number of intervals of each level, from many to few, each a divisor of the one before it.
        counts
            How often each value occurs.

        Examples
        --------
        >>> from ldiversity.hierarchies import Hierarchy
        >>> Hierarchy.by_quantiles([1, 2, 3, 50], [2]).rows
        (('1', '[1, 3)', '*'), ('2', '[1, 3)', '*'), ('3', '[3, 50]', '*'), ('50', '[3, 50]', '*'))
        """
        return cls._made(quantile_rows("Hierarchy.by_quantiles", values, n_bins, counts), Origin("quantiles"))

    @classmethod
    def by_prefix(cls, texts: Iterable[object], lengths: Sequence[int] | None = None, *, mask: str = "*") -> Self:
        """Group codes, such as postal codes, by their prefixes.

        Parameters
        ----------
        texts
            Texts, or integers, which are read as digits.
        lengths
            The number of characters that each level keeps, from many to few; None drops one character per level.
        mask
            The character that replaces a dropped one; none of the texts may contain it.

        Notes
        -----
        Texts of different length stay apart: a text that is shorter than a prefix represents itself at that level.

        Examples
        --------
        >>> from ldiversity.hierarchies import Hierarchy
        >>> Hierarchy.by_prefix(["13053", "13068", "14850"], [3, 2]).rows[0]
        ('13053', '130**', '13***', '*')
        """
        return cls._made(prefix_rows("Hierarchy.by_prefix", texts, lengths, mask), Origin("prefix", mask))

    @classmethod
    def by_date(
        cls,
        dates: Iterable[object],
        *,
        low: dt.date | str | None = None,
        high: dt.date | str | None = None,
    ) -> Self:
        """Group days by month, quarter and year; instants first by day.

        Parameters
        ----------
        dates
            Dates, instants, or their ISO texts.
        low, high
            The public range. All its days become leaves, whether they occur or not; of instants, only those that occur.

        Examples
        --------
        >>> from ldiversity.hierarchies import Hierarchy
        >>> Hierarchy.by_date(["2020-01-31", "2020-05-01"]).rows[1]
        ('2020-05-01', '2020-05', '2020-Q2', '2020', '*')
        """
        made = date_rows("Hierarchy.by_date", dates, low, high)
        return cls._made(made.rows, None if made.declared else Origin("date"))

    @classmethod
    def flat(cls, values: Iterable[object]) -> Self:
        """Put all values directly under the root.

        Examples
        --------
        >>> from ldiversity.hierarchies import Hierarchy
        >>> Hierarchy.flat(["red", "blue"]).rows
        (('blue', '*'), ('red', '*'))
        """
        return cls._made(flat_rows("Hierarchy.flat", values), Origin("flat"))

    @classmethod
    def _made(cls, rows: Iterable[tuple[str, ...]], origin: Origin | None) -> Self:
        tree = cls.from_rows(rows, origin=origin)
        check_unambiguous(tree, quote=False)  # type: ignore[arg-type]  # every tree is a Hierarchy
        return tree

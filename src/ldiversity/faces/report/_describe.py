"""`describe`: what the columns of a table are, and what could be done with them. For the data holder alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ldiversity.base.answers import HIDDEN, Answer, fact, fit_screen, keyed
from ldiversity.base.numbers import counted, number, percent
from ldiversity.schema import Role
from ldiversity.sentences import Sentence
from ldiversity.tables import (
    ColumnSummary,
    Combination,
    GivenReadOptions,
    Noticed,
    RowsPerId,
    SampledRows,
    count_marks,
    notice_texts,
    open_source,
    refuses_dates,
    rows_per_id,
    say_no_values,
    separate,
    smallest_combinations,
    summarize_columns,
)

__all__ = ["ColumnDescription", "Description", "Frequency", "Reach", "describe", "told_apart"]

_LEAST_VALUES: Final = 3
_MANY_NUMBERS: Final = 50
_GAPS: Final = (2, 3, 4)
_MOST_UNIQUE: Final = 0.05
_MOST_DISTINCT: Final = 0.5
_BINNABLE: Final = ("int", "uint", "float", "double", "halffloat", "decimal")
_NUMBERS: Final = (*_BINNABLE, "date", "timestamp")


@dataclass(frozen=True)
class Reach:
    """The largest diversity that a kind of method can reach on a column as it is.

    Attributes
    ----------
    method
        The method's name on the command line, or the kind of methods.
    l
        The largest l; below 2 the method cannot be used.
    d
        The least distance between two values of a set, in steps of the order; semantic diversity only.
    rule
        Why.
    """

    method: str
    l: int
    d: float | None
    rule: str


@dataclass(frozen=True)
class Frequency:
    """How many rows have a value, and their share of the rows that have any."""

    value: str
    count: int
    share: float


@dataclass(frozen=True)
class ColumnDescription:
    """One column, the role that is suggested for it, and, if it may be sensitive, what can be reached.

    Attributes
    ----------
    distinction, separation, unique
        Different values over rows, the share of all pairs of rows that it tells apart, and the share of rows whose
        value no other row has; None where they were not computed.
    noticed
        What its texts look like, and which option would read them.
    """

    summary: ColumnSummary = field(metadata=HIDDEN)
    role: Role | None
    reason: str
    reach: tuple[Reach, ...] = ()
    advice: tuple[str, ...] = ()
    distinction: float | None = None
    separation: float | None = None
    unique: float | None = None
    noticed: str | None = None

    @fact
    def name(self) -> str:
        """The column's name."""
        return self.summary.name

    @property
    def needs_bins(self) -> bool:
        """Whether it holds so many numbers that they should be cut into bins to be hidden."""
        summary = self.summary
        many = summary.n_distinct is not None and summary.n_distinct > _MANY_NUMBERS
        return many and summary.type.startswith(_BINNABLE)

    @property
    def usable(self) -> bool:
        """Whether this table has enough values of it for sets of two."""
        return self.needs_bins or self.summary.capped or (self.summary.n_distinct or 0) >= _LEAST_VALUES

    @fact
    def type(self) -> str:
        """Its type."""
        return self.summary.type

    @fact
    def missing(self) -> int:
        """How many rows lack it."""
        return self.summary.n_missing

    @fact
    def distinct(self) -> int | None:
        """How many different values it has; None when they were not counted."""
        return self.summary.n_distinct

    @fact
    def more_distinct(self) -> bool:
        """Whether `distinct` is only what was counted."""
        return self.summary.capped

    @fact
    def frequencies(self) -> tuple[Frequency, ...]:
        """The most frequent values, when it may be sensitive."""
        n_filled = self.summary.n_rows - self.summary.n_missing
        known = self.summary.frequencies if self.role is Role.SENSITIVE else ()
        return tuple(Frequency(value, count, count / n_filled) for value, count in known)


@dataclass(frozen=True, repr=False)
class Description(Answer, schema="description", version=1):
    """What `describe` found. It shows true counts: for the data holder, not for publication.

    Attributes
    ----------
    table, n_rows
        What was looked at.
    columns
        Each column, with the role that is suggested.
    together
        How far all columns that look like quasi-identifiers tell people apart together; None without any.
    combinations
        The smallest combinations of these, of up to three columns, that single out most people; if there are none, the
        best of each size.
    sampled
        How many rows `together`, `combinations` and the figures of columns were counted on, drawn at random; None when
        these are all. In a sample more rows are unique than in the table.
    reading
        How the table should perhaps be read, one sentence each.
    advised_reading
        The options that would do so, where nothing else contradicts them.
    several_rows
        The column that looks like a person's id and has several rows per value; None when there is none.
    next
        The command that plans a publication; None where it is not known, or none could work.
    """

    table: str
    n_rows: int = field(metadata=keyed("rows"))
    columns: tuple[ColumnDescription, ...]
    next: str | None = None
    together: Combination | None = None
    combinations: tuple[Combination, ...] = ()
    sampled: int | None = None
    reading: tuple[str, ...] = ()
    advised_reading: Mapping[str, str] = field(default_factory=dict)
    several_rows: RowsPerId | None = None

    @property
    def singles_out(self) -> bool:
        """Whether quasi-identifiers single out so many people that they should not be published as they are."""
        return self.together is not None and self.together.unique > _MOST_UNIQUE

    def names(self, role: Role) -> list[str]:
        """The columns for which a role is suggested."""
        return [column.name for column in self.columns if column.role is role]

    @fact
    def problems(self) -> tuple[str, ...]:
        """Why the table, or a column that looks sensitive, cannot be published as it is; empty when it can."""
        if not self.n_rows:
            return ("The table has no rows, so there is nothing to publish.",)
        found = [_too_few(column) for column in self.columns if column.role is Role.SENSITIVE and not column.usable]
        if self.n_rows == 1 and not self.names(Role.SENSITIVE):
            found.append("The table has one row: tell plan and anonymize the values that may occur, with --domain.")
        return tuple(found)

    def __str__(self) -> str:
        rows = [
            f"{column.name}: {column.type}, {column.role or 'no role'} ({column.reason})" for column in self.columns
        ]
        told = [] if self.together is None else [told_apart(self.together, self.sampled)]
        told[:0] = [] if self.several_rows is None else [f"{self.several_rows.column}: {self.several_rows.text}"]
        return fit_screen([f"{self.table}: {counted(self.n_rows, 'row')}", *self.problems, *told, *self.reading, *rows])


def describe(
    data: Any,  # noqa: ANN401 - frame or path
    *,
    types: Mapping[str, str] | None = None,
    read: GivenReadOptions = None,
) -> Description:
    """Look at a table before publishing it: types, missing values, suggested roles, what can be reached.

    Parameters
    ----------
    data
        A data frame (pandas, polars, pyarrow, or anything that supports Arrow) or the path of a file.
    types
        Types of columns where the inferred one is not wanted, for example ``{"zip": "text"}``.
    read
        How to read what a file does not say, as for `Publication`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> patients = pa.table({"age": [41, 50, 68, 33], "disease": ["flu", "cut", "flu", "cold"]})
    >>> [(column.name, str(column.role)) for column in describe(patients).columns]
    [('age', 'quasi'), ('disease', 'sensitive')]
    >>> [(reach.method, reach.l) for reach in describe(patients).columns[1].reach]
    [('randomized-addition', 2), ('grouping', 2)]
    """
    source = open_source(data, types=types, read=read)
    summaries = summarize_columns(source)
    columns = [ColumnDescription(summary, summary.role, summary.reason) for summary in summaries]
    if not any(column.role is Role.SENSITIVE for column in columns):
        columns = _guess_sensitive(columns)
    n_rows = summaries[0].n_rows if summaries else 0
    rows = SampledRows.of(source, [one.name for one in summaries if one.n_distinct is not None], n_rows)
    columns = _without_codings([_with_figures(column, rows) for column in columns], rows)
    described = tuple(_with_reach(column) if column.role is Role.SENSITIVE else column for column in columns)
    quasi = [separate(rows, [column.name]) for column in described if column.role is Role.QUASI]
    noticed = {column.name: found for column in described if (found := _noticed(column.name, rows)) is not None}
    return Description(
        source.name,
        n_rows,
        described,
        together=separate(rows, [one.columns[0] for one in quasi]) if quasi and n_rows else None,
        combinations=smallest_combinations(rows, quasi),
        sampled=None if rows.whole else rows.n_rows,
        reading=(
            *source.remarks,
            *(Sentence(f"{name}: ", one.text) for name, one in noticed.items()),
            *(said for column in described if column.role is Role.SENSITIVE for said in _no_values(column.name, rows)),
        ),
        advised_reading=_advised(list(noticed.values()), rows, types or ()),
        several_rows=next(iter(rows_per_id(source)), None),
    )


def told_apart(found: Combination, sampled: int | None) -> str:
    """How many people a combination singles out, as a sentence."""
    names = " and ".join(filter(None, [", ".join(found.columns[:-1]), found.columns[-1]]))
    where = "" if sampled is None else f" among {counted(sampled, 'sampled row')}"
    s, alone = ("", "") if len(found.columns) > 1 else ("s", " alone")
    shares = percent(found.unique), percent(found.separation)
    return f"{names}{alone} single{s} out {shares[0]} of the rows{where}, and tell{s} apart {shares[1]} of all pairs."


def _with_figures(column: ColumnDescription, rows: SampledRows) -> ColumnDescription:
    if column.name not in rows.cells or not rows.n_rows:
        return column
    found, noticed = separate(rows, [column.name]), _noticed(column.name, rows)
    dates = noticed is not None and noticed.option == "date_format" and column.role in {None, Role.IDENTIFIER}
    by_name = column.summary.by_name
    return replace(
        column,
        role=Role.QUASI if dates and not by_name else column.role,
        reason="texts that look like dates, which others may know" if dates and not by_name else column.reason,
        distinction=found.distinction,
        separation=found.separation,
        unique=found.unique,
        noticed=None if noticed is None else noticed.text,
    )


def _without_codings(columns: Sequence[ColumnDescription], rows: SampledRows) -> list[ColumnDescription]:
    """Keep one of several sensitive columns that say the same: each would tell the other, so no plan hides both."""
    kept: list[ColumnDescription] = []
    for column in columns:
        same = next((one.name for one in kept if _say_the_same(one, column, rows)), None)
        reason = f"it says the same as {same!r}, and would tell it"
        kept.append(column if same is None else replace(column, role=Role.IDENTIFIER, reason=reason))
    return kept


def _say_the_same(one: ColumnDescription, other: ColumnDescription, rows: SampledRows) -> bool:
    if not all(column.role is Role.SENSITIVE and column.usable for column in (one, other)):
        return False
    # Where most values occur once, any two columns go together.
    if one.distinction is None or one.distinction != other.distinction or one.distinction > _MOST_DISTINCT:
        return False
    return separate(rows, [one.name, other.name]).distinction == one.distinction


def _noticed(name: str, rows: SampledRows) -> Noticed | None:
    return notice_texts(rows.cells[name][0]) if name in rows.cells else None


def _no_values(name: str, rows: SampledRows) -> list[Sentence]:
    """What is to be said about texts of a sensitive column that look like no value."""
    n_rows, n_marks = count_marks(*rows.cells[name]) if name in rows.cells else (0, 0)
    noun = "row" if rows.whole else "sampled row"
    text, remedy = say_no_values(counted(n_rows, f"{noun} has", f"{noun}s have"), n_marks)
    return [Sentence(f"{name}: {text} ", remedy)] if n_rows else []


def _advised(noticed: Sequence[Noticed], rows: SampledRows, declared: Collection[str]) -> dict[str, str]:
    """The options that all columns that need them agree on, and with which no column of undeclared type is refused."""
    values: dict[str, set[str]] = {}
    for one in noticed:
        if one.option is not None and one.value is not None:
            values.setdefault(one.option, set()).add(one.value)
    agreed = {option: next(iter(several)) for option, several in values.items() if len(several) == 1}
    form = agreed.get("date_format")
    others = [cells for name, cells in rows.cells.items() if name not in declared]
    if form and any(refuses_dates(cells.take(codes[codes < len(cells)]), form) for cells, codes in others):
        del agreed["date_format"]
    return agreed


def _guess_sensitive(columns: list[ColumnDescription]) -> list[ColumnDescription]:
    """Take the last column with few values and no other role: tables often end with what they are about."""
    for position in reversed(range(len(columns))):
        column = columns[position]
        summary = column.summary
        free = column.role is None or (column.role is Role.QUASI and not summary.by_name)
        if free and summary.frequencies and (summary.n_distinct or 0) >= _LEAST_VALUES:
            reason = "a guess: the last column with few values and no other role"
            return [*columns[:position], replace(column, role=Role.SENSITIVE, reason=reason), *columns[position + 1 :]]
    return columns


def _with_reach(column: ColumnDescription) -> ColumnDescription:
    summary = column.summary
    n_values = summary.n_distinct or 0
    n_filled = summary.n_rows - summary.n_missing
    advice = []
    if summary.n_missing:
        advice.append(
            "It has missing values: fill them in, or tell plan and anonymize what to do with them, --missing category "
            "or --missing drop."
        )
    if column.needs_bins:
        advice.append(
            "It holds many numbers: cut them into bins. The largest l then depends on the number of bins, not on the "
            "number of values as in the table above."
        )
        advice.append(
            "Choose the bins from public knowledge, as edges or as a width with bounds: they become public. "
            "Bins by quantiles are read off the table and reveal its approximate quantiles."
        )
    reach = []
    if not summary.capped:
        rule = f"one less than its {counted(n_values, 'value')}"
        reach.append(Reach("randomized-addition", max(n_values - 1, 0), None, rule))
    most = _most_frequent(summary)
    if most:
        rows = f"{number(most)} of {counted(n_filled, 'row')}"
        rule = f"the most frequent value has {rows}; for grouping methods such as Anatomy and BSGI"
        reach.append(Reach("grouping", n_filled // most, None, rule))
    if not summary.type.startswith(_NUMBERS):
        advice.append("For semantic diversity, name a distance, such as tree:<file>; plan says what it can reach.")
    elif not summary.capped:
        rule = f"l * d must be less than its {counted(n_values, 'value')} in order"
        reach += [Reach("semantic", max((n_values - 1) // gap, 0), float(gap), rule) for gap in _GAPS]
    return replace(column, reach=tuple(reach), advice=tuple(advice))


def _too_few(column: ColumnDescription) -> str:
    n_values = column.summary.n_distinct or 0
    few = {0: "no value", 1: "one value"}.get(n_values, counted(n_values, "value"))
    return (
        f"{column.name!r} has {few} in this table, but hiding a value in a set of 2 takes at least {_LEAST_VALUES}: "
        "tell plan and anonymize the public values, with --domain, or choose another sensitive column."
    )


def _most_frequent(summary: ColumnSummary) -> int:
    if summary.largest_share is not None:
        return round(summary.largest_share * (summary.n_rows - summary.n_missing))
    return summary.frequencies[0][1] if summary.frequencies else 0

"""The public grid of each column of numbers: declared by the holder, or derived so that it tells next to nothing."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.arrays import BoolArray
from ldiversity.base.checks import name_some
from ldiversity.base.typed import join_assignment, split_assignments
from ldiversity.errors import ParameterError
from ldiversity.methods import CodedTable, NumberColumn
from ldiversity.publish._columns_read import is_number
from ldiversity.release import CALENDAR_UNITS, EXACT, SMALLEST_STEP, Grid, Step, grid_of, is_calendar, units_per_day
from ldiversity.sentences import Setting, say

if TYPE_CHECKING:
    from ldiversity.publish._coding import Reading

__all__ = [
    "GivenGrid",
    "Grids",
    "SomeNumbers",
    "check_grid",
    "check_steps",
    "choose_step",
    "choose_steps",
    "grid_notes",
    "grid_words",
    "planned_grid",
    "read_grid",
    "snapped",
    "usual_step",
]

GivenGrid: TypeAlias = Mapping[str, Step] | Literal["exact"]
Grids: TypeAlias = Mapping[str, Step]
"""The step of each column that has a grid; the others are exact."""

_EXAMPLE: Final = Setting("grid", ("age", "5"), python="grid={'age': 5}")

_SHARE: Final = 100
"""The range has about this many steps."""

_LEFT_OUT: Final = 100
"""Of so many records, the least and the greatest do not count for the range: nobody's own value decides the step."""

_FEW_VALUES: Final = 20
_RECORDS_OF_A_VALUE: Final = 10
_ROUND: Final = (1, 2, 5)
_PRECISION: Final = 1 << 10
"""A step is at least so many times the distance of neighboring fractions, so that cells do not collapse."""


def check_grid(owner: str, given: object) -> GivenGrid:
    """The grid that a holder asks for, in one form: steps by column, or ``exact`` for all of them.

    Examples
    --------
    >>> check_grid("Publication", {"age": 5.0, "born": "year"})
    {'age': 5, 'born': 'year'}
    """
    if given is None:
        return {}
    if given == EXACT:
        return "exact"
    if not isinstance(given, Mapping):
        raise ParameterError(owner, "grid", "must be 'exact', or a step for each column", got=repr(given)).with_hint(
            say("For example {}.", _EXAMPLE)
        )
    return {str(column): _checked(owner, str(column), step) for column, step in given.items()}


def _checked(owner: str, column: str, step: object) -> Step:
    if isinstance(step, str) and (step == EXACT or step in CALENDAR_UNITS):
        return step
    if isinstance(step, int | float) and not isinstance(step, bool) and math.isfinite(step) and step > 0:
        return int(step) if step == int(step) else float(step)
    units = ", ".join(CALENDAR_UNITS)
    raise ParameterError(
        owner, "grid", f"of {column!r} must be a number above 0, exact, or one of {units}", got=repr(step)
    ).with_hint(say("For example {}.", _EXAMPLE))


def read_grid(texts: Sequence[str]) -> GivenGrid:
    """The grid that a command line asks for.

    Examples
    --------
    >>> read_grid(["age=5", "weight=0.5", "born=year"]), read_grid(["exact"])
    ({'age': 5, 'weight': 0.5, 'born': 'year'}, 'exact')
    """
    if [text.strip() for text in texts] == [EXACT]:
        return "exact"
    said = split_assignments(texts, "grid", f"a number, exact, or one of {', '.join(CALENDAR_UNITS)}")
    return {column: _step(text) for column, text in said.items()}


def _step(text: str) -> Step:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def grid_words(grid: GivenGrid) -> list[str]:
    """The options of the command line that ask for a grid.

    Examples
    --------
    >>> grid_words({"age": 5}), grid_words("exact")
    (['--grid', 'age=5'], ['--grid', 'exact'])
    """
    if isinstance(grid, str):
        return ["--grid", EXACT]
    return [word for name, step in grid.items() for word in ("--grid", f"{join_assignment(name)}={step}")]


def check_steps(given: GivenGrid, types: Mapping[str, pa.DataType], hierarchies: Collection[str]) -> None:
    """Refuse steps that do not fit the quasi-identifiers, whose types are given."""
    if isinstance(given, str):
        return
    for column, step in given.items():
        if column not in types:
            raise ParameterError("grid", "the column must be a quasi-identifier", got=repr(column)).with_hint(
                f"Quasi-identifiers are {name_some(types)}." if types else "There are no quasi-identifiers."
            )
        if column in hierarchies:
            raise ParameterError("grid", f"column {column!r} must not have a hierarchy beside a grid").with_hint(
                "Leave one of them out: the hierarchy says where its intervals end."
            )
        if not is_number(types[column]):
            raise ParameterError("grid", f"column {column!r} must hold numbers or times", got=types[column]).with_hint(
                "Leave its grid out, or declare the type of the column."
            )
        if step != EXACT:
            try:
                grid_of(step, types[column])
            except ParameterError as error:
                error.about(column)
                raise


def choose_steps(given: Grids, reading: Reading, kept: BoolArray | None = None) -> Grids:
    """The step of each column of numbers that has a grid: declared, or derived from the records that are `kept`."""
    steps = {}
    for column in reading.table.numbers:
        declared = given.get(column.name)
        if declared == EXACT:
            continue
        numbers = SomeNumbers.of(_shown(column, kept), ends_alone=declared is not None)
        step = choose_step(column.name, declared, numbers, reading.types[column.name])
        if step is not None:
            steps[column.name] = step
    return steps


def choose_step(name: str, declared: Step | None, numbers: SomeNumbers, kind: pa.DataType) -> Step | None:
    """The step of one column: declared, or derived from its numbers; None where ends are exact."""
    if declared is None:
        return numbers.step(kind)
    if declared == EXACT:
        return None
    numbers.check_fine(name, declared, kind)
    return declared


def _shown(column: NumberColumn, kept: BoolArray | None) -> NDArray[Any]:
    known = None if column.missing is None else ~column.missing
    chosen = known if kept is None else kept if known is None else kept & known
    return column.values if chosen is None else column.values[chosen]


def grid_notes(steps: Grids, given: Grids | None) -> tuple[str, ...]:
    """What the holder should know about the grid."""
    if given is None or not steps:
        return ()
    said = ", ".join(f"{name!r} to {step}" for name, step in steps.items())
    derived = [name for name in steps if name not in given]
    told = f" The steps of {name_some(derived)} were read off the table; declared ones would tell nothing."
    return (f"Ends of intervals are rounded outward to a public step: {said}.{told if derived else ''}",)


def planned_grid(numbers: Sequence[str], given: Grids) -> tuple[str, ...]:
    """What the holder may expect of the grid of columns of numbers.

    Examples
    --------
    >>> planned_grid(["age", "weight"], {"age": 5})[0].partition(". Without")[0]
    "Ends of intervals will be rounded outward: 'age' to 5; 'weight' to a round step of about 1 % of its range"
    """
    declared = [f"{name!r} to {given[name]}" for name in numbers if given.get(name, EXACT) != EXACT]
    derived = [repr(name) for name in numbers if name not in given]
    said = [", ".join(declared)] if declared else []
    range_of = "its range" if len(derived) == 1 else "their ranges"
    said += [f"{', '.join(derived)} to a round step of about 1 % of {range_of}"] if derived else []
    # Which columns have few values is known when the table is grouped.
    few = (
        f" Without a declared step, a column of at most {_FEW_VALUES} values, each in {_RECORDS_OF_A_VALUE} records or "
        "more, stays exact."
    )
    return (f"Ends of intervals will be rounded outward: {'; '.join(said)}.{few if derived else ''}",) if said else ()


def usual_step(values: NDArray[Any], kind: pa.DataType) -> Step | None:
    """The round step that is nearest to 1 % of the range of most records; None where ends may be exact.

    The least and the greatest hundredth of the records do not count, at least one of each, so that no single value
    decides. Where a column has few values and many records share each of them, its values are what everybody knows.

    Examples
    --------
    >>> usual_step(np.arange(13_000, 1_400_000, 77), pa.int64())
    10000
    >>> usual_step(np.repeat([0, 1], 50), pa.int64()) is None
    True
    """
    return SomeNumbers.of(values).step(kind)


@dataclass(frozen=True)
class SomeNumbers:
    """What the step of a column is derived from.

    Parameters
    ----------
    low, high
        The least and the greatest number; None when there are no numbers.
    least, greatest
        The range of most records.
    few
        Whether there are few values, each of which many records share.
    """

    low: float | None
    high: float | None
    least: float = 0.0
    greatest: float = 0.0
    few: bool = False

    @classmethod
    def of(cls, values: NDArray[Any], *, ends_alone: bool = False) -> SomeNumbers:
        """Of all numbers of a column; a declared step needs their ends alone."""
        if not len(values):
            return cls(None, None)
        ends = float(values.min()), float(values.max())
        few = not ends_alone and _few(values)
        return cls(*ends, *(ends if few or ends_alone else _range(values, ends)), few)

    @classmethod
    def counted(cls, values: NDArray[Any], counts: NDArray[np.int64]) -> SomeNumbers:
        """Of the distinct numbers of a column and how often each occurs.

        Examples
        --------
        >>> numbers = np.repeat([1, 5, 900], [3, 400, 2])
        >>> SomeNumbers.counted(np.array([900, 1, 5]), np.array([2, 3, 400])) == SomeNumbers.of(numbers)
        True
        """
        if not len(values):
            return cls(None, None)
        order = np.argsort(values)
        ascending, until = values[order], np.cumsum(counts[order])
        n, ends = int(until[-1]), (float(ascending[0]), float(ascending[-1]))
        few = len(values) <= _FEW_VALUES and int(counts.min()) >= _RECORDS_OF_A_VALUE
        least, greatest = ends
        if not few and (places := _places(n)) is not None:
            inner = ascending[np.searchsorted(until, places, side="right")]
            least, greatest = (float(inner[0]), float(inner[1])) if inner[1] > inner[0] else ends
        return cls(*ends, least, greatest, few)

    def step(self, kind: pa.DataType) -> Step | None:
        """The usual step; see `usual_step`."""
        if self.low is None or self.few:
            return None
        wanted = (self.greatest - self.least) / _SHARE
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            return _usual_unit(wanted, kind)
        if pa.types.is_integer(kind):
            return int(max(_nearest(wanted), 1)) if wanted > 1 else 1
        wanted = wanted if wanted > 0 else abs(self.low) / _SHARE
        return _nearest(max(wanted, 10 * self._finest(kind), 10 * SMALLEST_STEP))

    def check_fine(self, name: str, step: Step, kind: pa.DataType) -> None:
        """Refuse a step that is too small to separate fractions of this size."""
        if pa.types.is_floating(kind) and not isinstance(step, str) and step < self._finest(kind):
            raise ParameterError("grid", f"of {name!r} must be wide enough to separate numbers of this size", got=step)

    def _finest(self, kind: pa.DataType) -> float:
        size = max(abs(self.low or 0.0), abs(self.high or 0.0))
        return _PRECISION * size * float(np.finfo(kind.to_pandas_dtype()).eps)


def _few(values: NDArray[Any]) -> bool:
    # A sample that has many values shows it without a sort of the whole column.
    if len(np.unique(values[: _FEW_VALUES * _RECORDS_OF_A_VALUE])) > _FEW_VALUES:
        return False
    _, counts = np.unique(values, return_counts=True)
    return len(counts) <= _FEW_VALUES and int(counts.min()) >= _RECORDS_OF_A_VALUE


def _places(n: int) -> tuple[int, int] | None:
    """Where the range of most of n ordered records begins and ends; None when all of them count."""
    cut = max(n // _LEFT_OUT, 1)
    return (cut, n - 1 - cut) if n > 2 * cut else None


def _range(values: NDArray[Any], ends: tuple[float, float]) -> tuple[float, float]:
    if (places := _places(len(values))) is not None:
        parted = np.partition(values, places)
        least, greatest = (float(parted[place]) for place in places)
        if greatest > least:
            return least, greatest
    return ends


def _usual_unit(wanted: float, kind: pa.DataType) -> str:
    seconds = wanted / units_per_day(kind) * CALENDAR_UNITS["day"]
    units = [unit for unit in CALENDAR_UNITS if is_calendar(unit, kind)]
    return min(units, key=lambda unit: abs(math.log(CALENDAR_UNITS[unit] / max(seconds, 1e-9))))


def _nearest(wanted: float) -> float:
    """The nearest of 1, 2 and 5 times a power of ten, by ratio."""
    power = math.floor(math.log10(wanted))
    rounds = [float(f"{digit}e{exponent}") for exponent in (power, power + 1) for digit in _ROUND]
    return min(rounds, key=lambda step: abs(math.log(step / wanted)))


def snapped(table: CodedTable, grids: Mapping[str, Grid]) -> CodedTable:
    """The table as a method shall see it: numbers stand where their cells begin, so that no method divides a cell.

    Lengths are measured by the same range as before. What rounding outward adds to every interval is the same for each,
    so the classes that lose least stay those that lose least.
    """
    if not grids:
        return table
    return replace(
        table,
        quasi=tuple(
            _snap(column, grids[column.name]) if isinstance(column, NumberColumn) and column.name in grids else column
            for column in table.quasi
        ),
    )


def _snap(column: NumberColumn, grid: Grid) -> NumberColumn:
    if column.missing is not None and column.missing.all():
        return column
    # The ends of the whole column, so that some of its rows are measured as all of them are.
    ends = np.array([column.low, column.high], dtype=column.values.dtype)
    low, last = grid.below(ends).tolist()
    begins = grid.below(column.values)
    values = begins if column.missing is None else np.where(column.missing, 0, begins)
    whole = values.dtype.kind == "i" and min(low, 0) >= -(2**31) and last < 2**31
    return replace(
        column,
        values=values.astype(np.int32) if whole else values,
        low=low,
        high=max(low + (column.high - column.low), last),
    )

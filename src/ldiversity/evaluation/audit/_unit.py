"""What the numbers of an audit count: people, where each of them is in one class, or records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ldiversity.base.numbers import counted

__all__ = ["PEOPLE", "RECORDS", "Unit"]


@dataclass(frozen=True)
class Unit:
    """What is counted, as a noun.

    Where a column says whose row it is, everybody counts once in a class. Added up over classes, that is a number of
    people only if nobody is in two of them. Else the rows of a person that look alike are one record, and the sums
    count records. Without such a column every row is a record.

    Examples
    --------
    >>> PEOPLE.counted(1), RECORDS.counted(2000)
    ('1 person', '2,000 records')
    >>> Unit.of(3000, 3000).many, Unit.of(3045, 3000).many, Unit.of(3000, None).many
    ('people', 'records', 'records')
    """

    one: str
    many: str

    @classmethod
    def of(cls, n: int, n_people: int | None) -> Unit:
        """What `n`, a sum over classes, counts; `n_people` is the number of people, None where it is not known."""
        return PEOPLE if n == n_people else RECORDS

    def counted(self, n: int) -> str:
        """A number with the noun."""
        return counted(n, self.one, self.many)


PEOPLE: Final = Unit("person", "people")
RECORDS: Final = Unit("record", "records")

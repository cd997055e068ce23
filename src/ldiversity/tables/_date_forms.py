"""Dates and instants in texts: the forms in which exports write them."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import pyarrow as pa

from ldiversity.errors import ParameterError

__all__ = ["DateForm"]

_WORDS: Final = ("dmy", "mdy", "ymd")
_SEPARATED: Final = {
    "d": r"(?P<d>\d{1,2})",
    "m": r"(?P<m>\d{1,2})",
    "y": r"(?P<y>\d{4})",
}
_TIME: Final = r"(?:[ T](?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2}))?)?"
_ISO: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?")
_MOST_REMEMBERED: Final = 200_000
_SAMPLE: Final = dt.datetime(2001, 2, 3, 14, 5, 6)  # noqa: DTZ001 - texts have no zone


@dataclass(frozen=True)
class DateForm:
    """A form of dates: an order of day, month and year, or a pattern of directives such as ``%d.%m.%Y``.

    Examples
    --------
    >>> DateForm("dmy").read("31.1.2020"), DateForm("%d.%m.%y").read("31.01.20")
    (datetime.datetime(2020, 1, 31, 0, 0), datetime.datetime(2020, 1, 31, 0, 0))
    >>> DateForm("mdy").read("31/1/2020") is None
    True
    """

    form: str

    def __post_init__(self) -> None:
        if not isinstance(self.form, str) or (self.form not in _WORDS and not _is_complete(self.form)):
            raise ParameterError(
                "ReadOptions",
                "date_format",
                "must be dmy, mdy, ymd or a form with a day, month and year",
                got=repr(self.form),
            ).with_hint("For 31.01.2020 write %d.%m.%Y, for 1/31/20 write %m/%d/%y, for 31-Jan-2020 write %d-%b-%Y.")

    def read(self, text: str) -> dt.datetime | None:
        """The instant that a text says in this form, or in that of ISO; None when it says none."""
        stripped = text.strip()
        try:
            if _ISO.fullmatch(stripped):
                return dt.datetime.fromisoformat(stripped)
            if self.form not in _WORDS:
                return dt.datetime.strptime(stripped, self.form)  # noqa: DTZ007 - texts have no zone
            found = self._pattern.fullmatch(stripped)
            if found is None:
                return None
            parts = {name: int(part) for name, part in found.groupdict(default="0").items()}
            return dt.datetime(*(parts[name] for name in "ymdHMS"))  # type: ignore[arg-type] # noqa: DTZ001 - no zone
        except ValueError:
            return None

    def read_all(self, cells: pa.Array) -> pa.Array:
        """The instants of an array of texts; missing where a text says none."""
        encoded = cells.dictionary_encode()
        if len(self._known) > _MOST_REMEMBERED:
            self._known.clear()
        known = self._known
        read = []
        for text in encoded.dictionary.to_pylist():
            if text not in known:
                known[text] = self.read(text)
            read.append(known[text])
        return pa.array(read, pa.timestamp("us")).take(encoded.indices)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(r"[./\- ]".join(_SEPARATED[part] for part in self.form) + _TIME)

    @cached_property
    def _known(self) -> dict[str, dt.datetime | None]:
        """Tables repeat days, and reading a text again is slow."""
        return {}


def _is_complete(form: str) -> bool:
    """Whether a pattern tells the day, the month and the year, and nothing that a text cannot say here."""
    if not re.search(r"%[YyGxc]", form):  # newer Pythons warn when they are asked to read a day without a year
        return False
    try:
        read = dt.datetime.strptime(_SAMPLE.strftime(form), form)  # noqa: DTZ007 - texts have no zone
    except (ValueError, re.error):
        return False
    return read.date() == _SAMPLE.date() and read.tzinfo is None

"""What the texts of a column look like, and which options would read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.numbers import number
from ldiversity.errors import SchemaError
from ldiversity.sentences import Sentence, Setting, say
from ldiversity.tables._date_forms import DateForm
from ldiversity.tables._text_forms import ColumnFit, TextForms

__all__ = ["Noticed", "notice_texts", "refuses_dates"]

_ENOUGH: Final = 0.9
_LEAST: Final = 3
_MONTHS: Final = 12
_NUMBER: Final = r"^\s*[+-]?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?\s*$"
_KEPT_TEXT: Final = r"^\s*([+-]?0[0-9]|[+])"
"""Numbers with leading zeros or a plus are read as texts, so that nothing of them is lost."""

_COMMA: Final = r"^\s*-?[0-9]+(,[0-9]+)?\s*$"
_COMMAS: Final = r"^\s*-?[0-9]+,[0-9]+\s*$"
_GROUPED: Final = r"^\s*[+-]?(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]{1,3})(?:[.][0-9]+)?\s*$"
"""Numbers with a comma before each three digits, as far as they have a thousand."""

_SURELY_GROUPED: Final = r",[0-9]{3}[,.]"
_TIME: Final = r"(?:[ T][0-9:]+)?\s*$"
_DAY: Final = r"^\s*(?P<first>[0-9]{1,2})(?P<mark>[./-])(?P<second>[0-9]{1,2})[./-](?P<year>[0-9]{4}|[0-9]{2})" + _TIME
_YEAR_FIRST: Final = r"^\s*[0-9]{4}[./][0-9]{1,2}[./][0-9]{1,2}" + _TIME
_ISO: Final = r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}" + _TIME
"""Dates that are understood with every form, so they tell for and against none."""

_SHORT_YEAR: Final = 2
_CORRECT: Final = "correct the others in the table, or leave them empty, and it is read"


@dataclass(frozen=True)
class Noticed:
    """What was noticed about texts.

    Attributes
    ----------
    option, value
        The option of `ReadOptions` that would read them, and its value; None when none would, or nothing tells which.
    text
        The same in words, without a cell.
    """

    option: Literal["decimal", "date_format"] | None
    value: str | None
    text: Sentence


def notice_texts(texts: pa.Array) -> Noticed | None:
    """Look at the distinct texts of a column; None when they look like words.

    Examples
    --------
    >>> notice_texts(pa.array(["31.12.2020", "1.2.2021", "5.6.2022"])).value
    'dmy'
    >>> notice_texts(pa.array(["1,5", "2,25", "3"])).text
    "Its numbers have decimal commas: read={'decimal': ','} reads them."
    """
    known = texts.drop_null()
    if len(known) < _LEAST or not pa.types.is_string(known.type):
        return None
    grouped = _grouped_numbers(known)
    if grouped is not None:
        return grouped
    if _share(known, _COMMA) == 1 and _share(known, _COMMAS) > 0:
        return Noticed("decimal", ",", say("Its numbers have decimal commas: {} reads them.", _setting("decimal", ",")))
    return _days(known) or _nearly_numbers(known)


def _days(texts: pa.Array) -> Noticed | None:
    """Dates, in the form of ISO or another."""
    others = texts.filter(pc.invert(pc.match_substring_regex(texts, _ISO)))
    if len(others) and _share(others, _YEAR_FIRST) >= _ENOUGH:
        return _dates("ymd", "with the year first", texts)
    if not len(others) or _share(others, _DAY) < _ENOUGH:
        return _nearly_iso(len(texts) - len(others), len(texts))
    parts = pc.extract_regex(others, _DAY).drop_null()
    first, second = (pc.max(pc.cast(pc.struct_field(parts, name), pa.int64())).as_py() for name in ("first", "second"))
    years = set(pc.unique(pc.utf8_length(pc.struct_field(parts, "year"))).to_pylist())
    mark = None if years != {_SHORT_YEAR} else pc.struct_field(parts, "mark")[0].as_py()
    return _ordered(first, second, mark, texts)


def _nearly_iso(n_dates: int, n_texts: int) -> Noticed | None:
    """Dates in the form of ISO with a few words among them."""
    if not _ENOUGH * n_texts <= n_dates < n_texts:
        return None
    found = _of_different(n_dates, n_texts)
    return Noticed("date_format", None, say(f"Nearly all of its texts are dates, {found}: {_CORRECT} as dates."))


def refuses_dates(texts: pa.Array, form: str) -> bool:
    """Whether a column with these texts, one per row, is refused when dates are read in this form.

    Examples
    --------
    >>> refuses_dates(pa.array(["31.12.2020", "1.2.2021", "soon"]), "dmy")
    True
    >>> refuses_dates(pa.array(["soon", "later"]), "dmy")
    False
    """
    if not pa.types.is_string(texts.type):
        return False
    fit = ColumnFit("", TextForms(None, DateForm(form)))
    fit.see(texts)
    try:
        fit.settle("")
    except SchemaError:
        return True
    return False


def _grouped_numbers(texts: pa.Array) -> Noticed | None:
    """Numbers whose commas may stand between thousands: as decimals, they would be a thousandth of what they are."""
    if _share(texts, _GROUPED) < 1 or _share(texts, ",") == 0:
        return None
    if _share(texts, _SURELY_GROUPED) > 0:
        todo = "leave them out in the table, and it is read as numbers."
        return Noticed(None, None, say(f"Its numbers have commas between thousands: {todo}"))
    why = "A comma stands before three digits in its numbers, so nothing tells whether it marks decimals or thousands"
    text = say(
        f"{why}: {{}} reads decimals; leave commas between thousands out in the table.", _setting("decimal", ",")
    )
    return Noticed("decimal", None, text)


def _nearly_numbers(texts: pa.Array) -> Noticed | None:
    """Numbers with a few words among them, such as a remark or an unusual mark of what is missing."""
    share = max(_share(texts, _NUMBER), _share(texts, _COMMA))
    if not _ENOUGH <= share < 1 or _share(texts, _KEPT_TEXT) > 0:
        return None
    found = _of_different(round(share * len(texts)), len(texts))
    return Noticed(None, None, say(f"Nearly all of its texts are numbers, {found}: {_CORRECT} as numbers."))


def _of_different(some: int, n_texts: int) -> str:
    return f"{number(some)} of {number(n_texts)} different ones"


def _ordered(first: int, second: int, mark: str | None, texts: pa.Array) -> Noticed | None:
    """Dates whose first two numbers go up to these; `mark` stands between them where years have two digits."""
    forms = ("dmy", "mdy") if mark is None else (mark.join(("%d", "%m", "%y")), mark.join(("%m", "%d", "%y")))
    if first > _MONTHS and second > _MONTHS:
        return None
    if first > _MONTHS:
        return _dates(forms[0], "with the day first", texts)
    if second > _MONTHS:
        return _dates(forms[1], "with the month first", texts)
    why = "Its texts look like dates, but no number is above 12, so nothing tells whether the day or the month is first"
    text = say(f"{why}: {{}} or {{}}.", *(_setting("date_format", form) for form in forms))
    return Noticed("date_format", None, text)


def _dates(form: str, how: str, texts: pa.Array) -> Noticed:
    """Dates in a form; no command has it as long as a text is none, because it would be refused."""
    setting, read = _setting("date_format", form), len(texts) - DateForm(form).read_all(texts).null_count
    if read == len(texts):
        return Noticed("date_format", form, say(f"Its texts look like dates {how}: {{}} reads them.", setting))
    found = f"{{}} reads {_of_different(read, len(texts))}"
    text = say(f"Its texts look like dates {how}, and {found}: correct the others in the table first.", setting)
    return Noticed("date_format", None, text)


def _setting(option: str, value: str) -> Setting:
    return Setting(option, value, python=f"read={{{option!r}: {value!r}}}")


def _share(texts: pa.Array, pattern: str) -> float:
    return float(pc.mean(pc.cast(pc.match_substring_regex(texts, pattern), pa.float64())).as_py())

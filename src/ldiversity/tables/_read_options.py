"""How a table is read where its file does not say it: what exports of other programs need."""

from __future__ import annotations

import codecs
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal, TypeAlias, get_args

from ldiversity.base.checks import check_choice, check_integer, name_some
from ldiversity.errors import ParameterError
from ldiversity.sentences import Parameter, say
from ldiversity.tables._date_forms import DateForm

__all__ = ["USUAL_READING", "GivenReadOptions", "ReadOptions", "as_read_options"]

DecimalMark: TypeAlias = Literal[".", ","]
_OWNER: Final = "ReadOptions"


@dataclass(frozen=True)
class ReadOptions:
    """How a table is read. An option that is left at None is found out or has its usual value.

    Parameters
    ----------
    sheet
        The sheet of an Excel workbook, by name or by number from 1; the first when None.
    encoding
        The character encoding of a text file, such as ``"cp1252"``, ``"latin-1"``, ``"utf-16"`` or ``"utf-8-sig"``;
        UTF-8 when None.
    decimal
        What stands before the decimals of numbers that are written as texts: ``"."``, the usual one, or ``","``.
    date_format
        How days and instants are written in texts: ``"dmy"``, ``"mdy"`` or ``"ymd"``, whatever stands between the
        parts, or a form such as ``"%d.%m.%Y"``. ISO dates such as 2020-01-31 are always understood.
    skip_rows
        How many lines of a text file, or rows of a sheet, stand above the column names.

    Examples
    --------
    >>> ReadOptions(decimal=",", skip_rows=2).given
    {'decimal': ',', 'skip_rows': 2}
    """

    sheet: str | int | None = None
    encoding: str | None = None
    decimal: DecimalMark | None = None
    date_format: str | None = None
    skip_rows: int = 0

    def __post_init__(self) -> None:
        if self.sheet is not None and not isinstance(self.sheet, str):
            check_integer(_OWNER, "sheet", self.sheet, minimum=1)
        if self.sheet == "":
            raise ParameterError(_OWNER, "sheet", "must be the name of a sheet, or its number from 1", got="''")
        if self.encoding is not None:
            _check_encoding(self.encoding)
        if self.decimal is not None:
            check_choice(_OWNER, "decimal", self.decimal, get_args(DecimalMark))
        if self.date_format is not None:
            DateForm(self.date_format)
        check_integer(_OWNER, "skip_rows", self.skip_rows, minimum=0)

    @property
    def given(self) -> dict[str, Any]:
        """The options that differ from the usual ones, by name."""
        return {one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name) != one.default}

    @property
    def words(self) -> list[str]:
        """The same as options of the command line.

        Examples
        --------
        >>> ReadOptions(sheet="Data", date_format="dmy").words
        ['--sheet', 'Data', '--date-format', 'dmy']
        """
        return [word for name, value in self.given.items() for word in (f"--{name.replace('_', '-')}", str(value))]

    def only(self, known: Collection[str]) -> ReadOptions:
        """The options among these; the others at their usual values."""
        return ReadOptions(**{name: value for name, value in self.given.items() if name in known})

    def refuse_others(self, table: str, kind: str, known: Collection[str]) -> None:
        """Refuse an option that a kind of table does not have."""
        for name in self.given:
            if name not in known:
                offered = [one for one in (field.name for field in fields(self)) if one in known]
                last = say(" or {}", Parameter(offered[-1])) if len(offered) > 1 else ""
                first = [piece for one in offered[: -1 or None] for piece in (Parameter(one), ", ")][:-1]
                hint = say("{}".join([""] * (len(first) + 1)) + "{}", *first, last)
                raise ParameterError(table, name, f"must be left out for {kind}").with_hint(
                    say("It takes {}.", hint) if offered else "It takes no such option."
                )


GivenReadOptions: TypeAlias = ReadOptions | Mapping[str, Any] | None
"""How options are accepted in Python: the value itself, or its fields by name."""


def as_read_options(owner: str, given: GivenReadOptions) -> ReadOptions:
    """Accept options in each of their forms.

    Examples
    --------
    >>> as_read_options("describe", {"sheet": 2})
    ReadOptions(sheet=2, encoding=None, decimal=None, date_format=None, skip_rows=0)
    """
    if isinstance(given, ReadOptions):
        return given
    if given is None:
        return USUAL_READING
    names = [one.name for one in fields(ReadOptions)]
    if not isinstance(given, Mapping):
        raise ParameterError(owner, "read", "must be ReadOptions or a mapping", got=type(given).__name__)
    for name in given:
        if name not in names:
            raise ParameterError(owner, "read", f"must have options among {name_some(names)}", got=repr(name))
    return replace(USUAL_READING, **given)


USUAL_READING: Final = ReadOptions()


def _check_encoding(given: object) -> None:
    known = False
    if isinstance(given, str):
        try:
            known = codecs.lookup(given)._is_text_encoding  # noqa: SLF001 - "hex" and "rot13" are codecs, too
        except LookupError:
            known = False
    if not known:
        raise ParameterError(_OWNER, "encoding", "must be an encoding that Python knows", got=repr(given)).with_hint(
            "Exports of Excel on Windows are often cp1252; others are latin-1, utf-16, utf-8-sig."
        )

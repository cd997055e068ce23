"""Reading formulas such as ``disease ~ age + C(sex)``: what they name, and nothing that could do harm.

formulaic evaluates the terms of a formula as Python. A formula may come from elsewhere, so its terms may hold the names
of columns, numbers, texts, arithmetic, comparisons and the functions listed here, and nothing else.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, Final

from ldiversity.errors import ParameterError
from ldiversity.estimation._regression._design import import_formulaic
from ldiversity.estimation._regression._term import read_term

__all__ = ["Formula", "read_formula"]

_LEFT: Final = re.compile(r"\s*(?:`([^`]+)`|([^\W\d]\w*))\s*(?:(==|in\b)\s*(.+?))?\s*", re.DOTALL)
_MOST_LETTERS: Final = 10_000
_MOST_TERMS: Final = 10_000
_EXAMPLE: Final = "Write for example: disease ~ age + C(sex), or: disease == 'flu' ~ age."


@dataclass(frozen=True)
class Formula:
    """A formula that was read.

    Attributes
    ----------
    text
        As it was given.
    outcome
        The sensitive column.
    chosen
        The values that are told from all others, or None.
    columns
        The columns of the predictors.
    right
        The right-hand side, as formulaic read it.
    """

    text: str
    outcome: str
    chosen: tuple[object, ...] | None
    columns: tuple[str, ...]
    right: Any


def read_formula(text: object) -> Formula:
    """Read a formula, without evaluating anything.

    Examples
    --------
    >>> read = read_formula("disease == 'flu' ~ age + C(sex) + log(income)")
    >>> read.outcome, read.chosen, read.columns
    ('disease', ('flu',), ('age', 'sex', 'income'))
    """
    if not isinstance(text, str) or text.count("~") != 1:
        raise _unreadable("must be a text with one ~ between the sensitive column and the predictors")
    if len(text) > _MOST_LETTERS:
        raise _unreadable(f"must have at most {_MOST_LETTERS} letters", got=len(text))
    left, right = text.split("~")
    outcome, chosen = _read_left(left)
    parsed = _parse(right)
    names: dict[str, None] = {}
    for factor in _factors(parsed):
        if factor.eval_method.value == "lookup":
            names[factor.expr] = None
        elif factor.eval_method.value == "python":
            names |= dict.fromkeys(read_term(factor.expr).columns)
    return Formula(text.strip(), outcome, chosen, tuple(names), parsed)


def _unreadable(rule: str, got: object = None) -> ParameterError:
    return ParameterError("regress", "formula", rule, got=got).with_hint(_EXAMPLE)


def _read_left(left: str) -> tuple[str, tuple[object, ...] | None]:
    found = _LEFT.fullmatch(left)
    if found is None:
        raise _unreadable("must begin with a sensitive column, alone or compared with values by == or in")
    outcome, operator, written = found[1] or found[2], found[3], found[4]
    if operator is None:
        return outcome, None
    try:
        value = ast.literal_eval(written)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise _unreadable("must have values in quotes, or numbers, after == or in") from None
    several = isinstance(value, list | tuple | set)
    if several != (operator == "in") or (several and not value):
        raise _unreadable("must have one value after ==, and a list of values after in")
    return outcome, tuple(value) if several else (value,)


def _parse(right: str) -> Any:  # noqa: ANN401 - of formulaic
    formulaic = import_formulaic()
    try:
        _check_terms(formulaic.parser.DefaultFormulaParser().get_ast(right))
        parsed = formulaic.Formula(right) if right.strip() else None
    except ParameterError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever its parser raises
        lines = str(error).splitlines()
        said = f": {lines[0].rstrip('.')}" if lines and isinstance(error, formulaic.errors.FormulaicError) else ""
        raise _unreadable(f"must have predictors after the ~ that can be read{said}") from None
    if parsed is None or not len(parsed) or hasattr(parsed, "_structure"):
        raise _unreadable("must have one list of predictors after the ~")
    return parsed


def _check_terms(node: Any) -> None:  # noqa: ANN401 - of formulaic
    if _crossed(node) > _MOST_TERMS:
        raise ParameterError(
            "regress", "formula", f"must have at most {_MOST_TERMS} terms once its * and ** are multiplied out"
        ).with_hint("Cross fewer columns: a + b + a:b instead of a * b * c, or a smaller exponent.")


def _crossed(node: Any) -> float:  # noqa: ANN401 - of formulaic
    """How many terms formulaic goes through to multiply a formula out, before it does; no less than are left."""
    args = getattr(node, "args", None)
    if args is None:
        return 1
    sizes = [_crossed(one) for one in args]
    symbol = node.operator.symbol
    if symbol in {"**", "^"}:
        exponent = str(args[-1])
        if not (exponent.isascii() and exponent.isdecimal()):
            raise _unreadable("must have a whole number after the ** that crosses terms")
        times = min(float(exponent), _MOST_TERMS + 1.0)
        return max(times, float(min(sizes[0], _MOST_TERMS + 1.0) ** min(times, _MOST_TERMS.bit_length())))
    if symbol in {"*", ":"}:
        return prod(one + 1 for one in sizes) - 1
    return sum(sizes) or 1


def _factors(parsed: Any) -> Iterator[Any]:  # noqa: ANN401 - of formulaic
    for term in parsed:
        yield from term.factors

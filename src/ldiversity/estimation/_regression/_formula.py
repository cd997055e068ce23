"""Reading formulas such as ``disease ~ age + C(sex)``: what they name, and nothing that could do harm.

formulaic evaluates the terms of a formula as Python. A formula may come from elsewhere, so its terms may hold the names
of columns, numbers, texts, arithmetic, comparisons and the functions listed here, and nothing else.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ldiversity.base.checks import name_some
from ldiversity.errors import ParameterError
from ldiversity.estimation._regression._design import import_formulaic

__all__ = ["Formula", "read_formula"]

_FUNCTIONS: Final = frozenset(
    {"C", "I", "log", "log10", "log2", "exp", "exp2", "center", "scale", "standardize", "poly", "bs", "cs", "cr", "cc"}
)
_OF_NUMPY: Final = frozenset({"log", "log10", "log2", "log1p", "exp", "sqrt", "abs", "square"})
_CONTRASTS: Final = frozenset({"treatment", "sum", "helmert", "diff", "poly", "sas"})
_PARTS: Final = (
    ast.Expression,
    ast.Name,
    ast.Load,
    ast.Constant,
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.Call,
    ast.keyword,
    ast.Attribute,
    ast.List,
    ast.Tuple,
    ast.operator,
    ast.unaryop,
    ast.cmpop,
)
_LEFT: Final = re.compile(r"\s*(?:`([^`]+)`|([^\W\d]\w*))\s*(?:(==|in\b)\s*(.+?))?\s*", re.DOTALL)
_QUOTED: Final = re.compile(r"`([^`]*)`")
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
    left, right = text.split("~")
    outcome, chosen = _read_left(left)
    parsed = _parse(right)
    names: dict[str, None] = {}
    for factor in _factors(parsed):
        if factor.eval_method.value == "lookup":
            names[factor.expr] = None
        elif factor.eval_method.value == "python":
            _read_term(factor.expr, names)
    return Formula(text.strip(), outcome, chosen, tuple(names), parsed)


def _unreadable(rule: str) -> ParameterError:
    return ParameterError("regress", "formula", rule).with_hint(_EXAMPLE)


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
        parsed = formulaic.Formula(right) if right.strip() else None
    except Exception as error:  # noqa: BLE001 - whatever its parser raises
        lines = str(error).splitlines()
        said = f": {lines[0].rstrip('.')}" if lines and isinstance(error, formulaic.errors.FormulaicError) else ""
        raise _unreadable(f"must have predictors after the ~ that can be read{said}") from None
    if parsed is None or not len(parsed) or hasattr(parsed, "_structure"):
        raise _unreadable("must have one list of predictors after the ~")
    return parsed


def _factors(parsed: Any) -> Iterator[Any]:  # noqa: ANN401 - of formulaic
    for term in parsed:
        yield from term.factors


def _read_term(expression: str, names: dict[str, None]) -> None:
    """Collect the columns that a term names, and refuse what does not belong into a formula."""
    quoted: dict[str, str] = {}

    def placeholder(found: re.Match[str]) -> str:
        quoted[f"_quoted_{len(quoted)}_"] = found[1]
        return list(quoted)[-1]

    try:
        tree = ast.parse(_QUOTED.sub(placeholder, expression), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise _unreadable("must have terms that are expressions of columns") from None
    called = set()
    for node in ast.walk(tree):
        if not isinstance(node, _PARTS) or (isinstance(node, ast.Attribute) and not _is_known(node)):
            raise _refused(expression)
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if not (name in _FUNCTIONS or isinstance(node.func, ast.Attribute)):
                raise _refused(expression)
            called.add(id(node.func))
        elif isinstance(node, ast.Attribute):
            called.add(id(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and id(node) not in called:
            names[quoted.get(node.id, node.id)] = None


def _is_known(node: ast.Attribute) -> bool:
    home = node.value.id if isinstance(node.value, ast.Name) else ""
    return (home == "np" and node.attr in _OF_NUMPY) or (home == "contr" and node.attr in _CONTRASTS)


def _refused(expression: str) -> ParameterError:
    return ParameterError(
        "regress",
        "formula",
        f"may hold columns, numbers, texts, arithmetic and known functions, but {expression!r} holds something else",
    ).with_hint(f"The functions are {name_some(sorted(_FUNCTIONS), most=30)}, and np.sqrt, np.log1p and the like.")

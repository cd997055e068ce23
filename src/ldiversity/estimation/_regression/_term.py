"""The terms of a formula that are Python: what they may hold, and what they would cost.

formulaic evaluates such a term by `eval`. So what is checked here is the very expression that it evaluates, after its
own replacement of names in backticks, and never the text as it was typed.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from ldiversity.base.checks import name_some
from ldiversity.errors import ParameterError

__all__ = ["CONTRASTS", "FUNCTIONS", "OF_NUMPY", "Term", "read_term"]

FUNCTIONS: Final = frozenset(
    {"C", "I", "log", "log10", "log2", "exp", "exp2", "center", "scale", "standardize", "poly", "bs", "cs", "cr", "cc"}
)
OF_NUMPY: Final = frozenset({"log", "log10", "log2", "log1p", "exp", "sqrt", "abs", "square"})
CONTRASTS: Final = frozenset({"treatment", "sum", "helmert", "diff", "poly", "SAS"})
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
_SIZES: Final = {
    "poly": ("degree",),
    "bs": ("df", "knots", "degree"),
    "cs": ("df", "knots"),
    "cr": ("df", "knots"),
    "cc": ("df", "knots"),
}
"""The arguments, after the first, that say how many columns a function makes."""

_MOST_SIZE: Final = 100
_MOST_CONSTANT: Final = 1e100
_UNSAFE_TEXT: Final = re.compile(r"[`'\"\\]|[^\S ]")
"""formulaic writes texts into code of its own, where these would end them."""

_ARITHMETIC: Final[dict[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    # Of truth values, in effect; no result is larger than this.
    ast.BitAnd: lambda one, other: abs(one) + abs(other),
    ast.BitOr: lambda one, other: abs(one) + abs(other),
    ast.BitXor: lambda one, other: abs(one) + abs(other),
}


@dataclass(frozen=True)
class Term:
    """What a term needs and makes.

    Attributes
    ----------
    columns
        The columns that it names.
    size
        How many columns its functions make of a number, at most.
    categories
        Whether it makes categories of what it is given.
    """

    columns: tuple[str, ...]
    size: int
    categories: bool


def read_term(expression: str) -> Term:
    """Say what a term needs, and refuse what does not belong into a formula.

    Examples
    --------
    >>> read_term("bs(`home zip`, df=4)")
    Term(columns=('home zip',), size=4, categories=False)
    """
    try:
        tree, quoted = _as_evaluated(expression)
        return _read(tree, quoted, expression)
    except ParameterError:
        raise
    except (SyntaxError, ValueError, IndexError, MemoryError, RecursionError):
        raise ParameterError("regress", "formula", "must have terms that are expressions of columns").with_hint(
            "Write for example: disease ~ age + C(sex)."
        ) from None


def _as_evaluated(expression: str) -> tuple[ast.Expression, dict[str, str]]:
    """The expression that formulaic will evaluate, and the columns whose names it replaces."""
    from formulaic.utils.code import sanitize_variable_names

    # Names that are taken get another replacement, so that each replacement stands for one column.
    taken: dict[str, None] = dict.fromkeys([*expression.split("`"), *re.findall(r"\w+", expression)])
    quoted: dict[str, str] = {}
    return ast.parse(sanitize_variable_names(expression, taken, quoted), mode="eval"), quoted


def _read(tree: ast.Expression, quoted: dict[str, str], expression: str) -> Term:
    functions: set[int] = set()
    size, categories = 1, False
    for node in ast.walk(tree):
        if not isinstance(node, _PARTS) or (isinstance(node, ast.Attribute) and not _is_known(node)):
            raise _refused(expression)
        _check_constants(node, expression)
        if isinstance(node, ast.Attribute):
            functions.add(id(node.value))
        if isinstance(node, ast.Call):
            functions.add(id(node.func))
            _check_call(node, expression)
            size *= _size(node, expression)
            categories |= isinstance(node.func, ast.Name) and node.func.id == "C"
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in functions]
    return Term(tuple(dict.fromkeys(quoted.get(name, name) for name in names)), size, categories)


def _is_known(node: ast.Attribute) -> bool:
    home = node.value.id if isinstance(node.value, ast.Name) else ""
    return (home == "np" and node.attr in OF_NUMPY) or (home == "contr" and node.attr in CONTRASTS)


def _is_contrast(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "contr"


def _check_call(node: ast.Call, expression: str) -> None:
    """Known functions alone, of columns: of constants, they could build large ones out of sight."""
    if not (isinstance(node.func, ast.Attribute) or (isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS)):
        raise _refused(expression)
    if any(one.arg is None or one.arg.startswith("_") for one in node.keywords):
        raise _refused(expression)
    if _is_contrast(node.func):
        return
    if not node.args or not any(isinstance(part, ast.Name) for part in ast.walk(node.args[0])):
        raise ParameterError(
            "regress", "formula", f"must have functions of columns, but {expression!r} has one of constants"
        ).with_hint("Write the column first, as in: poly(age, 2).")
    if isinstance(node.args[0], ast.List | ast.Tuple):
        raise _refused(expression)


def _check_constants(node: ast.AST, expression: str) -> None:
    if isinstance(node, ast.Constant):
        if not (node.value is None or isinstance(node.value, bool | int | float | str)):
            raise _refused(expression)
        if isinstance(node.value, str) and _UNSAFE_TEXT.search(node.value):
            raise ParameterError(
                "regress", "formula", "may have no quotes, backticks, backslashes or breaks within a text of a term"
            ).with_hint("Leave the text out: C(column) compares with the first category, and needs no text.")
    if isinstance(node, ast.BinOp):
        texts = any(_is_sequence(side) for side in (node.left, node.right))
        if texts or type(node.op) not in _ARITHMETIC:
            raise _refused(expression)
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Constant):
        try:
            value = _constant(node)
        except (OverflowError, ZeroDivisionError, TypeError):
            raise _too_large(expression) from None
        if value is not None and not abs(value) <= _MOST_CONSTANT:
            raise _too_large(expression)


def _is_sequence(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _constant(node: ast.AST) -> float | None:
    """The number that an expression without columns comes to, in floating point so that it costs nothing."""
    if isinstance(node, ast.Constant):
        return float(node.value) if isinstance(node.value, bool | int | float) else None
    if isinstance(node, ast.Compare):
        return None if any(isinstance(part, ast.Name) for part in ast.walk(node)) else 1.0
    if isinstance(node, ast.UnaryOp):
        inner = _constant(node.operand)
        if inner is None or isinstance(node.op, ast.UAdd):
            return inner
        return -inner if isinstance(node.op, ast.USub) else abs(inner) + 1
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        left, right = _constant(node.left), _constant(node.right)
        return None if left is None or right is None else float(_ARITHMETIC[type(node.op)](left, right))
    return None


def _size(node: ast.Call, expression: str) -> int:
    """How many columns a function makes, or the error where these are too many or unknown beforehand."""
    places = _SIZES.get(node.func.id, ()) if isinstance(node.func, ast.Name) else ()
    given: dict[str, ast.expr] = dict(zip(places, node.args[1:], strict=False))
    given |= {one.arg: one.value for one in node.keywords if one.arg in places}
    return max(1, sum(_sizes(given, expression)))


def _sizes(given: dict[str, ast.expr], expression: str) -> Iterator[int]:
    for name, value in given.items():
        if isinstance(value, ast.Constant) and value.value is None:
            continue
        number = len(value.elts) if isinstance(value, ast.List | ast.Tuple) else _constant(value)
        if number is None or not number <= _MOST_SIZE:
            raise ParameterError(
                "regress", "formula", f"must have a {name} of at most {_MOST_SIZE}, but {expression!r} has another"
            ).with_hint(f"Write a number or a list for {name}; 3 to 10 is usual.")
        yield max(int(number), 0)


def _too_large(expression: str) -> ParameterError:
    return ParameterError(
        "regress", "formula", f"must have constants of at most {_MOST_CONSTANT}, but {expression!r} has a larger one"
    ).with_hint("Use smaller exponents and factors; scale(column) brings a column to width 1.")


def _refused(expression: str) -> ParameterError:
    return ParameterError(
        "regress",
        "formula",
        f"may hold columns, numbers, texts, arithmetic and known functions, but {expression!r} holds something else",
    ).with_hint(
        f"The functions are {name_some(sorted(FUNCTIONS), most=30)}, and np.sqrt, np.log1p and the like. Contrasts are "
        f"{', '.join(f'contr.{name}' for name in sorted(CONTRASTS))}, as in C(job, contr.treatment('nurse'))."
    )

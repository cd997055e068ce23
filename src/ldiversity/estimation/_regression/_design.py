"""The matrix of predictors, made from a formula by formulaic, and its coordinates for computing."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.base.checks import name_all
from ldiversity.errors import ParameterError, SchemaError, UnsupportedError
from ldiversity.estimation._regression._names import known_names
from ldiversity.estimation._regression._term import Term, read_term
from ldiversity.sentences import Parameter, say
from ldiversity.tables import to_native

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.release import Release

__all__ = ["Design", "Whitened", "import_formulaic", "prepare_columns", "whiten"]

_MOST_COLUMNS: Final = 2000

_DEPENDENT: Final = 1e-10
"""A predictor counts as a combination of those before it when less of its square is left."""


def import_formulaic() -> Any:  # noqa: ANN401 - the module
    """The package that reads formulas, or `UnsupportedError`."""
    try:
        import formulaic
    except ImportError as error:
        raise UnsupportedError("regress", "formulas need the package formulaic, which is not installed").with_hint(
            "Run: pip install ldiversity[regression]"
        ) from error
    return formulaic


@dataclass(frozen=True, eq=False)
class Design:
    """A matrix of predictors: its numbers, the name and the term of each column, and how it was made."""

    matrix: FloatArray
    names: tuple[str, ...]
    terms: tuple[str, ...]
    spec: Any

    @classmethod
    def make(cls, formula: Any, columns: pa.Table, n_rows: int) -> Design:  # noqa: ANN401 - a formula of formulaic
        """Evaluate a checked formula on published columns."""
        _check_width(formula, columns)
        matrix = _evaluate(formula, columns, n_rows)
        spec = matrix.model_spec
        terms = {index: str(term) for term, indices in spec.term_indices.items() for index in indices}
        names = tuple(map(str, spec.column_names))
        numbers = _finite(np.asarray(matrix, dtype=np.float64), [terms[index] for index in range(len(names))])
        return cls(numbers, names, tuple(terms[index] for index in range(len(names))), spec)

    def of(self, columns: pa.Table, n_rows: int) -> FloatArray:
        """The same columns for other records."""
        return _finite(np.asarray(_evaluate(self.spec, columns, n_rows), dtype=np.float64), self.terms)


def _evaluate(made_by: Any, columns: pa.Table, n_rows: int) -> Any:  # noqa: ANN401 - of formulaic
    whole = [field.name for field in columns.schema if pa.types.is_integer(field.type)]
    frame, names = to_native(_as_floats(columns, whole), "pandas"), known_names(whole)
    if not columns.num_columns:  # a formula of the intercept alone
        frame = frame.reindex(range(n_rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # what is not finite is refused afterwards
        warnings.filterwarnings("error", category=import_formulaic().errors.DataMismatchWarning)
        try:
            return made_by.get_model_matrix(frame, names, output="numpy", na_action="ignore")
        except import_formulaic().errors.DataMismatchWarning:
            raise ParameterError(
                "Regression.predict", "table", "must hold categories that the regression has seen", got="others"
            ).with_hint("Leave out records with other categories.") from None
        except Exception as error:  # whatever functions of a formula raise
            raise ParameterError(
                "regress", "formula", "must be computable from the published columns, but one of its terms is not"
            ).with_hint(
                "Texts and categories can be named alone or as C(column); functions such as log need numbers."
            ) from error


def _as_floats(columns: pa.Table, names: Sequence[str]) -> pa.Table:
    """Whole numbers as floating point, since powers of integers overflow without a word."""
    for name in names:
        try:
            floats = columns.column(name).cast(pa.float64())
        except pa.ArrowInvalid:
            raise SchemaError(
                "regress", "must hold whole numbers below 2**53 to be a predictor", column=name
            ).with_hint("Publish larger ones, such as keys, as texts.") from None
        columns = columns.set_column(columns.column_names.index(name), name, floats)
    return columns


def _check_width(formula: Any, columns: pa.Table) -> None:  # noqa: ANN401 - a formula of formulaic
    """Refuse a formula whose matrix would have too many columns, before it is made."""
    width = sum(prod(_width(factor, columns) for factor in term.factors) for term in formula)
    if width > _MOST_COLUMNS:
        raise ParameterError(
            "regress", "formula", f"must make at most {_MOST_COLUMNS} columns of predictors", got=f"up to {width}"
        ).with_hint("Use fewer terms, coarser categories, or a column of numbers without C().")


def _width(factor: Any, columns: pa.Table) -> int:  # noqa: ANN401 - of formulaic
    """How many columns a factor makes, at most."""
    method = factor.eval_method.value
    if method == "literal":
        return 1
    term = read_term(factor.expr) if method == "python" else Term((factor.expr,), 1, categories=False)
    counts = [
        len(pc.unique(columns.column(name)))
        for name in term.columns
        if term.categories or not _is_number(columns.schema.field(name).type)
    ]
    return int(term.size * max(1, min(prod(counts), columns.num_rows)))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _finite(matrix: FloatArray, terms: Sequence[str]) -> FloatArray:
    wrong = [terms[index] for index in np.flatnonzero(~np.isfinite(matrix).all(axis=0)).tolist()]
    if wrong:
        raise ParameterError(
            "regress",
            "formula",
            f"must give finite numbers, but {name_all(dict.fromkeys(wrong), 'is', 'are')} not finite",
        ).with_hint(say("Use another function, or leave records out by {}.", Parameter("where")))
    return matrix


def prepare_columns(release: Release, columns: pa.Table) -> pa.Table:
    """Published columns as formulaic shall see them: numbers, and categories that occur, in their order."""
    for position, name in enumerate(columns.column_names):
        order = release.region(name).ordered_texts if name in release.coarse else None
        columns = columns.set_column(position, name, _prepared(name, columns.column(name), order))
    return columns


def _prepared(name: str, column: pa.ChunkedArray, order: pa.Array | None) -> pa.ChunkedArray | pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return column
    if pa.types.is_decimal(kind):
        return column.cast(pa.float64())
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise SchemaError(
            "regress", "must hold numbers, texts or truth values to be a predictor", column=name, got=kind
        ).with_hint("Days can be published by the year or the month, which are categories, or as numbers.")
    column = column.cast(pa.string())
    known = pc.unique(column).drop_null()
    if order is None:
        texts = known.take(pc.sort_indices(known))
    else:
        listed = order.cast(pa.string())
        texts = listed.filter(pc.is_in(listed, value_set=known))
    return pa.DictionaryArray.from_arrays(pc.index_in(column, value_set=texts).combine_chunks(), texts)


@dataclass(frozen=True, eq=False)
class Whitened:
    """Predictors in coordinates that are uncorrelated and of width 1.

    Parameters
    ----------
    wide
        Shape (rows, predictors): the predictors in these coordinates.
    back
        Coefficients of the predictors themselves are ``back @ coefficients``.
    constant
        The coefficients that come nearest to the number 1 for every record.
    """

    wide: FloatArray
    back: FloatArray
    constant: FloatArray


def whiten(design: Design, weights: FloatArray) -> Whitened:
    """Give the coordinates, or refuse a predictor that is a combination of others."""
    from scipy.linalg import cholesky, solve_triangular

    matrix, records = design.matrix, float(weights.sum())
    sizes = np.sqrt(weights @ matrix**2 / records)
    scaled = matrix / np.where(sizes > 0, sizes, 1.0)
    products = (scaled * weights[:, None]).T @ scaled / records
    _check_rank(products, design)
    upper = cholesky(products)
    inverse = np.asarray(solve_triangular(upper, np.eye(len(upper))))
    wide = scaled @ inverse
    return Whitened(wide, inverse / sizes[:, None], weights @ wide / records)


def _check_rank(products: FloatArray, design: Design) -> None:
    """Refuse columns of which nothing is left once those before them are known, by the steps of a Cholesky factor."""
    left = products.copy()
    for column in range(len(left)):
        if left[column, column] <= _DEPENDENT:
            raise ParameterError(
                "regress",
                "formula",
                f"must have terms that no others tell, but {design.terms[column]!r} follows from the terms before it",
            ).with_hint(
                "Leave it out, or one of those before it; the intercept is one of them unless the formula has - 1."
            )
        row = left[column] / left[column, column]
        left = left - np.outer(left[column], row)

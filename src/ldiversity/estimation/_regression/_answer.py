"""The answer of a regression, with the names that users of statsmodels know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ldiversity.base.answers import HIDDEN, Answer, Unbounded, fact, fit_screen
from ldiversity.base.numbers import counted, level, number
from ldiversity.tables import open_source, to_native

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._regression._predict import Predictor
    from ldiversity.estimation._regression._profile import Profiles

__all__ = ["Coefficient", "Regression"]

_HEADS = ("coef", "std err", "z", "P>|z|")


@dataclass(frozen=True)
class Coefficient:
    """One coefficient: of a predictor, for an outcome compared with the reference."""

    outcome: str
    term: str
    coefficient: float
    std_error: float
    z: Unbounded
    pvalue: float
    low: Unbounded
    high: Unbounded


@dataclass(frozen=True, eq=False, repr=False)
class Regression(Answer, schema="regression", version=1):
    """Coefficients of a regression of a sensitive attribute on published columns, with standard errors.

    Made by `regress`. Frames are of the release's kind, with one row per predictor; in pandas the predictors are the
    index. With one outcome, pandas gives a series, as statsmodels does.

    Attributes
    ----------
    formula, sensitive, model
        What was asked: the formula, the sensitive attribute, and ``"logit"`` or ``"linear"``.
    outcomes, reference
        The outcomes that have coefficients, and the one to which they are compared; of ``"linear"`` the attribute
        itself, and None.
    terms
        The predictors.
    n_records, left_out
        How many records were used, and how many were left out because a predictor is missing.
    log_likelihood
        The logarithm of the likelihood of the published sets; None for ``"linear"``.
    coefficients, covariance
        Shape (outcomes, terms), and the covariance of the same numbers in a row.
    confidence
        How often intervals should hold the coefficient.
    where
        The filters that selected the records.
    caveats
        What the user should know, one sentence each.
    """

    formula: str
    sensitive: str
    model: str
    outcomes: tuple[str, ...]
    reference: str | None
    terms: tuple[str, ...]
    n_records: int
    left_out: int
    log_likelihood: float | None
    coefficients: FloatArray = field(metadata=HIDDEN)
    covariance: FloatArray = field(metadata=HIDDEN)
    confidence: float
    where: tuple[str, ...]
    caveats: tuple[str, ...]
    frame_kind: str = field(metadata=HIDDEN)
    _predictor: Predictor = field(repr=False, metadata=HIDDEN)
    _profiles: Profiles | None = field(default=None, repr=False, metadata=HIDDEN)

    @property
    def params(self) -> Any:  # noqa: ANN401 - the kind of frame is the release's
        """The coefficients."""
        return self._frame(self.coefficients)

    @property
    def bse(self) -> Any:  # noqa: ANN401 - the kind of frame is the release's
        """The standard errors."""
        return self._frame(self._errors)

    @property
    def tvalues(self) -> Any:  # noqa: ANN401 - the kind of frame is the release's
        """The coefficients divided by their standard errors."""
        return self._frame(self._z)

    @property
    def pvalues(self) -> Any:  # noqa: ANN401 - the kind of frame is the release's
        """How often a coefficient of zero would be estimated as far from zero, by the normal distribution."""
        return self._frame(self._p)

    @property
    def nobs(self) -> int:
        """How many records were used."""
        return self.n_records

    @property
    def llf(self) -> float | None:
        """The logarithm of the likelihood."""
        return self.log_likelihood

    def conf_int(self, alpha: float | None = None) -> Any:  # noqa: ANN401 - the kind of frame is the release's
        """Intervals, one row per outcome and predictor, with ``low`` and ``high``.

        `alpha` is how often they may miss the coefficient; 1 - `confidence` when None. They are `bse` times a normal
        quantile around `params`, unless a caveat names coefficients whose intervals follow the likelihood itself; these
        are not symmetric, and an end may be infinite.
        """
        low, high = self._interval(self.confidence if alpha is None else 1 - alpha)
        several = len(self.outcomes) > 1
        rows = pa.table(
            {
                **({"outcome": np.repeat(self.outcomes, len(self.terms))} if several else {}),
                "term": list(self.terms) * len(self.outcomes),
                "low": low.ravel(),
                "high": high.ravel(),
            }
        )
        frame = to_native(rows, self.frame_kind)
        keys = ["outcome", "term"] if several else "term"
        return frame.set_index(keys) if self.frame_kind == "pandas" else frame

    def cov_params(self) -> FloatArray:
        """The covariance of the coefficients, by outcome and within it by predictor."""
        return self.covariance

    def predict(self, table: Any = None) -> Any:  # noqa: ANN401 - any frame; the release's kind
        """Give the probability of every outcome (or the mean, of ``"linear"``) for records.

        Parameters
        ----------
        table
            A frame or file with the columns of the formula; the records of the release when None.

        Returns
        -------
        frame
            One row per record and one column per outcome, the reference last.
        """
        given = None if table is None else open_source(table)
        return to_native(self._predictor.predict(self, given), self.frame_kind)

    @fact
    def table(self) -> tuple[Coefficient, ...]:
        """Every coefficient with its errors."""
        low, high = self._interval(self.confidence)
        numbers = (self.coefficients, self._errors, self._z, self._p, low, high)
        return tuple(
            Coefficient(outcome, term, *(float(array[row, column]) for array in numbers))
            for row, outcome in enumerate(self.outcomes)
            for column, term in enumerate(self.terms)
        )

    def to_arrow(self) -> pa.Table:
        """Give an Arrow table with one row per coefficient."""
        return pa.Table.from_pylist([vars(one) for one in self.table])

    def to_frame(self) -> Any:  # noqa: ANN401 - the kind of frame is the release's
        """Give one row per coefficient, in the kind of frame that the release came from."""
        return to_native(self.to_arrow(), self.frame_kind)

    def summary(self) -> str:
        """Give a text with everything, to print."""
        lines = [self._title, *self._said]
        width = max(map(len, self.terms))
        ends = ("[" + level(1 - (1 - self.confidence) / 2), level((1 - self.confidence) / 2) + "]")
        heads = [*_HEADS, ends[1].rstrip("]"), ends[0].lstrip("[")]
        at = 0
        for outcome in self.outcomes:
            lines += ["", outcome if self.reference is None else f"{outcome} (against {self.reference})"]
            lines.append(" " * width + "".join(f"{head:>12}" for head in heads))
            for one in self.table[at : at + len(self.terms)]:
                shown = (one.coefficient, one.std_error, one.z, one.pvalue, one.low, one.high)
                lines.append(f"{one.term:<{width}}" + "".join(f"{number(value):>12}" for value in shown))
            at += len(self.terms)
        return "\n".join([*lines, "", *(f"- {text}" for text in self.caveats)])

    def __str__(self) -> str:
        rows = [
            f"{one.outcome}: {one.term}: {number(one.coefficient)} ({number(one.std_error)}), "
            f"{number(one.low)} to {number(one.high)}"
            for one in self.table[:30]
        ]
        return fit_screen([f"{self._title}; intervals {level(self.confidence)}", *rows])

    def __repr__(self) -> str:
        shape = (counted(len(self.outcomes), "outcome"), counted(len(self.terms), "term"))
        return fit_screen([f"Regression({self.formula}: {', '.join(shape)}, {counted(self.n_records, 'record')})"])

    @property
    def _title(self) -> str:
        return f"{self.formula}: {self.model} regression, {counted(self.n_records, 'record')}"

    @property
    def _said(self) -> list[str]:
        left = f"{counted(self.left_out, 'record')} left out, as a predictor is missing" if self.left_out else ""
        likelihood = "" if self.log_likelihood is None else f"log-likelihood {number(self.log_likelihood, 6)}"
        return [", ".join(filter(None, [left, likelihood]))] if left or likelihood else []

    @property
    def _errors(self) -> FloatArray:
        errors: FloatArray = np.sqrt(np.diag(self.covariance)).reshape(self.coefficients.shape)
        return errors

    @property
    def _z(self) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.coefficients / self._errors)

    @property
    def _p(self) -> FloatArray:
        from scipy.special import ndtr

        return np.asarray(2 * ndtr(-np.abs(self._z)))

    def _interval(self, confidence: float) -> tuple[FloatArray, FloatArray]:
        from scipy.special import ndtri

        reach = float(ndtri((1 + confidence) / 2)) * self._errors
        low, high = self.coefficients - reach, self.coefficients + reach
        if self._profiles is not None:
            places = tuple(np.array(self._profiles.places).T)
            low[places], high[places] = self._profiles.limits(confidence).T
        return low, high

    def _frame(self, numbers: FloatArray) -> Any:  # noqa: ANN401 - the kind of frame is the release's
        columns = dict(zip(self.outcomes, numbers, strict=True))
        rows = pa.table({"term": list(self.terms), **columns})
        frame = to_native(rows, self.frame_kind)
        if self.frame_kind != "pandas":
            return frame
        indexed = frame.set_index("term")
        return indexed[self.outcomes[0]] if len(self.outcomes) == 1 else indexed

"""From a release to the coefficients of a regression: the question, and its checks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.base.asked import asked_of
from ldiversity.base.checks import check_choice, check_number, name_some
from ldiversity.base.numbers import number
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.estimation._regression._answer import Regression
from ldiversity.estimation._regression._choose import Choice, Value, choose_values
from ldiversity.estimation._regression._design import Whitened, whiten
from ldiversity.estimation._regression._formula import Formula, read_formula
from ldiversity.estimation._regression._linear import fit_linear, unbiased_numbers
from ldiversity.estimation._regression._logit import LogitFit, fit_logit
from ldiversity.estimation._regression._predict import Predictor
from ldiversity.estimation._regression._select import Rows, select_rows, too_few
from ldiversity.estimation._where import WhereLike
from ldiversity.release import check_release, check_values, load_release
from ldiversity.schema import Role
from ldiversity.sentences import Parameter, Setting, say
from ldiversity.tables import unknown_column

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.release import Release

__all__ = ["check_formula", "regress"]

_MODELS: Final = ("logit", "linear")
_MISSING: Final = ("refuse", "drop")
_MOST_COEFFICIENTS: Final = 5_000
_BY_LIKELIHOOD: Final = (
    "The likelihood falls unevenly around {}, as few records decide there. So intervals follow the likelihood itself: "
    "they are not symmetric, and may have no end. They are more reliable than standard errors and p-values."
)
_NOT_NORMAL: Final = (
    "The likelihood falls unevenly around {}, as few records decide there, and intervals that follow it would take too "
    "long. So intervals may hold less often than stated."
)


@asked_of("regress", "estimate")
def regress(  # noqa: PLR0913 - a question has these parts, each with a name
    release: Release | str | os.PathLike[str],
    formula: str,
    *,
    values: int | Sequence[Value] | None = None,
    reference: Value = None,
    model: str = "logit",
    where: WhereLike = None,
    missing: str = "refuse",
    confidence: float = 0.95,
) -> Regression:
    """Regress a sensitive attribute on published columns, from the published sets alone.

    The likelihood of every set is maximized: the probability of each value given the predictors, times how likely the
    mechanism hides that value in this set. Standard errors follow from the observed information. They are about the
    dummies and about the records as a sample, as those of any regression are.

    Parameters
    ----------
    release
        What was published, or its folder; nothing else is needed or used. It must be a release of sets.
    formula
        ``"disease ~ age + C(sex)"``: on the left the sensitive column, on the right published columns, as in
        statsmodels, R and formulaic. ``"disease == 'flu' ~ age"`` and ``"disease in ['flu', 'cold'] ~ age"`` compare
        these values with all others.
    values
        The values to tell apart; all others become one outcome. A number takes so many of the most frequent ones.
        None takes every value.
    reference
        The value to which the others are compared; by default the most frequent one, by an estimate, or all others
        where `values` are given.
    model
        ``"logit"`` for values (multinomial where there are several outcomes), or ``"linear"`` for the mean of numbers.
    where
        Filters on published columns, as in `estimate`.
    missing
        ``"refuse"`` records without a value of a predictor, or ``"drop"`` them.
    confidence
        How often an interval should hold the coefficient.

    Returns
    -------
    Regression
        With ``params``, ``bse``, ``pvalues``, ``conf_int()``, ``summary()`` and ``predict()``.

    Raises
    ------
    ParameterError
        When the formula cannot be read, names a sensitive column as a predictor, or has no finite estimate.
    UnsupportedError
        When the release has no sets, or formulaic is not installed.

    Examples
    --------
    >>> import ldiversity as ld
    >>> patients = ld.datasets.patients(4000, seed=1).select(["sex", "age", "disease"])
    >>> release = ld.anonymize(
    ...     patients, quasi=["sex", "age"], sensitive="disease", method=ld.RandomizedAddition(l=2)
    ... )
    >>> fit = ld.regress(release, "disease == 'R11 influenza' ~ age")
    >>> fit.terms, fit.outcomes, fit.reference
    (('Intercept', 'age'), ('R11 influenza',), '(others)')
    """
    if isinstance(release, str | os.PathLike):
        release = load_release(release)
    check_release("regress", release)
    check_values("regress", release, "to regress")
    read = read_formula(formula)
    check_choice("regress", "model", model, _MODELS)
    check_choice("regress", "missing", missing, _MISSING)
    if not 0 < check_number("regress", "confidence", confidence) < 1:
        raise ParameterError("regress", "confidence", "must be between 0 and 1", got=repr(confidence))
    check_formula(release, read)
    asked = choose_values(release.domain(read.outcome), read, values, reference)
    if model == "linear":
        _check_linear(release, read, asked)
    rows = select_rows(release, read, where, missing)
    question = _Question(release, read, asked, rows, float(confidence))
    return _linear(question) if model == "linear" else _logit(question)


@dataclass(frozen=True, eq=False)
class _Question:
    release: Release
    formula: Formula
    asked: Choice
    rows: Rows
    confidence: float

    def whitened(self) -> Whitened:
        rows = self.rows
        n_coefficients = rows.design.matrix.shape[1]
        if rows.n_records <= n_coefficients:
            raise too_few(rows.n_records, n_coefficients)
        return whiten(rows.design, rows.weights)

    def answer(
        self,
        *,
        model: str,
        outcomes: tuple[str, ...],
        reference: str | None,
        coefficients: FloatArray,
        covariance: FloatArray,
        value: float | None,
        found: LogitFit | None = None,
    ) -> Regression:
        rows = self.rows
        return Regression(
            formula=self.formula.text,
            sensitive=self.formula.outcome,
            model=model,
            outcomes=outcomes,
            reference=reference,
            terms=rows.design.names,
            n_records=rows.n_records,
            left_out=rows.left_out,
            log_likelihood=value,
            coefficients=coefficients,
            covariance=covariance,
            confidence=self.confidence,
            where=rows.where,
            caveats=(*self._caveats(model), *([] if found is None else self._doubts(outcomes, found))),
            frame_kind=self.release.frame_kind,
            _predictor=Predictor(self.release, self.formula.columns, rows.design),
            _profiles=None if found is None else found.profiles,
        )

    def _doubts(self, outcomes: tuple[str, ...], found: LogitFit) -> list[str]:
        """The caveat of coefficients whose interval is not a multiple of the standard error."""
        several, terms = len(outcomes) > 1, self.rows.design.names
        named = [
            f"{terms[column]} of {outcomes[row]}" if several else terms[column]
            for row, column in np.argwhere(found.doubtful)
        ]
        if not named:
            return []
        return [(_BY_LIKELIHOOD if found.profiles is not None else _NOT_NORMAL).format(name_some(named))]

    def _caveats(self, model: str) -> tuple[str, ...]:
        caveats = ["Standard errors are about the dummies, and about the records as a sample of a larger population."]
        if self.release.person:
            caveats.append(
                "A person may have several records, and the release does not tell whose they are. Every record is "
                "taken as independent: the true errors may be greater, and then intervals hold less often than stated."
            )
        domain, error = self.release.domain(self.formula.outcome), self.rows.mechanism.inclusion_error
        if model == "linear" and domain.edges is not None:
            caveats.append("Numbers in bins count as the middles of their bins.")
        if model == "linear" and error > 0:
            caveats.append(
                f"Inclusion probabilities were simulated, with standard errors up to {number(error, 2)}; intervals do "
                "not include them."
            )
        return tuple(caveats)


def check_formula(release: Release, read: Formula) -> None:
    """Refuse a formula that the release cannot answer: what is before the ~, and what is after it."""
    if read.outcome not in release.schema.names() or release.schema[read.outcome].role is not Role.SENSITIVE:
        raise ParameterError(
            "regress", "formula", f"must have a sensitive column before the ~, but {read.outcome!r} is none"
        ).with_hint(f"The sensitive columns are {name_some(release.sensitive)}; all others are published as they are.")
    if release.grouped:
        raise UnsupportedError(
            "regress",
            "records of this release share classes, whose values were grouped by looking at them: no likelihood of a "
            "single record is known, so standard errors would not hold",
        ).with_hint("Use estimate, which knows classes, or a release of sets, as randomized addition publishes.")
    if release.rows_per_record > 1:
        raise UnsupportedError(
            "regress", "a regression needs published sets, but this release has single members"
        ).with_hint("Ask the holder for the layout with sets, or use estimate.")
    for name in read.columns:
        if name not in release.schema.names():
            raise unknown_column("regress", name, release.schema.names(), from_file=False)
        if release.schema[name].role is Role.SENSITIVE:
            raise ParameterError(
                "regress",
                "formula",
                f"must have published columns after the ~, but {name!r} is sensitive: each record shows a set of its "
                "values, and which one is true is not known",
            ).with_hint(
                say("Put it before the ~, or estimate the joint distribution, with both in {}.", Parameter("sensitive"))
            )


def _check_linear(release: Release, read: Formula, asked: Choice) -> None:
    positions = release.domain(read.outcome).positions
    if positions is None or not np.isfinite(positions).all():
        raise UnsupportedError(
            "regress", "a linear regression needs a sensitive column of numbers, none of them missing"
        ).with_hint(say("Use {}, which takes values as they are.", Setting("model", "logit")))
    if not asked.everything:
        raise ParameterError("regress", "values", "must be left out, as a linear regression takes every number")


def _logit(question: _Question) -> Regression:
    rows, shares = question.rows, question.rows.shares()
    outcomes, design = question.asked.outcomes(shares), question.whitened()
    width = design.wide.shape[1]
    if len(outcomes.compared) * width >= rows.n_records:
        raise too_few(rows.n_records, len(outcomes.compared) * width)
    if outcomes.n_logits * width > _MOST_COEFFICIENTS:
        raise UnsupportedError(
            "regress",
            f"a regression may have at most {_MOST_COEFFICIENTS} coefficients, with those of all values, but has "
            f"{outcomes.n_logits * width}",
        ).with_hint("Leave terms out.")
    candidates, given = rows.explanations()

    def fit(choice: Choice) -> LogitFit:
        return fit_logit(choice.outcomes(shares), design, candidates, given, rows.weights, question.confidence)

    found = fit(question.asked)
    if found.lost.any() or not found.reached:
        # Where all are lost, it is the outcome that they are compared with.
        lost = [] if _is_reference_lost(found) else [outcomes.labels[code] for code in outcomes.compared[found.lost]]
        fewer = question.asked.fewer(shares, lost, lambda choice: _is_whole(fit(choice)))
        raise _no_estimate(found, fewer, named=question.asked.reference is not None)
    return question.answer(
        model="logit",
        outcomes=tuple(outcomes.labels[code] for code in outcomes.compared),
        reference=outcomes.labels[outcomes.reference],
        coefficients=found.coefficients,
        covariance=found.covariance,
        value=found.value,
        found=found,
    )


def _is_whole(found: LogitFit) -> bool:
    return found.reached and not found.lost.any()


def _is_reference_lost(found: LogitFit) -> bool:
    return len(found.lost) > 1 and bool(found.lost.all())


def _no_estimate(found: LogitFit, fewer: int | None, *, named: bool) -> ParameterError:
    """The error of outcomes that do not occur; `fewer` of the most frequent values can be told apart.

    `named` says whether the user chose the value that others are compared with.
    """
    n_lost, n_outcomes = max(int(np.count_nonzero(found.lost)), 1), len(found.lost)
    if _is_reference_lost(found):
        told = "the outcome that all others are compared with occurs"
    elif n_outcomes == 1:
        told = "the outcome occurs"
    else:
        told = f"{n_lost} of {n_outcomes + 1} outcomes {'occurs' if n_lost == 1 else 'occur'}"
    if _is_reference_lost(found) and named:
        hint = say("Name another value in {}, or use more records.", Parameter("reference"))
    elif fewer is None:
        hint = say("Leave terms out, or use more records.")
    else:
        hint = say("Tell fewer values apart, all others together: {}; or leave terms out.", Setting("values", fewer))
    return ParameterError(
        "regress",
        "formula",
        f"must have coefficients that the records determine, but {told} never or always, as far as the sets tell, so "
        "that no finite estimate exists",
    ).with_hint(hint)


def _linear(question: _Question) -> Regression:
    rows, positions = question.rows, question.release.domain(question.formula.outcome).positions
    numbers = unbiased_numbers(rows.mechanism, np.asarray(positions), rows.different)[rows.pieces]
    found = fit_linear(question.whitened(), numbers, rows.weights)
    return question.answer(
        model="linear",
        outcomes=(question.formula.outcome,),
        reference=None,
        coefficients=found.coefficients[None, :],
        covariance=found.covariance,
        value=None,
    )

"""One run of a comparison: publish in memory, audit, attack, measure with queries, and forget the release."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import numpy as np

from ldiversity.base.numbers import at_most
from ldiversity.errors import InfeasibleError, InternalError, LDiversityError, LDiversityWarning, UnsupportedError
from ldiversity.evaluation.attacks import AttackResult, FaultyAttackError, attack_each
from ldiversity.evaluation.audit import audit
from ldiversity.evaluation.compare._candidates import Candidate
from ldiversity.evaluation.compare._run import NOT_RUN, ComparedAttack, ComparedRun
from ldiversity.evaluation.compare._setting import Setting, median_interval, relative_errors
from ldiversity.evaluation.measures import (
    Kept,
    association_errors,
    classifier_accuracy,
    distribution_mse,
    ncp,
)
from ldiversity.publish import ChosenMethod, Publication
from ldiversity.release import Release, what_changes_tell
from ldiversity.tables import open_source

__all__ = ["identity", "run_candidate"]

_OWN_GUESS: Final = "similarity"
"""This attack counts similar values as right, so guessing is right more often too."""

_CLASSIFIED_BY: Final = 3
"""Quasi-identifiers that a classifier uses: those that tell most."""

_NOT_INSTALLED: Final = "install ldiversity["
_STORED: Final = (InfeasibleError, UnsupportedError)

Answer = TypeVar("Answer")


def run_candidate(candidate: Candidate, setting: Setting) -> tuple[ComparedRun, bool]:
    """Run a method and measure what it published; a row says why when the method could not run.

    Also say whether the row may be kept, because another run would give the same.
    """
    if candidate.chosen is None:
        return _failed(candidate, candidate.reason or "", candidate.hint), False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LDiversityWarning)
        started = time.process_time()
        try:
            release = _publish(candidate.chosen, setting)
        except Exception as error:  # noqa: BLE001 - a failing method is a row and must not stop the others
            hint = getattr(error, "hint", None)
            return _failed(candidate, _why(candidate.name, error), hint), isinstance(error, _STORED)
        seconds = time.process_time() - started
        run = _measured(candidate, setting, release, seconds)
    said = tuple(dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, LDiversityWarning)))
    return replace(run, notes=(*run.notes, *said)), True


def _publish(chosen: ChosenMethod, setting: Setting) -> Release:
    """Publish the table in memory, with the hierarchies and domains that all runs share."""
    publication = Publication(
        quasi=setting.quasi,
        sensitive=setting.sensitive,
        method=chosen,
        hierarchies=setting.hierarchies if chosen.groups else None,
        levels=setting.levels,
        grid=setting.grid if chosen.rounds else None,
        person=setting.person,
    )
    return publication.rehearse(setting.table, insecure_seed=setting.seed)


def _measured(candidate: Candidate, setting: Setting, release: Release, seconds: float) -> ComparedRun:
    notes: list[str] = []
    names = [one.name for one in setting.sensitive]
    if setting.person is not None and not release.grouped:
        notes += what_changes_tell({name: release.drawn_by(name) for name in names})
    asked = setting.recognition
    found = _attempt(
        "audit",
        notes,
        lambda: audit(
            release,
            population=asked.population,
            sample_fraction=asked.sample_fraction,
            threshold=asked.threshold,
            person=setting.person,
            original=None if setting.person is None else open_source(setting.table),
            **setting.reading,
        ),
    )
    figures = {} if found is None else {name: figure.value for name, figure in found.models.items()}
    models = {name: _number(value) for name, value in figures.items() if not isinstance(value, Mapping)}
    error = _attempt("queries", notes, lambda: _query_error(setting, release))
    table = setting.original
    spread = _attempt(
        "distributions", notes, lambda: max(distribution_mse(table, release, sensitive=name) for name in names)
    )
    association = _attempt("association", notes, lambda: _association(setting, release))
    classifier = _attempt("classifier", notes, lambda: _classified(candidate.chosen, setting))
    promised = max(float(release.claim(name).posterior) for name in release.sensitive)
    return replace(
        identity(candidate),
        layout=release.layout,
        claim=f"no value likelier than {at_most(promised)}" if promised < 1 else _statements(release),
        promised=promised,
        records=release.n_rows,
        uniques=None if found is None else found.risk.uniques,
        recognized=None if found is None else found.risk.journalist.max,
        records_at_risk=None if found is None else found.risk.journalist.records_above,
        models=models,
        audit_passed=None if found is None else found.passed,
        attacks=_attacked(setting, release, notes),
        ncp=_attempt("ncp", notes, lambda: ncp(setting.table, release)),
        suppression=_left_out(setting, release),
        relative_error=None if error is None else error.median,
        error_low=None if error is None else error.low,
        error_high=None if error is None else error.high,
        estimator=None if error is None else error.estimator,
        distribution_mse=spread,
        conditional=None if association is None else association[0],
        coefficients=None if association is None else association[1],
        classifier=classifier,
        classifier_tested=None if classifier is None or setting.sample is None else setting.sample[1].num_rows,
        judged_by=setting.judged_by,
        cpu_seconds=round(seconds, 3),
        notes=tuple(notes),
    )


def _association(setting: Setting, release: Release) -> tuple[Kept, Kept]:
    """Errors within cells and of coefficients, of the attributes of which most is lost."""
    found = [association_errors(setting.original, release, one.name) for one in setting.sensitive]
    cells, coefficients = (
        max(of_one, key=lambda kept: -np.inf if np.isnan(kept.lost) else kept.lost)
        for of_one in zip(*found, strict=True)
    )
    return cells, coefficients


def _classified(chosen: ChosenMethod | None, setting: Setting) -> Kept | None:
    """Publish a sample of the table, and classify records that are not in it."""
    if chosen is None or setting.sample is None or setting.held_out is None:
        return None
    (learned, _), (known, others) = setting.sample, setting.held_out
    release = _publish(chosen, replace(setting, table=learned, sensitive=setting.declared))
    found = [
        classifier_accuracy(known, release, others, sensitive=one.name, columns=_CLASSIFIED_BY)
        for one in setting.sensitive
    ]
    return min(found, key=lambda kept: kept.release - kept.original)


def _attempt(what: str, notes: list[str], measure: Callable[[], Answer]) -> Answer | None:
    """Measure; where that is impossible, note why and continue."""
    try:
        return measure()
    except Exception as error:  # noqa: BLE001 - a failing measure must not stop the comparison
        notes.append(f"Not measured: {what}. {_why(what, error)}")
    return None


def _why(what: str, error: Exception) -> str:
    """Say what went wrong; messages of other packages may quote cells, so they are not repeated."""
    if isinstance(error, LDiversityError) and not isinstance(error, InternalError):
        return error.message
    return f"{what}: an internal error of this package ({type(error).__name__})."


@dataclass(frozen=True)
class _QueryError:
    """The median error of queries, its interval, and the estimator that reaches it."""

    median: float
    low: float
    high: float
    estimator: str


def _query_error(setting: Setting, release: Release) -> _QueryError:
    """The median relative error of the worst attribute, with the best estimator that a user has."""
    worst: _QueryError | None = None
    for workload, answers in zip(setting.workloads, setting.answers, strict=True):
        found = [
            _QueryError(*median_interval(relative_errors(estimates, answers, setting.sanity)), estimator)
            for estimator, estimates in workload.offered_estimates(release).items()
        ]
        best = min(found, key=lambda one: one.median)
        worst = best if worst is None or best.median > worst.median else worst
    if worst is None:
        raise InternalError("compare", "there must be queries")
    return worst


def _attacked(setting: Setting, release: Release, notes: list[str]) -> tuple[ComparedAttack, ...]:
    found = [_attacked_each(setting, release, attribute) for attribute in release.sensitive]
    results: list[AttackResult] = []
    for place, one in enumerate(setting.attacks):
        name = one if isinstance(one, str) else one.name
        for outcome in (of_attribute[place] for of_attribute in found):
            if not isinstance(outcome, Exception):
                results += outcome
            elif isinstance(outcome, FaultyAttackError) or not isinstance(outcome, UnsupportedError):
                notes.append(f"{NOT_RUN} {name!r}. {_why(name, outcome)}")
            elif _NOT_INSTALLED in outcome.message:  # else it is an attack on another kind of release
                notes.append(f"{NOT_RUN} {name!r}, so the risk may be greater. {outcome.message}")
    # Where people are missing, the shares of values among those who can be attacked differ from those of the table.
    guessing = {} if release.suppressed > 0 or _unshown(release) > 0 else setting.guessing
    return tuple(_compared(result, guessing) for result in results)


def _attacked_each(setting: Setting, release: Release, attribute: str) -> list[tuple[AttackResult, ...] | Exception]:
    """What each attack on an attribute found or raised; all raise what keeps everyone from being looked up."""
    source = open_source(setting.table)
    try:
        found = attack_each(release, source, attribute, setting.attacks, targets=setting.targets, person=setting.person)
        return list(found)
    except Exception as error:  # noqa: BLE001 - a failing attack must not stop the comparison
        return [error] * len(setting.attacks)


def _compared(result: AttackResult, guessing: Mapping[str, float]) -> ComparedAttack:
    low, high = result.interval or (None, None)
    own = result.attack.startswith(_OWN_GUESS)
    return ComparedAttack(
        attack=result.attack,
        attribute=result.attribute,
        success=float(result.success),
        baseline=float(result.baseline if own else guessing.get(result.attribute, result.baseline)),
        low=low,
        high=high,
        claim=result.claim,
        certain=float(result.certain),
        certain_success=None if result.certain_success is None else float(result.certain_success),
        broken=bool(result.broken),
        found=int(result.found),
        reference=None if result.reference is None else float(result.reference),
    )


def identity(candidate: Candidate) -> ComparedRun:
    """What a row says about its run before anything is measured."""
    plain = (str, int, float, bool)
    options = {
        name: value if isinstance(value, plain) else dict(value) if isinstance(value, dict) else str(value)
        for name, value in candidate.options.items()
    }
    words = None if candidate.words is None else tuple(candidate.words)
    kept = candidate.method is not None and candidate.method.for_comparison
    return ComparedRun(candidate.label, candidate.name, options, words, for_comparison=kept)


def _failed(candidate: Candidate, reason: str, hint: str | None = None) -> ComparedRun:
    return replace(identity(candidate), reason=reason, hint=hint)


def _left_out(setting: Setting, release: Release) -> float:
    """The share of the table's records that are left out, or whose value is in no class."""
    n_rows = int(setting.table.num_rows)
    return max(0, n_rows - release.n_rows + _unshown(release)) / n_rows


def _unshown(release: Release) -> int:
    """How many published records lack a value of some attribute."""
    if not release.grouped:
        return 0
    return max(int(np.count_nonzero(release.class_of(name) < 0)) for name in release.sensitive)


def _statements(release: Release) -> str:
    """The promises in words, for a release that does not bound how likely a value is."""
    return " ".join(claim.statement for name in release.sensitive for claim in release.claims_of(name))


def _number(value: Any) -> float | None:  # noqa: ANN401 - a number, or numbers by name
    return float(value) if isinstance(value, int | float) and np.isfinite(value) else None

"""The rows of a comparison as texts: what terminals and notebooks show."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ldiversity.base.numbers import number, percent, percent_at_most, points, seconds

if TYPE_CHECKING:
    from ldiversity.evaluation.compare._result import Comparison, JudgedRun
    from ldiversity.evaluation.compare._run import ComparedRun

__all__ = ["ASSOCIATION", "LEGEND", "TextTable", "association_table", "exposure_table", "failures", "figures_table"]

LEGEND: Final = (
    "risk: what the best attackers gain over guessing, in percentage points; at 0 they do no better. *: no other run "
    "to choose from is better in both risk and error. !: not sound. <-: recommended."
)
"""What the marks of `figures_table` mean."""


ASSOCIATION: Final = (
    "error within cells: how far distributions within small cells are off, on average. lost: that, where 0 is the "
    "original and 100 % frequencies alone, the same for every cell. error of coefficients: of logistic regressions, in "
    "log-odds. classifier right: about people whom it has not seen, trained on a release of a sample of the table; "
    "beside it the standard error, in percentage points, by the draw of these people. So a run can be above the "
    "original by chance: compare their distance with the error."
)
"""What the columns of `association_table` mean."""


@dataclass(frozen=True)
class TextTable:
    """A table of texts; `numbers` are the positions of the columns that hold numbers."""

    heads: tuple[str, ...]
    rows: list[list[str]]
    numbers: Collection[int]


def figures_table(comparison: Comparison) -> TextTable:
    """Risk, error and cost of the runs that were possible."""
    several = len(comparison.sensitive) > 1
    measures = ("query error", "NCP", "left out", "CPU s")
    heads = ("run", "", "risk", "best attack", "right", "promised", "guessing", *measures)
    rows = [_figures(row, several=several) for row in comparison.judged if not row.run.failed]
    return TextTable(heads, rows, {2, *range(4, len(heads))})


def exposure_table(comparison: Comparison) -> TextTable:
    """What the audits found that the mean over people may hide."""
    above = f"found above {percent(comparison.threshold.limit)}"
    found = ("k", "unique records", "found at worst", above)
    heads = ("run", *found, "worst belief", "times likelier", "sure of", "distribution MSE")
    return TextTable(heads, [_exposure(run) for run in comparison.rows if not run.failed], range(1, len(heads)))


def association_table(comparison: Comparison) -> TextTable:
    """What the runs keep of how values depend on quasi-identifiers, above what the table and frequencies alone have."""
    heads = ("run", "error within cells", "lost", "error of coefficients", "classifier right", "std. error (points)")
    measured = [run for run in comparison.rows if not run.failed]
    rows = [
        [
            run.label,
            percent(None if run.conditional is None else run.conditional.release),
            percent(run.association_lost),
            number(None if run.coefficients is None else run.coefficients.release, 3),
            percent(None if run.classifier is None else run.classifier.release),
            points(run.classifier_error),
        ]
        for run in measured
    ]
    for label, who in (("original table", "original"), ("frequencies alone", "baseline")):
        first = [
            next((getattr(kept, who) for run in measured if (kept := getattr(run, name)) is not None), None)
            for name in ("conditional", "coefficients", "classifier")
        ]
        lost = {"original": 0.0, "baseline": 1.0}[who]
        tested = next((run for run in measured if run.classifier is not None), None)
        error = None if tested is None or first[2] is None else tested.tested_error(first[2])
        rows.append([label, percent(first[0]), percent(lost), number(first[1], 3), percent(first[2]), points(error)])
    return TextTable(heads, rows, range(1, len(heads)))


def failures(comparison: Comparison) -> list[str]:
    """A sentence on each run that was not possible."""
    return [f"{run.label}: {run.reason} {run.hint or ''}".rstrip() for run in comparison.rows if run.failed]


def _figures(row: JudgedRun, *, several: bool) -> list[str]:
    run, best = row.run, row.run.best_attack
    marks = ("*" if row.pareto else "") + ("!" if row.flaws else "")
    about = "-" if best is None else f"{best.attack} on {best.attribute!r}" if several else best.attack
    return [
        run.label,
        f"{marks} <-" if row.recommended else marks,
        points(run.risk),
        about,
        percent(None if best is None else best.success),
        percent_at_most(None if best is None else best.claim),
        percent(None if best is None else best.baseline),
        percent(run.relative_error),
        percent(run.ncp),
        percent(run.suppression),
        seconds(run.cpu_seconds),
    ]


def _exposure(run: ComparedRun) -> list[str]:
    beta = run.models.get("beta")
    return [
        run.label,
        number(run.models.get("k_anonymity")),
        number(run.uniques),
        percent(run.recognized),
        number(run.records_at_risk),
        percent(run.models.get("frequency")),
        number(None if beta is None else 1 + beta, 3),
        percent(run.disclosed),
        number(run.distribution_mse, 3),
    ]

"""The rows of a comparison as texts: what terminals and notebooks show."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ldiversity.base.numbers import number, percent, points

__all__ = ["LEGEND", "TextTable", "exposure_table", "failures", "figures_table"]

LEGEND: Final = (
    "risk: what the best attacker gains over guessing, in percentage points; at 0 he does no better. *: no other of "
    "those to choose from is better in both risk and query error. !: not sound. <-: recommended."
)
"""What the marks of `figures_table` mean."""


@dataclass(frozen=True)
class TextTable:
    """A table of texts.

    Attributes
    ----------
    heads, rows
        The texts.
    numbers
        The columns that hold numbers.
    """

    heads: tuple[str, ...]
    rows: list[list[str]]
    numbers: Collection[int]


def figures_table(facts: Mapping[str, Any]) -> TextTable:
    """Risk, error and cost of the runs that were possible; `facts` are those of `Comparison.to_dict`."""
    several = len(facts["sensitive"]) > 1
    heads = (
        "run",
        "",
        "risk",
        "best attack",
        "right",
        "promised",
        "guessing",
        "query error",
        "NCP",
        "left out",
        "CPU s",
    )
    rows = [_figures(row, several=several) for row in facts["rows"] if row["reason"] is None]
    return TextTable(heads, rows, {2, *range(4, len(heads))})


def exposure_table(facts: Mapping[str, Any]) -> TextTable:
    """What the audits found, which the mean over people may hide."""
    heads = ("run", "k", "unique records", "worst belief", "times likelier", "sure of", "distribution MSE")
    rows = [_exposure(row) for row in facts["rows"] if row["reason"] is None]
    return TextTable(heads, rows, range(1, len(heads)))


def failures(facts: Mapping[str, Any]) -> list[str]:
    """A sentence on each run that was not possible."""
    return [f"{row['label']}: {row['reason']} {row['hint'] or ''}".rstrip() for row in facts["rows"] if row["reason"]]


def _figures(row: Mapping[str, Any], *, several: bool) -> list[str]:
    best: Mapping[str, Any] = row["best_attack"] or {}
    marks = ("*" if row["pareto"] else "") + ("!" if row["flaws"] else "")
    attack = str(best.get("attack", "-"))
    return [
        row["label"],
        f"{marks} <-" if row["recommended"] else marks,
        points(row["risk"]),
        f"{attack} on {best['attribute']!r}" if several and best else attack,
        percent(best.get("success")),
        percent(best.get("claim")),
        percent(best.get("baseline")),
        percent(row["relative_error"]),
        percent(row["ncp"]),
        percent(row["suppression"]),
        "-" if row["cpu_seconds"] is None else f"{row['cpu_seconds']:.2f}",
    ]


def _exposure(row: Mapping[str, Any]) -> list[str]:
    models = row["models"]
    beta = models.get("beta")
    return [
        row["label"],
        number(models.get("k_anonymity")),
        number(row["uniques"]),
        percent(models.get("frequency")),
        number(None if beta is None else 1 + beta, 3),
        percent(row["disclosed"]),
        number(row["distribution_mse"], 3),
    ]

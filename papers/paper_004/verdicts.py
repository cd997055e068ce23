"""What Fig. 11 to 13 of paper 004 say, and what came out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from ldiversity.base.numbers import percent
from ldiversity.mechanisms import RingSelection
from papers.paper_004.data import EDUCATION_TREE
from papers.paper_004.errors import BY_CELL
from papers.paper_004.runs import LE, PAPER
from papers.verdicts import Outcome, Statement, Verdict, decide, each

if TYPE_CHECKING:
    import pyarrow as pa

    from papers.paper_004.data import Survey
    from papers.paper_004.errors import Sweep

__all__ = ["CLAIMS", "judge_education", "judge_fnlwgt", "judge_income", "ring_leak"]

TIE: Final = 1.5
"""Mean errors of few releases that differ by a smaller factor count as equal."""

CLAIMS: Final = {
    "Fig. 11": "The MSE of N-Proposal has a small value in all cases; that of Ex-Proposal becomes the larger the "
    "larger l or d is; N-Anonymity in (a), without any analysis, is quite different from the original.",
    "Fig. 12": "The higher l and d, the worse the MSE of Ex-Proposal becomes; in (b) the MSE of Ex-Proposal is "
    "larger than that of (l, e)-diversity (LE).",
    "Fig. 13": "The text says of Fig. 13 only what it says of all histograms: the proposed analysis is the most "
    "similar to the original.",
}

_Errors = dict[tuple[int, int, str], float]


def judge_income(data: pa.Table, sweep: Sweep, leak: str) -> Verdict:
    """N-Proposal as low as any of the paper's, Ex-Proposal rising, N-Anonymity the greatest."""
    errors = _errors(data)
    settings = [at for at in sweep.settings if (*at, "N-Proposal") in errors]
    low, told = _is_low(errors, settings)
    rising, course = _course(errors, sweep.panels)
    plain = {str(at): errors[(*at, "N-Anonymity")] >= _greatest(errors, at) for at in sweep.panels[0]}
    missing = len(sweep.settings) - len(settings)
    words = (
        f"{told} {course} Without analysis (a) is {'worst' if all(plain.values()) else 'not always worst'}. {leak} For "
        f"{missing} of "
        f"{len(sweep.settings)} settings its rings are too short. {_gain(errors, 'N-Proposal')} "
        f"{_gain(errors, 'Ex-Proposal')}"
    )
    statements = [low, rising, each("N-Anonymity is worst in (a)", plain)]
    return Verdict(*_decided(errors, statements, words, stand_in=True))


def judge_education(data: pa.Table, sweep: Sweep) -> Verdict:
    """Ex-Proposal rising with l and d, and above LE in panel (b)."""
    errors = _errors(data)
    rising, course = _course(errors, sweep.panels)
    lower = [at for at in sweep.panels[1] if errors[(*at, "Ex-Proposal")] <= errors[(*at, LE)]]
    pairs = ", ".join(
        f"l = {l}: {errors[l, d, 'Ex-Proposal']:.2g} and {errors[l, d, LE]:.2g}" for l, d in sweep.panels[1]
    )
    notes = {(row["l"], row["d"]): row["note"] for row in data.to_pylist() if row["combination"] == LE and row["note"]}
    kept = "; ".join(f"{at}: {notes[at]}" for at in sweep.panels[1] if at in notes)
    words = (
        f"{course} In (b) Ex-Proposal {_all(lower, len(sweep.panels[1]), 'is above LE')} ({pairs}); that is by age and "
        "gender: for the whole table Anatomy keeps every count it publishes. LE is (l, e)-Anatomy with e = "
        f"{EDUCATION_TREE.depth} - d, our choice: the paper does not say how e follows from d. Anatomy must leave out "
        f"records ({kept or 'none here'}). {_refusals(data)}{_gain(errors, 'Ex-Proposal')} {_gain(errors, LE)}"
    )
    above = each("Ex-Proposal above LE in (b)", {str(at): at not in lower for at in sweep.panels[1]})
    return Verdict(*_decided(errors, [rising, above], words))


def judge_fnlwgt(data: pa.Table, sweep: Sweep) -> Verdict:
    """N-Proposal as low as any of the paper's."""
    errors = _errors(data)
    settings = [at for at in sweep.settings if (*at, "N-Proposal") in errors]
    low, told = _is_low(errors, settings)
    exact = [errors[(*at, "Ex-Proposal")] / errors[(*at, "Simple, exact Q")] for at in settings]
    words = (
        f"{told} On the same sets of simple selection Eq. 2 has {_number(min(exact))} to {_number(max(exact))} times "
        f"the error of exact probabilities. {_gain(errors, 'N-Proposal')} {_gain(errors, 'Ex-Proposal')}"
    )
    return Verdict(*_decided(errors, [low], words))


def ring_leak(survey: Survey) -> str:
    """What the sets of N-Proposal give away at (3, 3)."""
    mechanism = RingSelection.fit(survey.domain, survey.distance, 3, 3)
    leak = mechanism.leak()
    return (
        f"N-Proposal is not safe: at (3, 3) the sets of {percent(leak.ruled_out, 2)} of the records (values "
        "equally frequent) "
        f"rule a member out, {percent(leak.disclosed, 2)} are disclosed, the worst posterior is "
        f"{mechanism.worst_posterior():.2f}."
    )


def _errors(data: pa.Table) -> _Errors:
    rows = [row for row in data.to_pylist() if row[BY_CELL] is not None]
    return {(row["l"], row["d"], row["combination"]): row[BY_CELL] for row in rows}


def _least(errors: _Errors, setting: tuple[int, int]) -> float:
    return min(errors[(*setting, name)] for name in PAPER if (*setting, name) in errors)


def _greatest(errors: _Errors, setting: tuple[int, int]) -> float:
    return max(errors[(*setting, name)] for name in PAPER if (*setting, name) in errors)


def _is_low(errors: _Errors, settings: Sequence[tuple[int, int]]) -> tuple[Statement, str]:
    """Whether N-Proposal is the least of the paper's or nearly so, and how often it is which."""
    own = {at: errors[(*at, "N-Proposal")] for at in settings}
    least = [at for at in settings if own[at] <= _least(errors, at)]
    above = [at for at in settings if own[at] > TIE * _least(errors, at)]
    n = len(settings)
    listed = f", but not at {', '.join(map(str, above))}" if above else ""
    low = each("N-Proposal is the least, or nearly", {str(at): at not in above for at in settings})
    return low, (
        f"N-Proposal is the least of the seven in {len(least)} of {n} settings, and the least or within a factor of "
        f"{TIE} of it in {n - len(above)} of {n}{listed}."
    )


def _course(errors: _Errors, panels: Sequence[Sequence[tuple[int, int]]]) -> tuple[Statement, str]:
    """Whether the error of Ex-Proposal rises with every step of l or d, and where it does not."""
    own = {(l, d): error for (l, d, name), error in errors.items() if name == "Ex-Proposal"}
    letters = dict(zip("abcd", panels, strict=True))
    rising = [f"({letter})" for letter, panel in letters.items() if own[panel[-1]] > own[panel[0]]]
    steps = dict.fromkeys(step for panel in panels for step in pairwise(panel))
    falls = [(one, other) for one, other in steps if own[one] > TIE * own[other]]
    told = "; ".join(f"from {one} to {other}, {own[one]:.2g} to {own[other]:.2g}" for one, other in falls)
    ends = f"The error of Ex-Proposal rises from the first to the last setting of {', '.join(rising) or 'no panel'}"
    held = {f"from {one} to {other}": (one, other) not in falls for one, other in steps}
    held |= {f"panel ({letter})": f"({letter})" in rising for letter in letters}
    statement = each("Ex-Proposal rises with l and d", held)
    if not falls:
        return statement, f"{ends}, and falls in no step of l or d by more than a factor of {TIE}."
    return statement, (
        f"{ends}, but not with every step of l or d: by more than a factor of {TIE} it falls {told}. How much its bias "
        "weighs depends on how near the matrix of Eq. 2 is to a singular one, which l and d alone do not tell."
    )


def _refusals(data: pa.Table) -> str:
    """Where balanced selection does not exist, and why."""
    notes = {
        (row["l"], row["d"]): row["note"].partition(": ")[2]
        for row in data.to_pylist()
        if row["combination"] == "Balanced, MLE" and row[BY_CELL] is None
    }
    return "".join(f"Balanced selection refuses {each}: {note} " for each, note in notes.items())


def _number(ratio: float) -> str:
    """Write a ratio so that a small one keeps its decimals."""
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:,.0f}"  # noqa: PLR2004 - three digits


def _ratios(errors: _Errors, name: str) -> dict[tuple[int, int], float]:
    ours = {(l, d): error for (l, d, own), error in errors.items() if own == "Balanced, MLE"}
    return {at: errors[(*at, name)] / error for at, error in ours.items() if (*at, name) in errors}


def _gain(errors: _Errors, name: str) -> str:
    ratios = _ratios(errors, name)
    least, most = min(ratios, key=lambda each: ratios[each]), max(ratios, key=lambda each: ratios[each])
    return (
        f"Balanced selection with maximum likelihood divides the error of {name} by {_number(ratios[least])} (at "
        f"{least}) to {_number(ratios[most])} (at {most}) in the {len(ratios)} settings that both have."
    )


def _decided(
    errors: _Errors, statements: Sequence[Statement], words: str, *, stand_in: bool = False
) -> tuple[Outcome, str, str, str]:
    ratios = [ratio for name in ("N-Proposal", "Ex-Proposal") for ratio in _ratios(errors, name).values()]
    never_worse, typical = min(ratios) > 1 / TIE, float(np.exp(np.mean(np.log(ratios))))
    outcome, why = decide(statements, better=never_worse and typical > TIE, stand_in=stand_in)
    figure = f"paper's error / ours {_number(min(ratios))} to {_number(max(ratios))}, {_number(typical)} typically"
    return outcome, words, figure, why


def _all(exceptions: Sequence[tuple[int, int]], n: int, what: str) -> str:
    if not exceptions:
        return f"{what} in all {n} settings"
    listed = ", ".join(map(str, exceptions))
    return f"{what} in {n - len(exceptions)} of {n} settings, not at {listed}"

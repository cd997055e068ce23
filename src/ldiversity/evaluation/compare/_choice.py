"""Which runs no other beats, and which of them to publish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Final

from ldiversity.base.numbers import counted, number, percent, percent_at_most, points
from ldiversity.evaluation.attacks import CERTAIN
from ldiversity.evaluation.compare._run import ComparedAttack, ComparedRun

__all__ = ["Choice", "choose", "eligible", "flaws", "pareto_set"]

_AS_MUCH: Final = 0.95
"""A release that gives away this share of what the raw table gives away counts as giving away as much."""

_COARSE: Final = 0.5
"""A greater loss of detail is mentioned beside the error, which is about queries only."""

_NOTHING_ANSWERED: Final = 1.0
"""The error of answering every query with 0."""


@dataclass(frozen=True)
class Choice:
    """The run to publish, the reason, and what speaks against it.

    Attributes
    ----------
    run
        The run; None when there is none to recommend.
    sentence
        The recommendation with its reason.
    cautions
        What the holder must know before following it.
    """

    run: ComparedRun | None
    sentence: str
    cautions: tuple[str, ...] = ()


def pareto_set(runs: Sequence[ComparedRun]) -> tuple[ComparedRun, ...]:
    """The runs that no other run beats: none has less risk and no more error, or less error and no more risk.

    Examples
    --------
    >>> def run(label, success, error):
    ...     attack = ComparedAttack("a", "x", success, baseline=0.0)
    ...     return ComparedRun(label, label, {}, attacks=(attack,), relative_error=error)
    >>> [one.label for one in pareto_set([run("a", 0.5, 0.1), run("b", 0.2, 0.3), run("c", 0.6, 0.2)])]
    ['b', 'a']
    """
    measured = sorted((run for run in runs if run.measured), key=_place)
    kept: list[ComparedRun] = []
    for run in measured:
        if not kept or _place(run)[1] < _place(kept[-1])[1] or _place(run) == _place(kept[-1]):
            kept.append(run)
    return tuple(kept)


def flaws(run: ComparedRun) -> tuple[str, ...]:
    """Say what makes a run unsound: a promise that is empty or that an attack beats, or values that are certain."""
    said = []
    for name in run.broken:
        broken = [one for one in run.attacks if one.attack == name and one.broken]  # of any attribute
        said.append(_beaten(max(broken, key=lambda one: one.success)))
    surest = run.surest
    if surest is not None and surest.gives_away:
        said.append(
            f"It gives away values for certain: the attack {surest.attack!r} is sure (by {percent(CERTAIN)} or more) "
            f"of the value of {percent(surest.certain)} of the records that were attacked, and right about "
            f"{percent(surest.certain_success)} of those."
        )
    elif run.all_alike:
        said.append("It gives away values for certain: in some classes all records have the same value.")
    if run.promised is not None and run.promised >= 1:
        said.append("It promises nothing about sensitive values: one of them may be certain.")
    return tuple(said)


def _beaten(attack: ComparedAttack) -> str:
    """How an attack beats the promise: for all people, or for those whose value it is sure of."""
    start = f"The attack {attack.attack!r} beats the promise: it is"
    about = f"right about {attack.attribute!r} for"
    most = f"but the promise is at most {percent_at_most(attack.claim)}."
    if attack.claim is None or attack.success > attack.claim or attack.certain_success is None:
        return f"{start} {about} {percent(attack.success)} of the records, {most}"
    return (
        f"{start} sure of {percent(attack.certain)} of the records, and {about} "
        f"{percent(attack.certain_success)} of those, {most}"
    )


def eligible(runs: Sequence[ComparedRun], unprotected: Mapping[str, float] | None = None) -> tuple[ComparedRun, ...]:
    """The runs to choose from: the sound runs worth publishing; else those worth publishing; else all measured ones.

    `unprotected` says what the best attacker gains over guessing from the raw table, by attribute.
    """
    measured = tuple(run for run in runs if run.measured)
    worth = tuple(run for run in measured if not _faults(run, unprotected or {}))
    return tuple(run for run in worth if not flaws(run)) or worth or measured


def choose(
    runs: Sequence[ComparedRun],
    risk: float | None = None,
    *,
    unprotected: Mapping[str, float] | None = None,
    uninformed: float = 1.0,
) -> Choice:
    """Recommend one run that is worth publishing; an unsound run only when there is no other.

    Parameters
    ----------
    runs
        All runs.
    risk
        The greatest acceptable gain over guessing, at the upper end of its interval: then the run with the least error
        within it. When None, the run of the Pareto set nearest to no risk and no error, with risk divided by what
        `unprotected` gains, and error by the greatest error of the set.
    unprotected
        What the best attacker gains over guessing from the raw table, by attribute.
    uninformed
        The error of someone who knows only how frequent the values of each column are. A run that is no better gets a
        caution.
    """
    gains = unprotected or {}
    pool = eligible(runs, gains)
    if not pool:
        failed = sum(run.failed for run in runs)
        return Choice(
            None, f"No run can be recommended: {failed} of {counted(len(runs), 'run')} failed, and none was measured."
        )
    if _faults(pool[0], gains):
        return Choice(None, _not_worth(pool, gains))
    kind = _kind(runs, pool, gains)
    if risk is None:
        chosen, reason = _nearest(pool, max(gains.values(), default=0.0), kind)
    else:
        within = [run for run in pool if (run.risk_high or 0.0) <= risk]
        if not within:
            least = min(run.risk_high or 0.0 for run in pool)
            return Choice(
                None,
                f"No run can be recommended: the least risk of the {kind} is {_points(least)} beyond guessing at the "
                f"upper end of its interval, above the limit of {_points(risk)}.",
            )
        chosen = min(within, key=lambda run: _place(run)[::-1])
        reason = f"it has the least error of the {kind} whose best attacker gains at most {_points(risk)} over guessing"
        pool = tuple(within)
    first, chosen = chosen, _meant_for_use(chosen, pool)
    also = f" {first.label} came first: {reason}." if chosen is not first else ""
    if also:
        reason = f"within chance it is as good as {first.label}, which is kept for comparison, not for publishing"
    cautions = _cautions(chosen)
    if chosen.judged_by == "association" and _place(chosen)[1] >= 1:
        cautions += ("Within small cells it says no more than how frequent values are overall.",)
    if (chosen.relative_error or 0.0) >= uninformed:
        useless = (
            "Its answers are no better than those of someone who knows only how frequent the values of each column"
        )
        cautions += (f"{useless} are; these are off by {percent(uninformed)}.",)
    return Choice(chosen, f"Publish {chosen.label}: {reason}; {_figures(chosen)}.{also}", cautions)


def _meant_for_use(chosen: ComparedRun, pool: Sequence[ComparedRun]) -> ComparedRun:
    """The best run of a method meant for publishing that cannot be told apart from `chosen`; else `chosen` itself."""
    if not chosen.for_comparison:
        return chosen
    alike = [run for run in pool if not run.for_comparison and run.like(chosen)]
    here = _place(chosen)
    return min(alike, key=lambda run: (max(0.0, _place(run)[0] - here[0]), _place(run)[1]), default=chosen)


def _place(run: ComparedRun) -> tuple[float, float]:
    """Risk and error of a measured run."""
    return run.risk or 0.0, run.error or 0.0


def _kind(runs: Sequence[ComparedRun], pool: Sequence[ComparedRun], unprotected: Mapping[str, float]) -> str:
    """The name of the runs to choose from, where other runs were measured too."""
    others = [run for run in runs if run.measured and run not in pool]
    worth = " worth publishing" if any(_faults(run, unprotected) for run in others) else ""
    sound = "sound " if any(flaws(run) for run in others) and not flaws(pool[0]) else ""
    return f"{sound}runs{worth}"


def _nearest(pool: Sequence[ComparedRun], most_risk: float, kind: str) -> tuple[ComparedRun, str]:
    """The run of the Pareto set that is nearest to no risk and no error (the safest of equals), and the reason."""
    front = pareto_set(pool)
    scale, greatest = most_risk if most_risk > 0 else 1.0, max(_place(run)[1] for run in front) or 1.0
    chosen = min(front, key=lambda run: (hypot(_place(run)[0] / scale, _place(run)[1] / greatest), *_place(run)))
    if len(pool) == 1:
        return chosen, f"it is the only {kind.replace('runs', 'run')}{' that was measured' if kind == 'runs' else ''}"
    if len(front) == 1:
        return chosen, f"no other of the {kind} has less risk or less error"
    measured_by = f"{_points(scale)}, what the raw table gives away," if most_risk > 0 else _points(scale)
    return chosen, (
        f"of the {len(front)} {kind} that no other{'' if kind == 'runs' else ' such run'} beats in both risk and "
        f"error, it is the best compromise: a risk of {measured_by} counts as much as an error of {percent(greatest)}, "
        "the greatest of these runs"
    )


def _faults(run: ComparedRun, unprotected: Mapping[str, float]) -> list[str]:
    """Why a run is not worth publishing: its error, its risk, or both."""
    found = []
    if (run.relative_error or 0.0) >= _NOTHING_ANSWERED:
        found.append("error")
    gains = ((one.gain, unprotected.get(one.attribute, 0.0)) for one in run.attacks)
    if any(gain >= _AS_MUCH * most > 0 for gain, most in gains):
        found.append("risk")
    return found


def _not_worth(runs: Sequence[ComparedRun], unprotected: Mapping[str, float]) -> str:
    faults = [_faults(run, unprotected) for run in runs]
    useless, open_ = sum("error" in found for found in faults), sum("risk" in found for found in faults)
    why = []
    if useless:
        why.append(
            f"{_count(useless, 'is', 'are')} off by 100 % or more for half of the queries, as an answer of 0 would be"
        )
    if open_:
        why.append(f"{_count(open_, 'tells', 'tell')} attackers about as much as the raw table")
    change = (
        "First try fewer quasi-identifiers, or a smaller l"
        if useless >= open_
        else "First try a greater l, or fewer quasi-identifiers"
    )
    return f"No run is worth publishing: of {len(runs)}, {', and '.join(why)}. {change}."


def _count(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def _figures(run: ComparedRun) -> str:
    best = run.best_attack
    if best is None or run.error is None:
        return ""
    about = f"right about {best.attribute!r} for"
    attacker = (
        f"its best attacker ({best.attack}) is {about} {percent(best.success)} where guessing is for "
        f"{percent(best.baseline)}"
        if run.risk
        else f"its best attacker ({best.attack}) does no better than guessing, which is {about} "
        f"{percent(best.baseline)}"
    )
    if run.judged_by == "association" and run.conditional is not None:
        return (
            f"{attacker}, and distributions within small cells are off by {percent(run.conditional.release)} where "
            f"frequencies alone are by {percent(run.conditional.baseline)}. That decides here, because frequencies "
            "alone answer most queries nearly as well as the table"
        )
    return f"{attacker}, and half of the queries are off by at most {percent_at_most(run.error)}"


def _cautions(run: ComparedRun) -> tuple[str, ...]:
    said = list(flaws(run))
    said += [
        f"The attack {one.attack!r} learns from the release how values depend on quasi-identifiers, and is right about "
        f"{one.attribute!r} for {percent(one.success)} of the records, more than the {percent_at_most(run.promised)} "
        "that are promised against other attackers."
        for one in run.outlearned
    ]
    said += [
        f"The attack {one.attack!r} is sure of {percent(one.certain)} of the records, and right about "
        f"{percent(one.certain_success)} of those."
        for one in run.attacks
        if run.knows_more(one) and (one.certain_success or 0.0) > one.baseline
    ]
    if run.uniques:
        exact = "publishes quasi-identifiers as they are, and " if run.layout != "generalized" else ""
        said.append(
            f"It {exact}leaves {number(run.uniques)} of {number(run.records)} records unique in their quasi-identifiers"
            ": someone who knows these finds the record. Risk here is only about learning sensitive values."
        )
    if run.ncp is not None and run.ncp >= _COARSE:
        said.append(f"It loses {percent(run.ncp)} of the detail of quasi-identifiers.")
    if run.suppression:
        said.append(f"It leaves out {percent(run.suppression)} of the records.")
    return (*said, *run.notes)


def _points(share: float) -> str:
    return f"{points(share)} points"

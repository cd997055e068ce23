"""Which runs no other beats, and which of them to publish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

from ldiversity.comparison._run import ComparedRun

__all__ = ["Choice", "choose", "pareto_set"]


@dataclass(frozen=True)
class Choice:
    """The run to publish, why, and what speaks against it.

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
    ...     attack = {"attack": "a", "success": success, "baseline": 0.0, "broken": False}
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


def choose(runs: Sequence[ComparedRun], risk: float | None = None) -> Choice:
    """Recommend one run.

    Parameters
    ----------
    runs
        All runs.
    risk
        The greatest acceptable gain over guessing: then the run with the least error within it. When None, the run of
        the Pareto set nearest to the least risk and the least error of the set, both scaled to its range.
    """
    front = pareto_set(runs)
    if not front:
        failed = sum(run.failed for run in runs)
        return Choice(None, f"Nothing can be recommended: {failed} of {len(runs)} runs failed, and none was measured.")
    if risk is None:
        chosen = _nearest(front)
        reason = (
            f"of the {len(front)} runs that no other beats in both risk and error it is nearest to the best of both"
            if len(front) > 1
            else "no other run has less risk or less error"
        )
    else:
        within = [run for run in front if _place(run)[0] <= risk]
        if not within:
            least = _place(front[0])[0]
            return Choice(
                None,
                f"Nothing can be recommended: the least risk that was measured is {_points(least)} beyond guessing, "
                f"above the limit of {_points(risk)}.",
            )
        chosen = min(within, key=lambda run: _place(run)[1])
        reason = f"it has the least error of the runs whose best attacker gains at most {_points(risk)} over guessing"
    return Choice(chosen, f"Publish {chosen.label}: {reason}; {_figures(chosen)}.", _cautions(chosen))


def _place(run: ComparedRun) -> tuple[float, float]:
    """Risk and error of a measured run."""
    return run.risk or 0.0, run.error or 0.0


def _nearest(front: Sequence[ComparedRun]) -> ComparedRun:
    risks, errors = zip(*map(_place, front), strict=True)
    wide, high = max(risks) - min(risks) or 1.0, max(errors) - min(errors) or 1.0
    return min(
        front, key=lambda run: hypot((_place(run)[0] - min(risks)) / wide, (_place(run)[1] - min(errors)) / high)
    )


def _figures(run: ComparedRun) -> str:
    best = run.best_attack
    if best is None or run.error is None:
        return ""
    return (
        f"its best attacker ({best['attack']}) is right about {best['attribute']!r} for {_percent(best['success'])} "
        f"where guessing is for {_percent(best['baseline'])}, and half of the queries are off by less than "
        f"{_percent(run.error)}"
    )


def _cautions(run: ComparedRun) -> tuple[str, ...]:
    said = []
    for name in run.broken:
        worst = max((one for one in run.attacks if one["attack"] == name and one["broken"]), key=lambda a: a["success"])
        said.append(
            f"The attack {name!r} beats what {run.label} promises: it is right for {_percent(worst['success'])} of the "
            f"people, and {_percent(worst['claim'])} is promised at most."
        )
    if run.suppression:
        said.append(f"It leaves out {_percent(run.suppression)} of the records.")
    return (*said, *run.notes)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.3g} %"


def _points(share: float) -> str:
    return f"{100 * share:.3g} points"

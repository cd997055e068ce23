"""Paper 002: what the measurements say about each of its statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import pyarrow as pa

from papers.paper_002.runs import JOINT, MAXIMAL, PUBLISHED, UNMERGED
from papers.verdicts import Verdict, decide, each, single

__all__ = ["judge_additional", "judge_hidden", "judge_time"]

_SAME: Final = 5e-4
"""Shares that differ by less are equal in three digits."""

_FAR: Final = 10.0
"""A loss this many times another's needs a reason."""

Case = tuple[int, int]


def judge_hidden(data: pa.Table) -> Verdict:
    """Fig. 1(a) and 2(a): L-LMSU hides less than MBF, and merging is a reason."""
    mean, missing = _table(data, "hide loss"), _table(data, "missing")
    fewer, more = (
        _cases(data, compare) for compare in (_less(mean, PUBLISHED, MAXIMAL), _less(mean, MAXIMAL, PUBLISHED))
    )
    truly_fewer = _cases(data, _less(missing, PUBLISHED, MAXIMAL))
    truly_more = _cases(data, _less(missing, MAXIMAL, PUBLISHED))
    worse = _cases(data, _less(mean, UNMERGED, PUBLISHED))
    better = _cases(data, _less(mean, PUBLISHED, UNMERGED))
    ours_fewer = _cases(data, _less(missing, JOINT, MAXIMAL))
    ours_more = _cases(data, _less(missing, MAXIMAL, JOINT))
    cases = _cases(data, lambda _: True)
    statements = [
        each("hides less than MBF, or as little", {_case(case): case not in more for case in cases}),
        single("hides less somewhere", holds=bool(fewer)),
        each("so it is for records missing anywhere", {_case(case): case not in truly_more for case in cases}),
        each("merging hides no more", {_case(case): case not in worse for case in cases}),
    ]
    words = (
        "As the paper counts, the mean over columns, L-LMSU as published hides less than MBF at "
        f"{_named(data, fewer)} and more at {_named(data, more)}. The mean hides what is lost: of records missing "
        f"from at least one column it has fewer at {_named(data, truly_fewer)} and more at "
        f"{_named(data, truly_more)}. Merging, named as a reason for the gain, hides more than leaving it out at "
        f"{_named(data, worse)} and less at {_named(data, better)}: classes of different levels are classes of "
        "different values, so whatever merging allows is allowed without it. Our joint classes hide fewer records "
        f"than MBF at {_named(data, ours_fewer)} and more at {_named(data, ours_more)}."
    )
    ours = max(cases, key=lambda case: case[::-1])
    figure = (
        f"hidden, {_case(ours)}: L-LMSU {mean[PUBLISHED, *ours]:.3f}, without merging {mean[UNMERGED, *ours]:.3f}, MBF "
        f"{mean[MAXIMAL, *ours]:.3f}"
    )
    outcome, why = decide(statements, better=bool(ours_fewer) and not ours_more)
    return Verdict(outcome, words, figure, why)


def _case(case: Case) -> str:
    return f"{case[0]} columns, L = {case[1]}"


def judge_additional(data: pa.Table) -> Verdict:
    """Fig. 1(b) and 2(b): MBF's additional loss is below L-LMSU's."""
    loss = _table(data, "additional loss")
    cases = list(dict.fromkeys((number, level) for _, number, level in loss))
    below = [case for case in cases if loss[MAXIMAL, *case] < loss[PUBLISHED, *case]]
    largest = {name: max(loss[name, *case] for case in cases) for name in (PUBLISHED, UNMERGED, JOINT, MAXIMAL)}
    left, joined = _table(data, "left"), _table(data, "joined")
    told = (
        f"MBF's additional loss is below that of L-LMSU as published in {len(below)} of {len(cases)} cases. The "
        f"largest is {largest[PUBLISHED]:.5f} for L-LMSU as published, {largest[MAXIMAL]:.5f} for MBF and "
        f"{largest[JOINT]:.5f} for our joint classes."
    )
    ours = _ours_joined(data, largest[JOINT] / largest[MAXIMAL] if largest[MAXIMAL] else float("inf"))
    outcome, why = decide([each("MBF's additional loss is below", {_case(case): case in below for case in cases})])
    figure = f"largest: L-LMSU {largest[PUBLISHED]:.5f}, MBF {largest[MAXIMAL]:.5f}"
    if len(below) == len(cases):
        return Verdict(outcome, f"{told} The order is the paper's.{ours}", figure, why)
    of_all = {
        name: [sum(own[name, *case] for case in cases) for own in (joined, left)] for name in (PUBLISHED, MAXIMAL)
    }
    counts = " and ".join(f"{own[0]:,} of {own[1]:,} with {name}" for name, own in of_all.items())
    words = (
        f"{told} A record that is left when no more classes of L can be formed joins a class only where its level is "
        f"new, as in the paper's example, and is hidden otherwise. In all cases together {counts} joined: what is "
        "left are mostly records of the most frequent values, and nearly every class holds these already. Letting "
        f"levels repeat would raise the additional loss, but then no bound on the share of a value holds.{ours}"
    )
    return Verdict(outcome, words, figure, why)


def _ours_joined(data: pa.Table, times: float) -> str:
    """Why the additional loss of joint classes is greater than MBF's, where it is by far."""
    if times < _FAR:
        return ""
    loss, left, joined = (_table(data, name) for name in ("additional loss", "left", "joined"))
    case = max(_cases(data, lambda _: True), key=lambda case: loss[JOINT, *case] - loss[MAXIMAL, *case])
    ours, theirs = ((joined[name, *case], left[name, *case] - joined[name, *case]) for name in (JOINT, MAXIMAL))
    fewer = "fewer" if ours[1] < theirs[1] else "NOT fewer"
    return (
        f" Ours takes records with frequent values last, so that some classes are formed without these values, and "
        f"records that are left can join them: with {case[0]} columns at L={case[1]} {ours[0]:,} join and {ours[1]:,} "
        f"are hidden, with MBF {theirs[0]:,} and {theirs[1]:,}. So its larger classes come with {fewer} hidden records."
    )


def judge_time(data: pa.Table) -> Verdict:
    """Fig. 1(c) and 2(c): L-LMSU is faster than MBF."""
    times = _table(data, "time")
    published = [value for (name, _, _), value in times.items() if name == PUBLISHED]
    ours = [value for (name, _, _), value in times.items() if name == JOINT]
    spent = _table(data, "milliseconds")
    spans = {
        name: [value for (own, _, _), value in spent.items() if own == name] for name in (PUBLISHED, MAXIMAL, JOINT)
    }
    listed = ", ".join(f"{name} {_plain(min(span))} to {_plain(max(span))}" for name, span in spans.items())
    words = (
        f"L-LMSU as published takes {min(published):.2f} to {max(published):.2f} of MBF's time. In milliseconds of "
        f"processor time, in one run and noisy: {listed}. It divides each column on its own, which breaks the claim of "
        f"several columns (see Definition 3 below). Our joint classes, which keep it, take {min(ours):.1f} to "
        f"{max(ours):.1f} times MBF's, because several divisions are compared and MBF's is one of them."
    )
    faster = {_case((number, level)): value < 1 for (name, number, level), value in times.items() if name == PUBLISHED}
    outcome, why = decide([each("faster than MBF", faster)])
    return Verdict(outcome, words, f"{min(published):.2f} to {max(published):.2f} of MBF's time", why)


def _plain(milliseconds: float) -> str:
    return f"{milliseconds:,.0f}" if milliseconds >= 10 else f"{milliseconds:.1f}"  # noqa: PLR2004 - two digits


def _table(data: pa.Table, name: str) -> dict[tuple[str, int, int], float]:
    return {(row["method"], row["columns"], row["L"]): row[name] for row in data.to_pylist()}


def _less(values: Mapping[tuple[str, int, int], float], one: str, other: str) -> Callable[[Case], bool]:
    return lambda case: values[one, *case] < values[other, *case] - _SAME


def _cases(data: pa.Table, true_of: Callable[[Case], bool]) -> list[Case]:
    cases = dict.fromkeys((row["columns"], row["L"]) for row in data.select(["columns", "L"]).to_pylist())
    return [case for case in cases if true_of(case)]


def _named(data: pa.Table, cases: list[Case]) -> str:
    """Name cases in words; the number of columns only where it varies."""
    if not cases:
        return "none"
    several = len(set(data["columns"].to_pylist())) > 1
    total = len(dict.fromkeys((row["columns"], row["L"]) for row in data.select(["columns", "L"]).to_pylist()))
    if len(cases) == total:
        return "every L" if not several else "every L and number of columns"
    if not several:
        return f"L={', '.join(str(level) for _, level in cases)}"
    levels = sorted({level for _, level in cases})
    return "; ".join(
        f"L={level} with {', '.join(str(number) for number, one in cases if one == level)} columns" for level in levels
    )

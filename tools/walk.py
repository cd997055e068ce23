"""Trace what a call walks through: every function of the package in order, and every change of room.

    python tools/walk.py            the hops of anonymize, estimate and audit, counted
    python tools/walk.py estimate   one walk, hop by hop

A hop is the first call of a function; a room is the first part of a module's name below the package. What is called
again and again (a check of an argument, a class that is made) counts once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import groupby
from types import FrameType
from typing import Any, Final

import ldiversity as ld
from ldiversity.datasets import patients

PACKAGE: Final = "ldiversity."
INNER: Final = ("<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<module>")


def walks() -> dict[str, Callable[[], Any]]:
    """The calls that are traced, each warmed up: imports and compiled loops are no part of a walk."""
    table = patients(200, seed=1)
    roles = {"quasi": ["age", "sex"], "sensitive": "disease", "drop": ["name"]}
    grouped = ld.anonymize(table, **roles, method=ld.Mondrian(l=2))
    hidden = ld.anonymize(table, **roles, method=ld.RandomizedAddition(l=2))
    calls: dict[str, Callable[[], Any]] = {
        "anonymize": lambda: ld.anonymize(table, **roles, method=ld.RandomizedAddition(l=2)),
        "estimate": lambda: ld.estimate(hidden, by="sex"),
        "audit": lambda: ld.audit(grouped),
    }
    for call in calls.values():
        call()
    return calls


def trace(call: Callable[[], Any]) -> list[str]:
    """The functions of the package that a call runs through, in the order of their first call."""
    seen: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_globals.get("__name__", "")
        function = frame.f_code.co_qualname
        made = "__create_fn__" in function or frame.f_code.co_name in INNER  # by dataclass, or no function of its own
        if event == "call" and name.startswith(PACKAGE) and not made:
            seen.setdefault(f"{name.removeprefix(PACKAGE)}.{function}")

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(seen)


def rooms_of(hops: list[str]) -> list[str]:
    """The rooms in the order in which they are entered; `base` and the like lie under every room and do not count."""
    rooms = (hop.partition(".")[0] for hop in hops)
    return [room for room, _ in groupby(room for room in rooms if room not in {"base", "errors", "schema"})]


if __name__ == "__main__":
    asked = sys.argv[1:]
    for name, call in walks().items():
        if asked and name not in asked:
            continue
        hops = trace(call)
        entered = rooms_of(hops)
        print(f"{name}: {len(hops)} functions, {len(set(entered))} rooms entered {len(entered)} times")
        if asked:
            print(*hops, sep="\n")

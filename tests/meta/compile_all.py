"""Print what is compiled, as JSON, when every method and estimator is used: each function and its signatures.

Attacks are left out: they have no kernels of their own, and would take most of the time.

Run with an empty ``NUMBA_CACHE_DIR``: what is on disk already is not compiled.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import defaultdict
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
from numba.core.event import Event, Listener, register

import ldiversity as ld
from ldiversity.catalog import CATALOG
from ldiversity.estimation import estimate

VALUES = [f"value {code}" for code in range(8)]
TREE = ld.Hierarchy.from_rows([(value, f"block {code % 4}") for code, value in enumerate(VALUES)])
GRAPH = ld.MatrixDistance(
    values=tuple(VALUES),
    distances=[[0 if i == j else 1 + ((i * j + i + j) % 3 > 0) for j in range(8)] for i in range(8)],
)
NEEDED: dict[str, Any] = {"d": 1, "distance": ld.TreeDistance(TREE), "e": 1, "tree": TREE}
LINE = {"d": 2, "distance": ld.OrderedDistance()}
BESIDES: dict[str, list[dict[str, Any]]] = {
    "randomized-addition": [{"l": 3}, {"l": 4}],
    "bsgi": [{"selection": "paper"}],
    "mondrian": [{"strict": False}],
    "semantic": [
        *({**LINE, "selection": selection, "l": l} for selection in ("balanced", "simple", "ring") for l in (2, 3, 4)),
        *({"selection": "simple"}, {"distance": GRAPH, "d": 2}, {"distance": GRAPH, "d": 2, "selection": "simple"}),
    ],
}
"""Options that lead to other kernels."""


class Compiled(Listener):
    """Collects what is compiled."""

    def __init__(self) -> None:
        self.found: defaultdict[str, set[str]] = defaultdict(set)

    def on_start(self, event: Event) -> None:
        function = event.data["dispatcher"].py_func
        self.found[f"{function.__module__}.{function.__qualname__}"].add(str(event.data["args"]))

    def on_end(self, event: Event) -> None:
        """Nothing more is learned."""


def people(n: int) -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "age": pa.array(rng.integers(20, 60, n), mask=rng.random(n) < 0.05),
            "zip": [f"{code:05d}" for code in rng.integers(10_000, 10_020, n)],
            "level": rng.integers(0, 16, n),
            "value": rng.choice(VALUES, n),
            "other": rng.choice(VALUES, n),
            "who": rng.integers(0, n // 2, n),
        }
    )


def use(table: pa.Table, method: Any, sensitive: str | list[str], person: str | None = None) -> None:
    """Publish, and do with the release what can be done."""
    drop = [
        name
        for name in ("level", "value", "other", "who")
        if name != person and name not in ([sensitive] if isinstance(sensitive, str) else sensitive)
    ]
    release = ld.anonymize(table, quasi=["age", "zip"], sensitive=sensitive, drop=drop, method=method, person=person)
    if isinstance(sensitive, list):
        return
    for estimator in ("linear", "mle", "auto") if isinstance(release, ld.SetRelease) else ("auto",):
        for by in ([], ["zip"], [ld.bins("age", width=10)]):
            estimate(release, by=by, estimator=estimator)
    ld.audit(release)


def main() -> None:
    warnings.simplefilter("ignore")
    compiled = Compiled()
    register("numba:compile", compiled)
    table = people(5001)
    for name, entry in CATALOG.items():
        module, _, cls = entry.home.partition(":")
        make = getattr(import_module(module), cls)
        needed = {option: value for option, value in NEEDED.items() if option in entry.options}
        for besides in [{}, *BESIDES.get(name, [])]:
            ordered = besides.get("distance") is LINE["distance"]
            use(table, make.of_level(2, **{**needed, **besides}), "level" if ordered else "value")
        use(table, make.of_level(2, **needed), "value", "who")
        if entry.family == "classes":
            with suppress(ld.UnsupportedError):  # methods of one sensitive column
                use(table, make.of_level(2, **needed), ["value", "other"])
    json.dump({function: sorted(signatures) for function, signatures in compiled.found.items()}, sys.stdout)


if __name__ == "__main__":
    main()

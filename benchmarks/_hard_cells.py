"""Made cells in which sets tell little: distant values in sets of two, large sets of few values.

There intervals are mostly those of `linear`, so only too little coverage is a fault. Standard errors are those of the
likelihood.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
from _measure import Result

import ldiversity as ld

RARE: Final = 0.02
LEAST, LEAST_OF_A_VALUE = 0.93, 0.90
HARD_TIMES: Final = 1_000


def falling(n_values: int, records: int) -> list[int]:
    """Counts that fall with the square of the place."""
    shares = 1 / np.arange(1, n_values + 1) ** 2
    return [int(each) for each in records * shares / shares.sum()]


HARD: Final[dict[tuple[int, int], list[int]]] = {
    (2, 6): [137, 466, 348, 201, 110, 60, 32, 17, 9, 5, 3, 2, 1, 0],
    (4, 3): falling(16, 352),
    (3, 4): falling(14, 308),
    (15, 0): falling(20, 440),
    (8, 0): falling(10, 220),
    (5, 0): [31, 31, 0, 0, 0, 0],
}
"""True counts by (l, d), well above ten records per value; d = 0 is randomized addition."""


def hard_cases() -> list[Result]:
    """Coverage by class and by value, and stated errors, of each made cell."""
    return [result for (l, d), truth in HARD.items() for result in _hard(l, d, np.array(truth))]


def _hard(l: int, d: int, truth: np.ndarray) -> list[Result]:
    method = ld.SemanticDiversity(l=l, d=d, distance=ld.OrderedDistance()) if d else ld.RandomizedAddition(l=l)
    values = np.arange(len(truth))
    table = {
        "draw": np.repeat(np.arange(HARD_TIMES), truth.sum()),
        "v": np.tile(np.repeat(values, truth), HARD_TIMES),
    }
    release = ld.anonymize(
        pa.table(table),
        quasi="draw",
        sensitive=ld.Sensitive("v", domain=tuple(map(int, values))),
        method=method,
        insecure_seed=0,
    )
    found = ld.estimate(release, by="draw")
    held = (found.low <= truth) & (truth <= found.high)
    share = truth / truth.sum()
    classes = {"zero": share == 0, "rare": (share > 0) & (share < RARE), "common": share >= RARE}
    by_class = {each: float(held[:, chosen].mean()) for each, chosen in classes.items() if chosen.any()}
    name = f"made, l={l}, {f'd={d}' if d else 'uniform'}, {len(truth)} values, {truth.sum():,} records"
    error = float(np.sqrt((found.std_error**2).mean() / ((found.count - truth) ** 2).mean()))
    detail = f"{', '.join(f'{each} {one:.3f}' for each, one in by_class.items())}; {HARD_TIMES:,} releases"
    return [
        Result(f"{name}: least coverage of a class", min(by_class.values()), LEAST, "", detail, at_least=True),
        Result(
            f"{name}: least coverage of a value", float(held.mean(axis=0).min()), LEAST_OF_A_VALUE, "", at_least=True
        ),
        Result(f"{name}: stated / actual error", error, 0.85, "x", at_least=True),
        Result(f"{name}: stated / actual error", error, 1.2, "x"),
    ]

"""How often intervals of derived figures hold: differences, ratios, means, and shares within a hidden value."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from _measure import Result

import ldiversity as ld
from ldiversity.mechanisms import UniformSelection
from ldiversity.release import SetRelease
from ldiversity.schema import Attribute, Role, Schema

TIMES, N, F = 1_000, 400, 8
SHARES = np.array([[30, 20, 15, 10, 10, 8, 5, 2], [20, 25, 15, 15, 10, 5, 5, 5]]) / 100
_ROUNDING = 1e-9
Figure = Callable[[ld.Estimate, int, bool], ld.Quantity]
FIGURES: dict[str, tuple[Figure, float]] = {
    "difference of shares": (lambda e, d, p: e.difference([0, 1], between=((d, 0), (d, 1)), population=p), 0.05),
    "ratio of rare shares": (lambda e, d, p: e.ratio(7, between=((d, 0), (d, 1)), population=p), 0.4),
    "mean": (lambda e, d, p: e.mean((d, 0), population=p), float(SHARES[0] @ np.arange(F))),
}


def publish(columns: dict[str, np.ndarray], hidden: dict[str, tuple[np.ndarray, int]], seed: int) -> ld.Release:
    """A release of codes, each attribute with its number of values, and l = 3 of 8 or 2 of fewer."""
    rng, schema, sets, mechanisms = np.random.default_rng(seed), [], {}, {}
    for name, (codes, size) in hidden.items():
        mechanisms[name] = UniformSelection(n_values=size, l=3 if size == F else 2)
        words = rng.integers(0, 2**64, (len(codes), 30), dtype=np.uint64)
        sets[name] = np.sort(mechanisms[name].sample(codes.astype(np.int32), words)[0], axis=1)
        schema.append(Attribute(name, Role.SENSITIVE, "int64", ld.Domain(tuple(range(size)), ordered=True)))
    shown = (Attribute(name, Role.QUASI, "int64") for name in columns)
    return SetRelease.in_memory(
        schema=Schema((*shown, *schema)), columns=pa.table(columns), sets=sets, mechanisms=mechanisms
    )


def derived_results() -> Iterator[Result]:
    """Coverage over 1,000 publications of one table, and over 1,000 samples of a population."""
    rng = np.random.default_rng(51)
    fixed = np.stack([np.repeat(np.arange(F), np.rint(N * shares).astype(int)) for shares in SHARES])
    tables = {
        "table": np.broadcast_to(fixed, (TIMES, 2, N)),
        "population": np.stack([rng.choice(F, (TIMES, N), p=shares) for shares in SHARES], axis=1),
    }
    columns = {"draw": np.repeat(np.arange(TIMES), 2 * N), "x": np.tile(np.repeat([0, 1], N), TIMES)}
    for about, values in tables.items():
        release = publish(columns, {"s": (values.reshape(-1), F)}, 52)
        for estimator in ("linear", "mle"):
            found = ld.estimate(release, ["draw", "x"], estimator=estimator)
            for name, (ask, truth) in FIGURES.items():
                figures = [ask(found, draw, about == "population") for draw in range(TIMES)]
                held = float(np.mean([one.low <= truth <= one.high for one in figures]))
                # mle is closer to the truth than the errors of linear say, where these are all it has.
                title = f"{name} of the {about} by {estimator}: share of intervals that hold"
                yield Result(title, held, 0.93, "", at_least=True)


def conditional_results() -> Iterator[Result]:
    """Coverage of counts and shares within a hidden value, over 1,000 publications of one table."""
    for what, (s, t, size) in _hidden_pairs().items():
        hidden = {"s": (np.tile(s, TIMES), size), "t": (np.tile(t, TIMES), 3)}
        release = publish({"draw": np.repeat(np.arange(TIMES), len(s))}, hidden, 64)
        counts = np.stack([np.bincount(s[t == one], minlength=size) for one in range(3)])
        truths = {"counts": counts, "shares": counts / counts.sum(axis=1, keepdims=True)}
        for estimator in ("linear", "auto"):
            found = ld.estimate(release, ["draw", "t"], sensitive="s", estimator=estimator)
            ends = {"counts": (found.low, found.high), "shares": (found.share_low, found.share_high)}
            places = found.labels["draw"].to_numpy(), found.labels["t"].to_numpy()
            for name, truth in truths.items():
                low, high = ends[name]
                inside = (low <= truth[places[1]] + _ROUNDING) & (truth[places[1]] - _ROUNDING <= high)
                held = np.stack([inside[places[1] == one].mean(axis=0) for one in range(3)])
                detail = f"overall {held.mean():.3f}; single ones from {held.min():.3f} to {held.max():.3f}"
                title = f"{name} within a hidden value by {estimator}, {what}"
                if name == "shares":
                    yield Result(
                        f"{title}: distance of coverage from .95", abs(float(held.mean()) - 0.95), 0.02, "", detail
                    )
                else:  # with half a record more on both sides, those of few records hold more often
                    yield Result(f"{title}: coverage", float(held.mean()), 0.93, "", detail, at_least=True)


def _hidden_pairs() -> dict[str, tuple[np.ndarray, np.ndarray, int]]:
    """Two attributes that go together: in one table no value is rare, in the other one most records have the same."""
    rng = np.random.default_rng(63)
    t = rng.choice(3, 900, p=[0.5, 0.3, 0.2])
    even = np.where(rng.random(900) < 0.4, t, rng.integers(0, 4, 900)), t, 4
    t = rng.choice(3, 1_500, p=[0.8, 0.15, 0.05])
    others = rng.choice(F, 1_500, p=[0.6, 0.15, 0.1, 0.06, 0.04, 0.03, 0.015, 0.005])
    return {"even": even, "skewed": (np.where(rng.random(1_500) < 0.5, t, others), t, F)}

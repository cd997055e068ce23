"""How often 95 % intervals hold that users make of completed tables, by cells and by a formula, by Rubin's rules.

These rules promise that intervals hold at least as often as they say (Rubin 1996, "confidence validity"), and with few
records they hold more often. So there is a lower limit only.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from _measure import Result

import ldiversity as ld
from ldiversity.mechanisms import UniformSelection
from ldiversity.release import SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

RELEASES, TIMES, TABLES = 1_000, 500, 20
BY_CELLS = ((24, 2, 500), (24, 3, 1_000), (24, 3, 300), (6, 2, 600))
BY_FORMULA = ((6, 2, 1_000), (24, 3, 2_000))
LEVELS = np.arange(-2, 3)
LEAST = 0.93


def impute_results() -> Iterator[Result]:
    """Coverage of shares, means, differences and slopes: over 1,000 releases by cells, and over 500 by a formula."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of small cells
        for case in BY_CELLS:
            yield from _by_cells(*case)
        for case in BY_FORMULA:
            yield from _by_formula(*case)


def _covered(name: str, held: np.ndarray, detail: str = "") -> Iterator[Result]:
    """The share of intervals that hold, of one row for each table; its noise is that between tables."""
    each = held.reshape(len(held), -1).mean(axis=1)
    noise = f"+- {each.std(ddof=1) / np.sqrt(len(each)):.3f}{detail}"
    yield Result(f"{name}: intervals hold", float(each.mean()), LEAST, "", noise, at_least=True)


def _by_cells(n_values: int, l: int, records: int) -> Iterator[Result]:
    rng = np.random.default_rng(71)
    shares = 1 / np.arange(1, n_values + 1)
    shares /= shares.sum()
    draw = np.repeat(np.arange(RELEASES), records)  # a cell stands for a release: cells are drawn by themselves
    release = _publish(rng, draw, rng.choice(n_values, len(draw), p=shares), UniformSelection(n_values, l))
    every = np.array(
        [
            np.bincount(draw * n_values + np.asarray(table["v"]), minlength=RELEASES * n_values) / records
            for table in release.impute(TABLES, by="x", seed=0)
        ]
    )
    found = ld.combine(every, every * (1 - every) / records, shares=True)
    held = _held(found, np.tile(shares, RELEASES)).reshape(RELEASES, n_values)
    plain = _held(ld.combine(every, every * (1 - every) / records), np.tile(shares, RELEASES)).reshape(
        RELEASES, n_values
    )
    name = f"impute, {n_values} values, l={l}, {records:,} records"
    detail = f"; single values {held.mean(axis=0).min():.3f} to {held.mean(axis=0).max():.3f}"
    yield from _covered(f"{name}: shares", held, f"{detail}; without shares=True {plain.mean():.3f}")
    small = (shares > 0.01) & (shares < 0.03)
    if small.any():
        detail = f"; without shares=True {plain[:, small].mean():.3f}"
        yield from _covered(f"{name}: shares of 1 to 3 %", held[:, small], detail)
    numbers, tables = np.arange(n_values), every.reshape(TABLES, RELEASES, n_values)
    means = tables @ numbers
    found = ld.combine(means, (tables @ numbers**2 - means**2) / records)
    yield from _covered(f"{name}: mean", _held(found, np.full(RELEASES, shares @ numbers)))


def _by_formula(n_values: int, l: int, records: int) -> Iterator[Result]:
    rng, numbers = np.random.default_rng(72), np.arange(n_values)
    logits = np.multiply.outer(LEVELS, np.random.default_rng(7).normal(0, 0.3, n_values)) - np.log1p(numbers)
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    shares, mean, above = chances.mean(axis=0), chances @ numbers, LEVELS > 0
    rare = int(np.abs(shares - 0.02).argmin())
    truth = {
        "the first share": shares[0],
        f"a share of {shares[rare]:.1%}": shares[rare],
        "difference of means": mean[above].mean() - mean[~above].mean(),
        "slope": (LEVELS * mean).sum() / (LEVELS**2).sum(),
    }
    x, held = np.repeat(LEVELS, records // len(LEVELS)), []
    for seed in range(TIMES):
        values = (chances[x + 2].cumsum(axis=1) < rng.random((len(x), 1))).sum(axis=1)
        release = _publish(rng, x, values, UniformSelection(n_values, l))
        tables = [np.asarray(table["v"]) for table in release.impute(TABLES, formula="v ~ x", seed=seed)]
        parts = [np.array([_ask(x, table, rare) for table in tables])[:, :, each] for each in (0, 1)]
        both = [
            ld.combine(*(part[:, rows] for part in parts), shares=rows.start == 0)
            for rows in (slice(0, 2), slice(2, 4))
        ]
        held.append(
            np.concatenate([_held(one, np.array([*truth.values()][2 * k : 2 * k + 2])) for k, one in enumerate(both)])
        )
    for place, what in enumerate(truth):
        name = f"impute by a formula, {n_values} values, l={l}, {records:,} records: {what}"
        yield from _covered(name, np.array(held)[:, place])


def _ask(x: np.ndarray, values: np.ndarray, rare: int) -> list[tuple[float, float]]:
    """What a user computes on one table: figures and their variances."""
    shares = [float((values == each).mean()) for each in (0, rare)]
    a, b = values[x > 0], values[x <= 0]
    design = np.column_stack([np.ones(len(x)), x])
    bread = np.linalg.inv(design.T @ design)
    line = bread @ design.T @ values
    rest = design * (values - design @ line)[:, None]
    return [
        *((share, share * (1 - share) / len(values)) for share in shares),
        (a.mean() - b.mean(), a.var() / len(a) + b.var() / len(b)),
        (line[1], (bread @ rest.T @ rest @ bread)[1, 1]),
    ]


def _held(found: ld.Combined, truth: np.ndarray) -> np.ndarray:
    return (found.low <= truth) & (truth <= found.high)


def _publish(rng: np.random.Generator, x: np.ndarray, values: np.ndarray, mechanism: UniformSelection) -> ld.Release:
    words = rng.integers(0, 2**64, (len(values), mechanism.words_per_record), dtype=np.uint64)
    sets, _ = mechanism.sample(values.astype(np.int32), words)
    domain = Domain(tuple(range(mechanism.n_values)))
    schema = Schema((Attribute("x", Role.QUASI, "int64"), Attribute("v", Role.SENSITIVE, "int64", domain)))
    return SetRelease.in_memory(
        schema=schema, columns=pa.table({"x": x}), sets={"v": sets}, mechanisms={"v": mechanism}
    )

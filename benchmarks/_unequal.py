"""The size of the test of association where cells are small, or weights depend on the values in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from _measure import Result
from scipy import stats

import ldiversity as ld
from ldiversity.distances import OrderedDistance
from ldiversity.mechanisms import BalancedSelection, SetMechanism, UniformSelection
from ldiversity.release import SetRelease
from ldiversity.schema import Attribute, Role, Schema

TIMES = 1_000


def line(f: int) -> ld.Domain:
    return ld.Domain(tuple(range(f)), ordered=True)


def publish(
    mechanism: SetMechanism, columns: dict[str, np.ndarray], values: np.ndarray, rng: np.random.Generator
) -> ld.Release:
    words = rng.integers(0, 2**64, (len(values), mechanism.words_per_record + 40), dtype=np.uint64)
    sets, _ = mechanism.sample(values.astype(np.int32), words)
    shown = (Attribute(name, Role.QUASI, str(pa.array(column).type)) for name, column in columns.items())
    hidden = Attribute("s", Role.SENSITIVE, "int64", line(mechanism.n_values))
    return SetRelease.in_memory(
        schema=Schema((*shown, hidden)),
        columns=pa.table(columns),
        sets={"s": np.sort(sets, axis=1)},
        mechanisms={"s": mechanism},
    )


Sample: TypeAlias = tuple[dict[str, np.ndarray], np.ndarray]


def all_alike(cells: np.ndarray, values: np.ndarray, _: np.random.Generator) -> Sample:
    return {"x": cells}, values


def in_strata(cells: np.ndarray, values: np.ndarray, rng: np.random.Generator) -> Sample:
    """Records of a stratum have one weight, up to six times that of another stratum."""
    strata = rng.integers(0, 4, len(cells))
    return {"x": cells, "w": np.array([1.0, 2.0, 3.0, 6.0])[strata], "h": strata}, values


def weighted(cells: np.ndarray, values: np.ndarray, rng: np.random.Generator) -> Sample:
    """Every record has a weight of its own."""
    return {"x": cells, "w": rng.uniform(1, 5, len(cells))}, values


def informative(cells: np.ndarray, values: np.ndarray, rng: np.random.Generator) -> Sample:
    """In the smallest cell, and there alone, common values are three times as likely to be in the sample."""
    return _taken(cells, values, np.where((cells == 0) & (values < 2), 0.6, 0.2), rng)


def very_informative(cells: np.ndarray, values: np.ndarray, rng: np.random.Generator) -> Sample:
    """The same, six times as likely: about seven records with rare values have most of the weight of the cell."""
    return _taken(cells, values, np.where((cells == 0) & (values < 2), 0.9, 0.15), rng)


def informative_everywhere(cells: np.ndarray, values: np.ndarray, rng: np.random.Generator) -> Sample:
    """Common values are three times as likely to be in the sample, in whatever cell."""
    return _taken(cells, values, np.where(values < 2, 0.6, 0.2), rng)


def _taken(cells: np.ndarray, values: np.ndarray, chance: np.ndarray, rng: np.random.Generator) -> Sample:
    taken = rng.random(len(cells)) < chance
    return {"x": cells[taken], "w": 1 / chance[taken]}, values[taken]


@dataclass(frozen=True)
class Unequal:
    """Tables without an association that have a small cell, or many of them, and how records are sampled."""

    name: str
    mechanism: SetMechanism
    n: int
    shares: tuple[float, ...]
    sample: Callable[[np.ndarray, np.ndarray, np.random.Generator], Sample]
    flat: bool = False  # all values are as frequent; otherwise like 1/rank
    times: int = TIMES

    def nulls(self) -> Iterator[ld.Association]:
        """What the test says about each."""
        f, rng = self.mechanism.n_values, np.random.default_rng(4)
        values = np.ones(f) if self.flat else 1 / np.arange(1, f + 1)
        for _ in range(self.times):
            cells = np.repeat(np.arange(len(self.shares)), np.rint(np.array(self.shares) * self.n).astype(int))
            columns, hidden = self.sample(cells, rng.choice(f, self.n, p=values / values.sum()), rng)
            release = publish(self.mechanism, columns, hidden, rng)
            given = {name: column for name, column in (("weights", "w"), ("strata", "h")) if column in columns}
            yield ld.association(release, "x", **given)


SEMANTIC = BalancedSelection.fit(line(20), OrderedDistance(), l=3, d=3)
TWO, FOUR = (0.03, 0.97), (0.03, 0.07, 0.3, 0.6)
UNEQUAL = (
    Unequal("F=20, l=3, d=3, 600 records, 2 cells", SEMANTIC, 600, TWO, all_alike),
    Unequal("F=5, l=2, 400 records, 2 cells", UniformSelection(n_values=5, l=2), 400, TWO, all_alike),
    Unequal("F=24, l=3, 1,500 records, 100 cells", UniformSelection(n_values=24, l=3), 1_500, (0.01,) * 100, all_alike),
    Unequal("F=20, l=3, d=3, 1,000 records, 4 cells, weights and strata", SEMANTIC, 1_000, FOUR, in_strata),
    Unequal("F=20, l=3, 1,500 records, 2 cells, weights", UniformSelection(n_values=20, l=3), 1_500, TWO, weighted),
    Unequal("F=5, l=2, 2,000 records, 2 cells, strata", UniformSelection(n_values=5, l=2), 2_000, TWO, in_strata),
    Unequal("F=20, l=3, d=3, about 900 records, 2 cells, informative weights", SEMANTIC, 4_400, TWO, informative),
    # Few records decide here, and sizes are nearer to the limits: 3,000 nulls tell them to .004.
    *(
        Unequal(f"F=5, l=2, {name}", UniformSelection(n_values=5, l=2), 4_400, TWO, sample, times=3_000)
        for name, sample in (
            ("about 900 records, 2 cells, informative weights", informative),
            ("about 700 records, 2 cells, very informative weights", very_informative),
            ("about 2,000 records, 2 cells, weights that are informative in both", informative_everywhere),
        )
    ),
    Unequal("F=24, l=5, 1,200 records, 40 cells", UniformSelection(n_values=24, l=5), 1_200, (0.025,) * 40, all_alike),
    Unequal(
        "F=20, l=2, 4,000 records, 200 cells", UniformSelection(n_values=20, l=2), 4_000, (0.005,) * 200, all_alike
    ),
    Unequal(
        "F=50, l=3, 3,000 records, 100 cells, flat",
        UniformSelection(n_values=50, l=3),
        3_000,
        (0.01,) * 100,
        all_alike,
        flat=True,
    ),
    Unequal(
        "F=30, l=3, d=4, 2,000 records, 100 cells, flat",
        BalancedSelection.fit(line(30), OrderedDistance(), l=3, d=4),
        2_000,
        (0.01,) * 100,
        all_alike,
        flat=True,
    ),
)


def unequal_results() -> Iterator[Result]:
    """The size where one cell is much smaller than the others, with and without weights."""
    for case in UNEQUAL:
        found = list(case.nulls())
        size = np.mean([one.pvalue < 0.05 for one in found])
        chi = np.mean([stats.chi2.sf(one.statistic, one.df) < 0.05 for one in found])
        detail = f"size {size:.3f}; by the chi-square distribution {chi:.3f}"
        name = f"association, smallest cell {min(case.shares):.0%}, {case.name}: distance of the size from .05"
        yield Result(name, abs(size - 0.05), 0.015, "", detail)

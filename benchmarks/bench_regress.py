"""Regression on published sets: how often intervals hold, what hiding costs, and how long a million rows take.

What hiding costs is the root mean square error of all slopes, over tables that each have coefficients of their own, as
a multiple of that by the true labels. Beside it is the least multiple that any estimator can have with many records: it
follows from the Fisher information of the sets and of the labels. It differs between coefficients.

Each line of coverage is measured on enough tables that its standard error is at most .004: the limits are .02 from .95.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import pyarrow as pa
from _measure import Result, cost_of

import ldiversity as ld
from ldiversity.mechanisms import BalancedSelection, SetMechanism, SimpleSelection, UniformSelection
from ldiversity.release import SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

RECORDS, VALUES = 3_000, 6
COMPARED = 100
"""Tables with fits by true labels and by naive weights, too, which take longer than those by sets."""
TIMES, SMALL_TIMES, SINGLE_TIMES = 600, 1_300, 2_900
"""Tables with 10, 3 and 1 intervals each, for coverage."""
WORDS = {"sets": "sets", "true labels": "truth", "naive weights 1/l": "naive"}
LINE = Domain(tuple(range(VALUES)), ordered=True, positions=tuple(map(float, range(VALUES))))
MECHANISMS: dict[str, SetMechanism] = {
    "randomized addition, l=2": UniformSelection(VALUES, 2),
    "randomized addition, l=3": UniformSelection(VALUES, 3),
    "semantic diversity, balanced": BalancedSelection.fit(LINE, ld.OrderedDistance(), l=2, d=2),
    "semantic diversity, simple (not flat)": SimpleSelection.fit(LINE, ld.OrderedDistance(), l=2, d=2),
}


def run() -> list[Result]:
    results = []
    for name, mechanism in MECHANISMS.items():
        beside = name == "randomized addition, l=2"
        found = replicate(mechanism, COMPARED if beside else 0)
        results += covered(f"logit, {name}", found.held)
        results.append(Result(f"logit, {name}: refused", found.refused, 0.05, "of runs"))
        if beside:
            results += costs(f"logit, {name}", found)
    uniform = MECHANISMS["randomized addition, l=2"]
    results += covered("logit, one value against others", replicate_one_value(uniform))
    results += covered("linear, randomized addition, l=2", replicate_linear(uniform))
    held, refused = replicate_skewed()
    results += covered("logit, skewed predictor, outcome of 5 %", held)
    results.append(Result("logit, skewed predictor, outcome of 5 %: refused", refused, 0.05, "of runs"))
    return [*results, *speed()]


def costs(name: str, found: Replicated) -> list[Result]:
    """What hiding costs, and how near that is to the least that is possible."""
    ratio, noise = found.of("sets", "truth")
    detail = ", ".join(f"{what} {found.error(key):.3f}" for what, key in WORDS.items())
    least, of_truth = (found.squares[f"least, {each}"].mean(axis=1) for each in ("sets", "truth"))
    each = np.sqrt(least / of_truth)
    possible = (
        f"the least possible is {found.of('least, sets', 'least, truth')[0]:.2f}; single tables {each.min():.2f} to "
        f"{each.max():.2f}, above 1.6 in {np.mean(each > 1.6):.0%}"
    )
    efficiency, of_it = found.of("sets", "least, sets")
    return [
        Result(f"{name}: error / that of true labels", ratio, 1.6, "x", f"+- {noise:.2f}; {detail}; {possible}"),
        Result(f"{name}: error / the least possible", efficiency, 1.1, "x", f"+- {of_it:.2f}"),
    ]


def covered(name: str, held: list[np.ndarray]) -> list[Result]:
    share = float(np.mean(held))
    by_table = np.array([np.mean(one) for one in held])
    detail = f"+- {by_table.std(ddof=1) / np.sqrt(len(by_table)):.4f}, {np.size(held)} intervals, {share:.4f}"
    return [
        Result(f"{name}: 95 % intervals hold", share, 0.93, "", detail, at_least=True),
        Result(f"{name}: 95 % intervals hold", share, 0.97, "", detail),
    ]


@dataclass(frozen=True)
class Replicated:
    """Squared errors of slopes by table, which intervals held, and how often there was no finite estimate."""

    squares: dict[str, np.ndarray]
    held: list[np.ndarray]
    refused: float

    def error(self, name: str) -> float:
        """The root mean square error of all slopes."""
        return float(np.sqrt(self.squares[name].mean()))

    def of(self, name: str, other: str) -> tuple[float, float]:
        """One error as a multiple of another one, and its standard error, by the delta method over tables."""
        above, below = (self.squares[each].mean(axis=1) for each in (name, other))
        ratio = self.error(name) / self.error(other)
        spread = np.std(above / above.mean() - below / below.mean(), ddof=1)
        return ratio, float(ratio * spread / 2 / np.sqrt(len(above)))


def replicate(mechanism: SetMechanism, compared: int) -> Replicated:
    """Intervals of all tables; the first ones, as many as `compared`, are fitted by labels and weights, too."""
    rng = np.random.default_rng(0)
    squares: dict[str, list[np.ndarray]] = {}
    held = []
    refused = 0
    for table in range(TIMES):
        true, predictors = coefficients(rng), rng.standard_normal((RECORDS, 2))
        values = draw(rng, predictors, true)
        sets = hide(rng, mechanism, values)
        try:
            fit = ld.regress(release_of(predictors, sets, mechanism), "value ~ a + b", reference=0)
        except ld.ParameterError:  # a rare value has no finite estimate
            refused += 1
            continue
        low_high = fit.conf_int()
        low, high = (low_high[end].to_numpy().reshape(VALUES - 1, 3)[:, 1:] for end in ("low", "high"))
        held.append((low <= true[1:, 1:]) & (true[1:, 1:] <= high))
        if table >= compared:
            continue
        members = np.zeros((RECORDS, VALUES))
        np.put_along_axis(members, sets.astype(np.int64), 1 / mechanism.l, axis=1)
        slopes = true[1:, 1:]
        found = {
            "sets": (fit.coefficients[:, 1:] - slopes) ** 2,
            "naive": (soft_logit(predictors, members)[:, 1:] - slopes) ** 2,
            "truth": (soft_logit(predictors, np.eye(VALUES)[values])[:, 1:] - slopes) ** 2,
        }
        if isinstance(mechanism, UniformSelection):
            found["least, sets"], found["least, truth"] = least_variances(predictors, true, mechanism.l)
        for name, one in found.items():
            squares.setdefault(name, []).append(one.ravel())
    return Replicated({name: np.array(each) for name, each in squares.items()}, held, refused / TIMES)


def least_variances(predictors: np.ndarray, true: np.ndarray, l: int) -> tuple[np.ndarray, np.ndarray]:
    """The least variances of slopes by uniform sets and by true labels: the inverses of their Fisher information.

    The score of a record is its predictors times the chances of each value given what is known, less those given the
    predictors alone. The information is its expected square, over all sets or over all labels.
    """
    design = np.column_stack([np.ones(len(predictors)), predictors])
    logits = design @ true.T
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    of_sets = np.array([np.isin(range(VALUES), each) for each in combinations(range(VALUES), l)]) / comb(
        VALUES - 1, l - 1
    )
    found = []
    for known in (of_sets, np.eye(VALUES)):
        information = np.zeros((VALUES - 1, 3, VALUES - 1, 3))
        for likelihood in known:
            joint = shares * likelihood
            chance = joint.sum(axis=1, keepdims=True)
            score = (joint / np.where(chance > 0, chance, 1.0) - shares)[:, 1:]
            information += np.einsum("i,ia,ij,ib,ik->ajbk", chance[:, 0], score, design, score, design, optimize=True)
        size = (VALUES - 1) * 3
        variances = np.diag(np.linalg.inv(information.reshape(size, size)))
        found.append(variances.reshape(VALUES - 1, 3)[:, 1:])
    return found[0], found[1]


def replicate_one_value(mechanism: SetMechanism) -> list[np.ndarray]:
    """One value by a logit of its own, the others in shares that depend on a predictor."""
    rng = np.random.default_rng(1)
    true = np.array([-1.0, 0.8, -0.5])
    held = []
    for _ in range(SMALL_TIMES):
        predictors = rng.standard_normal((RECORDS, 2))
        first = rng.random(RECORDS) < 1 / (1 + np.exp(-(true[0] + predictors @ true[1:])))
        others = 1 + draw(rng, predictors, coefficients(np.random.default_rng(5))[: VALUES - 1])
        sets = hide(rng, mechanism, np.where(first, 0, others).astype(np.int32))
        fit = ld.regress(release_of(predictors, sets, mechanism), "value == 0 ~ a + b")
        bounds = fit.conf_int()
        held.append((bounds["low"].to_numpy() <= true) & (true <= bounds["high"].to_numpy()))
    return held


def replicate_linear(mechanism: SetMechanism) -> list[np.ndarray]:
    rng = np.random.default_rng(2)
    held = []
    for _ in range(SMALL_TIMES):
        predictors = rng.uniform(-1, 1, (RECORDS, 2))
        mean = 2.5 + predictors @ [1.0, -0.5]
        values = np.clip(np.floor(mean + rng.random(RECORDS)), 0, VALUES - 1).astype(np.int32)  # right on average
        sets = hide(rng, mechanism, values)
        bounds = ld.regress(release_of(predictors, sets, mechanism), "value ~ a + b", model="linear").conf_int()
        true = np.array([2.5, 1.0, -0.5])
        held.append((bounds["low"].to_numpy() <= true) & (true <= bounds["high"].to_numpy()))
    return held


def replicate_skewed() -> tuple[list[np.ndarray], float]:
    """The slope of a rare outcome, where few records with a great predictor decide; and how often it was refused."""
    rng, n = np.random.default_rng(4), 2_000
    mechanism, true = UniformSelection(3, 2), np.array([[1.0, 0.0, 0.0], [0.0, 0.3, 0.0], [-1.0, -0.5, 0.0]])
    held = []
    for _ in range(SINGLE_TIMES):
        predictors = np.column_stack([np.exp(rng.standard_normal(n)), np.zeros(n)])
        sets = hide(rng, mechanism, draw(rng, predictors, true))
        try:
            fit = ld.regress(release_of(predictors, sets, mechanism, 3), "value ~ a", reference=0)
        except ld.ParameterError:  # by chance, its share is not told from zero
            continue
        held.append(np.array([fit.table[-1].low <= true[2, 1] <= fit.table[-1].high]))
    return held, 1 - len(held) / SINGLE_TIMES


def speed() -> list[Result]:
    rng = np.random.default_rng(3)
    n, f = 1_000_000, 24
    table = {
        "age": rng.integers(18, 90, n),
        "income": rng.lognormal(10, 0.5, n),
        "height": rng.normal(170, 10, n),
        "weight": rng.normal(70, 12, n),
        "sex": np.array(["f", "m"])[rng.integers(0, 2, n)],
        "region": np.array(["north", "east", "south", "west"])[rng.integers(0, 4, n)],
    }
    slopes = rng.normal(0, 0.3, (f, 3))
    slopes[:, 0] = -0.05 * np.arange(f)
    scaled = np.column_stack([(table["age"] - 50) / 20, (table["height"] - 170) / 10])
    sets = hide(rng, UniformSelection(f, 3), draw(rng, scaled, slopes))
    formula = "value ~ age + scale(income) + height + weight + C(sex) + C(region)"
    few = "value ~ C(age // 10) + C(sex) + C(region)"
    release = release_of(pa.table(table), sets, UniformSelection(f, 3), f)
    release.evidence("value")
    every = cost_of(lambda: ld.regress(release, formula), repeat=1)
    equal = cost_of(lambda: ld.regress(release, few), repeat=1)
    detail = f"{every.wall:.0f} s wall"
    return [
        Result("1M rows x 6 columns, F=24, l=3, all rows different", every.cpu, 120, "s CPU", detail),
        Result("1M rows in 64 groups, F=24, l=3", equal.cpu, 30, "s CPU", f"{equal.wall:.0f} s wall"),
    ]


def coefficients(rng: np.random.Generator) -> np.ndarray:
    """Shape (values, 3): those of the first value are zero."""
    steps = -0.3 * np.arange(VALUES)
    slopes = rng.normal(0, 0.6, (VALUES, 2))
    slopes[0] = 0
    return np.column_stack([steps, slopes])


def draw(rng: np.random.Generator, predictors: np.ndarray, true: np.ndarray) -> np.ndarray:
    logits = true[:, 0] + predictors @ true[:, 1:].T
    return (logits + rng.gumbel(size=logits.shape)).argmax(axis=1).astype(np.int32)


def hide(rng: np.random.Generator, mechanism: SetMechanism, values: np.ndarray) -> np.ndarray:
    shape = (len(values), mechanism.words_per_record + 64)
    return mechanism.sample(values, rng.integers(0, 2**64, shape, dtype=np.uint64))[0]


def release_of(
    predictors: np.ndarray | pa.Table, sets: np.ndarray, mechanism: SetMechanism, f: int = VALUES
) -> ld.Release:
    columns = (
        predictors if isinstance(predictors, pa.Table) else pa.table({"a": predictors[:, 0], "b": predictors[:, 1]})
    )
    numbers = tuple(range(f))
    domain = Domain(numbers, ordered=True, positions=tuple(map(float, numbers)))
    shown = [Attribute(field.name, Role.QUASI, str(field.type)) for field in columns.schema]
    schema = Schema((*shown, Attribute("value", Role.SENSITIVE, "int64", domain)))
    return SetRelease.in_memory(schema=schema, columns=columns, sets={"value": sets}, mechanisms={"value": mechanism})


def soft_logit(predictors: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The multinomial logit of records whose values are known, or are given shares, by Newton's method."""
    design = np.column_stack([np.ones(len(predictors)), predictors])
    n_values, width = shares.shape[1], design.shape[1]
    found = np.zeros((n_values - 1, width))
    for _ in range(25):
        logits = np.column_stack([np.zeros(len(design)), design @ found.T])
        expected = np.exp(logits - logits.max(axis=1, keepdims=True))
        expected = (expected / expected.sum(axis=1, keepdims=True))[:, 1:]
        gradient = (shares[:, 1:] - expected).T @ design
        weights = np.einsum("ia,ab->iab", expected, np.eye(n_values - 1)) - np.einsum("ia,ib->iab", expected, expected)
        information = np.einsum("iab,ij,ik->ajbk", weights, design, design, optimize=True)
        step = np.linalg.solve(information.reshape(found.size, found.size), gradient.ravel())
        found += step.reshape(found.shape)
        if np.abs(step).max() < 1e-8:
            break
    return found

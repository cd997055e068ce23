"""Regression on published sets: how often intervals hold, what hiding costs, and how long a million rows take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from _measure import Result, cost_of

import ldiversity as ld
from ldiversity.mechanisms import BalancedSelection, SetMechanism, SimpleSelection, UniformSelection
from ldiversity.release import SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

RECORDS, VALUES = 3_000, 6
TIMES = 100
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
        found = replicate(mechanism)
        results += covered(f"logit, {name}", found.held)
        results.append(Result(f"logit, {name}: refused", found.refused, 0.05, "of runs"))
        if name == "randomized addition, l=2":
            ratio = found.error / found.of_truth
            detail = f"{found.error:.3f}, true labels {found.of_truth:.3f}, naive weights 1/l {found.naive:.3f}"
            results.append(Result(f"logit, {name}: error / that of true labels", ratio, 1.6, "x", detail))
    uniform = MECHANISMS["randomized addition, l=2"]
    results += covered("logit, one value against others", replicate_one_value(uniform))
    results += covered("linear, randomized addition, l=2", replicate_linear(uniform))
    return [*results, *speed()]


def covered(name: str, held: list[np.ndarray]) -> list[Result]:
    share = float(np.mean(held))
    detail = f"{np.size(held)} intervals"
    return [
        Result(f"{name}: 95 % intervals hold", share, 0.93, "", detail, at_least=True),
        Result(f"{name}: 95 % intervals hold", share, 0.97, "", detail),
    ]


@dataclass(frozen=True)
class Replicated:
    """Root mean square errors of slopes, which intervals held, and how often there was no finite estimate."""

    error: float
    of_truth: float
    naive: float
    held: list[np.ndarray]
    refused: float


def replicate(mechanism: SetMechanism) -> Replicated:
    rng = np.random.default_rng(0)
    errors: dict[str, list[np.ndarray]] = {"sets": [], "truth": [], "naive": []}
    held = []
    refused = 0
    for _ in range(TIMES):
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
        errors["sets"].append(fit.coefficients[:, 1:] - true[1:, 1:])
        members = np.zeros((RECORDS, VALUES))
        np.put_along_axis(members, sets.astype(np.int64), 1 / mechanism.l, axis=1)
        errors["naive"].append(soft_logit(predictors, members)[:, 1:] - true[1:, 1:])
        errors["truth"].append(soft_logit(predictors, np.eye(VALUES)[values])[:, 1:] - true[1:, 1:])
    size = {name: float(np.sqrt(np.mean(np.square(found)))) for name, found in errors.items()}
    return Replicated(size["sets"], size["truth"], size["naive"], held, refused / TIMES)


def replicate_one_value(mechanism: SetMechanism) -> list[np.ndarray]:
    """One value by a logit of its own, the others in shares that depend on a predictor."""
    rng = np.random.default_rng(1)
    true = np.array([-1.0, 0.8, -0.5])
    held = []
    for _ in range(3 * TIMES):
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
    for _ in range(3 * TIMES):
        predictors = rng.uniform(-1, 1, (RECORDS, 2))
        mean = 2.5 + predictors @ [1.0, -0.5]
        values = np.clip(np.floor(mean + rng.random(RECORDS)), 0, VALUES - 1).astype(np.int32)  # right on average
        sets = hide(rng, mechanism, values)
        bounds = ld.regress(release_of(predictors, sets, mechanism), "value ~ a + b", model="linear").conf_int()
        true = np.array([2.5, 1.0, -0.5])
        held.append((bounds["low"].to_numpy() <= true) & (true <= bounds["high"].to_numpy()))
    return held


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

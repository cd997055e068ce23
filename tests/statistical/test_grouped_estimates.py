"""Estimates from grouped releases: what repeated groupings and arrangements give, against what is reported.

Every test fails by chance at most once in 100,000 runs with other seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pytest
from scipy.stats import binom, chi2, norm

from ldiversity.estimation import estimate
from ldiversity.mechanisms import ClassMechanism
from ldiversity.methods import Anatomy, CodedTable, GroupingRun, SensitiveColumn
from ldiversity.models import FrequencyDiversity
from ldiversity.publish import anonymize
from ldiversity.release import ClassRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

ALARM = 1e-5
DRAWS = 400
N_VALUES, N_CELLS = 8, 4
DOMAIN = Domain(tuple(f"v{code}" for code in range(N_VALUES)))
SENSITIVE = Attribute("why", Role.SENSITIVE, "string", DOMAIN)


def table(n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Values whose distribution depends strongly on the cell."""
    cells = rng.integers(0, N_CELLS, n_rows)
    tilt = np.linspace(-1, 1, N_VALUES)[None, :] * (cells[:, None] - 1.5)
    shares = np.cumsum(np.exp(0.6 * tilt), axis=1)
    codes = (rng.random(n_rows)[:, None] * shares[:, -1:] > shares).sum(axis=1)
    return cells, codes.astype(np.int32)


def anatomize(cells: Any, codes: Any, l: int, rng: np.random.Generator) -> ClassRelease:
    order = rng.permutation(len(codes))
    column = SensitiveColumn("why", codes[order], DOMAIN)
    (partition,) = Anatomy(l=l).group(CodedTable((), (column,)), GroupingRun()).partitions
    return ClassRelease.in_memory(
        schema=Schema((Attribute("g", Role.QUASI, "int64"), SENSITIVE)),
        layout="bucketized",
        rules={"why": FrequencyDiversity(l)},
        class_of=partition.class_of,
        values={"why": codes[order]},
        columns=pa.table({"g": cells[order]}),
        mechanisms={"why": ClassMechanism("anatomy", {"l": l}, blind=True)},
    )


@pytest.fixture(scope="module")
def regrouped() -> Callable[[str], Any]:
    """400 groupings of one table with 1,600 records, analyzed by their linear estimates."""
    rng = np.random.default_rng(3)
    cells, codes = table(1600, rng)
    truth = np.zeros((N_CELLS, N_VALUES))
    np.add.at(truth, (cells, codes), 1)
    results = [estimate(anatomize(cells, codes, 3, rng), "g", estimator="linear") for _ in range(DRAWS)]
    stacked = {name: np.array([getattr(result, name) for result in results]) for name in ("count", "std_error")}
    stacked |= {name: np.array([getattr(result, name) for result in results]) for name in ("low", "high")}
    return lambda name: truth if name == "truth" else stacked[name]


def test_linear_is_unbiased_over_groupings(regrouped: Any) -> None:
    counts, truth = regrouped("count"), regrouped("truth")
    z = (counts.mean(axis=0) - truth) / (counts.std(axis=0, ddof=1) / np.sqrt(DRAWS))

    # The mean of 400 draws is normal; one of 32 means lies outside with probability 1e-5.
    assert np.abs(z).max() < norm.isf(ALARM / (2 * z.size))


def test_class_proportions_are_biased_where_values_go_with_cells() -> None:
    rng = np.random.default_rng(4)
    cells, codes = table(1600, rng)
    truth = np.zeros((N_CELLS, N_VALUES))
    np.add.at(truth, (cells, codes), 1)

    result = estimate(anatomize(cells, codes, 3, rng), "g", estimator="classes")

    # Values dealt out at random would put a count off by sqrt(n) / 2 at most in the root mean square, and hardly one of
    # 32 by three times that. The tilt is 0.6, so that counts are off by more. No error is stated; the limits hold.
    assert (np.abs(result.count - truth) / np.sqrt(result.records / 4)[:, None]).max() > 3
    assert np.isnan(result.std_error).all()
    assert ((result.low <= truth) & (truth <= result.high)).all()


def test_standard_errors_are_those_of_repeated_groupings(regrouped: Any) -> None:
    found = regrouped("count").var(axis=0, ddof=1)
    given = (regrouped("std_error") ** 2).mean(axis=0)
    tail = ALARM / (2 * found.size)

    # (n - 1) variance / truth is chi-squared for normal draws; 5 % more is allowed for the noise of the plug-in.
    assert (found / given < 1.05 * chi2.isf(tail, DRAWS - 1) / (DRAWS - 1)).all()
    assert (found / given > chi2.ppf(tail, DRAWS - 1) / (DRAWS - 1) / 1.05).all()


def test_intervals_of_linear_hold_the_truth_as_often_as_they_say(regrouped: Any) -> None:
    truth = regrouped("truth")
    held = ((regrouped("low") <= truth) & (truth <= regrouped("high"))).sum(axis=0)

    # Each of 32 intervals holds with probability .94 or more; fewer hits come by chance with probability 1e-5 in all.
    assert held.min() >= binom.ppf(ALARM / held.size, DRAWS, 0.94)


@pytest.mark.parametrize("seed", range(20))
def test_limits_that_the_classes_allow_always_hold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells, codes = table(120, rng)
    truth = np.zeros((N_CELLS, N_VALUES))
    np.add.at(truth, (cells, codes), 1)

    result = estimate(anatomize(cells, codes, 2, rng), "g", estimator="classes")

    assert (result.low <= truth).all()
    assert (truth <= result.high).all()


# --- Adult ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def errors_on_adult() -> Callable[..., dict[str, float]]:
    """Root mean squared errors of the shares of 14 occupations by education, weighted by the records."""

    def measure(folder: Path, l: int) -> dict[str, float]:
        adult = pa_csv.read_csv(folder / "adult.csv.gz").select(["education", "occupation"])
        adult = adult.filter(pc.not_equal(adult["occupation"], "?"))
        release = anonymize(adult, quasi=["education"], sensitive="occupation", method=Anatomy(l=l))
        errors = {}
        for name in ("classes", "linear", "simplex"):
            result = estimate(release, "education", estimator=name)
            cells = np.array(result.labels["education"].to_pylist())[:, None]
            values = np.array(result.domains[0].values)[None, :]
            rows = np.char.add(np.array(adult["education"]).astype(str), np.array(adult["occupation"]).astype(str))
            found = dict(zip(*np.unique(rows, return_counts=True), strict=True))
            truth = np.vectorize(lambda key, found=found: found.get(key, 0))(np.char.add(cells, values))
            squares = ((result.count - truth) ** 2 / result.records[:, None]).sum() / result.n_records / values.size
            errors[name] = float(np.sqrt(squares))
        return errors

    return measure


@pytest.mark.parametrize("l", [2, 3, 4])
def test_linear_is_far_nearer_to_the_truth_of_adult_than_class_proportions(
    public_data: Path, errors_on_adult: Any, l: int
) -> None:
    errors = errors_on_adult(public_data, l)

    # Measured .008/.038, .016/.049, .017/.053. The error of linear is the root of a sum of some 200 squares, which does
    # not double by chance (relative spread of the sum below .4, even if only a dozen of them counted).
    assert errors["linear"] < 0.75 * errors["classes"]
    assert errors["simplex"] < 0.75 * errors["classes"]

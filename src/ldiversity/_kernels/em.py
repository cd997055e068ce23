"""Expectation maximization for the likelihood of published sets, cell by cell."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity._kernels._compiled import helper, kernel

__all__ = ["alone_cells", "em_cells", "information_cells"]

Codes: TypeAlias = NDArray[np.int32]
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

_IMPOSSIBLE = -1e300
_SMALL = 1e-250
_FLOOR = 1e-3  # an extrapolated share is at least this fraction of the plain step's
_STEPS_ALONE = 30
_CLOSE_ALONE = 0.01  # records by which a count may still move
_LEAST_ALONE = 1e-9
_MOST_ALONE = 0.999


@helper
def _step(
    sets: Codes,
    likelihood: Floats,
    weights: Floats,
    first: int,
    last: int,
    extra: Floats,
    shares: Floats,
    out: Floats,
) -> tuple[float, float]:
    # One step of expectation maximization from `shares` to `out`. Returns the objective at `shares`, and a limit of how
    # much greater it is anywhere: the objective is concave, so it lies below its tangent, which is greatest where all
    # weight is on the value of the greatest slope.
    # Probabilities are multiplied before the logarithm is taken, because logarithms are the slowest part.
    n_values = shares.shape[0]
    size = sets.shape[1]
    flat = likelihood.shape[0] == 0
    total = 0.0
    objective = 0.0
    product = 1.0
    for j in range(n_values):
        out[j] = 0.0
        total += extra[j]
        if extra[j] > 0.0:
            if shares[j] <= 0.0:
                return _IMPOSSIBLE, -_IMPOSSIBLE
            out[j] = extra[j] / shares[j]
            objective += extra[j] * math.log(shares[j])
    for i in range(first, last):
        probability = 0.0
        if flat:
            for k in range(size):
                probability += shares[sets[i, k]]
        else:
            for k in range(size):
                probability += shares[sets[i, k]] * likelihood[i, k]
        if probability <= 0.0:
            return _IMPOSSIBLE, -_IMPOSSIBLE
        weight = weights[i]
        total += weight
        if weight == 1.0:
            product *= probability
            if product < _SMALL:
                objective += math.log(product)
                product = 1.0
        else:
            objective += weight * math.log(probability)
        scale = weight / probability
        if flat:
            for k in range(size):
                out[sets[i, k]] += scale
        else:
            for k in range(size):
                out[sets[i, k]] += likelihood[i, k] * scale
    steepest = 0.0
    for j in range(n_values):
        steepest = max(steepest, out[j])
        out[j] *= shares[j] / total
    return objective + math.log(product), steepest - total


@helper
def _extrapolate(p0: Floats, p1: Floats, p2: Floats, out: Floats) -> None:
    # The squared extrapolation (SQUAREM) from three successive points, kept inside the simplex.
    first = 0.0
    second = 0.0
    for j in range(p0.shape[0]):
        r = p1[j] - p0[j]
        v = p2[j] - p1[j] - r
        first += r * r
        second += v * v
    if second <= 0.0:
        for j in range(p2.shape[0]):
            out[j] = p2[j]
        return
    step = max(math.sqrt(first / second), 1.0)
    total = 0.0
    for j in range(p0.shape[0]):
        r = p1[j] - p0[j]
        v = p2[j] - p1[j] - r
        out[j] = max(p0[j] + 2.0 * step * r + step * step * v, _FLOOR * p2[j])
        total += out[j]
    for j in range(p0.shape[0]):
        out[j] /= total


@kernel
def em_cells(
    sets: Codes,
    likelihood: Floats,
    weights: Floats,
    starts: Ints,
    prior: Floats,
    strength: Floats,
    tolerance: float,
    most_steps: int,
    first: int,
    last: int,
    shares: Floats,
    steps: Ints,
) -> None:
    """Maximize ``sum of log P(set) + strength[c] * sum of prior * log(shares)`` in cells first..last-1.

    `prior` has one row for each cell, or one for all. ``shares[c]`` holds the positive start and receives the result;
    ``steps[c]`` receives the number of steps. A round has three steps: two plain ones, and one from the point to which
    they extrapolate, which is undone if the objective fell. A cell is done when no shares have an objective that is
    greater by more than `tolerance`. An empty `likelihood` means that every set is equally likely from each of its
    members.
    """
    n_values = shares.shape[1]
    p1 = np.empty(n_values)
    p2 = np.empty(n_values)
    ahead = np.empty(n_values)
    extra = np.empty(n_values)
    for c in range(first, last):
        p0 = shares[c]
        for j in range(n_values):
            extra[j] = strength[c] * prior[min(c, prior.shape[0] - 1), j]
        a, b = starts[c], starts[c + 1]
        steps[c] = 0
        while steps[c] < most_steps:
            _step(sets, likelihood, weights, a, b, extra, p0, p1)
            before, gain = _step(sets, likelihood, weights, a, b, extra, p1, p2)
            steps[c] += 2
            if gain <= tolerance:
                for j in range(n_values):
                    p0[j] = p2[j]
                break
            _extrapolate(p0, p1, p2, ahead)
            after, gain = _step(sets, likelihood, weights, a, b, extra, ahead, p1)
            steps[c] += 1
            for j in range(n_values):
                p0[j] = p1[j] if after >= before else p2[j]


@kernel
def information_cells(
    sets: Codes,
    likelihood: Floats,
    weights: Floats,
    starts: Ints,
    shares: Floats,
    first: int,
    last: int,
    out: Floats,
) -> None:
    """Add up ``r r'`` over the sets of cells first..last-1, where r has the chances that each value is the true one.

    The chances follow from the positive `shares` of each cell. ``out[c - first]`` has the sum of cell c, as a row of
    F * F numbers.
    """
    n_values = shares.shape[1]
    size = sets.shape[1]
    flat = likelihood.shape[0] == 0
    chances = np.empty(size)
    for c in range(first, last):
        for i in range(starts[c], starts[c + 1]):
            total = 0.0
            for k in range(size):
                chances[k] = shares[c, sets[i, k]]
                if not flat:
                    chances[k] *= likelihood[i, k]
                total += chances[k]
            scale = weights[i] / (total * total)
            for k in range(size):
                row = np.int64(sets[i, k]) * n_values
                for m in range(size):
                    out[c - first, row + sets[i, m]] += chances[k] * chances[m] * scale


@kernel
def alone_cells(
    sets: Codes,
    likelihood: Floats,
    weights: Floats,
    starts: Ints,
    sure: Floats,
    first: int,
    last: int,
    counts: Floats,
    variances: Floats,
) -> None:
    """Give the likeliest count of each doubtful value of cells first..last-1 if no other one had a record.

    Values with a positive share in `sure` keep their proportions to each other; all others are doubtful. Sets that
    neither a sure value nor the doubtful one explains are left out. ``variances`` gets what the sets leave open about
    the count then, by the curvature of the likelihood.
    """
    n_values = sure.shape[1]
    size = sets.shape[1]
    flat = likelihood.shape[0] == 0
    longest = np.int64(0)
    for c in range(first, last):
        longest = max(longest, starts[c + 1] - starts[c])
    chances = np.empty(longest)
    share = np.empty(n_values)
    slope = np.empty(n_values)
    curve = np.empty(n_values)
    inside = np.empty(n_values)
    total = np.empty(n_values)
    for c in range(first, last):
        a = starts[c]
        explained = 0.0
        for j in range(n_values):
            inside[j] = 0.0
            total[j] = 0.0
        for i in range(a, starts[c + 1]):
            chance = 0.0
            for k in range(size):
                chance += sure[c, sets[i, k]] * (1.0 if flat else likelihood[i, k])
            chances[i - a] = chance
            if chance > 0.0:
                explained += weights[i]
            for k in range(size):
                if chance > 0.0:
                    inside[sets[i, k]] += weights[i]
                elif flat or likelihood[i, k] > 0.0:
                    total[sets[i, k]] += weights[i]
        for j in range(n_values):
            # All sets that have only this value to explain them, and half a record.
            share[j] = min((total[j] + 0.5) / (total[j] + explained + 1.0), 0.5)
            total[j] += explained
        for _ in range(_STEPS_ALONE):
            moved = 0.0
            for j in range(n_values):
                others = explained - inside[j]
                slope[j] = -others / (1.0 - share[j])
                curve[j] = others / ((1.0 - share[j]) * (1.0 - share[j]))
            for i in range(a, starts[c + 1]):
                chance = chances[i - a]
                for k in range(size):
                    value = sets[i, k]
                    if sure[c, value] <= 0.0:
                        more = (1.0 if flat else likelihood[i, k]) - chance
                        mixed = chance + share[value] * more
                        if mixed > 0.0:  # otherwise neither explains the set
                            part = more / mixed
                            slope[value] += weights[i] * part
                            curve[value] += weights[i] * part * part
            for j in range(n_values):
                if sure[c, j] <= 0.0 and curve[j] > 0.0:
                    step = slope[j] / curve[j]
                    step = min(max(step, -0.9 * share[j]), max(2.0 * share[j], 0.05))
                    reached = min(max(share[j] + step, _LEAST_ALONE), _MOST_ALONE)
                    moved = max(moved, abs(reached - share[j]) * total[j])
                    share[j] = reached
            if moved <= _CLOSE_ALONE:
                break
        for j in range(n_values):
            counts[c, j] = 0.0
            variances[c, j] = 0.0
            if sure[c, j] <= 0.0 and curve[j] > 0.0:
                counts[c, j] = share[j] * total[j]
                variances[c, j] = max(total[j] * total[j] / curve[j] - counts[c, j], 0.0)

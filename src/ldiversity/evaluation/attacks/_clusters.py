"""Intervals for shares when attackers are right or wrong about several people together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import FloatArray

__all__ = ["binomial_interval", "cluster_interval", "least_gain"]

_CONFIDENCE: Final = 0.95
_NONE: Final = 1e-12

Labels = NDArray[np.int64]


def binomial_interval(successes: float, n: float, confidence: float = _CONFIDENCE) -> tuple[float, float]:
    """Clopper and Pearson's exact interval of a share; fair guesses among ties may sum to a fraction.

    Examples
    --------
    >>> low, high = binomial_interval(5, 10)
    >>> round(low, 3), round(high, 3)
    (0.187, 0.813)
    >>> binomial_interval(0, 10)[0], binomial_interval(10, 10)[1]
    (0.0, 1.0)
    """
    from scipy.special import betaincinv  # scipy.stats takes three times as long to import

    tail = (1 - confidence) / 2
    low = 0.0 if successes <= 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes >= n else float(betaincinv(successes + 1, n - successes, 1 - tail))
    return low, high


def cluster_interval(
    right: FloatArray, clusterings: Sequence[Labels], confidence: float = _CONFIDENCE
) -> tuple[float, float]:
    """Clopper and Pearson's interval for the effective number of independent people.

    Parameters
    ----------
    right
        Shape (n,): whether each person's value was named correctly, or how often a fair guess is right.
    clusterings
        Each of shape (n,): the cluster of each person; people of a cluster may be right or wrong together. The
        clustering with the smallest effective number counts.

    Notes
    -----
    Korn and Graubard: the variance of the share between clusters over that of independent people is the design effect,
    at least 1 here; n is divided by it, and by the squared ratio of Student's quantiles for the number of clusters
    and of people. Where all are right, or none, it cannot be estimated, and each cluster counts as one person.

    References
    ----------
    Korn, Graubard, Confidence Intervals for Proportions With Small Expected Number of Positive Counts Estimated From
    Survey Data, Survey Methodology 24, 1998.

    Examples
    --------
    Ten pairs, six both right and four both wrong, count as fewer than ten people.

    >>> low, high = cluster_interval(np.repeat([1.0, 0.0], [12, 8]), [np.arange(20) // 2])
    >>> round(low, 2), round(high, 2)
    (0.22, 0.91)
    >>> low, high = binomial_interval(6, 10)
    >>> round(low, 2), round(high, 2)
    (0.26, 0.88)
    """
    n = len(right)
    share = min(max(float(right.mean()), 0.0), 1.0)
    worth = min((_worth(right, share, labels, confidence) for labels in clusterings), default=float(n))
    return binomial_interval(share * worth, worth, confidence)


def least_gain(gain: FloatArray, clusterings: Sequence[Labels], confidence: float) -> float:
    """The lower end of Student's interval of a mean gain, with clusters of people.

    Examples
    --------
    >>> least_gain(np.array([0.5, 0.5]), [np.arange(2)], 0.95)
    0.5
    """
    from scipy.special import stdtrit

    mean = float(gain.mean())
    widest = 0.0
    for labels in clusterings:
        variance, clusters, _ = _between(gain - mean, labels)
        if clusters > 1:
            widest = max(widest, float(stdtrit(clusters - 1, (1 + confidence) / 2)) * variance**0.5)
    return mean - widest


def _between(deviation: FloatArray, labels: Labels) -> tuple[float, int, float]:
    """The variance of a mean by clusters, their number, and their effective number if they had equal sizes."""
    _, of = np.unique(labels, return_inverse=True)
    sizes = np.bincount(of)
    clusters, n = len(sizes), len(deviation)
    sums = np.bincount(of, deviation)
    variance = float(sums @ sums) / n**2 * clusters / max(1, clusters - 1)
    return variance, clusters, float(n**2 / (sizes @ sizes))


def _worth(right: FloatArray, share: float, labels: Labels, confidence: float) -> float:
    """The effective number of independent people; all of them when everyone is in one cluster."""
    from scipy.special import stdtrit

    n = len(right)
    variance, clusters, even = _between(right - share, labels)
    alone = share * (1 - share) / n
    if clusters < 2:  # noqa: PLR2004 - one cluster says nothing about others
        return float(n)
    if alone <= _NONE:
        return even
    tail = (1 + confidence) / 2
    ratio = 1.0 if clusters == n else float(stdtrit(n - 1, tail) / stdtrit(clusters - 1, tail))
    return n / max(1.0, variance / alone) * ratio**2

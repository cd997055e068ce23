"""What a class says about the values, or combinations of values, of its records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ldiversity.base.arrays import CodeArray, FloatArray
    from ldiversity.models import ClassCounts

__all__ = ["Profiles", "profile_classes"]


@dataclass(frozen=True, eq=False)
class Profiles:
    """The values of every class when they are dealt out to its records at random.

    Class c has the entries ``starts[c]:starts[c + 1]``, one for each value, or for each combination of the values of
    several attributes, which are dealt out independently.

    Parameters
    ----------
    starts
        Shape (classes + 1,).
    codes
        The value, or the combination; the last attribute runs fastest.
    share
        The probability that a record has it.
    most
        The most records of the class that can have it.
    spare
        The most records of the class that can lack it; of a combination, the sum over its parts.
    """

    starts: NDArray[np.int64]
    codes: CodeArray
    share: FloatArray
    most: NDArray[np.int64]
    spare: NDArray[np.int64]


def profile_classes(classes: Sequence[ClassCounts]) -> Profiles:
    """Give the profiles of classes by one attribute, or by several that share the classes.

    Examples
    --------
    >>> from ldiversity.models import count_classes
    >>> from ldiversity.schema import Domain
    >>> ab = count_classes(np.array([0, 0]), np.array([0, 1]), 1, Domain(("a", "b")))
    >>> xy = count_classes(np.array([0, 0]), np.array([1, 1]), 1, Domain(("x", "y")))
    >>> joint = profile_classes([ab, xy])
    >>> joint.codes.tolist(), joint.share.tolist()
    ([1, 3], [0.5, 0.5])
    """
    whole = _profile(classes[0])
    for counts in classes[1:]:
        whole = _combine(whole, _profile(counts), len(counts.domain))
    return whole


def _profile(classes: ClassCounts) -> Profiles:
    sizes = np.repeat(classes.sizes, np.diff(classes.starts))
    m = classes.counts
    return Profiles(classes.starts, classes.codes, m / sizes, m, sizes - m)


def _combine(left: Profiles, right: Profiles, n_right: int) -> Profiles:
    # Pairs every entry of a class on the left with every entry of the same class on the right.
    lengths = np.diff(right.starts)
    class_of = np.repeat(np.arange(len(lengths)), np.diff(left.starts))
    times = lengths[class_of]
    a = np.repeat(np.arange(len(times)), times)
    b = np.arange(len(a)) - np.repeat(np.cumsum(times) - times, times) + right.starts[class_of[a]]
    starts = np.concatenate([[0], np.cumsum(np.diff(left.starts) * lengths)])
    return replace(
        left,
        starts=starts.astype(np.int64),
        codes=(left.codes[a].astype(np.int64) * n_right + right.codes[b]).astype(np.int32),
        share=left.share[a] * right.share[b],
        most=np.minimum(left.most[a], right.most[b]),
        spare=left.spare[a] + right.spare[b],
    )

"""How well a classifier predicts that was trained on a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldiversity.errors import ParameterError
from ldiversity.estimation import estimate, true_cells
from ldiversity.evaluation.measures._association import Kept, telling
from ldiversity.evaluation.measures._original import Original, Records, as_type, chosen_sensitive
from ldiversity.schema import Role

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation import By
    from ldiversity.release import Release

__all__ = ["classifier_accuracy"]

_MOST_COLUMNS: Final = 4


def classifier_accuracy(
    original: Any,  # noqa: ANN401 - a path or any frame
    release: Release,
    held_out: Any,  # noqa: ANN401 - a path or any frame
    *,
    sensitive: str | None = None,
    columns: int = _MOST_COLUMNS,
    estimator: str = "auto",
) -> Kept:
    """Train a classifier on a release, and measure how often it is right about other people. Higher is better.

    A naive Bayes classifier predicts the sensitive value from the quasi-identifiers that tell most about it. It is
    trained on estimated counts of the release, on the original, and on nothing but the most frequent value, which is
    the baseline. All are tested on records that none of them has seen.

    Parameters
    ----------
    original
        The table that the release was made from: a path or any data frame. Only the holder has it.
    release
        What was published of it.
    held_out
        Other records with the same columns, which are in neither: set some aside before you publish.
    sensitive
        The sensitive attribute; may be left out when there is one.
    columns
        The most quasi-identifiers that it uses; numbers are in five bins.
    estimator
        As in `estimate`.

    Notes
    -----
    The score of value v is ``log P(v) + sum over columns of log P(x | v)``, where ``P(x | v) = (c_xv + 1) / (c_v + K)``
    for the counts c of a column with K labels. Estimated counts below 0 count as 0.

    Examples
    --------
    Each class has one d0 and one d1, so the release does not say who has which.

    >>> from ldiversity.evaluation.measures._samples import bucketized
    >>> original = pa.table({"age": [20, 21, 22, 23], "disease": ["d0", "d1", "d0", "d1"]})
    >>> others = pa.table({"age": [20, 22, 23, 21], "disease": ["d0", "d0", "d1", "d1"]})
    >>> classifier_accuracy(original, bucketized([0, 0, 1, 1]), others, estimator="classes")
    Kept(release=0.5, original=1.0, baseline=0.5)
    """
    owner = "classifier_accuracy"
    name = chosen_sensitive(owner, release, sensitive)
    quasi, domain = release.schema.names(Role.QUASI), release.domain(name)
    known = Original.of(original).records(owner, quasi, name, release)
    others = Original.of(held_out).records(owner, quasi, name, release, checked=False)
    for given, records in (("original", known), ("held_out", others)):
        if not records.n:
            raise ParameterError(owner, given, "must have at least one record", got="none")
    truth = others.codes
    totals = known.once("totals", lambda: np.bincount(known.codes, minlength=len(domain)).astype(np.float64))
    scores = {"original": np.log(totals + 1) + np.zeros((len(truth), 1))}
    scores["release"] = np.log(np.maximum(estimate(release, sensitive=name, estimator=estimator).count[0], 0) + 1)[None]
    for part in telling(owner, known, release, columns):
        true, estimated, places = _counts(release, part, known, others, estimator)
        scores["original"] = scores["original"] + _logs(true)[places]
        scores["release"] = scores["release"] + _logs(np.maximum(estimated, 0.0))[places]
    right = {who: float(np.mean(score.argmax(axis=1) == truth)) for who, score in scores.items()}
    return Kept(right["release"], right["original"], float(np.mean(truth == totals.argmax())))


def _counts(
    release: Release, part: By, known: Records, others: Records, estimator: str
) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """True and estimated counts of each label and value, shape (labels, F), and the labels of the other records."""
    estimated = estimate(release, by=(part,), sensitive=known.name, estimator=estimator)
    labels = estimated.labels[part.column]
    ours, theirs = known.cells(release, (part,)), true_cells(release, part, others.table)
    texts = [as_type(part.column, one, labels.type) for one in (*ours.labels, theirs.labels)]
    every = pc.unique(pa.chunked_array([*texts, *labels.chunks]))
    of_ours, of_theirs, of_labels = (np.asarray(pc.index_in(own, value_set=every)) for own in (*texts, labels))
    true, counts = np.zeros((2, len(every), len(known.domain)))
    np.add.at(true, of_ours[ours.places[:, 0]], ours.counts)
    np.add.at(counts, of_labels, estimated.count)
    return true, counts, of_theirs[theirs.codes]


def _logs(counts: FloatArray) -> FloatArray:
    """Shape (labels, F): the logarithm of how likely each label is, given the value."""
    logs: FloatArray = np.log((counts + 1) / (counts.sum(axis=0) + len(counts)))
    return logs

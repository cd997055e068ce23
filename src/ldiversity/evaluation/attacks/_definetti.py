"""DeFinetti: learn from the release itself how values depend on quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from importlib.util import find_spec
from operator import add
from typing import Any, ClassVar, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, FloatArray
from ldiversity.base.checks import check_integer
from ldiversity.evaluation.attacks._assign import Entries, deal_out, share_out
from ldiversity.evaluation.attacks._base import Attack, Beliefs, Targets
from ldiversity.evaluation.attacks._features import exact_features, region_features
from ldiversity.evaluation.attacks._matching import Matches, match_evidence, match_shown_rows
from ldiversity.evaluation.attacks._naive_bayes import NaiveBayes, weigh
from ldiversity.evaluation.attacks._posterior import marginal_of
from ldiversity.models import ClassCounts
from ldiversity.release import Evidence, Release
from ldiversity.schema import Role

__all__ = ["DeFinetti"]

_LEAST: Final = 1e-9
_FOLDS: Final = 4
_DENSE: Final = 50_000_000
_AT_ONCE: Final = 4_000_000

_Weighted: TypeAlias = tuple[NDArray[np.integer], NDArray[np.integer], FloatArray]
"""Entries to train on: a row of the features, the value that it has in part, and the part."""


class _Model(Protocol):
    """A trained classifier: how frequent values were, and how likely each value of a row is."""

    prior: FloatArray

    def predict(self, features: Any) -> FloatArray:  # noqa: ANN401 - a sparse matrix
        """Shape (rows, F): how likely each value is."""
        ...


@dataclass(frozen=True, eq=False)
class DeFinetti(Attack):
    """Train a classifier on the release, and deal out the values of each class or set by what it says.

    A class hides who has which of its values, but all classes together show how values depend on quasi-identifiers. The
    classifier is trained on rows that have every value of their class in part. Its predictions for the rows of a class
    are scaled to the counts of the class, and then it is trained again. Where quasi-identifiers are generalized, it is
    trained on regions and predicts from the exact quasi-identifiers of the target. In a release of sets, rows have
    every member in part, by the predictions and by how likely the member leads to the set.

    Parameters
    ----------
    rounds
        How often the classifier is trained, where quasi-identifiers are exact.
    classifier
        Any classifier of scikit-learn that takes ``sample_weight`` and gives ``predict_proba`` on sparse features;
        naive Bayes when None. Only such a classifier needs scikit-learn, the extra `attacks`.

    References
    ----------
    Kifer, Attacks on Privacy and deFinetti's Theorem, SIGMOD 2009.

    Examples
    --------
    >>> DeFinetti(rounds=5).rounds
    5
    """

    name: ClassVar[str] = "definetti"
    attacker: ClassVar[str] = (
        "An attacker who learns from all classes how values go with quasi-identifiers, and guesses within each."
    )
    compared: ClassVar[bool] = True
    caution: ClassVar[str | None] = (
        "They expect far too much where there is nothing to learn: in each round the classifier confirms its earlier "
        "predictions. Only the original shows how often they are right."
    )

    rounds: int = 10
    classifier: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_integer("DeFinetti", "rounds", self.rounds, minimum=1)

    @classmethod
    def quick(cls) -> Attack:
        """Two rounds, which find nearly as much as ten."""
        return cls(rounds=2)

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return "They know the quasi-identifiers of the target, and learn from the release how values depend on them."

    def why_not(self, release: Release, targets: Targets, attribute: str) -> str | None:  # noqa: ARG002 - the base's
        """It needs rows that are records, quasi-identifiers, and for another classifier scikit-learn."""
        if release.rows_per_record > 1:
            return "exploded rows do not say which of them form the set of one record"
        if not release.schema.names(Role.QUASI):
            return "it needs quasi-identifiers"
        if targets.published and release.generalized:
            return "without the original, the people of a class cannot be distinguished"
        if self.classifier is not None and find_spec("sklearn") is None:
            return "another classifier needs scikit-learn: install ldiversity[attacks]"
        return None

    def promise(self, release: Release, attribute: str) -> float | None:
        """The promise of classes; sets promise only for attackers without prior knowledge."""
        return super().promise(release, attribute) if release.grouped else None

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """The predictions of the classifier, scaled to the classes or sets."""
        if release.generalized:
            return self._generalized(release, targets, attribute)
        from scipy.sparse import csr_array

        names = release.schema.names(Role.QUASI)
        rows = release.columns(names)
        features = exact_features(rows, rows.slice(0, 1), names).published
        evidence = release.evidence(attribute)
        entries = Entries(evidence.of_row, evidence.candidates)
        learn = self._learn_classes if evidence.counted else self._learn_records
        share = learn(features, evidence, entries, marginal_of(release, attribute))
        posteriors = csr_array((share, (entries.row, entries.code)), shape=(len(evidence.of_row), len(evidence.domain)))
        return match_shown_rows(release, targets, attribute).beliefs(posteriors)

    def _learn_classes(
        self,
        features: Any,  # noqa: ANN401 - a sparse matrix
        evidence: Evidence,
        entries: Entries,
        _: FloatArray,
    ) -> FloatArray:
        classes, class_of = evidence.candidates, evidence.of_row
        share = evidence.shares()[entries.pair]
        for _round in range(self.rounds):
            said = self._trained(features, class_of, entries, share, classes)
            share = deal_out(said[entries.row, entries.code], entries, class_of, classes)
        return share

    def _learn_records(
        self,
        features: Any,  # noqa: ANN401 - a sparse matrix
        evidence: Evidence,
        entries: Entries,
        marginal: FloatArray,
    ) -> FloatArray:
        likelihood = evidence.likelihood[entries.pair]
        weights = likelihood * marginal[entries.code]
        for _ in range(self.rounds):
            totals = np.bincount(entries.row, weights, minlength=entries.n_rows)
            share = weights / np.maximum(totals, _LEAST)[entries.row]
            used = share > _LEAST
            some = entries.row[used], entries.code[used], share[used]
            model = self._fit(features, some, len(evidence.domain))
            weights = likelihood * model.predict(features)[entries.row, entries.code]
        return share_out(weights, entries)

    def _trained(
        self,
        features: Any,  # noqa: ANN401 - a sparse matrix
        class_of: CodeArray,
        entries: Entries,
        share: FloatArray,
        classes: ClassCounts,
    ) -> FloatArray:
        """Shape (rows, F): predictions of classifiers trained on other classes, so that no guess confirms itself."""
        said = np.ones((features.shape[0], len(classes.domain)))
        folds = min(_FOLDS, classes.n_classes)
        used = share > _LEAST
        row, code, weight = entries.row[used], entries.code[used], share[used]
        fold_of = class_of[row] % folds
        for fold, model in enumerate(self._fit_without(fold_of, folds, features, (row, code, weight), classes)):
            rows = np.flatnonzero(class_of % folds == fold)
            said[rows] = _likelihood(model, features[rows])
        return said

    def _fit_without(
        self,
        fold_of: NDArray[np.integer],
        folds: int,
        features: Any,  # noqa: ANN401 - a sparse matrix
        entries: _Weighted,
        classes: ClassCounts,
    ) -> Iterator[_Model]:
        """Train on the entries of all other folds; on all entries when there is one fold."""
        n_values = len(classes.domain)
        if self.classifier is None and folds > 1:
            rows, codes, weights = entries
            # The same value counts as another one in each fold, so that all folds are weighed at once.
            parts = weigh(features, rows, fold_of * n_values + codes, weights, folds * n_values).split(folds)
            for fold in range(folds):
                yield NaiveBayes(reduce(add, [*parts[:fold], *parts[fold + 1 :]]))
            return
        for fold in range(folds):
            yield self._fit(features, _some(entries, (fold_of != fold) | (folds == 1)), n_values)

    def _generalized(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        classes = release.evidence(attribute).candidates
        features = region_features(release, targets.columns)
        of_class = np.repeat(np.arange(classes.n_classes), np.diff(classes.starts))
        entries = of_class, classes.codes, classes.counts.astype(float)
        model = self._fit(features.published, entries, len(classes.domain))
        matches = match_evidence(release, targets, attribute)
        groups, first = np.unique(matches.of_target, return_index=True)
        first = first[groups >= 0]
        mine = _likelihood(model, features.targets[first])
        theirs = _likelihood(model, features.published)
        return _within_classes(matches, matches.of_target[first], (mine, theirs), classes)

    def _fit(self, features: Any, entries: _Weighted, n_values: int) -> _Model:  # noqa: ANN401 - a sparse matrix
        if self.classifier is None:
            return NaiveBayes(weigh(features, *entries, n_values))
        return _Given(self.classifier, features, entries, n_values)


class _Given:
    """A classifier of scikit-learn, trained on entries."""

    def __init__(self, classifier: Any, features: Any, entries: _Weighted, n_values: int) -> None:  # noqa: ANN401
        from sklearn.base import clone

        rows, codes, weights = entries
        self.prior: FloatArray = np.bincount(codes, weights, minlength=n_values) / weights.sum()
        self._model = clone(classifier).fit(features[rows], codes, sample_weight=weights)

    def predict(self, features: Any) -> FloatArray:  # noqa: ANN401 - a sparse matrix
        """Shape (rows, F): how likely each value is."""
        said = np.zeros((features.shape[0], len(self.prior)))
        said[:, self._model.classes_.astype(np.int64)] = self._model.predict_proba(features)
        return said


def _some(entries: _Weighted, chosen: NDArray[np.bool_]) -> _Weighted:
    rows, codes, weights = entries
    return rows[chosen], codes[chosen], weights[chosen]


def _likelihood(model: _Model, features: Any) -> FloatArray:  # noqa: ANN401 - a sparse matrix
    """Shape (rows, F): how likely each value leads to these features, up to a factor per row."""
    return np.maximum(model.predict(features) / np.where(model.prior > 0, model.prior, 1.0), _LEAST)


def _within_classes(
    matches: Matches, groups: NDArray[np.int64], likelihoods: tuple[FloatArray, FloatArray], classes: ClassCounts
) -> Beliefs:
    """Shares of each possible class of a target, times how much better each value explains the target."""
    mine, theirs = likelihoods
    belief = np.zeros((matches.weights.shape[0], len(classes.domain)))
    weights = matches.weights.tocoo()
    row, column = weights.coords
    place = np.zeros(len(belief), dtype=np.int64)
    place[groups] = np.arange(len(groups))
    step = max(1, _AT_ONCE // len(classes.domain))
    dense = classes.dense() if classes.n_classes * len(classes.domain) < _DENSE else None
    for start in range(0, len(row), step):
        r, c = row[start : start + step], column[start : start + step]
        counts = dense[c] if dense is not None else np.concatenate([classes.dense(i, i + 1) for i in c])
        odds = counts * mine[place[r]] / theirs[c]
        odds /= np.maximum(odds.sum(axis=1, keepdims=True), _LEAST)
        np.add.at(belief, r, odds * weights.data[start : start + step, None])
    return Beliefs(belief, matches.of_target)

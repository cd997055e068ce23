"""DeFinetti: learn from the release itself how quasi-identifiers and values go together."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.arrays import CodeArray, FloatArray
from ldiversity.base.checks import check_integer
from ldiversity.errors import UnsupportedError
from ldiversity.evaluation.attacks._assign import Entries, deal_out, make_entries
from ldiversity.evaluation.attacks._base import Attack, Beliefs, Targets
from ldiversity.evaluation.attacks._features import exact_features, region_features
from ldiversity.evaluation.attacks._matching import Matches, match_classes, match_rows, match_shown_rows
from ldiversity.evaluation.attacks._posterior import marginal_of, set_posteriors
from ldiversity.models import ClassCounts
from ldiversity.release import ClassRelease, Release, SetRelease
from ldiversity.schema import Role

__all__ = ["DeFinetti"]

_LEAST: Final = 1e-9
_FOLDS: Final = 4
_DENSE: Final = 50_000_000
_AT_ONCE: Final = 4_000_000


@dataclass(frozen=True, eq=False)
class DeFinetti(Attack):
    """Train a classifier on the release, and deal out the values of each class or set by what it says.

    A class hides who has which of its values, but all classes together show which values go with which
    quasi-identifiers. The classifier is trained on rows that have every value of their class in part; what it says
    about the rows of a class is made to agree with the class's counts; and so on. Where quasi-identifiers are
    generalized, it is trained on regions and asked about the exact quasi-identifiers of the target. In a release of
    sets, rows have every member in part, by what the classifier says and by how likely it leads to the set.

    Needs scikit-learn, the extra `attacks`.

    Parameters
    ----------
    rounds
        How often the classifier is trained, where quasi-identifiers are exact.
    classifier
        Any classifier of scikit-learn that takes ``sample_weight`` and gives ``predict_proba`` on sparse features;
        naive Bayes when None.

    References
    ----------
    Kifer, Attacks on Privacy and deFinetti's Theorem, SIGMOD 2009.

    Examples
    --------
    >>> DeFinetti(rounds=5).rounds
    5
    """

    name: ClassVar[str] = "definetti"
    compared: ClassVar[bool] = True
    caution: ClassVar[str | None] = (
        "What he expects is far too much where there is nothing to learn: round after round his classifier confirms "
        "what it said before. Only the original tells how often he is right."
    )

    rounds: int = 10
    classifier: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_integer("DeFinetti", "rounds", self.rounds, minimum=1)

    @classmethod
    def quick(cls) -> Attack:
        """Two rounds find nearly all that ten do."""
        return cls(rounds=2)

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return "He knows the quasi-identifiers of the target, and learns from the release which values go with which."

    def why_not(self, release: Release, targets: Targets, attribute: str) -> str | None:  # noqa: ARG002 - the base's
        """It needs rows that are records, quasi-identifiers and scikit-learn."""
        if isinstance(release, SetRelease) and release.layout == "exploded":
            return "exploded rows do not say which of them are one record's set"
        if not release.schema.names(Role.QUASI):
            return "it needs quasi-identifiers"
        if isinstance(release, ClassRelease) and targets.published and release.layout == "generalized":
            return "without the original nothing tells the people of a class apart"
        if find_spec("sklearn") is None:
            return "it needs scikit-learn: install ldiversity[attacks]"
        return None

    def promise(self, release: Release, attribute: str) -> float | None:
        """Shares of classes; the promise of sets is for someone without prior knowledge."""
        return super().promise(release, attribute) if isinstance(release, ClassRelease) else None

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """What the classifier says, made to agree with the classes or sets."""
        if isinstance(release, SetRelease):
            return self._of_sets(release, targets, attribute)
        if not isinstance(release, ClassRelease):  # pragma: no cover - there are two families
            raise TypeError(type(release).__name__)
        if release.layout == "generalized":
            return self._generalized(release, targets, attribute)
        return self._bucketized(release, targets, attribute)

    def _bucketized(self, release: ClassRelease, targets: Targets, attribute: str) -> Beliefs:
        from scipy.sparse import csr_array

        names = release.schema.names(Role.QUASI)
        class_of, classes = release.class_of(attribute), release.classes(attribute)
        rows = release.columns(names)
        features = exact_features(rows, rows.slice(0, 1), names).published
        entries = make_entries(class_of, classes)
        share = classes.counts[entries.pair] / classes.sizes[class_of[entries.row]]
        for _ in range(self.rounds):
            said = self._trained(features, class_of, entries, share, classes)
            share = deal_out(said[entries.row, entries.code], entries, class_of, classes)
        shape = (release.n_rows, len(classes.domain))
        posteriors = csr_array((share, (entries.row, entries.code)), shape=shape)
        return match_shown_rows(release, targets, attribute).beliefs(posteriors)

    def _trained(
        self,
        features: Any,  # noqa: ANN401 - a sparse matrix
        class_of: CodeArray,
        entries: Entries,
        share: FloatArray,
        classes: ClassCounts,
    ) -> FloatArray:
        """Shape (rows, F): what classifiers trained on other classes say, so that no guess confirms itself."""
        n_values = len(classes.domain)
        said = np.ones((features.shape[0], n_values))
        folds = min(_FOLDS, classes.n_classes)
        for fold in range(folds):
            used = (share > _LEAST) & ((class_of[entries.row] % folds != fold) | (folds == 1))
            rows = np.flatnonzero(class_of % folds == fold)
            model = self._fit(features[entries.row[used]], entries.code[used], share[used])
            said[rows] = _likelihood(model, features[rows], n_values, _prior(entries.code[used], share[used], classes))
        return said

    def _of_sets(self, release: SetRelease, targets: Targets, attribute: str) -> Beliefs:
        names = release.schema.names(Role.QUASI)
        rows = release.columns(names)
        features = exact_features(rows, rows.slice(0, 1), names).published
        sets, mechanism = release.sets(attribute), release.mechanism(attribute)
        n, l = sets.shape
        n_values = len(release.domain(attribute))
        likelihood = np.ones(sets.shape) if mechanism.flat_likelihood else mechanism.likelihood(sets)
        each, codes = np.repeat(np.arange(n), l), sets.reshape(-1)
        weights = likelihood * marginal_of(release, attribute)[sets]
        for _ in range(self.rounds):
            share = (weights / np.maximum(weights.sum(axis=1, keepdims=True), _LEAST)).reshape(-1)
            used = share > _LEAST
            model = self._fit(features[each[used]], codes[used], share[used])
            said = np.zeros((n, n_values))
            said[:, model.classes_.astype(np.int64)] = model.predict_proba(features)
            weights = likelihood * np.take_along_axis(said, sets.astype(np.int64), axis=1)
        return match_rows(release, targets).beliefs(set_posteriors(sets, weights, n_values))

    def _generalized(self, release: ClassRelease, targets: Targets, attribute: str) -> Beliefs:
        classes = release.classes(attribute)
        features = region_features(release, targets.columns)
        of_class = np.repeat(np.arange(classes.n_classes), np.diff(classes.starts))
        model = self._fit(features.published[of_class], classes.codes, classes.counts.astype(float))
        prior = _prior(classes.codes, classes.counts.astype(float), classes)
        matches = match_classes(release, targets, attribute)
        groups, first = np.unique(matches.of_target, return_index=True)
        first = first[groups >= 0]
        mine = _likelihood(model, features.targets[first], len(classes.domain), prior)
        theirs = _likelihood(model, features.published, len(classes.domain), prior)
        return _within_classes(matches, matches.of_target[first], (mine, theirs), classes)

    def _fit(self, features: Any, codes: Any, weights: FloatArray) -> Any:  # noqa: ANN401 - scikit-learn's
        if find_spec("sklearn") is None:
            raise UnsupportedError("DeFinetti", "it needs scikit-learn", hint="Install ldiversity[attacks].")
        from sklearn.base import clone
        from sklearn.naive_bayes import MultinomialNB

        model = MultinomialNB(alpha=0.1) if self.classifier is None else clone(self.classifier)
        return model.fit(features, codes, sample_weight=weights)


def _prior(codes: Any, weights: FloatArray, classes: ClassCounts) -> FloatArray:  # noqa: ANN401 - codes
    counts = np.bincount(codes, weights, minlength=len(classes.domain))
    return np.asarray(counts / counts.sum())


def _likelihood(model: Any, features: Any, n_values: int, prior: FloatArray) -> FloatArray:  # noqa: ANN401
    """Shape (rows, F): how likely each value leads to these features, up to a factor a row."""
    said = np.zeros((features.shape[0], n_values))
    said[:, model.classes_.astype(np.int64)] = model.predict_proba(features)
    return np.maximum(said / np.where(prior > 0, prior, 1.0), _LEAST)


def _within_classes(
    matches: Matches, groups: NDArray[np.int64], likelihoods: tuple[FloatArray, FloatArray], classes: ClassCounts
) -> Beliefs:
    """Shares of each class that may be the target's, times how much better each value explains him than his class."""
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

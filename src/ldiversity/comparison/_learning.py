"""An attacker who learns from a release of sets which values go with which quasi-identifiers.

The deFinetti attack does so for classes. Without its like for sets, a comparison would flatter methods that publish
sets: every attacker of theirs would ignore what quasi-identifiers tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar, Final

import numpy as np

from ldiversity.attacks import Attack, Beliefs, Targets
from ldiversity.attacks._features import exact_features
from ldiversity.attacks._matching import match_rows
from ldiversity.attacks._posterior import marginal_of, set_posteriors
from ldiversity.release import Release, SetRelease
from ldiversity.schema import Role

__all__ = ["LearningFromSets"]

_LEAST: Final = 1e-9


@dataclass(frozen=True)
class LearningFromSets(Attack):
    """Train a classifier on sets, and weigh the members of each set by what it says and how the set was drawn.

    Needs scikit-learn, the extra `attacks`.

    Parameters
    ----------
    rounds
        How often the classifier is trained.

    Examples
    --------
    >>> LearningFromSets().name
    'learning'
    """

    name: ClassVar[str] = "learning"

    rounds: int = 2

    @property
    def knowledge(self) -> str:
        """What the attacker is assumed to know."""
        return "He knows the quasi-identifiers of the target, and learns from the sets which values go with which."

    def why_not(self, release: Release, targets: Targets, attribute: str) -> str | None:  # noqa: ARG002 - the base's
        """It needs sets, one row a record, quasi-identifiers and scikit-learn."""
        if not isinstance(release, SetRelease) or release.layout != "sets":
            return "it needs a release of sets; for grouped releases ask for 'definetti'"
        if not release.schema.names(Role.QUASI):
            return "it needs quasi-identifiers"
        return None if find_spec("sklearn") is not None else "it needs scikit-learn: install ldiversity[attacks]"

    def promise(self, release: Release, attribute: str) -> float | None:  # noqa: ARG002 - the base's
        """Nothing: what sets promise is for someone without prior knowledge."""
        return None

    def beliefs(self, release: Release, targets: Targets, attribute: str) -> Beliefs:
        """What classifier and mechanism say together about the members of the sets that may be the target's."""
        from sklearn.naive_bayes import MultinomialNB

        if not isinstance(release, SetRelease):
            raise TypeError(type(release).__name__)
        names = release.schema.names(Role.QUASI)
        rows = release.columns(names)
        features = exact_features(rows, rows.slice(0, 1), names).published
        sets = release.sets(attribute)
        n, l = sets.shape
        likelihood = release.mechanism(attribute).likelihood(sets)
        each, codes = np.repeat(np.arange(n), l), sets.reshape(-1)
        weights = likelihood * marginal_of(release, attribute)[sets]
        for _ in range(self.rounds):
            share = (weights / np.maximum(weights.sum(axis=1, keepdims=True), _LEAST)).reshape(-1)
            used = share > _LEAST
            model: Any = MultinomialNB(alpha=0.1)
            model.fit(features[each[used]], codes[used], sample_weight=share[used])
            said = np.zeros((n, len(release.domain(attribute))))
            said[:, model.classes_.astype(np.int64)] = model.predict_proba(features)
            weights = likelihood * np.take_along_axis(said, sets.astype(np.int64), axis=1)
        posteriors = set_posteriors(sets, weights, len(release.domain(attribute)))
        return match_rows(release, targets).beliefs(posteriors)

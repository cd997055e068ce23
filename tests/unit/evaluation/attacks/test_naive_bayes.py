"""Naive Bayes from parts of records gives what scikit-learn gives, and attackers need scikit-learn no more."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

import ldiversity as ld
from ldiversity.evaluation.attacks._naive_bayes import NaiveBayes, weigh

RNG = np.random.default_rng(4)
FEATURES = csr_array(RNG.integers(0, 2, (40, 6)).astype(float))
ROWS, CODES, PARTS = RNG.integers(0, 40, 90), RNG.choice([0, 1, 3], 90), RNG.random(90)


def test_predictions_are_those_of_scikit_learn() -> None:
    bayes = pytest.importorskip("sklearn.naive_bayes")
    theirs = bayes.MultinomialNB(alpha=0.1).fit(FEATURES[ROWS], CODES, sample_weight=PARTS)
    ours = NaiveBayes(weigh(FEATURES, ROWS, CODES, PARTS, 4)).predict(FEATURES)

    np.testing.assert_allclose(ours[:, [0, 1, 3]], theirs.predict_proba(FEATURES), rtol=1e-9)
    assert (ours[:, 2] == 0).all()


def test_what_was_weighed_apart_adds_up() -> None:
    half = ROWS < 20
    apart = weigh(FEATURES, ROWS[half], CODES[half], PARTS[half], 4) + weigh(
        FEATURES, ROWS[~half], CODES[~half], PARTS[~half], 4
    )
    together = weigh(FEATURES, ROWS, CODES, PARTS, 4)

    np.testing.assert_allclose(apart.features, together.features)
    np.testing.assert_allclose(apart.values, together.values)


@pytest.mark.parametrize("method", [ld.Anatomy(l=2), ld.BSGI(l=2), ld.RandomizedAddition(l=2)])
def test_another_classifier_of_the_same_kind_finds_the_same(method: ld.Method) -> None:
    bayes = pytest.importorskip("sklearn.naive_bayes")
    people = ld.datasets.patients(200, seed=1)
    roles = {
        "quasi": ["age", "sex"],
        "sensitive": "disease",
        "drop": [n for n in people.column_names if n not in {"age", "sex", "disease"}],
    }
    release = ld.anonymize(people, **roles, method=method, insecure_seed=1)
    own, given = (
        ld.attack(release, people, attacks=ld.DeFinetti(rounds=2, classifier=one)).results[0]
        for one in (None, bayes.MultinomialNB(alpha=0.1))
    )

    assert own.success == pytest.approx(given.success)
    assert own.mean_belief == pytest.approx(given.mean_belief)


def test_attackers_learn_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    people = ld.datasets.hospital()
    release = ld.anonymize(people, quasi=["sex", "age"], sensitive="disease", method=ld.Anatomy(l=2))

    assert ld.attack(release, people, attacks="definetti").results[0].found == people.num_rows
    with pytest.raises(ld.UnsupportedError, match="another classifier needs scikit-learn"):
        ld.attack(release, people, attacks=ld.DeFinetti(classifier=object()))

"""Twenty thousand devices, each with a secret of its own: estimates cover the truth, and are those of a publication.

Uniform sets, balanced sets of an order, of uneven groups, and listed ones. Secrets follow from a seed, so that a run
can be repeated; each set is drawn by the code that a device runs.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.collection.device import Device
from ldiversity.collection.device._ledger import Ledger
from ldiversity.collection.draw import DeviceSecret
from ldiversity.collection.results import to_release
from ldiversity.collection.survey import Question, Reports, SignedSurvey, Survey, SurveyKey
from ldiversity.schema import Domain
from tests.unit.collection.surveys import plain

N, GROUPS = 20_000, 40
SEX = ("female", "male")
TREE = ["a1 A", "a2 A", "a3 A", "b1 B", "b2 B", "c1 C", "d1 D", "d2 D"]
RING = [f"r{place}" for place in range(9)]


def on_ring(i: int, j: int) -> float:
    return float(min((i - j) % 9, (j - i) % 9))


METHODS: dict[str, tuple[list[str], bool, ld.Method, str]] = {
    "uniform": ([f"v{place:02d}" for place in range(12)], False, ld.RandomizedAddition(l=3), "partition"),
    "ordered": ([f"o{place}" for place in range(9)], True, ld.SemanticDiversity(l=2, d=3, distance="ordered"), "chain"),
    "groups": (
        TREE,
        False,
        ld.SemanticDiversity(
            l=2, d=2, distance=ld.TreeDistance(ld.Hierarchy(tuple((one, one[-1], "*") for one in TREE)))
        ),
        "chain",
    ),
    "listed": (
        RING,
        False,
        ld.SemanticDiversity(
            l=2, d=2, distance=ld.MatrixDistance(RING, [[on_ring(i, j) for j in range(9)] for i in range(9)])
        ),
        "listed",
    ),
}
"""Values, whether they are ordered, the holder's method, and the draw of a device."""


@cache
def signed() -> SignedSurvey:
    questions = [
        {
            "name": name,
            "ask": "Which?",
            "values": values,
            "ordered": ordered,
            "positions": None,
            "mechanism": method.fit(Domain(tuple(values), ordered=ordered)).to_dict(),  # type: ignore[attr-defined]
        }
        for name, (values, ordered, method, _) in METHODS.items()
    ]
    sex = [{"kind": "choice", "name": "sex", "ask": "Sex?", "values": list(SEX)}]
    return SurveyKey.new().sign(Survey.model_validate(plain(quasi=sex, questions=questions)))


@dataclass(frozen=True)
class People:
    """True codes of everybody, and what their devices sent."""

    sex: np.ndarray[Any, Any]
    true: dict[str, np.ndarray[Any, Any]]
    bodies: bytes

    def rows(self) -> np.ndarray[Any, Any]:
        return np.frombuffer(self.bodies, dtype="<u2").reshape(N, -1)


def secret(person: int) -> DeviceSecret:
    return DeviceSecret(hashlib.sha256(f"device {person}".encode()).digest())


@cache
def people() -> People:
    rng = np.random.default_rng(12)
    sex = rng.integers(0, 2, N)
    true, columns = {}, [sex[:, np.newaxis]]
    for question in signed().survey.questions:
        shares = rng.dirichlet(np.full(len(question.values), 2.0), size=2)
        codes = np.array([rng.choice(len(question.values), p=shares[one]) for one in sex])
        true[question.name] = codes
        columns.append(np.array([hide(secret(person), question, int(code)) for person, code in enumerate(codes)]))
    return People(sex, true, np.hstack(columns).astype("<u2").tobytes())


def hide(own: DeviceSecret, question: Question, code: int) -> tuple[int, ...]:
    return own.hide(question.draw, question.name, question.values, code)


def test_each_question_has_its_own_kind_of_draw() -> None:
    assert [one.draw.kind for one in signed().survey.questions] == [draw for *_, draw in METHODS.values()]


def test_the_bodies_are_those_that_devices_send() -> None:
    asked, crowd = signed(), people()
    reports, rows = Reports(asked.survey, asked.id), crowd.rows()
    for person in range(0, N, 1000):
        device = Device(secret(person), Ledger(Path("there-is-none.json")))
        given: dict[str, str | int] = {name: METHODS[name][0][codes[person]] for name, codes in crowd.true.items()}
        (report,) = device.answer(asked, {**given, "sex": SEX[crowd.sex[person]]}).reports
        assert reports.read(report.body)[0].body == rows[person].tobytes()


@pytest.mark.parametrize("name", METHODS)
def test_estimates_are_within_their_errors(name: str) -> None:
    # At most 12 values in 3 cells: the greatest of 36 z-scores is beyond 5 in one of 48,000 runs.
    crowd, release = people(), to_release(signed(), 0, people().bodies)
    for by in (None, "sex"):
        found = ld.estimate(release, by=by, sensitive=name, estimator="linear")
        for cell in range(found.n_cells):
            chosen = crowd.true[name] if by is None else crowd.true[name][crowd.sex == cell]
            truth = np.bincount(chosen, minlength=len(METHODS[name][0]))
            assert (np.abs(found.count[cell] - truth) < 5 * found.std_error[cell]).all()


@pytest.mark.parametrize("name", METHODS)
def test_intervals_of_95_percent_hold_the_truth_that_often(name: str) -> None:
    # 40 groups of 500 devices are independent. An interval that holds with 95 % misses 10 times or more of 40 in one of
    # 48,000 cases, so one of at most 12 values does in one of 4,000 runs, whatever values have to do with each other.
    crowd, rows = people(), people().rows()
    size = len(METHODS[name][0])
    missed = np.zeros(size)
    for group in np.split(np.arange(N), GROUPS):
        release = to_release(signed(), 0, rows[group].tobytes())
        found = ld.estimate(release, sensitive=name, confidence=0.95)
        truth = np.bincount(crowd.true[name][group], minlength=size)
        missed += (truth < found.low[0]) | (truth > found.high[0])
    assert missed.max() < 10
    # All values together, where three of each four misses may come with another one: 4 standard errors, one in 31,000.
    assert missed.sum() / (GROUPS * size) < 0.05 + 4 * np.sqrt(0.05 * 0.95 * 4 / (GROUPS * size))


@pytest.mark.parametrize("name", METHODS)
def test_they_are_those_of_a_publication_of_the_same_people(name: str) -> None:
    crowd, (values, _, method, _) = people(), METHODS[name]
    table = pa.table({"sex": [SEX[one] for one in crowd.sex], name: [values[one] for one in crowd.true[name]]})
    published = ld.anonymize(table, quasi="sex", sensitive=ld.Sensitive(name, domain=values), method=method)
    collected = to_release(signed(), 0, people().bodies)
    assert isinstance(published, ld.SetRelease)
    assert published.mechanism(name).to_dict() == collected.mechanism(name).to_dict()
    assert published.claim(name) == collected.claim(name)
    for by in (None, "sex"):
        one, other = (
            ld.estimate(release, by=by, sensitive=name, estimator="linear") for release in (published, collected)
        )
        # Errors follow from estimated counts, so those of two draws differ by chance: over 24 draws, the standard
        # deviation of a ratio was .015 at most. One of 76 is beyond five of them in 4e-5 of all runs.
        assert np.abs(one.std_error / other.std_error - 1).max() < 0.076
        together = np.hypot(one.std_error, other.std_error)
        # The greatest of 36 z-scores, as above.
        assert (np.abs(one.count - other.count) < 5 * together).all()

"""What a change of live results costs: processor time of the next step, when 100,000 reports are counted."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from _measure import Result, cost_of

from ldiversity.collection.results import LiveResults
from ldiversity.collection.survey import EXAMPLE, SignedSurvey, SurveyKey, draft_survey

REPORTS = 100_000
STEPS = 9


def run() -> list[Result]:
    signed = _example()
    rng = np.random.default_rng(0)
    live = LiveResults(signed)
    live.add(0, _bodies(signed, rng, REPORTS))
    live.snapshot()

    def step() -> None:
        live.add(0, _bodies(signed, rng, 1_000))
        live.snapshot()

    making = cost_of(lambda: _bodies(signed, rng, 1_000), repeat=STEPS)
    cost = cost_of(step, repeat=STEPS)
    shown = live.snapshot()
    assert shown.answers is not None
    assert shown.answers > REPORTS
    detail = "two questions, each overall and by two columns of three and five cells"
    return [Result("live results, 100,000 reports, a step", (cost.cpu - making.cpu) * 1e3, 50, "ms CPU", detail)]


def _example() -> SignedSurvey:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "survey.toml"
        file.write_text(EXAMPLE, encoding="utf-8")
        return SurveyKey.new().sign(draft_survey(file))


def _bodies(signed: SignedSurvey, rng: np.random.Generator, n: int) -> bytes:
    """Reports with any sets that devices can send."""
    survey = signed.survey
    columns = [rng.integers(0, len(one.labels), n)[:, np.newaxis] for one in survey.quasi]
    for question in survey.questions:
        words = rng.integers(0, 2**63, (200, question.draw.first_words)).tolist()
        codes = rng.integers(0, len(question.values), 200).tolist()
        sets = [question.draw.sample(code, own) for code, own in zip(codes, words, strict=True)]
        known = np.array([one for one in sets if one is not None])
        columns.append(known[rng.integers(0, len(known), n)])
    return np.hstack(columns).astype("<u2").tobytes()

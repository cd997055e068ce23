"""Results change in steps: no difference and no combination of what is shown shows one report, on planted sequences."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldiversity.collection.results import LiveResults, ResultsAnswer
from ldiversity.collection.results._steps import admitted
from ldiversity.collection.survey import SignedSurvey, SurveyKey
from ldiversity.errors import ParameterError, StorageError
from tests.unit.collection.surveys import survey

STEP, MINIMUM = 10, 20


def signed(**changes: Any) -> SignedSurvey:
    rules = {"public": True, "minimum": MINIMUM, "step": STEP, "goal": 0.05}
    return SurveyKey.new().sign(survey(results=rules, **changes))


def report(rng: np.random.Generator, age: int, sex: int) -> bytes:
    """A body of the survey: two codes, and any three of six values."""
    members = sorted(rng.choice(6, 3, replace=False).tolist())
    return np.array([age, sex, *members], dtype="<u2").tobytes()


def counts(answer: ResultsAnswer) -> dict[tuple[str, str], int]:
    """How many answers each cell counts."""
    (question,) = answer.questions
    found = {(part.column, cell.label): cell.answers for part in question.by for cell in part.cells}
    return {**found, ("", ""): 0 if question.overall is None else question.overall.answers}


def sequence(rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Ages and sexes, with rare ones planted at the steps, where they would be seen alone."""
    for place in range(600):
        rare = place % STEP == STEP - 1
        yield (2, 2) if rare and place % 3 else (int(rng.integers(0, 2)), int(rng.integers(0, 2)))


def test_every_cell_gains_nothing_or_a_step_and_begins_with_the_minimum() -> None:
    rng = np.random.default_rng(1)
    results, before, changes = LiveResults(signed()), {("", ""): 0}, 0
    for age, sex in sequence(rng):
        results.add(0, report(rng, age, sex))
        now = counts(results.snapshot())
        changes += now != before
        for cell, number in now.items():
            gained = number - before.get(cell, 0)
            assert gained == 0 or gained >= (STEP if before.get(cell, 0) else MINIMUM)
        before = now
    assert changes > 10
    assert before["age", "45 or more"] >= MINIMUM, "rare people are counted in the end"


def test_results_never_change_after_each_report() -> None:
    rng, results, shown = np.random.default_rng(2), LiveResults(signed(quasi=[])), []
    for _ in range(100):
        members = sorted(rng.choice(6, 3, replace=False).tolist())
        results.add(0, np.array(members, dtype="<u2").tobytes())
        shown.append(results.snapshot().answers)
    assert sorted(set(filter(None, shown))) == list(range(MINIMUM, 101, STEP))
    assert shown[MINIMUM - 2] is None


def seen_alone(profiles: np.ndarray[Any, Any], sizes: list[int]) -> set[int]:
    """A slow reference: reports whose own indicator is a combination of the cells' indicators, by ranks."""
    cells = [profiles[:, column] == code for column, size in enumerate(sizes) for code in range(size)]
    matrix = np.array([np.ones(len(profiles)), *cells], dtype=float)
    rank = np.linalg.matrix_rank(matrix)
    return {
        place
        for place in range(len(profiles))
        if np.linalg.matrix_rank(np.vstack([matrix, np.eye(len(profiles))[place]])) == rank
    }


def fewest(profiles: np.ndarray[Any, Any], sizes: list[int]) -> int:
    """A slow reference: how many reports a combination of cells is about at least, if it is about any.

    A combination is 0 for reports whose cells are combinations of those of other reports for which it is 0. So all sets
    of profiles are closed in this sense, and the reports outside are counted.
    """
    kinds, counts = np.unique(profiles, axis=0, return_counts=True)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    cells = np.zeros((len(kinds), sum(sizes)))
    np.put_along_axis(cells, kinds.astype(np.int64) + starts, 1.0, axis=1)
    found = [len(profiles)]
    for chosen in product([False, True], repeat=len(kinds)):
        zero = cells[list(chosen)]
        rank = np.linalg.matrix_rank(zero) if len(zero) else 0
        other = [np.linalg.matrix_rank(np.vstack([zero, one])) > rank for one in cells]
        found += [int(counts[other].sum())] if any(other) else []
    return min(found)


def needed(sizes: list[int], number: int) -> list[np.ndarray[Any, Any]]:
    return [np.full(size, number) for size in sizes]


def test_a_report_that_a_combination_of_cells_shows_alone_waits() -> None:
    # "yes" without "female" is one man: 12 women say yes, 12 men say no, and one man says yes.
    profiles = np.array([[0, 0]] * 12 + [[1, 1]] * 12 + [[0, 1]], dtype=np.uint16)
    assert seen_alone(profiles, [2, 2]) == {24}, "planted"
    kept = admitted(profiles, [2, 2], needed([2, 2], STEP), STEP, STEP)
    assert kept.sum() == 24
    assert not kept[24]


def test_reports_that_a_combination_of_cells_shows_as_a_difference_wait() -> None:
    # "yes" without "female" is one man who says yes without one woman who says no: each set is seen where they differ.
    profiles = np.array([[0, 0]] * 30 + [[1, 1]] * 30 + [[0, 1], [1, 0]], dtype=np.uint16)
    assert not seen_alone(profiles, [2, 2])
    assert fewest(profiles, [2, 2]) == 2, "planted"
    kept = admitted(profiles, [2, 2], needed([2, 2], STEP), STEP, STEP)
    assert kept.tolist() == [True] * 60 + [False] * 2


def test_the_difference_of_two_groups_shows_no_two_sets() -> None:
    rng, results = np.random.default_rng(8), LiveResults(signed())
    others = [report(rng, *pair) for pair in [(0, 0), (1, 1)] * 30]
    two = [np.array([0, 1, 0, 1, 2], dtype="<u2").tobytes(), np.array([1, 0, 3, 4, 5], dtype="<u2").tobytes()]
    results.add(0, b"".join([*others, *two]))
    by_age, by_sex = results.snapshot().questions[0].by
    first, other = by_age.cells[0], by_sex.cells[0]
    assert (first.answers, other.answers) == (30, 30)
    assert first.values == other.values


@pytest.mark.parametrize("seed", range(12))
def test_nothing_that_is_counted_at_once_shows_a_few_reports(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = [[3, 3], [2, 3, 4], [4, 2, 2, 3]][seed % 3]
    # People of few kinds: tables with many empty places, in which combinations isolate more.
    kinds = np.stack([rng.integers(0, size, 7) for size in sizes], axis=1)
    profiles = kinds[rng.choice(7, 60, p=rng.dirichlet(np.full(7, 0.5)))].astype(np.uint16)
    kept = admitted(profiles, sizes, needed(sizes, 5), 5, 5)
    assert not kept.any() or fewest(profiles[kept], sizes) >= 5
    for column, size in enumerate(sizes):
        gained = np.bincount(profiles[kept, column], minlength=size)
        assert ((gained == 0) | (gained >= 5)).all()


def test_without_the_rule_such_reports_would_be_shown() -> None:
    # The same tables, all counted at once: the reference finds what the rule prevents.
    found = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        sizes = [[3, 3], [2, 3, 4], [4, 2, 2, 3]][seed % 3]
        kinds = np.stack([rng.integers(0, size, 7) for size in sizes], axis=1)
        profiles = kinds[rng.choice(7, 60, p=rng.dirichlet(np.full(7, 0.5)))].astype(np.uint16)
        found += fewest(profiles, sizes) < 5
    assert found >= 3


def test_tables_with_enough_reports_of_each_kind_do_not_wait() -> None:
    profiles = np.array([*product(range(3), range(4))] * 8, dtype=np.uint16)  # 6 groups in all, 96 reports
    assert admitted(profiles, [3, 4], needed([3, 4], STEP), STEP, STEP).all()


def test_after_a_restart_results_stay_until_every_cell_has_gained_enough(tmp_path: Path) -> None:
    rng, asked, file = np.random.default_rng(3), signed(), tmp_path / "results.json"
    stored = [report(rng, *pair) for pair in [(0, 0), (1, 1), (0, 1), (1, 0)] * 10]
    first = LiveResults(asked, remembered=file)
    first.add(0, b"".join(stored))
    shown = first.snapshot()
    assert shown.answers == 40

    stored.append(report(rng, 0, 0))  # one more, and the server is started anew
    again = LiveResults(asked, remembered=file)
    again.add(0, b"".join(stored))
    assert again.snapshot() == shown

    more = [report(rng, *pair) for pair in [(0, 0), (1, 1), (0, 1), (1, 0)] * 8]
    again.add(0, b"".join(more))
    assert again.snapshot().answers == 73


@pytest.mark.parametrize("rare", [[(0, 1)], [(0, 1), (1, 0)]])
def test_after_a_restart_no_combination_shows_a_few_reports(tmp_path: Path, rare: list[tuple[int, int]]) -> None:
    rng, asked, file = np.random.default_rng(9), signed(), tmp_path / "results.json"
    stored = [report(rng, *pair) for pair in [(0, 0), (1, 1), (0, 1), (1, 0)] * 20]
    first = LiveResults(asked, remembered=file)
    first.add(0, b"".join(stored))
    shown = first.snapshot()
    assert shown.answers == 80
    assert file.stat().st_mode & 0o077 == 0

    # Each group gains a step, but by differences a few people would be seen.
    stored += [report(rng, *pair) for pair in [(0, 0), (1, 1)] * 30 + rare]
    again = LiveResults(asked, remembered=file)
    again.add(0, b"".join(stored))
    assert again.snapshot() == shown
    again.add(0, b"".join(report(rng, *pair) for pair in [(0, 1), (1, 0)] * 12))
    assert again.snapshot().answers == 80 + 60 + len(rare) + 24


def test_results_are_not_shown_by_a_column_of_too_many_groups() -> None:
    rng = np.random.default_rng(7)
    many = {"kind": "choice", "name": "town", "ask": "Where?", "values": [f"town {place}" for place in range(17)]}
    results = LiveResults(signed(quasi=[many]))
    towns = rng.integers(0, 17, 40)
    sets = np.sort(np.argsort(rng.random((40, 6)), axis=1)[:, :3], axis=1)
    results.add(0, np.column_stack([towns, sets]).astype("<u2").tobytes())
    (question,) = results.snapshot().questions
    assert (question.by, results.snapshot().answers) == ((), 40)


def test_questions_that_are_not_linked_are_counted_apart() -> None:
    (question,) = survey().model_dump()["questions"]
    asked = signed(quasi=[], linked=False, questions=[question, {**question, "name": "before"}])
    results = LiveResults(asked)
    results.add(0, np.array([0, 1, 2] * 40, dtype="<u2").tobytes())
    results.add(1, np.array([3, 4, 5] * 19, dtype="<u2").tobytes())
    first, second = results.snapshot().questions
    assert first.overall is not None
    assert (first.overall.answers, second.overall) == (40, None)
    assert (results.snapshot().answers, results.snapshot().more_answers, results.snapshot().reached) == (
        None,
        None,
        False,
    )
    results.add(1, np.array([3, 4, 5] * 11, dtype="<u2").tobytes())
    assert results.snapshot().answers == 30, "that of the question with the fewest"


def test_after_a_restart_groups_that_are_too_small_still_wait(tmp_path: Path) -> None:
    rng, asked, file = np.random.default_rng(4), signed(), tmp_path / "results.json"
    stored = [report(rng, *pair) for pair in [(0, 0), (1, 1), (0, 1), (1, 0)] * 10]
    first = LiveResults(asked, remembered=file)
    first.add(0, b"".join(stored))
    first.snapshot()
    stored += [report(rng, 2, 2)] + [report(rng, *pair) for pair in [(0, 0), (1, 1), (0, 1), (1, 0)] * 8]
    again = LiveResults(asked, remembered=file)
    again.add(0, b"".join(stored))
    assert again.snapshot().answers == 72
    assert ("age", "45 or more") not in counts(again.snapshot())


def test_a_file_that_is_none_of_results_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text('{"survey": 3}')
    with pytest.raises(ParameterError, match="must be one that this command wrote"):
        LiveResults(signed(), remembered=file)


def test_what_cannot_be_remembered_is_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "later" / "results.json"
    results = LiveResults(signed(quasi=[]), remembered=file)
    before = results.snapshot()
    results.add(0, np.array([0, 1, 2] * 40, dtype="<u2").tobytes())
    for _ in range(2):
        with pytest.raises(StorageError, match="cannot be written"):
            results.snapshot()
    assert before.answers is None
    file.parent.mkdir()
    assert results.snapshot().answers == 40
    file.unlink()
    file.mkdir()
    with pytest.raises(StorageError, match="cannot be read"):
        LiveResults(signed(quasi=[]), remembered=file)


def test_results_of_another_survey_are_not_taken_over(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    first = LiveResults(signed(quasi=[]), remembered=file)
    first.add(0, b"".join(np.array([0, 1, 2], dtype="<u2").tobytes() for _ in range(40)))
    assert first.snapshot().answers == 40
    assert LiveResults(signed(title="Another"), remembered=file).snapshot().answers is None


def test_the_forecast_follows_from_the_variance() -> None:
    rng = np.random.default_rng(6)
    results = LiveResults(signed(quasi=[]))
    bodies = b"".join(np.sort(rng.choice(6, 3, replace=False)).astype("<u2").tobytes() for _ in range(400))
    results.add(0, bodies)
    answer = results.snapshot()
    assert answer.half_width is not None
    assert answer.more_answers is not None
    exact = 400 * ((answer.half_width / 0.05) ** 2 - 1)
    assert exact - 1e-6 <= answer.more_answers <= exact + 10
    assert not answer.reached


def test_results_that_cannot_be_remembered_are_not_shown(tmp_path: Path) -> None:
    rng, asked, file = np.random.default_rng(8), signed(quasi=[]), tmp_path / "none" / "results.json"
    results = LiveResults(asked, remembered=file)
    results.add(0, b"".join(report(rng, 0, 0)[4:] for _ in range(MINIMUM)))
    for _ in range(2):
        with pytest.raises(StorageError, match="cannot be written"):
            results.snapshot()

    file.parent.mkdir()

    assert results.snapshot().answers == LiveResults(asked, remembered=file).snapshot().answers == MINIMUM

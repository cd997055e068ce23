"""A writer answers everyone, keeps what it answers, refuses what is too much, and ends in order."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ldiversity.collection.store import Store, Writer
from ldiversity.collection.store._upkeep import Upkeep
from ldiversity.collection.survey import Kept
from ldiversity.errors import BusyError, InternalError, LDiversityError, ParameterError, StorageError
from tests.collection.stores import ONE, OTHER, bodies, kept


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path}/survey.db") as store:
        store.add_survey(ONE)
        store.add_survey(OTHER)
        yield store


class SlowStore:
    """A store that waits until it is told to go on, and notes what is done."""

    def __init__(self, store: Store, fault: Exception | None = None) -> None:
        self.store, self.fault = store, fault
        self.may_go_on = threading.Event()
        self.done: list[str] = []
        self.groups: list[int] = []

    def add(self, survey_id: str, reports: Sequence[Kept]) -> int:
        self.may_go_on.wait(10)
        if self.fault is not None:
            raise self.fault
        self.groups.append(len(reports))
        return self.store.add(survey_id, reports)

    def tidy(self, *, patience: float) -> None:  # noqa: ARG002
        self.done.append("tidy")

    def checkpoint(self, *, patience: float) -> None:  # noqa: ARG002
        self.done.append("checkpoint")

    def total(self) -> int:
        return self.store.total()


async def results_of(writer: Writer, batches: Sequence[tuple[str, Sequence[Kept]]]) -> list[BaseException | None]:
    return await asyncio.gather(*(writer.add(survey, batch) for survey, batch in batches), return_exceptions=True)


def test_what_comes_while_it_writes_shares_the_next_transaction(store: Store) -> None:
    slow = SlowStore(store)

    async def run() -> None:
        async with Writer(slow, gather_seconds=0) as writer:  # type: ignore[arg-type]
            first = asyncio.create_task(writer.add(ONE.id, [kept(0)]))
            await asyncio.sleep(0.1)
            others = [asyncio.create_task(writer.add(ONE.id, [kept(number)])) for number in range(1, 50)]
            await asyncio.sleep(0.1)
            slow.may_go_on.set()
            await asyncio.gather(first, *others)

    asyncio.run(run())

    assert slow.groups == [1, 49]
    assert sorted(bodies(store)) == list(range(50))


def test_too_many_waiting_reports_are_refused_and_those_before_are_kept(store: Store) -> None:
    slow = SlowStore(store)

    async def run() -> list[BaseException | None]:
        async with Writer(slow, most_waiting=10) as writer:  # type: ignore[arg-type]
            asyncio.get_running_loop().call_later(0.1, slow.may_go_on.set)
            found = await results_of(writer, [(ONE.id, [kept(2 * n), kept(2 * n + 1)]) for n in range(7)])
            await writer.add(ONE.id, [kept(100)])  # there is room again
            return found

    found = asyncio.run(run())

    assert found[:5] == [None] * 5
    assert [type(one) for one in found[5:]] == [BusyError] * 2
    assert str(found[5]) == "storage: has too many reports waiting.\nHint: Try again in a moment."
    assert sorted(bodies(store)) == [*range(10), 100]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [(StorageError("database", "has no room left"), StorageError), (ZeroDivisionError("canary"), InternalError)],
)
def test_a_fault_reaches_everyone_who_waits(store: Store, fault: Exception, expected: type[LDiversityError]) -> None:
    slow = SlowStore(store, fault)
    slow.may_go_on.set()

    async def run() -> list[BaseException | None]:
        async with Writer(slow) as writer:  # type: ignore[arg-type]
            found = await results_of(writer, [(ONE.id, [kept(number)]) for number in range(20)])
            slow.fault = None
            await writer.add(ONE.id, [kept(99)])  # the thread lives on
            return found

    found = asyncio.run(run())

    assert {type(one) for one in found} == {expected}
    assert len({id(one) for one in found}) == 20
    assert "canary" not in str(found)
    assert bodies(store) == [99]


def test_a_closed_survey_concerns_only_its_own_reports(store: Store) -> None:
    store.close_survey(OTHER.id)

    async def run() -> list[BaseException | None]:
        async with Writer(store) as writer:
            return await results_of(writer, [(ONE.id, [kept(1)]), (OTHER.id, [kept(2)]), (ONE.id, [kept(3)])])

    found = asyncio.run(run())

    assert (found[0], type(found[1]), found[2]) == (None, ParameterError, None)
    assert sorted(bodies(store)) == [1, 3]


def test_what_waits_is_written_before_the_end_and_nothing_is_taken_after(store: Store) -> None:
    slow = SlowStore(store)

    async def run() -> None:
        writer = Writer(slow)  # type: ignore[arg-type]
        writer.start()
        waiting = [asyncio.create_task(writer.add(ONE.id, [kept(number)])) for number in range(30)]
        await asyncio.sleep(0)
        stopping = asyncio.create_task(writer.stop())
        await asyncio.sleep(0.05)
        with pytest.raises(BusyError, match="storage: is being closed"):
            await writer.add(ONE.id, [kept(31)])
        slow.may_go_on.set()
        await stopping
        await asyncio.gather(*waiting)

    asyncio.run(run())

    assert sorted(bodies(store)) == list(range(30))
    assert slow.done == ["tidy", "tidy"]


def test_a_caller_who_leaves_does_not_undo_a_report(store: Store) -> None:
    slow = SlowStore(store)

    async def run() -> None:
        async with Writer(slow) as writer:  # type: ignore[arg-type]
            leaving = asyncio.create_task(writer.add(ONE.id, [kept(1)]))
            await asyncio.sleep(0.05)
            leaving.cancel()
            slow.may_go_on.set()
            await writer.add(ONE.id, [kept(2)])

    asyncio.run(run())

    assert sorted(bodies(store)) == [1, 2]


def test_stopping_a_writer_that_never_started_is_nothing(store: Store) -> None:
    asyncio.run(Writer(store).stop())


class Notes:
    """A store that only notes what it is told to do."""

    def __init__(self) -> None:
        self.reports, self.done = 0, list[str]()
        self.fault: Exception | None = None

    def tidy(self, *, patience: float) -> None:  # noqa: ARG002
        if self.fault is not None:
            raise self.fault
        self.done.append(f"tidy {self.reports}")

    def checkpoint(self, *, patience: float) -> None:  # noqa: ARG002
        self.done.append("checkpoint")

    def total(self) -> int:
        return self.reports


class Hours:
    """A clock that goes on when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def kept_up() -> tuple[Notes, Hours, Upkeep]:
    notes, hours = Notes(), Hours()
    return notes, hours, Upkeep(notes, hours)  # type: ignore[arg-type]


def test_tables_are_rewritten_at_the_start_and_whenever_reports_have_doubled() -> None:
    notes, _, upkeep = kept_up()
    notes.reports = 100

    upkeep.begin()
    for _ in range(1000):
        notes.reports += 1
        upkeep.count(1)
        upkeep.work()
    upkeep.end()

    assert notes.done == ["tidy 100", "tidy 200", "tidy 400", "tidy 800", "tidy 1100"]


def test_the_log_is_emptied_soon_and_a_quiet_survey_rewritten_after_a_while() -> None:
    notes, hours, upkeep = kept_up()
    upkeep.begin()
    assert upkeep.pause is None
    notes.reports += 1
    upkeep.count(1)
    upkeep.work()
    assert (notes.done, upkeep.pause) == (["tidy 0"], 5.0)

    hours.now = 6
    upkeep.work()
    assert notes.done == ["tidy 0", "checkpoint"]
    hours.now = 61
    upkeep.work()
    assert notes.done == ["tidy 0", "checkpoint", "tidy 1"]
    hours.now = 1000
    upkeep.work()
    assert (notes.done, upkeep.pause) == (["tidy 0", "checkpoint", "tidy 1"], None)
    upkeep.end()
    assert notes.done == ["tidy 0", "checkpoint", "tidy 1", "tidy 1"]


@pytest.mark.parametrize("fault", [BusyError("database", "is being read"), ZeroDivisionError("canary")])
def test_a_rewrite_that_failed_is_told_and_tried_again_later(fault: Exception) -> None:
    notes, hours, upkeep = kept_up()
    upkeep.begin()
    notes.fault = fault
    notes.reports += 40
    upkeep.count(40)

    upkeep.work()
    assert isinstance(upkeep.fault, LDiversityError)
    assert "canary" not in str(upkeep.fault)
    notes.fault = None
    upkeep.work()
    assert notes.done == ["tidy 0"]
    hours.now = 6
    upkeep.work()

    assert (notes.done, upkeep.fault) == (["tidy 0", "tidy 40"], None)


def test_a_rewrite_that_fails_for_long_is_tried_less_and_less_often() -> None:
    notes, hours, upkeep = kept_up()
    upkeep.begin()
    notes.fault = BusyError("database", "is being read")
    upkeep.count(40)
    tried: list[int] = []
    for second in range(2000):
        hours.now, before = second, upkeep.fault
        notes.fault = BusyError("database", "is being read")
        upkeep.work()
        tried += [] if upkeep.fault is before else [second]

    assert tried == [0, 5, 15, 35, 75, 155, 315, 615, 915, 1215, 1515, 1815]

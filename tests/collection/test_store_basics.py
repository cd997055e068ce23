"""A store keeps each report once, on SQLite and on PostgreSQL, and gives it back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from ldiversity.collection.store import Store, Writer
from ldiversity.collection.survey import Kept, SurveyKey
from ldiversity.errors import ParameterError
from tests.collection.stores import ONE, OTHER, bodies, kept
from tests.unit.collection.surveys import survey


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url) as store:
        store.add_survey(ONE)
        store.add_survey(OTHER)
        yield store


def test_reports_are_kept_by_survey_and_part(store: Store) -> None:
    assert store.add(ONE.id, [kept(1), kept(2), kept(3, part=1)]) == 3
    assert store.add(OTHER.id, [kept(4)]) == 1

    assert sorted(bodies(store)) == [1, 2]
    assert (bodies(store, part=1), bodies(store, OTHER)) == ([3], [4])
    assert (store.count(ONE.id), store.count(ONE.id, 1), store.count(OTHER.id), store.total()) == (2, 1, 1, 4)


def test_the_first_report_of_a_token_is_kept_in_one_batch_and_in_two(store: Store) -> None:
    assert store.add(ONE.id, [kept(1, 10), kept(2, 20), kept(1, 11)]) == 2
    assert store.add(ONE.id, [kept(2, 21), kept(3, 30)]) == 1
    assert store.add(ONE.id, [kept(1, 12)]) == 0

    assert sorted(bodies(store)) == [10, 20, 30]


def test_nothing_is_nothing(store: Store) -> None:
    assert store.add(ONE.id, []) == 0
    assert store.bodies(ONE.id, 0) == b""


def test_surveys_are_added_once_and_keep_their_order(store: Store) -> None:
    store.add_survey(ONE)

    assert store.surveys() == (ONE.id, OTHER.id)


def test_a_survey_comes_back_as_it_was_signed(store: Store) -> None:
    signed = SurveyKey.new().sign(survey())
    store.add_survey(signed)

    assert store.survey(signed.id) == signed
    assert store.survey("3" * 64) is None


def test_a_closed_survey_takes_nothing_more_and_keeps_what_it_has(store: Store) -> None:
    store.add(ONE.id, [kept(1)])
    store.close_survey(ONE.id)
    store.close_survey(ONE.id)

    assert (store.is_closed(ONE.id), store.is_closed(OTHER.id)) == (True, False)
    with pytest.raises(ParameterError, match="survey: is closed"):
        store.add(ONE.id, [kept(2)])
    assert (bodies(store), store.add(OTHER.id, [kept(1)])) == ([1], 1)


@pytest.mark.parametrize("use", ["add", "close", "is_closed", "invite"])
def test_an_unknown_survey_is_said_to_be_unknown(store: Store, use: str) -> None:
    calls = {
        "add": lambda: store.add("3" * 64, [kept(1)]),
        "close": lambda: store.close_survey("3" * 64),
        "is_closed": lambda: store.is_closed("3" * 64),
        "invite": lambda: store.add_invitations("3" * 64, [b"a"]),
    }

    with pytest.raises(ParameterError, match="survey: is not in this database"):
        calls[use]()


def test_invitations_belong_to_their_survey(store: Store) -> None:
    assert store.add_invitations(ONE.id, [b"a", b"b", b"a"]) == 2
    assert store.add_invitations(ONE.id, [b"b", b"c"]) == 1

    assert [store.has_invitation(ONE.id, name) for name in (b"a", b"c", b"d")] == [True, True, False]
    assert not store.has_invitation(OTHER.id, b"a")


def test_an_invitation_gets_one_blind_token_and_that_one_again(store: Store) -> None:
    store.add_invitations(ONE.id, [b"a"])

    assert store.issue(ONE.id, b"a", b"first")
    store.tidy()
    assert store.issue(ONE.id, b"a", b"first")
    assert not store.issue(ONE.id, b"a", b"second")
    assert not store.issue(ONE.id, b"b", b"first")


def test_tidying_changes_nothing_that_can_be_asked(store: Store) -> None:
    store.add(ONE.id, [kept(number, part=number % 2) for number in range(100)])
    before = bodies(store), bodies(store, part=1)

    store.tidy()
    store.checkpoint()

    assert (bodies(store), bodies(store, part=1)) == before
    assert store.add(ONE.id, [kept(number, part=number % 2) for number in range(101)]) == 1


def test_a_database_is_there_when_it_is_opened_again(database_url: str) -> None:
    with Store.open(database_url) as store:
        store.add_survey(ONE)
        store.add(ONE.id, [kept(1)])

    with Store.open(database_url, create=False) as store:
        assert (store.surveys(), bodies(store)) == ((ONE.id,), [1])


async def write_all(store: Store, batches: list[list[Kept]], **options: float) -> None:
    async with Writer(store, **options) as writer:  # type: ignore[arg-type]
        await asyncio.gather(*(writer.add(ONE.id, batch) for batch in batches))


def test_a_writer_keeps_what_it_answers(store: Store) -> None:
    asyncio.run(write_all(store, [[kept(number)] for number in range(300)]))

    assert sorted(bodies(store)) == list(range(300))


def test_a_writer_writes_many_reports_in_one_transaction(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    add = store.add
    monkeypatch.setattr(store, "add", lambda survey, group: (sizes.append(len(group)), add(survey, group))[1])

    asyncio.run(write_all(store, [[kept(number)] for number in range(300)]))

    assert sum(sizes) == 300
    assert len(sizes) <= 10

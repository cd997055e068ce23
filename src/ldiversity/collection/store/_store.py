"""The store: surveys, spent tokens, reports and invitations, in SQLite or PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Self

from sqlalchemy import URL, ColumnElement, Table, func, make_url, select, update
from sqlalchemy.exc import ArgumentError

from ldiversity.collection.store._database import PATIENCE, Database, Values
from ldiversity.collection.store._faults import in_one_sentence
from ldiversity.collection.store._tables import invitations, reports, surveys
from ldiversity.errors import ParameterError

if TYPE_CHECKING:  # the form of surveys takes longer to load than this room
    from ldiversity.collection.survey import Kept, SignedSurvey

__all__ = ["Store"]

_POSTGRESQL: Final = {"postgres", "postgresql", "postgresql+psycopg"}


class Store:
    """What a collector keeps: signed surveys, hashes of spent tokens, reports, hashes of invitations.

    No time, address or kind of device is kept, and nothing links a token to a report. All methods may be called from
    any thread. Faults are `StorageError` in one sentence, without anything that was to be written.

    Notes
    -----
    Until `tidy` or `close_survey`, someone who holds the database sees more of the reports since the last time. In the
    files of SQLite: the order of commits, and the tokens and reports of each, in the write-ahead log until
    `checkpoint`; and an incomplete order within each page. In PostgreSQL: the order of all, by ``ctid`` and ``xmin``;
    and a token and a report of the same commit have the same ``xmin``. PostgreSQL's own write-ahead log, backups, disk
    snapshots and freed blocks are beyond reach: see ``docs/collect-storage.md``.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Store.open(f"sqlite:///{folder}/survey.db") as store:
    ...     list(store.surveys())
    []
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._engine = database.engine

    @classmethod
    @in_one_sentence
    def open(cls, url: str, *, create: bool = True) -> Self:
        """Open a database, and bring it to this version.

        Parameters
        ----------
        url
            ``sqlite:///path`` or ``postgresql://user@host/database``.
        create
            Make the file of SQLite if there is none.
        """
        store = cls(_database(_read(url), create=create))
        try:
            store._database.prepare()
        except BaseException:
            store.dispose()
            raise
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dispose()

    @in_one_sentence
    def add_survey(self, signed: SignedSurvey) -> None:
        """Keep a signed survey; nothing changes if it is there."""
        document = signed.to_json()
        while signed.id not in self.surveys():
            with self._engine.connect() as connection:
                last = connection.execute(select(func.max(surveys.c.number))).scalar() or 0
            # If another process takes this number first, nothing is inserted, and the next one is tried.
            row: Values = {"number": last + 1, "id": signed.id, "document": document, "closed": False}
            self._database.insert_new(surveys, [row])

    @in_one_sentence
    def survey(self, survey_id: str) -> SignedSurvey | None:
        """A signed survey by its id."""
        from ldiversity.collection.survey import SignedSurvey

        with self._engine.connect() as connection:
            document = connection.execute(select(surveys.c.document).where(surveys.c.id == survey_id)).scalar()
        return None if document is None else SignedSurvey.from_json(bytes(document))

    @in_one_sentence
    def surveys(self) -> tuple[str, ...]:
        """The ids of all surveys, in the order in which they were added."""
        with self._engine.connect() as connection:
            return tuple(connection.execute(select(surveys.c.id).order_by(surveys.c.number)).scalars())

    @in_one_sentence
    def add(self, survey_id: str, kept: Sequence[Kept]) -> int:
        """Keep reports in one transaction, and return how many were new.

        Of those with the same token the first is kept, whether they come together, later, or from another process.
        When this returns, they are on disk.
        """
        added = self._database.add(survey_id, kept)
        if added is None:
            raise self._not_open(survey_id)
        return added

    @in_one_sentence
    def count(self, survey_id: str, part: int = 0) -> int:
        """How many reports a part of a survey has."""
        chosen = select(func.count()).select_from(reports).where(_of(reports, survey_id), reports.c.part == part)
        with self._engine.connect() as connection:
            return connection.execute(chosen).scalar_one()

    @in_one_sentence
    def total(self) -> int:
        """How many reports there are, of all surveys and parts."""
        with self._engine.connect() as connection:
            return connection.execute(select(func.count()).select_from(reports)).scalar_one()

    @in_one_sentence
    def bodies(self, survey_id: str, part: int = 0) -> bytes:
        """All bodies of a part, joined, in the order of their random keys."""
        chosen = select(reports.c.body).where(_of(reports, survey_id), reports.c.part == part).order_by(reports.c.key)
        with self._engine.connect() as connection:
            return b"".join(connection.execute(chosen).scalars())

    @in_one_sentence
    def close_survey(self, survey_id: str) -> None:
        """Close a survey for good, and tidy. It may be done again, for example when tidying failed."""
        if not self._database.close_survey(survey_id):
            raise self._not_open(survey_id)

    @in_one_sentence
    def is_closed(self, survey_id: str) -> bool:
        """Whether a survey takes no more reports."""
        with self._engine.connect() as connection:
            closed = connection.execute(select(surveys.c.closed).where(surveys.c.id == survey_id)).scalar()
        if closed is None:
            raise self._not_open(survey_id)
        return bool(closed)

    @in_one_sentence
    def tidy(self, *, patience: float = PATIENCE) -> None:
        """Remove what tells the order of arrival: all tables are written anew in the order of their keys.

        Parameters
        ----------
        patience
            How many seconds to wait for others who read or write; then it is a `BusyError`. Writers wait meanwhile.
        """
        self._database.rewrite(patience)

    @in_one_sentence
    def checkpoint(self, *, patience: float = PATIENCE) -> None:
        """Empty SQLite's write-ahead log. It is the cheap part of `tidy`; PostgreSQL has none."""
        self._database.checkpoint(patience)

    @in_one_sentence
    def add_invitations(self, survey_id: str, hashes: Iterable[bytes]) -> int:
        """Keep hashes of invitations, and return how many were new."""
        number = self._number(survey_id)
        rows: list[Values] = [{"survey": number, "hash": one, "blinded": None} for one in sorted({*hashes})]
        return self._database.insert_new(invitations, rows)

    @in_one_sentence
    def has_invitations(self, survey_id: str) -> bool:
        """Whether any invitations to the survey were made."""
        chosen = select(invitations.c.survey).where(_of(invitations, survey_id)).limit(1)
        with self._engine.connect() as connection:
            return connection.execute(chosen).first() is not None

    @in_one_sentence
    def has_invitation(self, survey_id: str, invitation: bytes) -> bool:
        """Whether the hash is one of the survey's invitations."""
        chosen = select(invitations.c.survey).where(_of(invitations, survey_id), invitations.c.hash == invitation)
        with self._engine.connect() as connection:
            return connection.execute(chosen).first() is not None

    @in_one_sentence
    def issue(self, survey_id: str, invitation: bytes, blinded: bytes) -> bool:
        """Whether a blinded message may be signed for an invitation: one for each, and that one again and again.

        Parameters
        ----------
        survey_id
            The id of the survey.
        invitation
            The hash of the invitation.
        blinded
            The hash of the blinded message. It says nothing about the token that comes of it.
        """
        this = (_of(invitations, survey_id), invitations.c.hash == invitation)
        with self._database.writing.begin() as connection:
            connection.execute(
                update(invitations).where(*this, invitations.c.blinded.is_(None)).values(blinded=blinded)
            )
            return connection.execute(select(invitations.c.blinded).where(*this)).scalar() == blinded

    def dispose(self) -> None:
        """Let go of all connections."""
        self._engine.dispose()

    def _number(self, survey_id: str) -> int:
        with self._engine.connect() as connection:
            number = connection.execute(select(surveys.c.number).where(surveys.c.id == survey_id)).scalar()
        if number is None:
            raise self._not_open(survey_id)
        return int(number)

    def _not_open(self, survey_id: str) -> ParameterError:
        if survey_id in self.surveys():
            return ParameterError("survey", "is closed: it takes no more reports")
        return ParameterError("survey", "is not in this database")


def _of(table: Table, survey_id: str) -> ColumnElement[bool]:
    return table.c.survey == select(surveys.c.number).where(surveys.c.id == survey_id).scalar_subquery()


def _read(url: str) -> URL:
    try:
        read = make_url(url)
    except ArgumentError:
        read = None
    if read is None or read.drivername not in {"sqlite", *_POSTGRESQL}:
        raise ParameterError("Store.open", "url", "must begin with sqlite:/// or postgresql://")
    return read


def _database(url: URL, *, create: bool) -> Database:
    if url.drivername in _POSTGRESQL:
        from ldiversity.collection.store._postgresql import PostgreSQL

        return PostgreSQL(url)
    from ldiversity.collection.store._sqlite import SQLite

    return SQLite(url, create=create)

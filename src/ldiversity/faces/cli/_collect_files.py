"""What the commands of ``ldiversity collect`` share: the files beside a survey, and its database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

import click

from ldiversity.base.numbers import counted
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.faces.cli._paths import READ

if TYPE_CHECKING:
    from ldiversity.collection.store import Store
    from ldiversity.collection.survey import SignedSurvey, Survey

__all__ = [
    "SurveyFiles",
    "database_option",
    "needs_collect",
    "opened_store",
    "refuse_answered",
    "says_the_same",
    "survey_argument",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

survey_argument: Final = click.argument("survey", type=READ, default=Path("survey.toml"), required=False)
database_option: Final = click.option(
    "--database",
    metavar="URL",
    envvar="LDIVERSITY_DATABASE",
    show_envvar=True,
    help="Where reports are kept: postgresql://user@host/name or sqlite:///file; by default a file beside the survey. "
    "The variable keeps a password out of the history of a shell and out of the list of processes.",
)


@dataclass(frozen=True)
class SurveyFiles:
    """The files beside the TOML file of a survey, which have its name.

    Examples
    --------
    >>> SurveyFiles(Path("health.toml")).signed.name
    'health.signed.json'
    """

    toml: Path

    def _beside(self, ending: str) -> Path:
        return self.toml.with_name(f"{self.toml.name.removesuffix('.toml')}{ending}")

    @property
    def key(self) -> Path:
        """The key that signs it."""
        return self._beside(".key")

    @property
    def blind_key(self) -> Path:
        """The key for blind signatures."""
        from ldiversity.collection.survey import blind_key_file

        return blind_key_file(self.toml)

    @property
    def signed(self) -> Path:
        """The signed survey."""
        return self._beside(".signed.json")

    @property
    def results(self) -> Path:
        """The results that were shown."""
        return self._beside(".results.json")

    @property
    def database(self) -> str:
        """The URL of the database that is used unless another one is named."""
        return f"sqlite:///{self.database_file.absolute()}"

    @property
    def database_file(self) -> Path:
        """The file of that database."""
        return self._beside(".db")

    def load(self) -> SignedSurvey:
        """The signed survey."""
        from ldiversity.collection.survey import SignedSurvey

        if not self.signed.exists():
            raise ParameterError("survey", f"file {str(self.toml)!r} must be signed first").with_hint(
                f"Run `ldiversity collect new {self.toml}`."
            )
        return SignedSurvey.load(self.signed)


def says_the_same(one: Survey, other: Survey) -> bool:
    """Whether a collector decided the same: weights are computed, and may differ in their last digits."""
    return _decided(one) == _decided(other)


def _decided(survey: Survey) -> object:
    said = survey.model_dump()
    for question in said["questions"]:
        question["mechanism"].pop("fitted", None)
    return said


def refuse_answered(files: SurveyFiles, signed: SignedSurvey, store: Store) -> None:
    """Refuse to change a survey that somebody answered, or may hold an invitation to: codes are for one text only."""
    if signed.id not in store.surveys():
        return
    answers = sum(store.count(signed.id, part) for part in range(len(signed.survey.parts)))
    invited = store.has_invitations(signed.id)
    if answers or invited or store.is_closed(signed.id):
        when = "invitations to it were made" if invited and not answers else f"{counted(answers, 'report')} came"
        codes = " Invitations do not fit it: make new ones." if invited else ""
        raise ParameterError("survey", f"file {str(files.toml)!r} was changed after {when}").with_hint(
            "Undo the change. To ask something else, copy the file to another name, and sign it with "
            f"`ldiversity collect new`: people then agree to the new one.{codes}"
        )


@contextmanager
def opened_store(files: SurveyFiles, url: str | None, *, create: bool = False) -> Iterator[tuple[Store, str]]:
    """The database of a survey, and its address without a password."""
    if url is None and not create and not files.database_file.exists():
        raise ParameterError(
            "database", f"file {str(files.database_file)!r} must be there, but nobody made it"
        ).with_hint(
            "Serve the survey first, with `ldiversity collect serve`, or name the database with which it is served."
        )
    with needs_collect():
        from ldiversity.collection.store import Store

        try:
            opened = Store.open(url or files.database, create=create)
        except ParameterError as error:
            raise ParameterError("database", error.rule or error.message, hint=error.hint) from None
    with opened as store:
        yield store, shown_address(url or files.database)


@contextmanager
def needs_collect() -> Iterator[None]:
    """Say which extra is missing, if a package is."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise UnsupportedError("collect", f"it needs the package {error.name}, which is not installed").with_hint(
            "Install ldiversity[collect], or ldiversity[postgresql] for a PostgreSQL database."
        ) from None


def shown_address(url: str) -> str:
    """The URL of a database without user, password and settings.

    Examples
    --------
    >>> shown_address("postgresql+psycopg://me:secret@db.example:5432/survey?password=secret")
    'postgresql://db.example:5432/survey'
    >>> shown_address("sqlite:////data/survey.db")
    'sqlite:////data/survey.db'
    """
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme.partition('+')[0]}://{host}{parts.path}"

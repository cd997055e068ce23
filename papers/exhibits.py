"""The parts of a rerun: studies of papers, made of exhibits with data, a picture and a verdict."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

import pyarrow as pa

import ldiversity as ld
from papers.verdicts import Outcome, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Exhibit", "Setting", "Study", "attempt"]

_VARIABLE: Final = "LDIVERSITY_DATA"


def _silent(share: float, what: str) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class Setting:
    """How thorough a rerun is, and where its data are.

    Parameters
    ----------
    quick
        Smaller tables and fewer repetitions, for tests: everything together in under two minutes.
    data
        The folder with Adult and Census-Income; by default that of the environment variable ``LDIVERSITY_DATA``.
    seed
        Makes a rerun repeatable. The tables are public, so nothing is given away by it.
    progress
        Called with the share that is done and a word for what is being done.
    """

    quick: bool = False
    data: Path | None = None
    seed: int = 1
    progress: Callable[[float, str], None] = field(default=_silent)

    def file(self, name: str) -> Path:
        """A file of the data folder.

        Raises
        ------
        UnsupportedError
            When there is no data folder, or it lacks the file.
        """
        named = os.environ.get(_VARIABLE)
        folder = self.data or (Path(named) if named else None)
        if folder is not None and (folder / name).is_file():
            return folder / name
        if folder is None:
            lack = "no data folder is named"
        else:
            lack = f"the data folder {str(folder)!r}{'' if self.data else f' of {_VARIABLE}'} does not hold it"
        raise ld.UnsupportedError(
            "papers",
            f"{name} is needed, but {lack}.",
            hint=f"Name the folder with the public tables, with --data or the environment variable {_VARIABLE}.",
        )


@dataclass(frozen=True, eq=False)
class Exhibit:
    """One figure or table of a paper, rerun.

    Parameters
    ----------
    paper
        Its number, for example ``"003"``.
    item
        What the paper calls it, for example ``"Table 5"`` or ``"Fig. 4"``.
    title
        What it shows, in one line.
    data
        The numbers behind the picture: one row per measurement, columns named in plain words.
    draw
        Draws the picture; called only when one is wanted. It can be pickled: a `functools.partial` of a function of a
        module.
    alt
        The picture in words, for people who cannot see it.
    verdict
        Computed from the data.
    claim
        What the paper says, with its own figures where it prints them.
    stand_in
        What replaces the paper's data when these are not public; empty when they are. The verdict is then about the
        replacement.
    """

    paper: str
    item: str
    title: str
    data: pa.Table
    draw: Callable[[], Figure]
    alt: str
    verdict: Verdict
    claim: str
    stand_in: str = ""

    @property
    def outcome(self) -> Outcome:
        """The verdict in one word or three."""
        return self.verdict.outcome

    @property
    def words(self) -> str:
        """The reason for the verdict."""
        return self.verdict.words


def attempt(make: Callable[[], Exhibit], *, paper: str, item: str, title: str, claim: str) -> Exhibit:
    """Make an exhibit, or one that says why it could not be made, for example because data are missing.

    Examples
    --------
    >>> def make() -> Exhibit:
    ...     raise ld.UnsupportedError("papers", "adult.csv.gz is needed.")
    >>> attempt(make, paper="000", item="Fig. 6", title="Relationship by sex", claim="Proposal is best.").outcome
    'not run'
    """
    try:
        return make()
    except ld.UnsupportedError as error:
        return Exhibit(paper, item, title, pa.table({}), _no_picture, "", Verdict("not run", _reason(error)), claim)


def _reason(error: ld.UnsupportedError) -> str:
    return " ".join(str(error).split())


def _no_picture() -> Figure:
    raise ld.UnsupportedError("papers", "an exhibit that was not run has no picture.")


class Study(ABC):
    """The rerun of one paper's evaluation."""

    paper: ClassVar[str]
    """The paper's number."""

    title: ClassVar[str]
    """Authors, title, venue and year."""

    @abstractmethod
    def exhibits(self, setting: Setting) -> Iterator[Exhibit]:
        """Rerun the evaluation, item by item in the paper's order."""

"""`reproduce`: rerun the papers' evaluations."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from ldiversity._kernels.compiling import say_compiling
from ldiversity._version import __version__
from ldiversity.base.checks import check_integer
from ldiversity.errors import UnsupportedError
from ldiversity.reproduction._base import Exhibit, Setting
from ldiversity.reproduction._crew import Crew
from ldiversity.reproduction._folder import FACTS_FILE, FORMAT, check_folder, staged
from ldiversity.reproduction._page import html_page, markdown_page, rerun_command
from ldiversity.reproduction._registry import choose_papers, load_study
from ldiversity.reproduction._tables import check_tables
from ldiversity.reproduction._write import exhibit_files, write_exhibit

__all__ = ["Reproduction", "StudyResult", "reproduce"]

VERSION: Final = 1
"""Of the dict that `Reproduction.to_dict` gives: raised when a key changes its meaning or goes."""


@dataclass(frozen=True, eq=False)
class StudyResult:
    """What the rerun of one paper gave.

    Attributes
    ----------
    paper, title
        The paper's number, and its authors and title.
    exhibits
        Its figures and tables, rerun.
    problem
        Why the rest could not be run, for example for want of the data; None when all was.
    """

    paper: str
    title: str
    exhibits: tuple[Exhibit, ...]
    problem: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give plain data, as in `Reproduction.to_dict`."""
        return {
            "paper": self.paper,
            "title": self.title,
            "problem": self.problem,
            "exhibits": [_exhibit_facts(exhibit) for exhibit in self.exhibits],
        }


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What reruns of papers gave: for each figure and table the data, the picture and a verdict.

    Attributes
    ----------
    studies
        One for each paper.
    quick, seed
        How it was run.
    """

    studies: tuple[StudyResult, ...]
    quick: bool = False
    seed: int = 1

    @property
    def exhibits(self) -> tuple[Exhibit, ...]:
        """All figures and tables, in the order of the papers."""
        return tuple(exhibit for study in self.studies for exhibit in study.exhibits)

    @property
    def command(self) -> list[str]:
        """The words of the command that runs the same again."""
        return rerun_command([study.paper for study in self.studies], quick=self.quick, seed=self.seed)

    def to_dict(self) -> dict[str, Any]:
        """Give plain data: what ``--json`` prints, and ``reproduction.json`` holds without the measurements.

        Keys: ``format``, ``version``, ``package`` (its version), ``quick``, ``seed``, ``command``, and ``studies`` with
        ``paper``, ``title``, ``problem`` and ``exhibits``, each with ``item``, ``title``, ``claim``, ``outcome``,
        ``words``, ``stand_in``, ``alt``, ``files`` and ``rows`` (a dict a measurement).
        """
        return {
            "format": FORMAT,
            "version": VERSION,
            "package": __version__,
            "quick": self.quick,
            "seed": self.seed,
            "command": self.command,
            "studies": [study.to_dict() for study in self.studies],
        }

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write data, pictures and pages into a folder.

        Parameters
        ----------
        folder
            Gets ``index.html`` (complete in itself), ``index.md``, ``reproduction.json``, and for each paper a folder
            with ``<item>.csv``, ``.svg`` and ``.png``. Must not exist yet, or be empty.
        overwrite
            Replace an earlier rerun; a folder that holds anything else is never replaced.
        """
        target = Path(folder)
        check_folder(target, overwrite=overwrite)
        with Crew(1) as crew:
            _write(self, target, crew, overwrite=overwrite)
        return target


def reproduce(  # noqa: PLR0913 - each a decision of the user
    papers: str | Sequence[str] = "all",
    folder: str | os.PathLike[str] | None = None,
    *,
    quick: bool = False,
    data: str | os.PathLike[str] | None = None,
    seed: int = 1,
    overwrite: bool = False,
    workers: int = 1,
    progress: Callable[[float, str], None] | None = None,
) -> Reproduction:
    """Rerun the evaluations of the papers behind this package.

    Parameters
    ----------
    papers
        Numbers of papers (``"000"`` randomized addition, ``"002"`` L-LMSU, ``"003"`` BSGI, ``"004"`` semantic
        diversity, ``"001"`` its predecessor), or ``"all"``.
    folder
        Where data, pictures and an index page are written; see `Reproduction.save`. Nothing is written when None.
    quick
        Smaller tables and fewer repetitions: all papers together in about two minutes.
    data
        The folder with the public tables (``adult.csv.gz``, ``census_income_kdd.csv.gz``); by default that of the
        environment variable ``LDIVERSITY_DATA``. What cannot be run without it says so.
    seed
        Makes a rerun repeatable. The tables are public, so nothing is given away by it.
    overwrite
        Replace an earlier rerun in `folder`.
    workers
        How many processes share the papers and the pictures; what comes out is the same. With more than one, a script
        must start its work under ``if __name__ == "__main__":``, as always with processes.
    progress
        Called with the share that is done and a word for what is being done.

    Raises
    ------
    UnsupportedError
        When nothing at all could be run, for want of the public tables.
    SchemaError
        When a file in the data folder is not the public table of that name.

    Examples
    --------
    >>> reproduce("005")
    Traceback (most recent call last):
    ...
    ldiversity.errors.ParameterError: reproduce: papers must be 'all' or some of '000', '002', '003', '004', '001', \
got '005'.
    """
    chosen = choose_papers(papers if isinstance(papers, str) else list(papers))
    check_integer("reproduce", "seed", seed, minimum=0)
    check_integer("reproduce", "workers", workers, minimum=1)
    if folder is not None:
        check_folder(Path(folder), overwrite=overwrite)
    setting = Setting(quick=quick, data=None if data is None else Path(data), seed=seed)
    check_tables(setting)
    with Crew(workers) as crew:
        jobs = [partial(_run_study, paper, setting) for paper in chosen]
        found = Reproduction(tuple(crew.run(jobs, _Told(progress, chosen))), quick, seed)
        _check_run(found)
        if folder is not None:
            if progress is not None:
                progress(1.0, "drawing and writing")
            _write(found, Path(folder), crew, overwrite=overwrite)
    return found


def _run_study(paper: str, setting: Setting, report: Callable[[float, str], None]) -> StudyResult:
    """Run a study; where it must stop for want of something, keep what it gave before."""
    report(0.0, "starting")
    study = load_study(paper)
    exhibits: list[Exhibit] = []
    problem = None
    try:
        with say_compiling(report, "starting") as told:
            exhibits.extend(study.exhibits(replace(setting, progress=told)))
    except UnsupportedError as error:
        problem = " ".join(str(error).split())
    report(1.0, "done")
    return StudyResult(paper, study.title, tuple(exhibits), problem)


def _check_run(found: Reproduction) -> None:
    """Refuse a rerun in which nothing was run: there is nothing to write."""
    if all(exhibit.outcome == "not run" for exhibit in found.exhibits):
        reasons = [*(study.problem for study in found.studies), *(exhibit.words for exhibit in found.exhibits)]
        reason = next((text for text in reasons if text), "there is nothing to run.")
        raise UnsupportedError(f"Nothing was run: {reason}")


def _write(found: Reproduction, target: Path, crew: Crew, *, overwrite: bool) -> None:
    """Draw what was found, and write data, pictures and pages."""
    facts = found.to_dict()
    with staged(target, overwrite=overwrite) as staging:
        drawn = crew.run([partial(_draw, exhibit, staging) for exhibit in found.exhibits], _unheard)
        pages = {"index.html": html_page(facts, staging), "index.md": markdown_page(facts)}
        for name, text in pages.items():
            (staging / name).write_text(text, encoding="utf-8")
        files = [*pages, *(name for names in drawn for name in names)]
        listed = {**facts, "studies": _without_rows(facts["studies"]), "files": files}
        text = json.dumps(listed, indent=1, ensure_ascii=False, allow_nan=False)
        (staging / FACTS_FILE).write_text(f"{text}\n", encoding="utf-8")


def _draw(exhibit: Exhibit, folder: Path, _report: Callable[[float, str], None]) -> list[str]:
    return write_exhibit(exhibit, folder)


def _unheard(place: int, share: float, what: str) -> None:
    """Tell nobody."""


class _Told:
    """Sums the progress of papers, several of which may be running."""

    def __init__(self, progress: Callable[[float, str], None] | None, papers: Sequence[str]) -> None:
        self._progress, self._papers = progress, papers
        self._shares = [0.0] * len(papers)

    def __call__(self, place: int, share: float, what: str) -> None:
        """Take that so much of the paper at a place is done."""
        self._shares[place] = max(self._shares[place], min(max(share, 0.0), 1.0))
        if self._progress is not None:
            self._progress(sum(self._shares) / len(self._papers), f"{self._papers[place]}: {what}")


def _exhibit_facts(exhibit: Exhibit) -> dict[str, Any]:
    return {
        "item": exhibit.item,
        "title": exhibit.title,
        "claim": exhibit.claim,
        "outcome": exhibit.outcome,
        "words": exhibit.words,
        "stand_in": exhibit.stand_in or None,
        "alt": exhibit.alt,
        "files": exhibit_files(exhibit),
        "rows": exhibit.data.to_pylist(),
    }


def _without_rows(studies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The facts of studies without the measurements, which stand in the CSV files."""
    return [
        {**study, "exhibits": [{k: v for k, v in one.items() if k != "rows"} for one in study["exhibits"]]}
        for study in studies
    ]

"""`rerun`: run the papers' evaluations again, and keep what came out."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import ldiversity as ld
from ldiversity.base.checks import check_integer
from papers.exhibits import Exhibit, Setting
from papers.files import exhibit_files, write_exhibit
from papers.folder import FACTS_FILE, FORMAT, check_folder, staged
from papers.pages import html_page, markdown_page, rerun_command
from papers.pool import ProcessPool
from papers.registry import choose_papers, load_study
from papers.summary import summary_page
from papers.tables import check_tables

__all__ = ["Rerun", "StudyResult", "cpu_seconds", "rerun"]

VERSION: Final = 3
"""Of the dict that `Rerun.to_dict` returns: raised when a key goes, or changes its meaning."""


@dataclass(frozen=True, eq=False)
class StudyResult:
    """The results of one paper.

    Attributes
    ----------
    paper, title
        The paper's number, and its authors and title.
    exhibits
        Its figures and tables, rerun.
    problem
        Why the rest could not be run, for example because data are missing; None when everything was run.
    cpu_seconds
        The processor time that it took, threads and child processes included. It is in no file: it differs every time.
    """

    paper: str
    title: str
    exhibits: tuple[Exhibit, ...]
    problem: str | None = None
    cpu_seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, as in `Rerun.to_dict`."""
        return {
            "paper": self.paper,
            "title": self.title,
            "problem": self.problem,
            "exhibits": [_exhibit_facts(exhibit) for exhibit in self.exhibits],
        }


@dataclass(frozen=True, eq=False)
class Rerun:
    """The results of several papers: for each figure and table the data, the picture and a verdict.

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
        """The command that runs the same again, as a list of words."""
        return rerun_command([study.paper for study in self.studies], quick=self.quick, seed=self.seed)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: ``--json`` prints them, and ``reproduction.json`` holds them without the measurements.

        Keys: ``format``, ``version``, ``package`` (its version), ``quick``, ``seed``, ``command``, and ``studies`` with
        ``paper``, ``title``, ``problem`` and ``exhibits``, each with ``item``, ``title``, ``claim``, ``outcome``,
        ``words``, ``figure``, ``why``, ``stand_in``, ``alt``, ``files`` and ``rows`` (one dict per measurement).
        """
        return {
            "format": FORMAT,
            "version": VERSION,
            "package": ld.__version__,
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
            Gets ``index.html`` (complete in itself), ``index.md``, ``summary.md``, ``reproduction.json``, and
            for each paper a folder with ``<item>.csv`` and ``<item>.png``. Must not exist yet, or be empty.
        overwrite
            Replace an earlier rerun; a folder that holds anything else is never replaced.
        """
        target = Path(folder)
        check_folder(target, overwrite=overwrite)
        with ProcessPool(1) as pool:
            _write(self, target, pool, overwrite=overwrite)
        return target


def rerun(  # noqa: PLR0913 - each a decision of the user
    papers: str | Sequence[str] = "all",
    folder: str | os.PathLike[str] | None = None,
    *,
    quick: bool = False,
    data: str | os.PathLike[str] | None = None,
    seed: int = 1,
    overwrite: bool = False,
    workers: int = 1,
    progress: Callable[[float, str], None] | None = None,
) -> Rerun:
    """Rerun the evaluations of the papers behind this library.

    Parameters
    ----------
    papers
        Numbers of papers (``"000"`` randomized addition, ``"002"`` L-LMSU, ``"003"`` BSGI, ``"004"`` semantic
        diversity, ``"001"`` its predecessor), or ``"all"``.
    folder
        Where to write data, pictures and an index page; see `Rerun.save`. With None, nothing is written.
    quick
        Smaller tables and fewer repetitions: all papers together in about two minutes.
    data
        The folder with the public tables (``adult.csv.gz``, ``census_income_kdd.csv.gz``); by default that of the
        environment variable ``LDIVERSITY_DATA``. An exhibit that cannot be run without it says so.
    seed
        Makes a rerun repeatable. The tables are public, so nothing is given away by it.
    overwrite
        Replace an earlier rerun in `folder`.
    workers
        How many processes share the papers and the pictures; the results are the same. With more than one, a script
        must start its work under ``if __name__ == "__main__":``, as always with processes.
    progress
        Called with the share that is done and a word for what is being done.

    Raises
    ------
    UnsupportedError
        When nothing at all could be run, because the public tables are missing.
    SchemaError
        When a file in the data folder is not the public table of that name.

    Examples
    --------
    >>> rerun("005")
    Traceback (most recent call last):
    ...
    ldiversity.errors.ParameterError: papers must be 'all' or some of '000', '002', '003', '004', '001', \
got '005'.
    """
    chosen = choose_papers(papers if isinstance(papers, str) else list(papers))
    check_integer("papers", "seed", seed, minimum=0)
    check_integer("papers", "workers", workers, minimum=1)
    if folder is not None:
        check_folder(Path(folder), overwrite=overwrite)
    setting = Setting(quick=quick, data=None if data is None else Path(data), seed=seed)
    check_tables(setting)
    with ProcessPool(workers) as pool:
        jobs = [partial(_run_study, paper, setting) for paper in chosen]
        done = Rerun(tuple(pool.run(jobs, _TotalProgress(progress, chosen))), quick, seed)
        _check_run(done)
        if folder is not None:
            if progress is not None:
                progress(1.0, "drawing and writing")
            _write(done, Path(folder), pool, overwrite=overwrite)
    return done


def _run_study(paper: str, setting: Setting, report: Callable[[float, str], None]) -> StudyResult:
    """Run a study. When something is missing and it has to stop, keep the exhibits before that point."""
    report(0.0, "starting")
    before = cpu_seconds()
    study = load_study(paper)
    exhibits: list[Exhibit] = []
    problem = None
    try:
        exhibits.extend(study.exhibits(replace(setting, progress=report)))
    except ld.UnsupportedError as error:
        problem = " ".join(str(error).split())
    report(1.0, "done")
    return StudyResult(paper, study.title, tuple(exhibits), problem, cpu_seconds() - before)


def cpu_seconds() -> float:
    """The processor time of this process so far, and of all its children that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _check_run(done: Rerun) -> None:
    """Refuse a rerun in which nothing was run: there is nothing to write."""
    if all(exhibit.outcome == "not run" for exhibit in done.exhibits):
        reasons = [*(study.problem for study in done.studies), *(exhibit.words for exhibit in done.exhibits)]
        reason = next((text for text in reasons if text), "there is nothing to run.")
        raise ld.UnsupportedError(f"Nothing was run: {reason}")


def _write(done: Rerun, target: Path, pool: ProcessPool, *, overwrite: bool) -> None:
    """Draw the pictures, and write data, pictures and pages."""
    facts = done.to_dict()
    with staged(target, overwrite=overwrite) as staging:
        drawn = pool.run([partial(_draw, exhibit, staging) for exhibit in done.exhibits], _ignore_progress)
        pages = {
            "index.html": html_page(facts, staging),
            "index.md": markdown_page(facts),
            "summary.md": summary_page(facts),
        }
        for name, text in pages.items():
            (staging / name).write_text(text, encoding="utf-8")
        files = [*pages, *(name for names in drawn for name in names)]
        listed = {**facts, "studies": _without_rows(facts["studies"]), "files": files}
        text = json.dumps(listed, indent=1, ensure_ascii=False, allow_nan=False)
        (staging / FACTS_FILE).write_text(f"{text}\n", encoding="utf-8")


def _draw(exhibit: Exhibit, folder: Path, _report: Callable[[float, str], None]) -> list[str]:
    return write_exhibit(exhibit, folder)


def _ignore_progress(place: int, share: float, what: str) -> None:
    """Show nothing: writing takes seconds."""


class _TotalProgress:
    """Adds up the progress of the papers, several of which may be running at once."""

    def __init__(self, progress: Callable[[float, str], None] | None, papers: Sequence[str]) -> None:
        self._progress, self._papers = progress, papers
        self._shares = [0.0] * len(papers)

    def __call__(self, place: int, share: float, what: str) -> None:
        """Note the share that is done of the paper at this position."""
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
        "figure": exhibit.verdict.figure,
        "why": exhibit.verdict.why,
        "stand_in": exhibit.stand_in or None,
        "alt": exhibit.alt,
        "files": exhibit_files(exhibit),
        "rows": exhibit.data.to_pylist(),
    }


def _without_rows(studies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out the measurements: they are in the CSV files."""
    return [
        {**study, "exhibits": [{k: v for k, v in one.items() if k != "rows"} for one in study["exhibits"]]}
        for study in studies
    ]

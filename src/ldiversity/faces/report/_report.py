"""`Report`: all about a release on one page."""

from __future__ import annotations

import os
import secrets
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

from ldiversity.base.answers import Answer, fit_screen
from ldiversity.base.checks import name_some
from ldiversity.base.numbers import counted
from ldiversity.base.outputs import check_outside_releases
from ldiversity.errors import LDiversityWarning, ParameterError, StorageError
from ldiversity.evaluation.attacks import AttackReport
from ldiversity.evaluation.audit import Audit
from ldiversity.faces.report._committee import Committee
from ldiversity.faces.report._criteria import AnsweredCriterion
from ldiversity.faces.report._parts import Command, Contingency, Distribution, Gauge, Published, PublishedClasses
from ldiversity.faces.report._summary import Summary

__all__ = ["Report", "audience_of"]

_PICTURES: Final = ("png", "svg", "pdf")
_HEAD: Final = 8_000
"""The head of a page, which says whom it is for, is shorter."""


@dataclass(frozen=True, eq=False, repr=False)
class Report(Answer, schema="report", version=1):
    """All about a release on one page. Made by `user_report` and `holder_report`.

    Attributes
    ----------
    audience
        ``"user"``: made from the release alone; ``"holder"``: shows the original, and must not be handed out.
    package
        The version of this package.
    summary
        What the reader needs first: the verdict, and the worst figures of the whole report.
    criteria
        The three questions of Opinion 05/2014 (singling out, linkability, inference): what was measured, what is open.
    committee
        Who may receive the release, and under which conditions; None when the holder did not say.
    release
        What was published.
    distributions
        How often the values of each attribute occur; at most 30 values are shown.
    contingency
        The same in cells, for each attribute and division; at most 40 cells are shown.
    class_sizes
        The classes of a grouped release.
    risks
        Each with its threshold.
    audit, attacks
        What was found; attacks are None when they were not run.
    skipped
        Why a part could not be made.
    not_protected
        What is not protected.
    commands
        How to make the report, and its parts, again.
    """

    audience: Literal["user", "holder"]
    package: str
    summary: Summary
    criteria: tuple[AnsweredCriterion, ...]
    committee: Committee | None
    release: Published
    distributions: tuple[Distribution, ...]
    contingency: tuple[Contingency, ...]
    class_sizes: tuple[PublishedClasses, ...]
    risks: tuple[Gauge, ...]
    audit: Audit
    attacks: AttackReport | None
    skipped: tuple[str, ...]
    not_protected: tuple[str, ...]
    commands: tuple[Command, ...]

    def __repr__(self) -> str:
        return f"Report(for the {self.audience}, {counted(self.release.records, 'record')})"

    def __str__(self) -> str:
        claims = (claim.statement for claim in self.release.claims)
        return fit_screen([repr(self), self.summary.sentence, *self.summary.reasons, *claims])

    def to_html(self) -> str:
        """The page: it needs no network and no script, and is smaller than 1 MB."""
        from ldiversity.faces.report._page import page

        return page(self, self._body)

    def _repr_html_(self) -> str:
        return self._body

    @cached_property
    def _body(self) -> str:
        """What both show; drawing its pictures takes seconds."""
        from ldiversity.faces.report._page import body

        return body(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page; `path` ends in .html. An existing file is replaced, complete or not at all.

        A report for the other audience is never replaced: nobody who expects one may get the other.
        """
        file = Path(path)
        if file.suffix.lower() not in {".html", ".htm"}:
            raise ParameterError("Report.save", "path", "must end in .html", got=repr(file.suffix))
        check_outside_releases("Report.save", file)
        self._check_audience(file)
        temporary = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
        try:
            temporary.write_text(self.to_html(), encoding="utf-8", newline="\n")
            temporary.replace(file)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise StorageError("Report.save", f"{str(file)!r} cannot be written: {error.strerror}") from None
        return file

    def _check_audience(self, file: Path) -> None:
        other = audience_of(file)
        if other not in {None, self.audience}:
            raise StorageError(
                "Report.save",
                "path",
                f"must not name the report for the {other}, which {str(file)!r} is; this one is for the "
                f"{self.audience}",
            ).with_hint("Choose another name, or delete that file first.")

    def pictures(self, folder: str | os.PathLike[str], *, formats: Sequence[str] = ("png",)) -> tuple[Path, ...]:
        """Write every picture, and its table as CSV, into a folder, which is made when it does not exist.

        Texts that a spreadsheet would take for a formula get a quote before them. Files of a holder's report begin
        with ``holder-``.

        Parameters
        ----------
        folder
            Where to; files of the same names are replaced.
        formats
            Some of ``"png"``, ``"svg"`` and ``"pdf"``.
        """
        from ldiversity.faces.report._pictures import pictures
        from ldiversity.pictures import save_figure
        from ldiversity.tables import write_spreadsheet

        unknown = [one for one in formats if one not in _PICTURES]
        if unknown or isinstance(formats, str):
            raise ParameterError(
                "Report.pictures", "formats", f"must be some of {name_some(_PICTURES)}", got=repr(formats)
            )
        target, written = Path(folder), []
        check_outside_releases("Report.pictures", target / "any", "folder")
        try:
            target.mkdir(parents=True, exist_ok=True)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", LDiversityWarning)
                for picture in pictures(self):
                    table = target / f"{picture.name}.csv"
                    write_spreadsheet(table, picture.heads, picture.rows)
                    figure = picture.draw()
                    written += [table, *(save_figure(figure, target / f"{picture.name}.{kind}") for kind in formats)]
            for one in {str(one.message): one for one in caught}.values():  # not once for every file
                warnings.warn(one.message, stacklevel=2)
        except OSError as error:
            raise StorageError("Report.pictures", f"{str(target)!r} cannot be written: {error.strerror}") from None
        return tuple(written)


def audience_of(file: Path) -> str | None:
    """Who the report in a file is for; None where there is none."""
    from ldiversity.faces.report._page import audience_mark

    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            head = stream.read(_HEAD)
    except OSError:
        return None  # there is no file, or writing will say what is wrong
    return next((one for one in ("user", "holder") if audience_mark(one) in head), None)

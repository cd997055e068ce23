"""`user_report` and `holder_report`: all about a release on one page."""

from __future__ import annotations

import os
import secrets
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from ldiversity._version import __version__
from ldiversity.base.answers import Answer, fit_screen
from ldiversity.base.checks import column_names, name_some
from ldiversity.base.numbers import counted, percent
from ldiversity.errors import LDiversityWarning, ParameterError, StorageError, UnsupportedError
from ldiversity.evaluation.attacks import AttackReport
from ldiversity.evaluation.audit import Audit
from ldiversity.faces.report._parts import Command, Contingency, Distribution, Gauge, Published, PublishedClasses
from ldiversity.release import Release, load_release
from ldiversity.schema import Role

if TYPE_CHECKING:
    from ldiversity.estimation import ByLike
    from ldiversity.faces.report._cells import Division
    from ldiversity.faces.report._distributions import Truth
    from ldiversity.faces.report._published import Again
    from ldiversity.tables import GivenReadOptions, Reading

__all__ = ["Report", "holder_report", "user_report"]

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
        risks = [f"{risk.name}: {percent(risk.value)} ({risk.state})" for risk in self.risks]
        return fit_screen([repr(self), *(claim.statement for claim in self.release.claims), *risks])

    def to_html(self) -> str:
        """The page: it needs no network and no script, and is smaller than 1 MB."""
        from ldiversity.faces.report._page import page

        return page(self)

    def _repr_html_(self) -> str:
        from ldiversity.faces.report._page import body

        return body(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page; `path` ends in .html. An existing file is replaced, complete or not at all.

        A report for the other audience is never replaced: nobody who expects one may get the other.
        """
        file = Path(path)
        if file.suffix.lower() not in {".html", ".htm"}:
            raise ParameterError("Report.save", "path", "must end in .html", got=repr(file.suffix))
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
        from ldiversity.faces.report._page import audience_mark

        other = "user" if self.audience == "holder" else "holder"
        try:
            with file.open(encoding="utf-8", errors="replace") as stream:
                taken = audience_mark(other) in stream.read(_HEAD)
        except OSError:
            return  # there is none, or writing will say what is wrong
        if taken:
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


def user_report(  # noqa: PLR0913 - a question has these parts, each with a name
    release: Release | str | os.PathLike[str],
    *,
    by: ByLike = None,
    sensitive: str | Sequence[str] | None = None,
    attacks: bool = False,
    threshold: float = 0.2,
    population: Any = None,  # noqa: ANN401 - a path or any frame
    types: Mapping[str, str] | None = None,
    read: GivenReadOptions = None,
) -> Report:
    """Make a report for those who use a release, from the release alone: it may be handed out with it.

    Parameters
    ----------
    release
        What was published, or its folder.
    by
        Columns that make the cells of the contingency tables, as for `estimate`; or one text as on the command line,
        ``"sex,age:10"``. Up to two quasi-identifiers on their own when None; none when empty.
    sensitive
        The attributes; all of them when None.
    attacks
        Whether attacks are run; without the original attackers say what they expect.
    threshold
        The probability from which being recognized counts as a risk.
    population
        A table of the people among whom a journalist searches, as for `audit`: a frame or a path.
    types
        Types of columns of the population, where it is a text file.
    read
        How to read the population, as for `audit`.

    Examples
    --------
    >>> import ldiversity as ld
    >>> release = ld.anonymize(
    ...     ld.datasets.hospital(), quasi=["sex", "age"], sensitive="disease", method=ld.Anatomy(l=2)
    ... )
    >>> report = user_report(release, by="sex")
    >>> report.audience, [cell.cell for cell in report.contingency[0].cells]
    ('user', ['F', 'M'])
    """
    opened, _ = _opened("user_report", release)
    # The paths of the holder may tell what nobody may learn, so the commands of this report name none.
    return _made("user_report", opened, None, by, sensitive, population, _again(attacks, threshold, types, read))


def holder_report(  # noqa: PLR0913 - a question has these parts, each with a name
    release: Release | str | os.PathLike[str],
    original: Any,  # noqa: ANN401 - a path or any frame
    *,
    by: ByLike = None,
    sensitive: str | Sequence[str] | None = None,
    attacks: bool = False,
    threshold: float = 0.2,
    population: Any = None,  # noqa: ANN401 - a path or any frame
    types: Mapping[str, str] | None = None,
    read: GivenReadOptions = None,
) -> Report:
    """Make a report for the holder of the original: it shows true counts, and must not be handed out.

    Parameters
    ----------
    release
        What was published, or its folder.
    original
        The table that it was made from, a frame or a path.
    by, sensitive, attacks, threshold, population
        As for `user_report`; attacks are scored with the original.
    types
        Types of columns of text files, as for `anonymize`: of the original, and of the population.
    read
        How to read them, as for `audit`.

    Examples
    --------
    >>> import ldiversity as ld
    >>> people = ld.datasets.hospital()
    >>> release = ld.anonymize(people, quasi=["sex", "age"], sensitive="disease", method=ld.Anatomy(l=2))
    >>> holder_report(release, people, by="sex").distributions[0].accuracy.held
    1.0
    """
    opened, name = _opened("holder_report", release)
    again = replace(_again(attacks, threshold, types, read), release=name, original=_path(original, "TABLE"))
    return _made("holder_report", opened, original, by, sensitive, population, again)


def _opened(owner: str, release: Any) -> tuple[Release, str]:  # noqa: ANN401 - a release or its folder
    if isinstance(release, Release):
        return release, "RELEASE"
    if not isinstance(release, str | os.PathLike):
        raise ParameterError(owner, "release", "must be a release or its folder", got=type(release).__name__)
    return load_release(release), os.fspath(release)


def _again(
    attacks: bool,  # noqa: FBT001 - as above
    threshold: float,
    types: Mapping[str, str] | None,
    read: GivenReadOptions,
) -> Again:
    from ldiversity.faces.report._published import Again
    from ldiversity.tables import as_read_options

    options = as_read_options("report", read)
    return Again(attacks=attacks, threshold=threshold, types=tuple((types or {}).items()), read=options)


def _made(
    owner: str,
    release: Release,
    original: Any,  # noqa: ANN401 - a path or any frame
    by: ByLike,
    sensitive: str | Sequence[str] | None,
    population: Any,  # noqa: ANN401 - a path or any frame
    again: Again,
) -> Report:
    from ldiversity.evaluation.attacks import attack
    from ldiversity.evaluation.audit import audit
    from ldiversity.faces.report._cells import divisions
    from ldiversity.faces.report._distributions import contingency, distribution
    from ldiversity.faces.report._published import commands, published
    from ldiversity.faces.report._risks import class_sizes, gauges

    chosen, holder = _chosen(owner, release, sensitive), again.original is not None
    divided = divisions(release, by, paths=holder)
    again = replace(
        again,
        by="" if by is None or not divided else divided[0].text,
        sensitive=() if sensitive is None else chosen,
        population=None if population is None else _path(population, "POPULATION") if holder else "POPULATION",
    )
    reading: Reading = {"types": dict(again.types), "read": again.read}
    truth = None if original is None else _truth(owner, release, original, chosen, divided, reading)
    audited = audit(release, sensitive=chosen, threshold=again.threshold, population=population, **reading)
    distributions = tuple(distribution(release, attribute, truth) for attribute in chosen)
    guessed = {one.attribute: one.largest_share if truth is None else one.true_largest_share for one in distributions}
    cells, skipped = [], []
    for attribute in chosen:
        for division in divided:
            try:
                cells.append(contingency(release, attribute, division, truth))
            except UnsupportedError as error:
                skipped.append(f"{attribute!r} by {division.text} is not shown: {error.message}")
    return Report(
        audience="user" if original is None else "holder",
        package=__version__,
        release=published(release, again.release, chosen),
        distributions=distributions,
        contingency=tuple(cells),
        class_sizes=class_sizes(release),
        risks=gauges(audited, {name: release.claim(name).posterior for name in chosen}, guessed),
        audit=audited,
        attacks=attack(release, original, sensitive=chosen, **reading) if again.attacks else None,
        skipped=tuple(skipped),
        not_protected=tuple(release.not_protected),
        commands=commands(again, divided, chosen),
    )


def _path(given: Any, placeholder: str) -> str:  # noqa: ANN401 - a path or any frame
    return os.fspath(given) if isinstance(given, str | os.PathLike) else placeholder


def _chosen(owner: str, release: Release, sensitive: str | Sequence[str] | None) -> tuple[str, ...]:
    names = release.sensitive if sensitive is None else tuple(column_names(owner, "sensitive", sensitive))
    if not names or any(name not in release.sensitive for name in names):
        raise ParameterError(owner, "sensitive", f"must name some of {name_some(release.sensitive)}", got=repr(names))
    return tuple(dict.fromkeys(names))


def _truth(
    owner: str,
    release: Release,
    original: Any,  # noqa: ANN401 - a path or any frame
    chosen: tuple[str, ...],
    divided: tuple[Division, ...],
    reading: Reading,
) -> Truth:
    from ldiversity.evaluation.measures import read_columns
    from ldiversity.faces.report._distributions import Truth
    from ldiversity.tables import open_source

    columns = dict.fromkeys([*(name for division in divided for name in division.columns), *chosen])
    unknown = [name for name in columns if name not in release.schema.names(Role.QUASI, Role.PLAIN, Role.SENSITIVE)]
    if unknown:
        raise ParameterError(owner, "by", "must name columns of the release", got=name_some(unknown))
    return Truth(read_columns(owner, open_source(original, **reading), list(columns), release))

"""`user_report` and `holder_report`: make a report from a release, and for its holder from the original too."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Unpack

from ldiversity._version import __version__
from ldiversity.base.checks import column_name, column_names, name_some
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.evaluation.audit import Recognition, RecognitionChoices
from ldiversity.faces.report._committee import Committee, read_committee
from ldiversity.faces.report._report import Report
from ldiversity.release import Release, checksum_of, load_release
from ldiversity.schema import Role
from ldiversity.tables import Reading, as_read_options

if TYPE_CHECKING:
    from ldiversity.estimation import ByLike
    from ldiversity.faces.report._cells import Division
    from ldiversity.faces.report._distributions import Truth
    from ldiversity.tables import GivenReadOptions

__all__ = ["ReportChoices", "holder_report", "user_report"]


class ReportChoices(RecognitionChoices, total=False):
    """What may be asked of a report, besides `population`, `sample_fraction`, `threshold` and `rationale`.

    Attributes
    ----------
    by
        Columns that make the cells of the contingency tables, as for `estimate`; or one text as on the command line,
        ``"sex,age:10"``. Up to two quasi-identifiers on their own when None; none when empty.
    sensitive
        The attributes; all of them when None.
    attacks
        Whether attacks are run; without the original attackers say what they expect.
    types, read
        Types of columns of the original and of the population, as for `anonymize`, and how to read these files.
    person
        For the holder: the column of the original that says whose row it is, when a person may have several.
    committee
        Who may receive the release, and under which conditions: a TOML file, its content, or a `Committee`.
    """

    by: ByLike
    sensitive: str | Sequence[str] | None
    attacks: bool
    types: Mapping[str, str] | None
    read: GivenReadOptions
    person: str | None
    committee: str | os.PathLike[str] | Mapping[str, object] | Committee | None


def user_report(release: Release | str | os.PathLike[str], **choices: Unpack[ReportChoices]) -> Report:
    """Make a report for those who use a release, from the release alone: it may be handed out with it.

    Parameters
    ----------
    release
        What was published, or its folder.
    choices
        What it shows: `ReportChoices` lists them.

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
    opened = _opened("user_report", release)
    # The paths of the holder may tell what nobody may learn, so the commands of this report name none.
    return _made("user_report", replace(opened, name="RELEASE"), None, choices)


def holder_report(
    release: Release | str | os.PathLike[str],
    original: Any,  # noqa: ANN401 - a path or any frame
    **choices: Unpack[ReportChoices],
) -> Report:
    """Make a report for the holder of the original: it shows true counts, and must not be handed out.

    Parameters
    ----------
    release
        What was published, or its folder.
    original
        The table that it was made from, a frame or a path.
    choices
        As for `user_report`; attacks are scored with the original.

    Examples
    --------
    >>> import ldiversity as ld
    >>> people = ld.datasets.hospital()
    >>> release = ld.anonymize(people, quasi=["sex", "age"], sensitive="disease", method=ld.Anatomy(l=2))
    >>> holder_report(release, people, by="sex").distributions[0].accuracy.held
    1.0
    """
    return _made("holder_report", _opened("holder_report", release), original, choices)


@dataclass(frozen=True, eq=False)
class _Opened:
    """A release, what commands call it, and the checksum of its description, where it was read from a folder."""

    release: Release
    name: str = "RELEASE"
    checksum: str | None = None


def _opened(owner: str, release: Any) -> _Opened:  # noqa: ANN401 - a release or its folder
    if isinstance(release, Release):
        return _Opened(release)
    if not isinstance(release, str | os.PathLike):
        raise ParameterError(owner, "release", "must be a release or its folder", got=type(release).__name__)
    loaded = load_release(release)
    checksum = checksum_of(release)
    return _Opened(loaded, os.fspath(release), checksum)


def _made(
    owner: str,
    opened: _Opened,
    original: Any,  # noqa: ANN401 - a path or any frame
    choices: ReportChoices,
) -> Report:
    from ldiversity.evaluation.attacks import attack
    from ldiversity.evaluation.audit import audit
    from ldiversity.faces.report._cells import divisions
    from ldiversity.faces.report._criteria import answer_criteria
    from ldiversity.faces.report._distributions import contingency, distribution
    from ldiversity.faces.report._published import Again, commands, published
    from ldiversity.faces.report._risks import class_sizes, gauges
    from ldiversity.faces.report._summary import Found, summarize

    _check_names(owner, choices)
    release, committee = opened.release, read_committee(choices.get("committee"))
    recognition = Recognition.of(owner, choices)
    by, sensitive, population = choices.get("by"), choices.get("sensitive"), recognition.population
    attacked = bool(choices.get("attacks", False))
    reading: Reading = {
        "types": dict(choices.get("types") or {}),
        "read": as_read_options("report", choices.get("read")),
    }
    chosen, holder, person = _chosen(owner, release, sensitive), original is not None, choices.get("person")
    if person is not None and not holder:
        raise ParameterError(owner, "person", "must be left out without the original, which has the column")
    if person is not None:
        column_name(owner, "person", person)
    divided = divisions(release, by, paths=holder)
    again = Again(
        release=opened.name,
        original=_path(original, "TABLE") if holder else None,
        by="" if by is None or not divided else divided[0].text,
        sensitive=() if sensitive is None else chosen,
        attacks=attacked,
        types=tuple(reading["types"].items()),
        read=reading["read"],
        committee=None if committee is None else _path(choices.get("committee"), "FILE") if holder else "FILE",
        person=person,
        recognition=replace(
            recognition,
            population=None if population is None else _path(population, "POPULATION") if holder else "POPULATION",
        ),
    )
    truth = _truth(owner, release, original, chosen, divided, reading) if holder else None
    audited = audit(
        release,
        sensitive=chosen,
        population=population,
        sample_fraction=recognition.sample_fraction,
        threshold=recognition.threshold,
        original=None if person is None else original,
        person=person,
        **reading,
    )
    distributions = tuple(distribution(release, attribute, truth) for attribute in chosen)
    guessed = {one.attribute: one.largest_share if truth is None else one.true_largest_share for one in distributions}
    cells, skipped = [], []
    for attribute in chosen:
        for division in divided:
            try:
                cells.append(contingency(release, attribute, division, truth))
            except UnsupportedError as error:
                skipped.append(f"{attribute!r} by {division.text} is not shown: {error.message}")
    promised = {name: float(release.claim(name).posterior) for name in chosen}
    shown, risks = published(release, again.release, chosen), gauges(audited, promised, guessed)
    achieved = None
    if attacked and (chosen or holder):
        achieved = attack(release, original, sensitive=chosen or None, person=person, **reading)
    today = date.today().isoformat()  # noqa: DTZ011 - the day at the reader's place
    return Report(
        audience="holder" if holder else "user",
        package=__version__,
        summary=summarize(Found(shown, audited, achieved, committee, today, opened.checksum, promised)),
        criteria=answer_criteria(audited, achieved),
        committee=committee,
        release=shown,
        distributions=distributions,
        contingency=tuple(cells),
        class_sizes=class_sizes(release),
        risks=risks,
        audit=audited,
        attacks=achieved,
        skipped=tuple(skipped),
        not_protected=tuple(release.not_protected),
        commands=commands(again, divided, chosen),
    )


def _check_names(owner: str, choices: ReportChoices) -> None:
    unknown = [name for name in choices if name not in ReportChoices.__annotations__]
    if unknown:
        raise TypeError(f"{owner}() got an unexpected keyword argument {unknown[0]!r}")


def _path(given: Any, placeholder: str) -> str:  # noqa: ANN401 - a path or any frame
    return os.fspath(given) if isinstance(given, str | os.PathLike) else placeholder


def _chosen(owner: str, release: Release, sensitive: str | Sequence[str] | None) -> tuple[str, ...]:
    names = release.sensitive if sensitive is None else tuple(column_names(owner, "sensitive", sensitive))
    if names and not release.sensitive:
        raise ParameterError(owner, "sensitive", "must be left out: the release has no sensitive attribute")
    if (release.sensitive and not names) or any(name not in release.sensitive for name in names):
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

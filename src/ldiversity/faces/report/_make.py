"""`user_report` and `holder_report`: make a report from a release, and for its holder from the original too."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from ldiversity._version import __version__
from ldiversity.base.checks import column_names, name_some
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.evaluation.audit import Recognition, RecognitionChoices
from ldiversity.faces.report._report import Report
from ldiversity.release import Release, load_release
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
    """

    by: ByLike
    sensitive: str | Sequence[str] | None
    attacks: bool
    types: Mapping[str, str] | None
    read: GivenReadOptions


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
    opened, _ = _opened("user_report", release)
    # The paths of the holder may tell what nobody may learn, so the commands of this report name none.
    return _made("user_report", opened, "RELEASE", None, choices)


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
    opened, name = _opened("holder_report", release)
    return _made("holder_report", opened, name, original, choices)


def _opened(owner: str, release: Any) -> tuple[Release, str]:  # noqa: ANN401 - a release or its folder
    if isinstance(release, Release):
        return release, "RELEASE"
    if not isinstance(release, str | os.PathLike):
        raise ParameterError(owner, "release", "must be a release or its folder", got=type(release).__name__)
    return load_release(release), os.fspath(release)


def _made(
    owner: str,
    release: Release,
    name: str,
    original: Any,  # noqa: ANN401 - a path or any frame
    choices: ReportChoices,
) -> Report:
    from ldiversity.evaluation.attacks import attack
    from ldiversity.evaluation.audit import audit
    from ldiversity.faces.report._cells import divisions
    from ldiversity.faces.report._distributions import contingency, distribution
    from ldiversity.faces.report._published import Again, commands, published
    from ldiversity.faces.report._risks import class_sizes, gauges

    _check_names(owner, choices)
    recognition = Recognition.of(owner, choices)
    by, sensitive, population = choices.get("by"), choices.get("sensitive"), recognition.population
    attacked = bool(choices.get("attacks", False))
    reading: Reading = {
        "types": dict(choices.get("types") or {}),
        "read": as_read_options("report", choices.get("read")),
    }
    chosen, holder = _chosen(owner, release, sensitive), original is not None
    divided = divisions(release, by, paths=holder)
    again = Again(
        release=name,
        original=_path(original, "TABLE") if holder else None,
        by="" if by is None or not divided else divided[0].text,
        sensitive=() if sensitive is None else chosen,
        attacks=attacked,
        types=tuple(reading["types"].items()),
        read=reading["read"],
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
    return Report(
        audience="holder" if holder else "user",
        package=__version__,
        release=published(release, again.release, chosen),
        distributions=distributions,
        contingency=tuple(cells),
        class_sizes=class_sizes(release),
        risks=gauges(audited, {name: release.claim(name).posterior for name in chosen}, guessed),
        audit=audited,
        attacks=attack(release, original, sensitive=chosen, **reading) if attacked else None,
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

"""What was published, in plain words, and the commands that make a report and its parts again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ldiversity.base.checks import name_some
from ldiversity.base.typed import join_names
from ldiversity.evaluation.audit import Recognition
from ldiversity.faces.report._cells import Division
from ldiversity.faces.report._parts import Command, Promise, Published, PublishedColumn
from ldiversity.release import Claim, ClassClaim, Release, what_changes_tell
from ldiversity.schema import Role
from ldiversity.tables import USUAL_READING, ReadOptions, reading_words

__all__ = ["Again", "commands", "published"]

_LAYOUTS: Final = {
    "sets": "Each record shows a set of sensitive values, of which one is true; chance chose the others.",
    "exploded": "Each record stands in several rows, one for each value of its set, of which one is true; chance chose "
    "the others.",
    "generalized": "Records are grouped into classes. Quasi-identifiers are made so coarse that all records of a class "
    "share them, and nothing says which sensitive value of a class belongs to whom.",
    "bucketized": "Records are grouped into classes. Each record keeps its quasi-identifiers; the sensitive values of "
    "each class stand in a table of their own, and nothing says which belongs to whom.",
}
_RECORDS_ALONE: Final = (
    "Records are grouped into classes. Quasi-identifiers are made so coarse that all records of a class share them. No "
    "column is sensitive: only how many records look alike is promised."
)
_USUAL: Final = Recognition.of("report", {})
_FORMS: Final = {
    "exact": "as it was",
    "interval": "as an interval",
    "node": "as a node of a hierarchy",
    "values": "as a list of values",
}


@dataclass(frozen=True)
class Again:
    """The words of a command that makes the report again.

    Attributes
    ----------
    release, original
        Their paths; placeholders when the report was made from objects. No original for the data user.
    by
        As it was asked for on the command line; empty when it was not.
    sensitive
        The attributes that were asked for; empty when all were.
    attacks
        Whether attacks were run.
    types, read
        Types of columns of the original, and how it is read.
    recognition
        How likely being recognized may be, and among whom a journalist searches; a path for a population.
    committee
        The file that says who may receive the release; None without one.
    person
        The column of the original that says whose row it is; None without one.
    """

    release: str = "RELEASE"
    original: str | None = None
    by: str = ""
    sensitive: tuple[str, ...] = ()
    attacks: bool = False
    types: tuple[tuple[str, str], ...] = ()
    read: ReadOptions = USUAL_READING
    recognition: Recognition = _USUAL
    committee: str | None = None
    person: str | None = None


def published(release: Release, name: str, chosen: Sequence[str]) -> Published:
    """What was published: columns, layout, and the claim about each sensitive attribute."""
    columns = tuple(
        PublishedColumn(one.name, str(one.role), one.type, _published(release, one.name))
        for one in release.schema.attributes
    )
    return Published(
        name=name,
        layout=release.layout,
        meaning=_LAYOUTS[release.layout] if release.sensitive else _RECORDS_ALONE,
        records=release.n_rows,
        suppressed=release.suppressed,
        columns=columns,
        claims=tuple(
            _promise(release, claim)
            for attribute in chosen or release.subjects
            for claim in release.claims_of(attribute)
        ),
        warnings=tuple(release.warnings),
        confirmed=release.confirmed,
        person=release.person,
        overlaps=() if release.grouped else tuple(_overlaps(release, chosen or release.sensitive)),
    )


def _overlaps(release: Release, names: Sequence[str]) -> Iterator[str]:
    drawn = {name: release.drawn_by(name) for name in names}
    several = {name: one for name, one in drawn.items() if one.partitions is None or one.partitions.left_over}
    for text, of in what_changes_tell(several).items():
        yield f"{name_some(of)}: {text}"


def commands(again: Again, divisions: Sequence[Division], chosen: Sequence[str]) -> tuple[Command, ...]:
    """The commands that make the report, and each part of it, again."""
    folder, output = again.release, "holder-report.html" if again.original else "report.html"
    asked = ("--sensitive", join_names(again.sensitive)) if again.sensitive else ()
    original = ("--original", again.original) if again.original else ()
    types = reading_words(dict(again.types), again.read)
    by = ("--by", again.by) if again.by else ()
    run = ("--attacks",) if again.attacks else ()
    among = again.recognition.words
    whose = ("--person", again.person) if again.person else ()
    said = (*whose, *(("--committee", again.committee) if again.committee else ()))
    last = (*by, *asked, *original, *types, *among, *run, *said)
    found = [("This report", ("report", folder, "-o", output, *last))]
    words = ("report", folder, "--pictures", "pictures", *last)
    found.append(("Every picture, and all rows of its table as CSV", words))
    for name in chosen:
        one = ("--sensitive", join_names([name])) if len(chosen) > 1 else ()
        found.append((f"All estimates of {name!r}, also as CSV", ("estimate", folder, *one, "--csv", "estimate.csv")))
        found += [
            (f"{name!r} by {' and '.join(division.columns)}", ("estimate", folder, *one, "--by", division.text))
            for division in divisions
        ]
    counted = (*original, *whose) if whose else ()  # an audit needs the original only to see whose rows they are
    reading = types if counted or again.recognition.population else ()
    found.append(("Models and risks", ("audit", folder, *asked, *counted, *reading, *among)))
    found.append(("Attacks", ("attack", folder, *asked, *original, *types, *whose)))
    return tuple(Command(what, shlex.join(("ldiversity", *words))) for what, words in found)


def _published(release: Release, name: str) -> str:
    role = release.schema[name].role
    if role is Role.SENSITIVE:
        if release.grouped:
            return "shuffled within its class"
        missing = release.drawn_by(name).epsilon is not None
        return "as a set, from which the true value may be missing" if missing else "as a set, one of which is true"
    form = release.forms.get(name)
    if name in release.coarse:
        return "as a label of a declared level"
    if form is not None and form.grid is not None:
        return f"as an interval, its ends rounded outward to {form.grid}"
    return "as it was" if form is None else _FORMS[form.kind]


def _promise(release: Release, claim: Claim | ClassClaim) -> Promise:
    name = claim.attribute
    return Promise(
        attribute=name,
        statement=claim.statement,
        model=claim.model,
        l=claim.l,
        d=claim.d,
        posterior=claim.posterior,
        values=len(release.domain(name)),
        method=release.method(name),
        parameters={
            key: value for key, value in release.parameters(name).items() if isinstance(value, str | int | float)
        },
    )

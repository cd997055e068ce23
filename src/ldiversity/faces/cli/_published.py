"""What ``ldiversity anonymize`` says about a release that it has just written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ldiversity.base.answers import OPTIONAL, Answer, fit_screen
from ldiversity.base.findings import Confirmed, Finding
from ldiversity.base.numbers import counted, number, percent_at_most
from ldiversity.faces.cli._findings import finding_in_words, show_findings
from ldiversity.faces.cli._show import Page

if TYPE_CHECKING:
    from ldiversity.release import Claim, ClassClaim, Release

__all__ = ["ClaimedClasses", "ColumnForm", "PublishedClaim", "PublishedColumn", "Written", "render", "written"]

_LABEL: Final = "label of its level"
_FORMS: Final = {
    "exact": "as it is",
    "interval": "interval of its class",
    "node": "node of its hierarchy",
    "values": "list of the values of its class",
}


@dataclass(frozen=True)
class PublishedColumn:
    """A column of the release."""

    name: str
    role: str
    type: str


@dataclass(frozen=True)
class ColumnForm:
    """How a quasi-identifier was published."""

    column: str
    form: str


@dataclass(frozen=True, kw_only=True)
class PublishedClaim:
    """What is promised about an attribute, and checked on what was written."""

    attribute: str
    model: str
    l: int | None
    d: float | None
    posterior: float
    values: int
    statement: str


@dataclass(frozen=True, kw_only=True)
class ClaimedClasses(PublishedClaim):
    """The same of classes: how they were made, how many there are, and how large."""

    method: str
    parameters: Mapping[str, object]
    classes: int
    average_size: float | None
    smallest: int | None
    largest: int | None
    facts: Mapping[str, object]


@dataclass(frozen=True, kw_only=True, repr=False)
class Written(Answer, schema="published", version=1):
    """A release that was written.

    Attributes
    ----------
    folder, records, layout, format, columns
        What was written; the format is ``"csv"`` or ``"parquet"``, None when the release is in no folder.
    claims, not_protected
        What is promised, and what is not.
    notes, findings, next
        What the holder should know, what was found about the table, and a command to try.
    confirmed
        Columns that name people or give a value away, and were published knowingly.
    keyed
        Whether draws came from the holder's key; of sets alone.
    suppressed, forms, warnings
        How many records were left out, how columns were published, what to beware of; of classes alone.
    """

    folder: str
    records: int
    layout: str
    columns: tuple[PublishedColumn, ...]
    claims: tuple[PublishedClaim | ClaimedClasses, ...]
    notes: tuple[str, ...]
    not_protected: tuple[str, ...]
    next: str
    format: str | None = field(default=None, metadata=OPTIONAL)
    keyed: bool | None = field(default=None, metadata=OPTIONAL)
    findings: tuple[Finding, ...] = ()
    confirmed: tuple[Confirmed, ...] = ()
    suppressed: int | None = field(default=None, metadata=OPTIONAL)
    forms: tuple[ColumnForm, ...] | None = field(default=None, metadata=OPTIONAL)
    warnings: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)

    def __str__(self) -> str:
        return fit_screen(
            [f"{self.folder}: {counted(self.records, 'record')}", *(one.statement for one in self.claims)]
        )


def written(release: Release, folder: str, following: str, *, keyed: bool, data_format: str | None = None) -> Written:
    """What is to be said about a release."""
    from ldiversity.release import USE_A_KEY

    grouped = release.grouped
    # With a key, the advice to use one would only confuse.
    not_protected = (text.removesuffix(f" {USE_A_KEY}") if keyed else text for text in release.not_protected)
    return Written(
        folder=folder,
        records=release.n_rows,
        layout=release.layout,
        columns=tuple(PublishedColumn(one.name, one.role.value, one.type) for one in release.schema.attributes),
        claims=tuple(_claim(release, claim) for claim in release.claims),
        notes=tuple(release.notes),
        not_protected=tuple(not_protected),
        next=following,
        format=data_format,
        keyed=None if grouped else keyed,
        findings=tuple(map(finding_in_words, release.findings)),
        confirmed=release.confirmed,
        suppressed=release.suppressed if grouped else None,
        forms=tuple(ColumnForm(name, form.kind) for name, form in release.forms.items())
        if grouped or release.coarse
        else None,
        warnings=tuple(release.warnings) if grouped else None,
    )


def _claim(release: Release, claim: Claim | ClassClaim) -> PublishedClaim:
    name = claim.attribute
    promised = PublishedClaim(
        attribute=name,
        model=claim.model,
        l=claim.l,
        d=claim.d,
        posterior=claim.posterior,
        values=len(release.domain(name)),
        statement=claim.statement,
    )
    if not release.grouped:
        return promised
    sizes = release.evidence(name).records
    return ClaimedClasses(
        **vars(promised),
        method=release.method(name),
        parameters=release.parameters(name),
        classes=len(sizes),
        average_size=float(sizes.mean()) if len(sizes) else None,
        smallest=int(sizes.min()) if len(sizes) else None,
        largest=int(sizes.max()) if len(sizes) else None,
        facts=release.facts(name),
    )


def render(found: Written, page: Page) -> None:
    """Show what was written, what is promised and what is not, and how to go on."""
    left = "" if found.suppressed is None else f", {number(found.suppressed) if found.suppressed else 'none'} left out"
    rows = {"sets": "one row per record", "exploded": "one row per member of a record's set"}
    form = {"csv": ", as CSV", "parquet": ", as Parquet"}.get(found.format or "", "")
    page.title(
        f"Published in {found.folder}: {counted(found.records, 'record')}, "
        f"{rows.get(found.layout, found.layout)}{left}{form}"
    )
    for warning in found.warnings or ():
        page.warning(f"Warning: {warning}")
    show_findings(found.findings, page)
    forms = {one.column: one.form for one in found.forms or ()}
    heads = ["column", "role", "type", *(["published as"] if found.forms is not None else [])]
    page.table(heads, [[c.name, c.role, c.type, _form(c, forms, found.layout)][: len(heads)] for c in found.columns])
    page.title("Promised, and checked on what was written")
    _render_claims(found, page)
    page.bullets(claim.statement for claim in found.claims)
    if found.notes:
        page.title("Notes")
        page.bullets(found.notes)
    page.title("Not protected")
    page.bullets(found.not_protected)
    page.title("Next")
    page.text("The folder is all that a data user needs. To try it:")
    page.command(found.next)


def _render_claims(found: Written, page: Page) -> None:
    grouped = [one for one in found.claims if isinstance(one, ClaimedClasses)]
    if grouped:
        heads = ["largest share of a value", "classes", "average size", "smallest", "largest"]
        rows = [
            [
                *(
                    one.attribute or "records",
                    one.method,
                    one.model,
                    percent_at_most(one.posterior) if one.posterior < 1 else "not bounded",
                ),
                *map(number, (one.classes, one.average_size, one.smallest, one.largest)),
            ]
            for one in grouped
        ]
        page.table(["attribute", "method", "model", *heads], rows, right={3, 4, 5, 6, 7})
        return
    heads = ["attribute", "model", "l", "d", "of values", "worst posterior"]
    rows = [
        [one.attribute, one.model, number(one.l), number(one.d), number(one.values), _posterior(one)]
        for one in found.claims
    ]
    page.table(heads, rows, right={2, 3, 4, 5})


def _posterior(claim: PublishedClaim) -> str:
    """How sure a set can make somebody; a promise about quasi-identifiers says nothing of it."""
    return "-" if claim.l is None else percent_at_most(claim.posterior)


def _form(column: PublishedColumn, forms: Mapping[str, str], layout: str) -> str:
    if column.role == "sensitive" and layout in {"sets", "exploded"}:
        return "a set of values"
    if column.role == "sensitive":
        return "counts of its class" if layout == "bucketized" else "shuffled within its class"
    form = forms.get(column.name, "exact")
    return _LABEL if form == "node" and layout != "generalized" else _FORMS[form]

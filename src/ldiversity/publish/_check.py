"""What can be checked before anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ldiversity.base.answers import Answer, fit_screen
from ldiversity.base.findings import Finding
from ldiversity.base.numbers import counted
from ldiversity.errors import InfeasibleError
from ldiversity.publish._class_plan import judge
from ldiversity.publish._prepare import Preparation
from ldiversity.publish._screening import screen
from ldiversity.release import claim_of

__all__ = ["Checked", "check"]


@dataclass(frozen=True, repr=False)
class Checked(Answer, schema="checked", version=1):
    """A publication that fits its table, as far as that is known before anything is drawn. For the holder alone.

    Attributes
    ----------
    table
        What messages call the table.
    records
        About how many records would be published.
    roles
        The role of each column that would be published: ``"quasi"``, ``"sensitive"`` or ``"plain"``.
    promises
        What would be promised, one sentence for each sensitive column and model.
    notes
        What deserves a second look.
    findings
        What the table would give away; nothing of it blocks, or `check` would have refused.
    """

    table: str
    records: int
    roles: Mapping[str, str]
    promises: tuple[str, ...]
    notes: tuple[str, ...]
    findings: tuple[Finding, ...] = ()

    def __str__(self) -> str:
        head = f"{self.table}: {counted(self.records, 'record')}"
        return fit_screen([head, *self.promises, *map(str, self.findings), *self.notes])


def check(preparation: Preparation) -> Checked:
    """Check what `prepare` leaves open: the promise, and what the table would give away."""
    source, question = preparation.source, preparation.question
    if question.grouping is None:
        promises = [claim_of(one.name, one.mechanism).statement for one in preparation.hidden]
    else:
        outlook = judge(preparation)(question.grouping)
        if outlook.reason is not None:
            raise InfeasibleError(outlook.reason, hint=outlook.hint, nearest=[dict(one) for one in outlook.nearest])
        promises = [
            model.statement(name)
            for name, domain in preparation.domains.items()
            for model in question.grouping.promises_of(name, domain)
        ]
    screening = screen(preparation)
    screening.refuse(source.name, preparation.schema)
    return Checked(
        table=source.name,
        records=preparation.n_rows,
        roles={attribute.name: attribute.role.value for attribute in preparation.schema.attributes},
        promises=tuple(promises),
        notes=preparation.notes,
        findings=screening.findings,
    )

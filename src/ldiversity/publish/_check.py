"""What can be checked before anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ldiversity.base.answers import Answer, fit_screen
from ldiversity.base.numbers import counted
from ldiversity.errors import InfeasibleError
from ldiversity.publish._class_plan import judge
from ldiversity.publish._notes import naming_notes
from ldiversity.publish._prepare import Preparation
from ldiversity.release import claim_of
from ldiversity.tables import Suggestion, summarize_columns

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
    """

    table: str
    records: int
    roles: Mapping[str, str]
    promises: tuple[str, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return fit_screen([f"{self.table}: {counted(self.records, 'record')}", *self.promises, *self.notes])


def check(preparation: Preparation) -> Checked:
    """Check what `prepare` leaves open: the promise, and columns that look like identifiers by their values."""
    source, question = preparation.source, preparation.question
    if question.grouping is None:
        promises = [claim_of(one.name, one.mechanism).statement for one in preparation.hidden]
    else:
        outlook = judge(preparation)(question.grouping)
        if outlook.reason is not None:
            raise InfeasibleError(outlook.reason, hint=outlook.hint, nearest=[dict(one) for one in outlook.nearest])
        promises = [
            model.statement(name)
            for name, coder in preparation.coders.items()
            for model in question.grouping.promises(coder.domain)
        ]
    shown = {*question.quasi, *question.plain} - {*question.record_id, question.person}
    suggested = {one.name: Suggestion(one.role, one.reason) for one in summarize_columns(source) if one.name in shown}
    notes = dict.fromkeys([*preparation.notes, *naming_notes(suggested)])
    return Checked(
        table=source.name,
        records=preparation.n_rows,
        roles={attribute.name: attribute.role.value for attribute in preparation.schema.attributes},
        promises=tuple(promises),
        notes=tuple(notes),
    )

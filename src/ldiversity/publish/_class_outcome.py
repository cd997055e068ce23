"""What is said about grouped records: the description of the release, and the notes of its holder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ldiversity.base.arrays import Json
from ldiversity.base.numbers import counted
from ldiversity.mechanisms import ClassMechanism
from ldiversity.publish._grids import Grids, grid_notes
from ldiversity.publish._notes import hierarchy_notes
from ldiversity.publish._prepare import Preparation
from ldiversity.publish._promised import check_left_out, check_promises
from ldiversity.publish._public import with_domains
from ldiversity.release import AlikeClaim, ClassDescription, Form, class_claim, subjects_of
from ldiversity.schema import Domain, Schema

__all__ = ["ClassOutcome", "class_columns_of"]


def class_columns_of(schema: Schema, n_partitions: int) -> dict[str, str]:
    """The column with the classes of each attribute that promises are about."""
    return {name: "class_id" if n_partitions == 1 else f"class_id_{name}" for name in subjects_of(schema)}


@dataclass(frozen=True, eq=False)
class ClassOutcome:
    """What came of grouping all records of a table.

    Parameters
    ----------
    preparation
        What was decided before.
    domains
        The public values of what promises are about.
    forms
        How quasi-identifiers are published.
    n_partitions
        One, or one for each sensitive column.
    facts
        Public facts about how it went.
    n_records, n_published
        How many records there are, and how many of them are published.
    left_out_before
        How many were left out before all others were grouped again.
    steps
        The step of each column that has a grid.
    notes, warnings
        As in `Grouping`.
    """

    preparation: Preparation
    domains: Mapping[str, Domain]
    forms: Mapping[str, Form]
    n_partitions: int
    facts: Mapping[str, Json]
    n_records: int
    n_published: int
    left_out_before: int
    steps: Grids
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def suppressed(self) -> int:
        """How many records are not published."""
        return self.n_records - self.n_published

    def describe(self) -> ClassDescription:
        """All of the release but its rows."""
        preparation, method = self.preparation, self.preparation.method
        check_left_out(method, left_out=self.suppressed, n_records=self.n_records, again=self.left_out_before > 0)
        # Keeping the records of one person apart chooses among records with the same values, so chance is not all.
        apart = preparation.question.person is not None
        before = {"left_out_before": self.left_out_before} if self.left_out_before else {}
        mechanism = ClassMechanism(
            method.name, method.parameters(), method.blind and not apart, {**self.facts, **before}
        )
        schema = with_domains(preparation.schema, self.domains)
        names = subjects_of(schema)
        check_promises(method, {name: self.domains[name] for name in names})
        promised = {name: method.promises_of(name, self.domains[name]) for name in names}
        return ClassDescription(
            schema=schema,
            mechanisms=dict.fromkeys(names, mechanism),
            claims=tuple(
                claim
                for name, rules in promised.items()
                for claim in (
                    *(class_claim(name, rule, layout=method.layout, people=apart) for rule in rules),
                    *(AlikeClaim(name, rule, people=apart) for rule in preparation.question.model),
                )
            ),
            layout=method.layout,
            forms=self.forms,
            class_columns=class_columns_of(schema, self.n_partitions),
            person=apart,
            suppressed=self.suppressed,
            warnings=self.warnings,
            confirmed=preparation.confirmed,
        )

    def holder_notes(self) -> tuple[str, ...]:
        """What the holder should know."""
        preparation = self.preparation
        bucketized = preparation.method.layout == "bucketized"
        return (
            *preparation.notes,
            *self.notes,
            *hierarchy_notes([*preparation.hierarchies] if bucketized else ()),
            *_left_out_notes(self.suppressed, self.left_out_before),
            *_marginal_notes(self.forms, wanted=preparation.question.marginals),
            *grid_notes(self.steps, preparation.grid),
        )


def _left_out_notes(suppressed: int, left_out_before: int) -> tuple[str, ...]:
    if not suppressed:
        return ()
    left = counted(suppressed, "record is", "records are")
    absent = (
        f"{left} left out because of their values. Someone who knows that a person is in the table, "
        "and does not find them, learns that their value is a frequent one, or one that no class could take."
    )
    if not left_out_before:
        return (absent,)
    again = (
        f"{left_out_before} of them were left out first. Then bins and hierarchies were made from the others "
        "alone, and these were grouped again, so that nothing published depends on records that are left out."
    )
    return absent, again


def _marginal_notes(forms: Mapping[str, Form], *, wanted: bool) -> tuple[str, ...]:
    if not wanted:
        return ()
    without = [name for name, form in forms.items() if form.marginal is None]
    if not without:
        return ("Counts of the exact values of quasi-identifiers are published, so readers see which values are rare.",)
    return (f"No counts of exact values are published for {', '.join(map(repr, without))}: exact, or too many values.",)

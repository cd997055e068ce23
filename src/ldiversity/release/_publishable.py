"""What a table must be like to fit into a release; checked before the work begins, in memory as on disk."""

from __future__ import annotations

from math import isfinite

from ldiversity.base.limits import MOST_COLUMNS, MOST_NAME, MOST_VALUES
from ldiversity.errors import SchemaError
from ldiversity.schema import Domain, Role, Schema
from ldiversity.sentences import Setting, say

__all__ = ["check_publishable"]


def check_publishable(schema: Schema) -> None:
    """Refuse columns and domains that no release can describe, without quoting cells or long names.

    Examples
    --------
    >>> from ldiversity.schema import Attribute
    >>> check_publishable(Schema((Attribute("s", Role.SENSITIVE, "double", Domain((1.0, float("inf")))),)))
    Traceback (most recent call last):
    ldiversity.errors.SchemaError: table: column 's' must hold finite numbers to be sensitive, got infinite ones.
    Hint: Make the cells empty, leave the rows out, or open the table with types={'s': 'text'}.
    """
    names = schema.names()
    if len(names) > MOST_COLUMNS:
        raise SchemaError("table", f"at most {MOST_COLUMNS} columns may be published", got=len(names)).with_hint(
            "Publish fewer columns: those without a role are left out."
        )
    too_long = [place for place, name in enumerate(names, start=1) if len(name) > MOST_NAME]
    if too_long:
        raise SchemaError(
            "table",
            f"the name of a published column must have at most {MOST_NAME} characters",
            got=f"{len(names[too_long[0] - 1])} in published column {too_long[0]}",
        ).with_hint("Rename the column.")
    for name in schema.names(Role.SENSITIVE):
        _check_domain(name, schema.domain(name))


def _check_domain(name: str, domain: Domain) -> None:
    if any(isinstance(value, float) and not isfinite(value) for value in domain.values):
        raise SchemaError(
            "table", "must hold finite numbers to be sensitive", column=name, got="infinite ones"
        ).with_hint(
            say(
                "Make the cells empty, leave the rows out, or open the table with {}.", Setting("types", (name, "text"))
            )
        )
    if len(domain) > MOST_VALUES:
        raise SchemaError(
            "table",
            f"the domain of column {name!r} must have at most {MOST_VALUES} values, missing ones included",
            got=len(domain),
        ).with_hint(say("Bin numbers, group texts into categories, or use {}.", Setting("missing", "drop")))

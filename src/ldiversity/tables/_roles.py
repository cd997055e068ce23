"""Check the declared roles of columns, and suggest roles for the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from ldiversity.base.checks import name_some
from ldiversity.errors import SchemaError
from ldiversity.schema import Role
from ldiversity.tables._id_names import NamedId, named_id, split_name
from ldiversity.tables._source import Source, unknown_column

__all__ = ["Suggestion", "check_roles", "suggest_role"]

# English first, then what German and French exports call the same columns.
_NAMING: Final = (
    "name names firstname lastname surname forename fullname id ids ident identifier uuid guid key email mail "
    "phone telephone mobile fax ssn mrn nhs passport license licence account iban card address street ip url "
    "username login "
    "vorname nachname familienname telefon telefonnummer handy adresse anschrift prenom prénom"
)
_HARMING: Final = (
    "disease diseases diagnosis diagnoses icd condition illness symptom symptoms treatment drug medication "
    "hiv income salary wage wages earnings pay debt credit score religion belief orientation vote party "
    "offense offence crime conviction disability pregnancy alcohol smoking "
    "diagnose diagnosen hauptdiagnose krankheit erkrankung einkommen gehalt diagnostic diagnostics maladie salaire"
)
_LINKING: Final = (
    "age sex gender zip zipcode postcode postal birth birthday birthdate birthyear dob born race ethnicity "
    "marital education degree occupation job profession work workclass employer country nationality native "
    "city town county state region district admission height weight language relationship "
    "alter geburtsdatum geburtsjahr geburtstag geschlecht plz postleitzahl wohnort beruf familienstand sexe naissance"
)
_WORDS: Final[dict[Role, frozenset[str]]] = {
    Role.SENSITIVE: frozenset(_HARMING.split()),
    Role.IDENTIFIER: frozenset(_NAMING.split()),
    Role.QUASI: frozenset(_LINKING.split()),
}
_NEAR_UNIQUE: Final = 0.9
_ENOUGH_ROWS: Final = 20
_NOTHING: Final = "nothing in its name or values suggests a role"
_FEW_ROWS_EACH: Final = 0.1
_HALF: Final = 0.5
_YES_AND_NO: Final = 2
_MOST_KINDS: Final = 20
_MOST_CODES: Final = 50
_ROWS_PER_CODE: Final = 5
"""A code has few values, and each is shared by several rows on average; a measure is not."""


@dataclass(frozen=True)
class Suggestion:
    """A role that a column may have, and why; the data holder decides.

    `by_name`: its name says so. `of_person`: it says that a value is one person, however many rows there are of it.
    """

    role: Role | None
    reason: str
    by_name: bool = False
    of_person: bool = False


def check_roles(
    source: Source,
    *,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    drop: Sequence[str] = (),
    plain: Sequence[str] = (),
    record_id: str | Sequence[str] = (),
    needed: bool = True,
) -> list[str]:
    """Check the declared roles of columns, and return the columns that have none.

    A column without a role is not published; the caller tells the user so. `needed`: whether one must be sensitive.

    Raises
    ------
    SchemaError
        When a column does not exist or has two roles, no column is sensitive, or a published one is nested.

    Examples
    --------
    >>> from ldiversity.tables import open_source
    >>> table = open_source(pa.table({"age": [30], "shoe": [42], "disease": ["flu"]}))
    >>> check_roles(table, quasi=["age"], sensitive=["disease"])
    ['shoe']
    """
    given = {"quasi": quasi, "sensitive": sensitive, "drop": drop, "plain": plain}
    roles: dict[str, str] = {}
    for role, names in given.items():
        for name in [names] if isinstance(names, str) else names:
            _give(source, roles, name, role)
    for name in [record_id] if isinstance(record_id, str) else record_id:
        # An id may consist of quasi-identifiers; only the sensitive value must not be part of it.
        if roles.get(name) in {None, "sensitive"}:
            _give(source, roles, name, "record_id")
    if needed and "sensitive" not in roles.values():
        raise SchemaError(source.name, "at least one column must be sensitive", got="none").with_hint(
            "Name the column whose values must stay secret for each person."
        )
    _refuse_nested(source, [name for name, role in roles.items() if role in {"quasi", "plain"}])
    return [name for name in source.columns if name not in roles]


def _give(source: Source, roles: dict[str, str], name: str, role: str) -> None:
    if name not in source.columns:
        raise unknown_column(source.name, name, source.columns, from_file=source.from_file)
    if name in roles:
        both = f"{roles[name]} and {role}" if roles[name] != role else f"{role} twice"
        raise SchemaError(source.name, "must have one role", column=name, got=both, hint="Name each column once.")
    roles[name] = role


def _refuse_nested(source: Source, names: list[str]) -> None:
    nested = [name for name in names if _is_nested(source.columns[name])]
    if nested:
        raise SchemaError(
            source.name, "published columns must hold single plain values", got=f"others in {name_some(nested)}"
        ).with_hint("Drop these columns, convert them to text, or split them into one column per part.")


def _is_nested(kind: pa.DataType) -> bool:
    return bool(pa.types.is_nested(kind)) or isinstance(kind, pa.BaseExtensionType)


def suggest_role(name: str, kind: pa.DataType, n_distinct: int, n_rows: int) -> Suggestion:
    """Suggest a role from a column's name and its number of distinct values.

    Examples
    --------
    >>> suggest_role("patient_name", pa.string(), 100, 100).role
    <Role.IDENTIFIER: 'identifier'>
    """
    words = split_name(name)
    for role, typical in _WORDS.items():
        hit = next((word for word in words if word in typical), None)
        found = named_id(name) if role is Role.IDENTIFIER else None
        if found is not None and found[0] is NamedId.PERHAPS and not _are_ids(found[1], n_distinct, n_rows):
            found = None
        if hit is not None or found is not None:
            of_person = found is not None and found[0] is not NamedId.RECORD
            shown = hit if hit is not None or found is None else found[1]
            return Suggestion(role, f'its name holds "{shown}"', by_name=True, of_person=of_person)
    return _by_values(kind, n_distinct, n_rows) if n_rows >= _ENOUGH_ROWS else Suggestion(None, _NOTHING)


def _are_ids(word: str, n_distinct: int, n_rows: int) -> bool:
    """Whether a column that is called as people are holds ids, and not a yes or a no, or one of a few kinds."""
    if n_distinct <= _YES_AND_NO:
        return False
    least = _FEW_ROWS_EACH if n_rows >= _ENOUGH_ROWS else _HALF
    return word == "patient" or n_distinct > _MOST_KINDS or n_distinct >= least * n_rows


def _by_values(kind: pa.DataType, n_distinct: int, n_rows: int) -> Suggestion:
    texts, integers = pa.types.is_string(kind), pa.types.is_integer(kind)
    if (texts or integers) and n_distinct >= _NEAR_UNIQUE * n_rows:
        return Suggestion(Role.IDENTIFIER, "almost every row has a different value")
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return Suggestion(Role.QUASI, "a date, which others may know")
    few = 1 < n_distinct <= _MOST_CODES and n_distinct * _ROWS_PER_CODE <= n_rows
    if few and integers:
        return Suggestion(Role.QUASI, "a few whole numbers, as of a code, which others may know")
    if few and (texts or pa.types.is_boolean(kind)):
        return Suggestion(Role.QUASI, "a category of few values, which others may know")
    numbers = integers or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return Suggestion(None, f"many numbers, as of a measure; {_NOTHING}" if numbers and not few else _NOTHING)

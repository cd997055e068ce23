"""Names of columns that hold ids of people, cases or records."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

__all__ = ["NamedId", "named_id", "split_name"]

# English first, then what German exports call the same people.
_PEOPLE: Final = (
    "patient subject participant respondent customer client user employee student pupil citizen resident "
    "pat patienten patientin kunde kunden personal mitarbeiter proband probanden teilnehmer versicherten matrikel"
)
_NUMBERED: Final = "person member personen mitglied mitglieds"
"""Surveys number the people of a household, so a number of these need not be an id."""

_RECORDS: Final = (
    "case record chart encounter admission accession insurance insured policy fall akten aufnahme versicherungs "
    "sozialversicherungs steuer ausweis dossier"
)


def _any(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


_ID: Final = _any("id ids key pseudonym hash")
_NUMBER: Final = _any("no nr num number nummer numero numéro ref")
_OF_PEOPLE: Final = re.compile(f"ssn|mrn|nhs|{_any(_PEOPLE)}(?:{_ID}|{_NUMBER})|{_any(_NUMBERED)}{_ID}")
_OF_RECORDS: Final = re.compile(
    f"pid|aktenzeichen|{_any(_RECORDS)}(?:{_ID}|{_NUMBER})|{_any(_NUMBERED)}{_NUMBER}|(?:{_any(_PEOPLE)}|person)code"
)
_BARE: Final = re.compile(f"{_any(_PEOPLE)}|{_any(_NUMBERED)}")


class NamedId(Enum):
    """What a name says about ids."""

    PERSON = "person"
    """A value is one person, however many rows it has."""
    RECORD = "record"
    """A value is a person, a case or a record, or counts them."""
    PERHAPS = "perhaps"
    """It speaks of people, but a member may as well be a yes or a no: the values tell."""


def named_id(name: str) -> tuple[NamedId, str] | None:
    """What the name of a column says about ids, and which part of it does; None when nothing does.

    Examples
    --------
    >>> named_id("Patient-Nr."), named_id("house_no")
    ((<NamedId.PERSON: 'person'>, 'patient nr'), None)
    """
    words = [word for word in split_name(name)[:-1] if not word.isdigit()]
    # "PatNr" may be followed by anything; of two words the last ones count: "patient no show" is no number.
    tried = {word: word for word in words} | {"".join(words[-2:]): " ".join(words[-2:])}
    tried |= {"".join(reversed(words)): " ".join(words)} if len(words) == 2 else {}  # noqa: PLR2004 - "no_patient"
    for kind, pattern in ((NamedId.PERSON, _OF_PEOPLE), (NamedId.RECORD, _OF_RECORDS)):
        for part, shown in tried.items():
            if pattern.fullmatch(part):
                return kind, shown
    if len(words) == 1 and _BARE.fullmatch(words[0]):
        return NamedId.PERHAPS, words[0]
    return None


def split_name(name: str) -> list[str]:
    """Return the words of a column's name, and all of them as one.

    Examples
    --------
    >>> split_name("patientId")
    ['patient', 'id', 'patientid']
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    words = [word for word in re.split(r"[\W_]+", spaced.lower()) if word]
    return [*words, "".join(words)]

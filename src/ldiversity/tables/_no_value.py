"""Marks that people write where there is no value: as a sensitive value, such a mark hides nothing."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.numbers import counted
from ldiversity.sentences import Sentence, Setting, say

__all__ = ["NO_VALUE_MARKS", "count_marks", "empty_marks", "is_no_value", "say_no_values"]

_SIGNS: Final = ("", "-", "--", "---", "\u2013", "\u2014", ".", "..", "...", "?", "??", "???", "*", "/", "_", "#")
_ENGLISH: Final = (
    *("na", "n/a", "n.a.", "n.a", "n. a.", "#n/a", "#na", "nan", "null", "none", "nil", "missing", "unknown", "unk"),
    *(
        "not available",
        "not applicable",
        "not known",
        "not specified",
        "not stated",
        "no answer",
        "no data",
        "no value",
    ),
    *("unspecified", "undefined", "empty", "blank"),
)
_GERMAN: Final = (
    *("k.a.", "k. a.", "k.a", "ka", "keine angabe", "keine angaben", "ohne angabe", "unbekannt", "nicht bekannt"),
    *("nicht angegeben", "nicht verfügbar", "fehlt", "fehlend", "leer", "entfällt", "kein wert"),
)
_OTHERS: Final = (
    *("inconnu", "inconnue", "non renseigné", "non renseignée", "non disponible", "manquant", "n.d.", "nd", "vide"),
    *("desconocido", "desconocida", "no disponible", "sin dato", "sin datos", "no aplica", "s/d", "vacío"),
    *("sconosciuto", "sconosciuta", "non disponibile", "mancante", "non noto", "nessun dato"),
    *("desconhecido", "desconhecida", "não disponível", "sem dados", "não informado"),
    *("onbekend", "niet beschikbaar", "ontbreekt", "n.v.t.", "nieznane", "nieznany", "brak", "brak danych"),
    *("okänd", "okänt", "saknas", "ukendt", "ukjent", "mangler", "tuntematon", "puuttuu", "неизвестно", "нет данных"),
)

NO_VALUE_MARKS: Final = frozenset((*_SIGNS, *_ENGLISH, *_GERMAN, *_OTHERS))
"""All marks, in lower case."""


def is_no_value(text: str) -> bool:
    """Whether a text looks like no value: one of the marks, whatever its case and blanks.

    Examples
    --------
    >>> [is_no_value(text) for text in ("NA", " n. A. ", "", "Unbekannt", "nausea")]
    [True, True, True, True, False]
    """
    return _as_written(text) in NO_VALUE_MARKS


def _as_written(text: str) -> str:
    """The text as marks are written."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def empty_marks(values: Iterable[object]) -> list[bool]:
    """Whether each value is a text that looks like no value.

    Examples
    --------
    >>> empty_marks(["flu", "-", None, 3])
    [False, True, False, False]
    """
    return [isinstance(value, str) and is_no_value(value) for value in values]


def count_marks(cells: pa.Array, codes: NDArray[np.int64]) -> tuple[int, int]:
    """How many rows have a mark, and how many marks there are; `codes` are the places of rows in different cells.

    Examples
    --------
    >>> count_marks(pa.array(["flu", "-", "NA"]), np.array([0, 1, 1, 2, 0]))
    (3, 2)
    """
    texts = pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)
    marks = np.flatnonzero(empty_marks(cells.to_pylist())) if texts else np.zeros(0, dtype=np.int64)
    return int(np.isin(codes, marks).sum()), len(marks)


def say_no_values(rows: str, n_marks: int) -> tuple[str, Sentence]:
    """What such marks do, and what to do about them; `rows` says how many rows have one.

    Examples
    --------
    >>> print(say_no_values("3 rows have", 2)[0])
    3 rows have a text that looks like no value, of 2 such marks: each counts as a value that a person may have, so l
    values may hold fewer real ones.
    """
    text = (
        f"{rows} a text that looks like no value, of {counted(n_marks, 'such mark')}: each counts as a value that a "
        "person may have, so l values may hold fewer real ones."
    )
    return text, say(
        "Empty these cells in the table, and say what becomes of them: {} leaves the rows out, {} makes one value of "
        "all.",
        Setting("missing", "drop"),
        Setting("missing", "category"),
    )

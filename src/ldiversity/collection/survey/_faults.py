"""What is wrong with a survey, in one sentence: the field, the rule and a way out."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from pydantic import BaseModel, ValidationError

from ldiversity.collection.survey._document import Quasi
from ldiversity.collection.survey._mechanism import DistanceForm, Mechanism, kinds_of
from ldiversity.errors import ParameterError

__all__ = ["first_fault"]

_Context: TypeAlias = Mapping[str, Any]

_TAGS: Final = kinds_of(Mechanism) | kinds_of(DistanceForm) | kinds_of(Quasi)
_MEMBERS: Final = frozenset({"str", "int", "float", "date"})
_ITEM: Final = 2
"""Where pydantic puts the kind of an item of `quasi`."""

_PLAIN_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_HINT: Final = "docs/collect-format.md describes every field."
_UNKNOWN: Final = "an unknown field"

_RULES: Final[Mapping[str, str | Callable[[_Context], str]]] = MappingProxyType(
    {
        "missing": "must be given",
        "string_type": "must be a text",
        "int_type": "must be a whole number",
        "float_type": "must be a number",
        "bool_type": "must be true or false",
        "list_type": "must be a list",
        "model_type": "must be an object",
        "model_attributes_type": "must be an object",
        "dict_type": "must be an object",
        "finite_number": "must be a finite number",
        "union_tag_not_found": "must say its kind",
        "union_tag_invalid": lambda said: f"must be of the kind {said['expected_tags']}",
        "literal_error": lambda said: f"must be {said['expected']}",
        "string_too_long": lambda said: f"must have at most {said['max_length']} characters",
        "too_long": lambda said: f"must have at most {said['max_length']} parts",
        "too_short": lambda said: f"must have at least {said['min_length']} parts",
        "greater_than": lambda said: f"must be above {said['gt']:g}",
        "greater_than_equal": lambda said: f"must be at least {said['ge']:g}",
        "less_than_equal": lambda said: f"must be at most {said['le']:g}",
    }
)

_FORMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "name": "must begin with a letter and have at most 64 letters, digits, - and _",
        "language": "must be a language such as en or pt-BR",
        "closes": "must be a day such as 2027-06-30",
        "blind_key": "must be a number in base64url",
    }
)
"""What a text of a certain form must look like."""


def first_fault(
    error: ValidationError, *, known: Callable[[Sequence[str | int]], type[BaseModel] | None] = lambda _: None
) -> ParameterError:
    """The first fault as one sentence, which quotes no text of the survey but the names of fields.

    Parameters
    ----------
    error
        What pydantic found.
    known
        The model of the object at a place, to name the field that is most like an unknown one.
    """
    first = error.errors(include_input=False, include_url=False)[0]
    place, kind, said = first["loc"], first["type"], first.get("ctx", {})
    if len(place) > 1 and place[-1] in _MEMBERS:  # what pydantic adds where one of several types may stand
        place = place[:-1]
        kind = kind if place[-1] not in _FORMS else "string_pattern_mismatch"
    path = _path(place)
    if kind == "extra_forbidden":
        model = known(place[:-1])
        near = difflib.get_close_matches(str(place[-1]), model.model_fields if model else (), n=1, cutoff=0.4)
        hint = f"Do you mean {near[0]}? {_HINT}" if near else _HINT
        return ParameterError("survey", path, "is not known", hint=hint)
    if kind == "value_error":
        return _own(path, str(said["error"]))
    if kind == "string_pattern_mismatch":
        rule = _FORMS.get(str(place[-1]), "must be of its form")
    else:
        found = _RULES.get(kind, "must be of its form")
        rule = found if isinstance(found, str) else found(said)
    return _own(path, rule)


def _own(path: str, rule: str) -> ParameterError:
    """A rule of this package. It may name a place below `path`: ``[0].mechanism: must ...``, and a way out."""
    below, mark, rest = rule.partition(": ")
    if mark and re.fullmatch(r"[\w.\[\]-]+", below):
        path, rule = f"{path}.{below}" if path else below, rest
    rule, _, hint = rule.partition("\n")
    hint = hint or _HINT
    return ParameterError("survey", path, rule, hint=hint) if path else ParameterError("survey", rule, hint=hint)


def _path(place: Sequence[str | int]) -> str:
    """The place as people write it, without the kinds that pydantic adds.

    Examples
    --------
    >>> _path(("questions", 1, "mechanism", "balanced", "fitted", 3))
    'questions[1].mechanism.fitted[3]'
    """
    path = ""
    for at, step in enumerate(place):
        if isinstance(step, int):
            path += f"[{step}]"
        elif step not in _TAGS or place[at - 1] not in {"mechanism", "distance"} | (
            {place[1]} if at == _ITEM else set()
        ):
            name = step if _PLAIN_NAME.fullmatch(step) else _UNKNOWN
            path += f".{name}" if path else name
    return path

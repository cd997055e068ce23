"""Promises about quasi-identifiers, for methods that let every record keep its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ldiversity.errors import ParameterError
from ldiversity.methods import Models
from ldiversity.models import PrivacyModel, parse_model
from ldiversity.release import PEOPLE, AlikeClaim
from ldiversity.sentences import Method as SaidMethod
from ldiversity.sentences import say

if TYPE_CHECKING:
    from ldiversity.publish._publication import Publication

__all__ = ["alike_models", "alike_statements", "check_kept_quasi"]

_OWNER: Final = "Publication"


def alike_models(given: Models) -> tuple[PrivacyModel, ...]:
    """Read models about how many records look alike.

    Examples
    --------
    >>> alike_models("k-anonymity:5"), alike_models(None)
    ((KAnonymity(k=5),), ())
    """
    several = [] if given is None else [given] if isinstance(given, str | PrivacyModel) else given
    if not isinstance(several, Sequence) or not all(isinstance(one, str | PrivacyModel) for one in several):
        raise ParameterError(_OWNER, "model", "must be a privacy model or its text form", got=repr(given))
    models = [parse_model(one) if isinstance(one, str) else one for one in several]
    others = [model.text for model in models if not (model.of_people and model.monotone)]
    if others:
        raise ParameterError(
            _OWNER, "model", "must be about how many records look alike, as k-anonymity:5 is", got=repr(others[0])
        ).with_hint("What a record may show of its sensitive value is the promise of the method itself.")
    return tuple(dict.fromkeys(models))


def alike_statements(models: Sequence[PrivacyModel]) -> tuple[str, ...]:
    """What is promised about records that look alike, in plain words.

    Examples
    --------
    >>> alike_statements(alike_models("k-anonymity:5"))
    ('At least 5 records look alike in all quasi-identifiers, for every record.',)
    """
    return tuple(AlikeClaim(PEOPLE, model).statement for model in models)


def check_kept_quasi(question: Publication) -> None:
    """Refuse models about quasi-identifiers where the method generalizes them, and a level beside a hierarchy."""
    grouping = question.grouping
    if grouping is not None and grouping.layout == "generalized":
        both = [name for name in question.levels if name in question.hierarchies]
        if both:
            raise ParameterError(
                _OWNER, "levels", "must name no column that has a hierarchy", got=repr(both[0])
            ).with_hint("A level of a hierarchy file is given as file.csv:1; the method goes up from there.")
        if question.model:
            raise ParameterError(
                _OWNER, "model", f"must be left out with {grouping.name}, whose classes satisfy a rule of their own"
            ).with_hint(
                say("{} and {} take it as an option of their own.", SaidMethod("Mondrian"), SaidMethod("Incognito"))
            )
    if question.model and question.person is not None:
        raise ParameterError(
            _OWNER, "model", "counts records, but a person may have several, so it must be left out here"
        ).with_hint("Publish one row per person, or leave the promise out.")

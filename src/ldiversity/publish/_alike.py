"""Promises about quasi-identifiers, for methods that let every record keep its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ldiversity.base.combinations import Sizes
from ldiversity.base.numbers import counted_of
from ldiversity.errors import ClaimError, ParameterError
from ldiversity.methods import Models
from ldiversity.models import PrivacyModel, parse_model
from ldiversity.release import PEOPLE, AlikeClaim
from ldiversity.sentences import Method as SaidMethod
from ldiversity.sentences import say

if TYPE_CHECKING:
    from ldiversity.publish._publication import Publication

__all__ = ["alike_models", "alike_statements", "check_kept_quasi", "check_people_alike"]

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


def alike_statements(models: Sequence[PrivacyModel], *, people: bool = False) -> tuple[str, ...]:
    """What is promised about records that look alike, in plain words; `people`: whether people are counted.

    Examples
    --------
    >>> alike_statements(alike_models("k-anonymity:5"))
    ('At least 5 records look alike in all quasi-identifiers, for every record.',)
    """
    return tuple(AlikeClaim(PEOPLE, model, people=people).statement for model in models)


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


def check_people_alike(models: Sequence[PrivacyModel], people: Sizes) -> None:
    """Check on the rows that are about to be written that enough people share each combination.

    Readers cannot check this, because who has which rows is not published. `people` has how many people show how many
    combinations.

    Raises
    ------
    ClaimError
        When a combination is shown by too few people; nothing is published.
    """
    for model in models:
        failing = model.failing_sizes(people)
        if failing:
            combinations = "combination of quasi-identifiers|combinations of quasi-identifiers"
            among = counted_of(failing, people.n_combinations, combinations, "has", "have")
            raise ClaimError("person", f"{among} too few people for {model.text}").with_hint("Nothing was published.")

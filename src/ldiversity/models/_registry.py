"""Privacy models by name: those that a release may claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from ldiversity._checks import name_some
from ldiversity.errors import LDiversityError, ParameterError, ReleaseFormatError
from ldiversity.models._base import PrivacyModel
from ldiversity.models._distinct import DistinctDiversity
from ldiversity.models._entropy import EntropyDiversity
from ldiversity.models._frequency import FrequencyDiversity
from ldiversity.models._k_anonymity import KAnonymity
from ldiversity.models._level_unique import LevelUnique
from ldiversity.models._recursive import RecursiveDiversity
from ldiversity.models._unique import UniqueDiversity

__all__ = ["MODELS", "model_from_dict", "parse_model"]

MODELS: Final[Mapping[str, type[PrivacyModel]]] = {
    model.name: model
    for model in (
        FrequencyDiversity,
        UniqueDiversity,
        LevelUnique,
        KAnonymity,
        DistinctDiversity,
        EntropyDiversity,
        RecursiveDiversity,
    )
}
"""The class of each model; a name is never removed and never changes its meaning."""


def parse_model(text: str) -> PrivacyModel:
    """Read the text form of a model: its name and its parameters, separated by colons.

    Examples
    --------
    >>> parse_model("frequency:3")
    FrequencyDiversity(l=3)
    """
    name, *parameters = (part.strip() for part in text.split(":"))
    if name not in MODELS:
        raise ParameterError(f"model: name must be one of {name_some(MODELS)}, got {name!r}.")
    known = [field.name for field in fields(MODELS[name])]  # type: ignore[arg-type]
    try:
        numbers = [float(part) if set(part) & set(".eE") else int(part) for part in parameters]
        return MODELS[name](**dict(zip(known[: len(numbers)], numbers, strict=True)))
    except (TypeError, ValueError) as error:
        if isinstance(error, LDiversityError):
            raise
        raise ParameterError(
            f"model: {name!r} must be followed by numbers for {name_some(known)}, got {text!r}.",
            hint=f"Write for example {':'.join([name, *(['3'] * len(known))])}.",
        ) from None


def model_from_dict(described: object) -> PrivacyModel:
    """Read the description of any model, written by a stranger.

    Raises
    ------
    ReleaseFormatError
        When it is damaged or unknown.
    """
    name: Any = described.get("name") if isinstance(described, dict) else None
    if not isinstance(described, dict) or not isinstance(name, str) or name not in MODELS:
        raise ReleaseFormatError(
            "release: a claim must be of a known privacy model.",
            hint="The release may come from a newer version of this package.",
        )
    try:
        return MODELS[name].from_dict(described)
    except (LDiversityError, LookupError, TypeError, ValueError, ArithmeticError):
        raise ReleaseFormatError(f"release: the claim {name!r} is damaged.") from None

"""Privacy models by name: those that a release may claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from ldiversity.base.checks import name_some
from ldiversity.base.registry import Registry
from ldiversity.entries import ENTRIES
from ldiversity.errors import LDiversityError, ParameterError, ReleaseFormatError
from ldiversity.models._base import PrivacyModel

__all__ = ["MODELS", "model_from_dict", "model_text", "parse_model", "place_model"]

MODELS: Final = Registry[type[PrivacyModel]]("models", ENTRIES["models"])
"""The class of each model. A name is never removed and never changes its meaning."""

_ALIASES: Final[Mapping[str, str]] = {"(l,d)": "semantic", "(l,e)": "level", "(c,l)": "recursive"}
"""Other names that text forms may use."""


def parse_model(text: str, base: Path | None = None) -> PrivacyModel:
    """Read the text form of a model: its name and its parameters, separated by colons.

    Parameters
    ----------
    text
        Parameters stand in their order (``recursive:3:2``) or are named (``recursive:l=2:c=3``).
    base
        The folder that relative paths start from; the working directory when None.

    Raises
    ------
    ParameterError
        When the name is unknown, or the parameters do not fit; says what would.

    Examples
    --------
    >>> parse_model("frequency:3")
    FrequencyDiversity(l=3)
    >>> parse_model("recursive:l=2:c=3")
    RecursiveDiversity(c=3.0, l=2)
    """
    name, *parts = (part.strip() for part in text.split(":"))
    model = MODELS.get(_ALIASES.get(name, name))
    if model is None:
        written = [known for known, one in MODELS.items() if one.example]  # others have no text form
        near = get_close_matches(name, written, n=1, cutoff=0.5)
        example = MODELS[near[0] if near else "k-anonymity"].example
        raise ParameterError(
            "model", f"name must be one of {name_some(written, most=len(written))}", got=repr(name)
        ).with_hint(f"Write for example {example}.")
    try:
        return model.from_text(parts, base)
    except (TypeError, ValueError) as error:
        if isinstance(error, LDiversityError):
            # In its own words: a parameter of a model is no option of a command, though both may be called l.
            raise ParameterError("model", f"{text!r} is refused: {error.message!s}", hint=error.hint) from None
        known = [field.name for field in fields(model)]  # type: ignore[arg-type]
        raise ParameterError(
            "model", f"{name!r} must be followed by {name_some(known)}, separated by colons", got=repr(text)
        ).with_hint(f"Write for example {model.example}." if model.example else None) from None


def model_text(model: PrivacyModel) -> str | None:
    """The text form of a model; None if the text lacks a part of it, such as a tree.

    Examples
    --------
    >>> from ldiversity.models import KAnonymity
    >>> model_text(KAnonymity(5))
    'k-anonymity:5'
    """
    try:
        return model.text if parse_model(model.text) == model else None
    except LDiversityError:
        return None


def place_model(text: str, place: Callable[[str], str]) -> str:
    """A text form in which `place` has replaced the name of the file, if there is one.

    Examples
    --------
    >>> place_model("level:3:1:trees/diseases.csv", lambda file: f"/data/{file}")
    'level:3:1:/data/trees/diseases.csv'
    """
    name, *parts = (part.strip() for part in text.split(":"))
    model = MODELS.get(_ALIASES.get(name, name))
    return text if model is None else ":".join([name, *model.place_files(parts, place)])


def model_from_dict(described: object) -> PrivacyModel:
    """Read the description of any model; it may come from anyone, so nothing in it is trusted.

    Raises
    ------
    ReleaseFormatError
        When it is damaged or unknown.
    """
    name: Any = described.get("name") if isinstance(described, dict) else None
    if not isinstance(described, dict) or not isinstance(name, str) or name not in MODELS:
        raise ReleaseFormatError("release", "a claim must be of a known privacy model").with_hint(
            "The release may come from a newer version of this package."
        )
    try:
        return MODELS[name].from_dict(described)
    except (LDiversityError, LookupError, TypeError, ValueError, ArithmeticError):
        raise ReleaseFormatError("release", f"the claim {name!r} is damaged") from None

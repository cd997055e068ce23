"""The kinds of mechanisms that a release may hold, by name."""

from __future__ import annotations

from typing import Any, Final

from ldiversity.base.checks import name_some
from ldiversity.base.registry import Registry
from ldiversity.entries import ENTRIES
from ldiversity.errors import LDiversityError, ReleaseFormatError
from ldiversity.mechanisms._base import SetMechanism
from ldiversity.schema import Domain
from ldiversity.sentences import say

__all__ = ["MECHANISMS", "mechanism_from_dict"]

MECHANISMS: Final = Registry[type[SetMechanism]]("mechanisms", ENTRIES["mechanisms"])
"""The class of each kind; a kind is never removed and never changes its meaning."""


def mechanism_from_dict(described: object, domain: Domain) -> SetMechanism:
    """Read the description of any kind of mechanism; it is not trusted.

    Raises
    ------
    ReleaseFormatError
        When it is damaged, or of an unknown kind or version.

    Examples
    --------
    >>> described = {"kind": "uniform", "version": 1, "n_values": 3, "l": 2}
    >>> mechanism_from_dict(described, Domain(("cold", "cut", "flu")))
    UniformSelection(n_values=3, l=2)
    """
    kind: Any = described.get("kind") if isinstance(described, dict) else None
    if not isinstance(described, dict) or not isinstance(kind, str) or kind not in MECHANISMS:
        raise ReleaseFormatError(
            "release", f"mechanism must be an object of a known kind ({name_some(MECHANISMS)})"
        ).with_hint("The release may come from a newer version of this package.")
    mechanism = MECHANISMS[kind]
    version: Any = described.get("version")
    if type(version) is not int or not 1 <= version <= mechanism.version:
        known = "version 1" if mechanism.version == 1 else f"a version from 1 to {mechanism.version}"
        raise ReleaseFormatError("release", f"mechanism {kind!r} must be of {known}").with_hint(
            "The release may come from a newer version of this package."
        )
    try:
        made = mechanism.from_dict(described, domain)
    except ReleaseFormatError:
        raise
    except LDiversityError as error:
        raise ReleaseFormatError("release", say("mechanism {} is damaged: {}", repr(kind), error.message)) from None
    # What is said about it again, and compared, is how it was drawn; a frozen dataclass is told so, too.
    object.__setattr__(made, "version", version)
    return made

"""What a grouped release does not protect, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["class_not_protected"]

_WHO: Final[Mapping[str, str]] = {
    "generalized": (
        "Whoever knows a person's quasi-identifiers finds the class where the person must be, and that the person may "
        "be in the table: classes hide values, not membership."
    ),
    "bucketized": (
        "Quasi-identifiers are published as they are: who is in the table, and in which class, may be recognized."
    ),
}
_ALWAYS: Final = (
    (
        "The promise is about shares of a class. Someone who knows more, such as which values a person cannot have or "
        "the values of others in the class, rules these out and gains."
    ),
    (
        "Publishing the same people again, in other classes, lets an attacker intersect the classes of a person. "
        "A key does not help against that: publish once."
    ),
    (
        "Several sensitive values of one person are not linked within a class, but each is only as protected as its "
        "own promise, and one that is known may help to guess another."
    ),
    (
        "Someone who knows the method may learn from which classes it made and which it avoided: a method that "
        "generalizes no more than it must tells where it had to."
    ),
    "Values that differ may still be alike, unless the promise says how they differ.",
    (
        "Public are the domains of sensitive attributes, the ranges, values and hierarchies of quasi-identifiers, and "
        "the numbers of records, of classes and of records left out. Plain columns are published as they are."
    ),
)


def class_not_protected(layout: str) -> tuple[str, ...]:
    """What is not protected, for a layout of grouped releases.

    Examples
    --------
    >>> len(class_not_protected("bucketized"))
    7
    """
    return (_WHO[layout], *_ALWAYS)

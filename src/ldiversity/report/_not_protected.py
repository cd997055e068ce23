"""What a grouped release does not protect, in plain words."""

from __future__ import annotations

from typing import Final

__all__ = ["class_not_protected"]

_WHO: Final = {
    "generalized": (
        "Whoever knows a person's quasi-identifiers finds the person's class, and that the person may be in the table: "
        "classes hide values, not membership."
    ),
    "bucketized": "Quasi-identifiers are published as they are: who is in the table may be recognized.",
}
_ALWAYS: Final = (
    (
        "The bound is on the shares of a class. Someone who knows more, such as which values a person cannot have, or "
        "the values of others in the class, rules them out and gains."
    ),
    (
        "Publishing the same people again in other classes lets an attacker intersect the classes of a person. A key "
        "does not help here: publish once."
    ),
    "Values that differ may still be alike, unless the promise says how they differ.",
    "Someone who knows the method may learn a little from which classes it made and which it avoided.",
    (
        "Public are the domains of sensitive attributes, the ranges, values and hierarchies of quasi-identifiers, and "
        "the numbers of records and classes."
    ),
)


def class_not_protected(layout: str) -> tuple[str, ...]:
    """What is not protected, for a layout of grouped releases.

    Examples
    --------
    >>> class_not_protected("bucketized")[0]
    'Quasi-identifiers are published as they are: who is in the table may be recognized.'
    """
    return (_WHO[layout], *_ALWAYS)

"""What a grouped release does not protect, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["SEPARATE_CLASSES", "class_not_protected"]

SEPARATE_CLASSES: Final = (
    "Classes were formed for each sensitive column separately, so a record's classes together tell more than 1/l: on "
    "the Adult table (workclass and occupation, l=2) someone who knows how the two columns go together gives the true "
    "value a probability of 0.66 on average, and above 0.9 for one record in five. Joint classes keep the claim."
)
"""What every reader must know when each sensitive attribute has classes of its own."""

_WHO: Final[Mapping[str, str]] = {
    "generalized": (
        "Anyone who knows a person's quasi-identifiers finds the class where the person must be, and that the person "
        "may be in the table: classes hide values, not membership. Where regions of classes overlap, the promise is "
        "about each class: someone who mixes all classes that fit a person may be right somewhat more often."
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


_LEFT_OUT: Final = (
    "Records were left out because of their values: someone who knows that a person is in the table, but not in this "
    "release, learns that this person's value is a frequent one, or one that no class could take."
)
_SEVERAL_RECORDS: Final = (
    "One person may have several records, each in another class: someone who knows which classes are one person's can "
    "intersect them. The promise is for a record, not for a person."
)


_RECORDS_ALONE: Final = (
    (
        "Only how many records look alike is promised. Nothing is promised about what they show besides: plain columns "
        "are published as they are, and anyone who finds a person's class sees what its records have there."
    ),
    _ALWAYS[1],
    _ALWAYS[3],
    (
        "Public are the ranges, values and hierarchies of quasi-identifiers, and the numbers of records, of classes "
        "and of records left out."
    ),
)
"""What takes the place of sentences about sensitive values where there are none."""


def class_not_protected(
    layout: str, *, left_out: bool = False, several_records: bool = False, records_alone: bool = False
) -> tuple[str, ...]:
    """What a grouped release of this layout does not protect.

    `left_out` says that records were left out, `several_records` that one person may have several, `records_alone` that
    no attribute is sensitive.

    Examples
    --------
    >>> len(class_not_protected("bucketized")), len(class_not_protected("bucketized", left_out=True))
    (7, 8)
    """
    left = (_LEFT_OUT,) if left_out else ()
    several = (_SEVERAL_RECORDS,) if several_records else ()
    return (_WHO[layout], *left, *several, *(_RECORDS_ALONE if records_alone else _ALWAYS))

"""How likely being recognized may be: limits with a name and a source, or the holder's own with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ldiversity.base.checks import check_number, name_some
from ldiversity.base.typed import number_text, point_hint
from ldiversity.errors import ParameterError

__all__ = ["DEFAULT_THRESHOLD", "THRESHOLDS", "Threshold", "read_threshold"]

_CELLS: Final = "El Emam, Guide to the De-Identification of Personal Health Information (2013), on cell size precedents"
_OWN: Final = "own"


@dataclass(frozen=True)
class Threshold:
    """The greatest probability of being recognized that counts as acceptable.

    Attributes
    ----------
    limit
        The probability; a record with a greater one counts as at risk.
    name
        Its name among `THRESHOLDS`; ``own`` for a number that the holder chose.
    source
        Who uses it; empty for the holder's own.
    rationale
        Why the holder chose it; empty when they did not say.
    """

    limit: float
    name: str = _OWN
    source: str = ""
    rationale: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the command line that ask for it; none for the default."""
        said = ("--rationale", self.rationale) if self.rationale else ()
        if self.name == DEFAULT_THRESHOLD:
            return said
        return ("--threshold", number_text(self.limit) if self.name == _OWN else self.name, *said)

    @property
    def reason(self) -> str:
        """Where it comes from, in one sentence."""
        said = f" The holder says: {self.rationale}" if self.rationale else ""
        if self.source:
            return f"Its name is {self.name!r}. {self.source}.{said}"
        return f"The holder's own limit.{said}" if said else "The holder's own limit; no reason was given."


_LISTED: Final = (
    Threshold(
        0.05,
        "cell-20",
        f"At least 20 people look alike, as for some public files of health data in Canada and the USA ({_CELLS})",
    ),
    Threshold(
        0.09,
        "ema-0070",
        "European Medicines Agency, external guidance on Policy 0070, for clinical reports that anyone may read. 1/11 "
        "is a little more than 0.09: the limit 'cell-11' counts groups of 11 as within",
    ),
    Threshold(
        0.09,
        "health-canada",
        "Health Canada, Public Release of Clinical Information, guidance document (2019). 1/11 is a little more than "
        "0.09: the limit 'cell-11' counts groups of 11 as within",
    ),
    Threshold(
        1 / 11,
        "cell-11",
        f"At least 11 people look alike, as for public files of health data in the USA ({_CELLS})",
    ),
    Threshold(
        0.2,
        "cell-5",
        f"At least 5 people look alike: a common rule for data that are handed to known recipients ({_CELLS})",
    ),
)

THRESHOLDS: Final[Mapping[str, Threshold]] = {one.name: one for one in _LISTED}
"""Limits that others use, by name, the strictest first."""

DEFAULT_THRESHOLD: Final = "cell-5"


def read_threshold(owner: str, given: float | str | Threshold, rationale: str = "") -> Threshold:
    """Read a limit: a number from 0 to 1 or its text, or a name among `THRESHOLDS`; and why the holder chose it.

    Examples
    --------
    >>> read_threshold("audit", "ema-0070").limit, read_threshold("audit", "0.1", "agreed with the board").limit
    (0.09, 0.1)
    """
    if not isinstance(rationale, str):
        raise ParameterError(owner, "rationale", "must be a text", got=type(rationale).__name__)
    said = " ".join(rationale.split())
    if isinstance(given, Threshold):
        found = given
    elif isinstance(given, str) and given in THRESHOLDS:
        found = THRESHOLDS[given]
    else:
        found = Threshold(_number(owner, given))
    return Threshold(found.limit, found.name, found.source, said or found.rationale)


def _number(owner: str, given: float | str) -> float:
    try:
        number: object = float(given) if isinstance(given, str) else given
    except ValueError:
        rule = f"must be a number from 0 to 1, or one of {name_some(THRESHOLDS, most=len(THRESHOLDS))}"
        raise ParameterError(owner, "threshold", rule, got=repr(given)).with_hint(point_hint(str(given))) from None
    return check_number(owner, "threshold", number, minimum=0, maximum=1)

"""What a distance is: how unlike two sensitive values are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from ldiversity.base.arrays import FloatArray
from ldiversity.schema import Domain

__all__ = ["Distance"]


class Distance(ABC):
    """How unlike two values of a domain are.

    A distance is a frozen value that knows nothing of any table. It is asked for the matrix of one domain,
    and checks itself there: symmetric, zero on the diagonal, and every value of the domain covered.
    """

    kind: ClassVar[str]
    """The name under which releases and the command line know this distance."""

    form: ClassVar[str]
    """How the command line and policies write it, for messages: ``numeric:<unit>``."""

    @classmethod
    def from_text(cls, argument: str | None, base: Path) -> Distance:
        """Make it from what stands behind the colon of its text form; a plain kind has none.

        Parameters
        ----------
        argument
            The text behind the colon; None when there is no colon.
        base
            The folder that relative paths start from.

        Raises
        ------
        ValueError
            When the text is not of this form; `parse_distance` says so in a sentence.
        """
        del base  # only distances that read files need it
        if argument is not None:
            raise ValueError(argument)
        return cls()

    @abstractmethod
    def matrix(self, domain: Domain) -> FloatArray:
        """Distances between all values of `domain`, shape (F, F), in code order.

        Raises
        ------
        SchemaError
            When the distance does not cover the domain; names at most ten of the values it misses.
        """

    @abstractmethod
    def to_dict(self, domain: Domain) -> dict[str, Any]:
        """Describe the distance on `domain` in JSON's types, completely and with ``"kind"``."""

    @classmethod
    @abstractmethod
    def from_dict(cls, described: dict[str, Any], domain: Domain) -> Distance:
        """Read what `to_dict` wrote. The dict comes from a stranger: check it, raise `ReleaseFormatError`."""

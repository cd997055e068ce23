"""The base class of distances between sensitive values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from ldiversity.base.arrays import FloatArray, Json
from ldiversity.schema import Domain

__all__ = ["Distance"]


class Distance(ABC):
    """How unlike two values of a domain are.

    A distance is a frozen value that knows nothing of any table. Its matrix on a domain is symmetric, zero on the
    diagonal, and covers every value of the domain.
    """

    kind: ClassVar[str]
    """The name of this distance in releases and on the command line."""

    form: ClassVar[str]
    """Its text form on the command line and in policies, for messages: ``numeric:<unit>``."""

    @classmethod
    def from_text(cls, argument: str | None, base: Path) -> Distance:
        """Make the distance from its text form; a kind without a file or number takes no argument.

        Parameters
        ----------
        argument
            The text after the colon; None when there is no colon.
        base
            The folder that relative paths start from.

        Raises
        ------
        ValueError
            When the text does not have this form; `parse_distance` turns it into a clear message.
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
    def to_dict(self, domain: Domain) -> dict[str, Json]:
        """Describe the distance on `domain` completely, in JSON's types and with ``"kind"``."""

    @classmethod
    @abstractmethod
    def from_dict(cls, described: dict[str, Json], domain: Domain) -> Distance:
        """Read what `to_dict` wrote. The dict is not trusted: check it, and raise `ReleaseFormatError`."""

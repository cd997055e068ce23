"""What a method is: the data holder's choice of how sensitive values are hidden."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, ClassVar, Self

from ldiversity._checks import name_some
from ldiversity.errors import ParameterError
from ldiversity.mechanisms import SetMechanism
from ldiversity.schema import Domain

__all__ = ["Method", "RandomizingMethod"]


class Method(ABC):
    """A frozen choice of method and parameters, checked when it is made."""

    name: ClassVar[str]
    """The name on the command line and in policies."""

    engines: ClassVar[frozenset[str]] = frozenset({"local"})
    """The engines that can run it."""

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Make the method from named options, as a command line or a policy gives them.

        Raises
        ------
        ParameterError
            When an option is not one of this method's, or one without a default is missing.
        """
        known = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]
        given = {name: value for name, value in options.items() if value is not None}
        unknown = [name for name in given if name not in known]
        if unknown:
            raise ParameterError(
                f"{cls.name}: {name_some(unknown)} is not an option of this method.",
                hint=f"Its options are {name_some(known)}.",
            )
        missing = [name for name, field in known.items() if name not in given and field.default is MISSING]
        if missing:
            raise ParameterError(
                f"{cls.name}: {missing[0]} must be given.", hint=f"Its options are {name_some(known)}."
            )
        return cls(**given)


class RandomizingMethod(Method):
    """A method that hides each record's value on its own: it needs the domain, not the other records."""

    @abstractmethod
    def fit(self, domain: Domain) -> SetMechanism:
        """The mechanism for this domain.

        Raises
        ------
        InfeasibleError
            When no such mechanism exists; names the bound and the nearest feasible parameters.
        """

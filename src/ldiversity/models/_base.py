"""What a privacy model is: a rule that every class of a table must satisfy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ldiversity._types import BoolArray, FloatArray
from ldiversity.models._counts import ClassCounts, Population

__all__ = ["PrivacyModel"]


class PrivacyModel(ABC):
    """A frozen rule about the sensitive values of a class. Stateless; decides exactly where integers can.

    The text form is the name and the parameters in the order of the fields: ``"recursive:3:2"``.
    """

    name: ClassVar[str]
    """The name in text forms, releases and policies."""

    monotone: ClassVar[bool]
    """Whether a class that holds the records of two classes which satisfy the rule satisfies it too."""

    higher_is_safer: ClassVar[bool] = True
    """Whether a greater reached value means more privacy."""

    @abstractmethod
    def reached(self, counts: NDArray[np.int64], population: Population) -> FloatArray:
        """Shape (classes,): what each class reaches on the scale of this model's parameter.

        Parameters
        ----------
        counts
            Shape (classes, F): how often each value occurs in each class; no class is empty.
        population
            All published records together.
        """

    @abstractmethod
    def holds(self, counts: NDArray[np.int64], population: Population) -> BoolArray:
        """Shape (classes,): whether each class satisfies the rule. Parameters as for `reached`."""

    @property
    def posterior(self) -> float:
        """The largest share that one value can have in a class that satisfies the rule; 1.0 when nothing bounds it."""
        return 1.0

    @abstractmethod
    def statement(self, attribute: str) -> str:
        """The rule in plain words, as one sentence about a sensitive attribute."""

    def failing(self, classes: ClassCounts) -> NDArray[np.int64]:
        """The classes that break the rule."""
        population = classes.population
        broken = [block.start + np.flatnonzero(~self.holds(dense, population)) for block, dense in classes.blocks()]
        return np.concatenate(broken) if broken else np.empty(0, dtype=np.int64)

    def to_dict(self) -> dict[str, Any]:
        """The model in JSON's types; `model_from_dict` reads it."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {"name": self.name, **own}

    @classmethod
    def from_dict(cls, described: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        return cls(**{field.name: described[field.name] for field in fields(cls)})  # type: ignore[arg-type]

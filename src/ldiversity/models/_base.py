"""What a privacy model is: a rule that every class of a table must satisfy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from math import floor, inf, isfinite, nextafter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.above import from_above
from ldiversity.base.arrays import BoolArray, FloatArray
from ldiversity.errors import ParameterError
from ldiversity.models._counts import ClassCounts, Population

if TYPE_CHECKING:
    from ldiversity.models._verdict import Verdict

__all__ = ["PrivacyModel"]

_NUDGES: Final = 64
"""Steps between neighboring floats that may lie between what is reached and what holds."""
_LEAST: Final = 1e-9


class PrivacyModel(ABC):
    """A frozen rule about the sensitive values of a class. Stateless; decides exactly where integers can.

    The text form is the name and the parameters in the order of the fields: ``"recursive:3:2"``.
    """

    name: ClassVar[str]
    """The name in text forms, releases and policies."""

    monotone: ClassVar[bool]
    """Whether a class that holds the records of two classes which satisfy the rule satisfies it too."""

    only_counts: ClassVar[bool] = False
    """Whether it matters only how often values occur in a class: not which ones, nor how frequent they are overall."""

    higher_is_safer: ClassVar[bool] = True
    """Whether a greater reached value means more privacy."""

    strict: ClassVar[bool] = False
    """Whether a class that reaches exactly what is required breaks the rule."""

    scale: ClassVar[str] = "l"
    """The parameter to which `reached` is compared."""

    example: ClassVar[str] = ""
    """A text form, for messages; empty when there is none."""

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
    def required(self) -> float:
        """What every class must reach: the parameter that `scale` names."""
        return float(getattr(self, self.scale))

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

    def verdict(self, classes: ClassCounts) -> Verdict:
        """Whether all classes satisfy the rule, what the worst reaches, and which the worst are."""
        from ldiversity.models._verdict import judge

        return judge([self], classes)[0]

    def check(self, data: Any, **how: Any) -> Verdict:  # noqa: ANN401 - any table or release, as `ldiversity.check` takes it
        """Whether a table or a release satisfies the rule: ``ldiversity.check(self, data, ...)`` by another name.

        Parameters
        ----------
        data
            A data frame, the path of a table, a release or its folder.
        how
            ``quasi``, ``sensitive``, ``missing`` and ``types``, as for `ldiversity.check`.
        """
        # Counting tables and releases is the business of audits.
        verdict: Verdict = from_above("evaluation.audit", "check")(self, data, **how)
        return verdict

    def weakened(self, classes: ClassCounts) -> Self | None:
        """The strongest form of this model that these classes satisfy, only the parameter `scale` changed.

        None when no form of it holds, or none that means anything. The parameter is the strictest integer or, up to
        rounding, the strictest number; what is returned holds without rounding.
        """
        reached = self.verdict(classes).reached
        if not isfinite(reached):
            return None
        whole = isinstance(getattr(self, self.scale), int)
        value: float = floor(reached) if whole else reached
        for _ in range(1 if whole else _NUDGES):
            try:
                weaker = replace(self, **{self.scale: value})  # type: ignore[type-var]
            except ParameterError:
                if value != 0 or self.higher_is_safer:
                    return None
                value = _LEAST  # a class just like all records reaches 0, which is no parameter
                continue
            if not weaker.failing(classes).size:
                return weaker
            value = nextafter(value, -inf if self.higher_is_safer else inf)
        return None

    def to_dict(self) -> dict[str, Any]:
        """The model in JSON's types; `model_from_dict` reads it."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {"name": self.name, **own}

    @classmethod
    def from_dict(cls, described: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        return cls(**{field.name: described[field.name] for field in fields(cls)})  # type: ignore[arg-type]

    @classmethod
    def from_text(cls, parts: Sequence[str], base: Path | None = None) -> Self:
        """Read the parameters of a text form: numbers in the order of the fields, or as ``name=number``.

        Parameters
        ----------
        parts
            What stands between the colons after the name.
        base
            The folder that relative paths start from; the working directory when None.

        Raises
        ------
        ValueError, TypeError
            When they are not of this form; `parse_model` says so in a sentence.
        """
        del base  # only models that read files need it
        return cls(**cls._named(parts))

    @classmethod
    def _named(cls, parts: Sequence[str]) -> dict[str, Any]:
        """Numbers by the names of their fields."""
        known = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        named: dict[str, Any] = {}
        for place, part in enumerate(parts):
            name, equals, text = part.partition("=")
            if not equals:
                name, text = known[place] if place < len(known) else "", part
            if name not in known or name in named:
                raise ValueError(part)
            named[name] = float(text) if set(text) & set(".eE") else int(text)
        return named

"""Which values a regression tells apart, as the user named them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ldiversity.base.arrays import Scalar
from ldiversity.base.checks import check_integer
from ldiversity.errors import ParameterError
from ldiversity.estimation._regression._outcomes import Outcomes

if TYPE_CHECKING:
    from ldiversity.base.arrays import FloatArray
    from ldiversity.estimation._regression._formula import Formula
    from ldiversity.schema import Domain

__all__ = ["Choice", "Value", "choose_values"]

Value: TypeAlias = Scalar


@dataclass(frozen=True)
class Choice:
    """What was asked for: every value, these values, the most frequent ones, or a group of values against the rest."""

    domain: Domain
    codes: tuple[int, ...] | None = None
    most: int | None = None
    together: bool = False
    label: str = ""
    reference: int | None = None

    @property
    def everything(self) -> bool:
        """Whether every value is an outcome."""
        return self.codes is None and self.most is None

    def outcomes(self, shares: FloatArray) -> Outcomes:
        """The outcomes, where `shares` says how frequent the values are."""
        if self.together:
            return Outcomes.one_group(self.domain, self.codes or (), self.label, shares)
        if self.everything:
            reference = int(shares.argmax()) if self.reference is None else self.reference
            return Outcomes.every_value(self.domain, shares, reference)
        codes = self.codes if self.codes is not None else self._frequent(shares)
        return Outcomes.some_values(self.domain, codes, shares, self.reference)

    def fewer(self, shares: FloatArray, lost: Sequence[str], works: Callable[[Choice], bool]) -> int | None:
        """How many of the most frequent values can be told apart from all others; None if fewer than two.

        `lost` are the labels of outcomes that cannot; the answer was tried.
        """
        if self.together:
            return None
        labels = [self.domain.labels[code] for code in np.argsort(-shares, kind="stable")]
        most = min([labels.index(label) for label in lost if label in labels] or [len(labels)])
        most = min(most, len(self.domain) - 2)
        while most > 1:
            if works(replace(self, codes=None, most=most, reference=None)):
                return most
            most //= 2
        return None

    def _frequent(self, shares: FloatArray) -> tuple[int, ...]:
        return tuple(sorted(np.argsort(-shares, kind="stable")[: self.most].tolist()))


def choose_values(domain: Domain, read: Formula, values: int | Sequence[Value] | None, reference: Value) -> Choice:
    """Check what was named in the formula and in `values` and `reference` against the public domain."""
    if read.chosen is not None:
        if values is not None or reference is not None:
            named = "values" if values is not None else "reference"
            raise ParameterError("regress", named, "must be left out where the formula compares with values")
        codes = _codes(domain, "formula", read.chosen)
        if len(codes) == len(domain):
            raise ParameterError("regress", "formula", "must leave at least one value to compare with, but names all")
        label = " or ".join(domain.labels[code] for code in codes)
        return Choice(domain, codes, together=True, label=label)
    compared = None if reference is None else _codes(domain, "reference", [reference])[0]
    if values is None:
        return Choice(domain, reference=compared)
    if isinstance(values, str) or (not isinstance(values, int) and not isinstance(values, Sequence)):
        raise ParameterError("regress", "values", "must be a number, or a list of values", got=type(values).__name__)
    if isinstance(values, Sequence):
        codes = _codes(domain, "values", values)
        if not 0 < len(codes) < len(domain):
            raise ParameterError("regress", "values", "must name some values, and not all of them")
        return Choice(domain, codes, reference=_among(codes, compared))
    most = check_integer("regress", "values", values, minimum=1, maximum=len(domain) - 1)
    if compared is not None:
        raise ParameterError("regress", "reference", "must be left out where values is a number")
    return Choice(domain, most=most)


def _among(codes: Sequence[int], compared: int | None) -> int | None:
    if compared is not None and compared not in codes:
        raise ParameterError("regress", "reference", "must be one of the values that are told apart")
    return compared


def _codes(domain: Domain, parameter: str, values: Sequence[object]) -> tuple[int, ...]:
    """The codes of values, found as they are or by their text, as the command line gives them."""
    of_label = {label: code for code, label in enumerate(domain.labels)}
    found = []
    for value in values:
        code = domain.code_of.get(value) if isinstance(value, Scalar) else None
        code = of_label.get(str(value)) if code is None else code
        if code is None:
            raise ParameterError(
                "regress", parameter, f"must name values of the domain, but {value!r} is none of its {len(domain)}"
            ).with_hint("An estimate lists the values.")
        found.append(code)
    if len(set(found)) < len(found):
        raise ParameterError("regress", parameter, "must name each value once")
    return tuple(found)

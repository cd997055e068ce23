"""What a privacy model is: a rule that every class of a table must satisfy."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from math import ceil, floor, inf, isfinite, nextafter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ldiversity.base.above import from_above
from ldiversity.base.arrays import BoolArray, FloatArray, Json
from ldiversity.base.combinations import Sizes
from ldiversity.base.typed import number_text
from ldiversity.errors import ParameterError
from ldiversity.models._counts import ClassCounts, Population, of_sums, sizes_as_classes
from ldiversity.models._measured import Figures, Measured
from ldiversity.schema import Domain

if TYPE_CHECKING:
    from ldiversity.models._verdict import Verdict

__all__ = ["PrivacyModel"]

_NUDGES: Final = 64
"""Steps between neighboring floats that may lie between what is reached and what holds."""
_LEAST: Final = 1e-9
_TRUTHS: Final = {"true": True, "false": False}


class PrivacyModel(ABC):
    """A frozen rule about the sensitive values of a class. Stateless; decides exactly where integers can.

    A model is a frozen dataclass whose fields are its parameters. It must bring `name`, `monotone`, `scale`,
    `measured`, `example`, `reached`, `holds` and `statement`. Everything else has a default that is right for most
    models. A model is registered under its name in `MODELS`, or announced by another package as an entry point in the
    group ``ldiversity.models``. Methods, audits, plans, reports and releases then take it; nothing else lists models.

    The text form is the name and the parameters in the order of the fields: ``"recursive:3:2"``.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Few(PrivacyModel):
    ...     name, monotone, higher_is_safer, scale, example = "few", False, False, "most", "few:9"
    ...     measured = Measured("few", "records in the largest class", "whole")
    ...     most: int
    ...
    ...     def reached(self, counts, population):
    ...         return counts.sum(axis=1).astype(float)
    ...
    ...     def holds(self, counts, population):
    ...         return counts.sum(axis=1) <= self.most
    ...
    ...     def statement(self, attribute):
    ...         return f"No class has more than {self.most} records."
    >>> Few(9).text, Few(9).figure.meaning
    ('few:9', 'records in the largest class')
    """

    name: ClassVar[str]
    """The name in text forms, releases and policies."""

    measured: ClassVar[Measured]
    """What the model measures. A model whose parameters choose between figures overrides the property `figure`."""

    monotone: ClassVar[bool]
    """Whether a class that holds the records of two classes which satisfy the rule satisfies it too."""

    only_counts: ClassVar[bool] = False
    """Whether it matters only how often values occur in a class: not which ones, nor how frequent they are overall."""

    fails_in_parts: ClassVar[bool] = False
    """Whether a class that breaks the rule breaks it in every part of it, as one with too few records or values does.
    A search that may leave records out then rules out all finer classes at once."""

    higher_is_safer: ClassVar[bool] = True
    """Whether a greater reached value means more privacy."""

    needs_fit: ClassVar[bool] = False
    """Whether classes of values for which it is `unfit` cannot be judged at all: no release may then claim it."""

    strict: ClassVar[bool] = False
    """Whether a class that reaches exactly what is required breaks the rule."""

    rounding: ClassVar[float] = 1e-9
    """How far, relatively, `reached` and the largest share may be beyond what `holds` allows: it may decide exactly
    what they have rounded. A class that is farther beyond breaks the rule, whatever `holds` says."""

    scale: ClassVar[str] = "l"
    """The parameter to which `reached` is compared."""

    example: ClassVar[str] = ""
    """A text form, for messages; empty when there is none."""

    words: ClassVar[str] = ""
    """The rule in a few words, the parameters in braces: ``"at least {k} records look alike"``."""

    probes: ClassVar[tuple[tuple[Any, ...], ...]] = ()
    """The parameters of models of this kind that every audit measures. What they reach must not depend on them."""

    of_people: ClassVar[bool] = False
    """Whether it counts records that look alike and no sensitive values. Then audits and releases need no sensitive
    column; and, if it is monotone, releases that keep quasi-identifiers promise it too, by raising their levels.
    `counts` and `population` then have one column for all values, of any table."""

    shares_decide: ClassVar[bool] = False
    """Whether classes that satisfy it exist exactly when no value has more than 1/l of all records: then `plan` can
    tell the largest l before records are grouped."""

    of_sets: ClassVar[Literal["possible", "likely", "learned"]] = "likely"
    """What the model looks at in a release of sets: which values are ``possible``; how ``likely`` each is to someone to
    whom all were equally likely; or what is ``learned`` by someone who knows how frequent each value is overall."""

    not_of_sets: ClassVar[str] = ""
    """Why a release of sets cannot be judged by the model; empty when it can. A model of what is ``learned`` judges
    sets that were drawn with an epsilon all the same: they rule nothing out."""

    def __init_subclass__(cls, **given: Any) -> None:  # noqa: ANN401 - what a base class takes
        """See to it that a model `of_people` is never shown a sensitive value: it gets one column, the sums."""
        super().__init_subclass__(**given)
        for name in ("reached", "holds"):
            if cls.of_people and name in vars(cls):
                setattr(cls, name, of_sums(vars(cls)[name]))

    @property
    def figure(self) -> Measured:
        """What the model measures."""
        return self.measured

    @property
    def text(self) -> str:
        """The text form, without the files of trees and distances.

        Examples
        --------
        >>> from ldiversity.models import RecursiveDiversity
        >>> RecursiveDiversity(c=3, l=2).text
        'recursive:c=3:l=2'
        """
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        own = {name: value for name, value in values.items() if isinstance(value, bool | int | float | str)}
        parts = [number_text(value) if isinstance(value, float) else str(value) for value in own.values()]
        named = [f"{name}={part}" for name, part in zip(own, parts, strict=True)] if len(own) > 1 else parts
        return ":".join([self.name, *named])

    @property
    def phrase(self) -> str:
        """The rule in a few words, for tables; the text form unless `words` says it."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return self.words.format(**own) or self.text

    @classmethod
    def survey(cls) -> tuple[Self, ...]:
        """The models of this kind that every audit measures."""
        return tuple(cls(*parameters) for parameters in cls.probes)

    def unfit(self, domain: Domain) -> str | None:  # noqa: ARG002 - most models fit all values
        """Why the figure makes no sense for these values, as a sentence; None when it does."""
        return None

    def overall(self, classes: ClassCounts, smallest: int) -> Figures | None:  # noqa: ARG002 - most figures are one number
        """The figure of all classes, where it is not simply what the worst class reaches; None where it is.

        Parameters
        ----------
        classes
            The classes.
        smallest
            The fewest people who look alike.
        """
        return None

    def of_all(self, figures: Sequence[Figures]) -> Figures | None:  # noqa: ARG002 - most figures are one number
        """The figure of all classes, from what `overall` says of some of them each; None where it cannot be known.

        A large table is judged some classes at a time. A model that has `overall` says here how its figures become
        one; without it, there is no such figure within a memory setting or on a cluster, and the audit says so. What
        the worst class reaches, and verdicts, need nothing.
        """
        return None

    def worst_of(self, figures: Sequence[Figures]) -> Figures | None:
        """The worst of the figures of several attributes; None when they have nothing in common."""
        safest_is_greatest = self.higher_is_safer != (self.figure.written == "share")
        numbers = [figure for figure in figures if isinstance(figure, int | float)]
        return min(numbers) if safest_is_greatest else max(numbers)

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
    def least_records(self) -> int:
        """Records that a class needs at least: the share of one may not exceed what one value may have."""
        return max(1, math.ceil(1 / self.posterior - 1e-9))

    @property
    def posterior(self) -> float:
        """The largest share that one value can have in a class that satisfies the rule; 1.0 when nothing bounds it."""
        return 1.0

    @abstractmethod
    def statement(self, attribute: str) -> str:
        """The rule in plain words, as one sentence about a sensitive attribute.

        A model that is `of_people` is also asked with an empty name, where no attribute is sensitive.
        """

    def failing(self, classes: ClassCounts) -> NDArray[np.int64]:
        """The classes that break the rule."""
        population = classes.population
        broken = [block.start + np.flatnonzero(~self.holds(dense, population)) for block, dense in classes.blocks()]
        return np.concatenate(broken) if broken else np.empty(0, dtype=np.int64)

    def failing_sizes(self, sizes: Sizes) -> int:
        """How many classes break the rule, where it is known how many there are of each size, and nothing else.

        Examples
        --------
        >>> from ldiversity.base.combinations import sizes_of
        >>> from ldiversity.models import KAnonymity
        >>> KAnonymity(3).failing_sizes(sizes_of([np.array([1, 5, 2, 1])]))
        3
        """
        classes = sizes_as_classes(sizes.sizes)
        population = Population(classes.domain, np.array([sizes.n_rows]))
        return sum(int(sizes.numbers[block] @ ~self.holds(dense, population)) for block, dense in classes.blocks())

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
        rounded = floor if self.higher_is_safer else ceil
        value: float = rounded(reached) if whole else reached
        for _ in range(1 if whole else _NUDGES):
            try:
                weaker = replace(self, **{self.scale: value})  # type: ignore[type-var]
            except ParameterError:
                if value != 0 or self.higher_is_safer:
                    return None
                value = _LEAST  # a class just like all records reaches 0, which is not a valid parameter
                continue
            if not weaker.failing(classes).size:
                return weaker
            value = nextafter(value, -inf if self.higher_is_safer else inf)
        return None

    def to_dict(self) -> dict[str, Json]:
        """The model in JSON's types; `model_from_dict` reads it."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {"name": self.name, **own}

    @classmethod
    def from_dict(cls, described: Mapping[str, Json]) -> Self:
        """Read what `to_dict` wrote."""
        return cls(**{field.name: described[field.name] for field in fields(cls)})  # type: ignore[arg-type]

    @classmethod
    def from_text(cls, parts: Sequence[str], base: Path | None = None) -> Self:
        """Read the parameters of a text form: numbers, True or False in the order of the fields, or as ``name=number``.

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
    def place_files(cls, parts: Sequence[str], place: Callable[[str], str]) -> Sequence[str]:  # noqa: ARG003 - few name files
        """The parameters of a text form; the file that they name, if any, as `place` says it."""
        return parts

    @classmethod
    def _named(cls, parts: Sequence[str]) -> dict[str, Any]:
        """Numbers and truth values by the names of their fields."""
        known = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        named: dict[str, Any] = {}
        for place, part in enumerate(parts):
            name, equals, text = part.partition("=")
            if not equals:
                name, text = known[place] if place < len(known) else "", part
            if name not in known or name in named:
                raise ValueError(part)
            truth = _TRUTHS.get(text.lower())
            named[name] = truth if truth is not None else float(text) if set(text) & set(".eE") else int(text)
        return named

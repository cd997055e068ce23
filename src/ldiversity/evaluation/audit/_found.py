"""What is found in some classes of a table or release, and how findings in all of them come together.

A finding is small, however many classes it is about, and can be sent from one process to another. Sums are exact, so
that it does not matter how the classes were divided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ldiversity.evaluation.audit._asked import Asked
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._measurements import (
    Measurements,
    measure_attribute,
    measure_people,
    measured_together,
)
from ldiversity.evaluation.audit._population import Outside
from ldiversity.evaluation.audit._sums import (
    BeliefSums,
    LinkSums,
    SizeCounts,
    exact_sum,
    sum_beliefs,
    sum_links,
)
from ldiversity.evaluation.audit._views import View
from ldiversity.models import together as verdicts_together

if TYPE_CHECKING:
    from ldiversity.evaluation.audit._sampled import Sampled

__all__ = ["Found", "FoundIn", "FoundOfAttribute", "find", "find_in_view", "found_together"]


@dataclass(frozen=True, eq=False)
class FoundOfAttribute:
    """What is found about one sensitive attribute.

    `sizes` are those of its classes, `belief` how sure an attacker is of the likeliest value, `informed` the same to
    someone who knows how frequent values are, `bound` what the mechanism bounds it by, `measured` what models measure.
    """

    sizes: SizeCounts
    belief: BeliefSums
    informed: BeliefSums | None
    bound: float | None
    measured: Measurements


@dataclass(frozen=True, eq=False)
class Found:
    """What is found in some classes.

    Parameters
    ----------
    sizes
        How many classes there are of each size.
    asked
        The models that were asked for, with their verdicts on these classes.
    measured
        What models of people measure.
    attributes
        What is found about each sensitive attribute.
    journalist, unique_units, classes_not_in_population
        How likely someone who searches the population links records; how many are alone in it; how many classes have
        more records than people of the population look like them.
    by_class_id
        The same for classes as a release numbers them, by attribute.
    """

    sizes: SizeCounts
    asked: tuple[Asked, ...]
    measured: Measurements
    attributes: Mapping[str, FoundOfAttribute]
    journalist: LinkSums
    unique_units: int = 0
    classes_not_in_population: int = 0
    by_class_id: Mapping[str, Found] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FoundIn:
    """What was found in a table or release.

    `seen` is what was looked at; its classes may be missing, all that is needed of them is found. `n_population` is how
    many people of the population were counted, if one was given. `sampled` is what the table says about the population
    that it was drawn from, if it has weights.
    """

    seen: AttackerView
    found: Found
    n_population: int | None = None
    sampled: Sampled | None = None


def find(seen: AttackerView, asked: tuple[Asked, ...], outside: Outside, threshold: float) -> Found:
    """Find what some classes give away; `asked` has the verdicts on them."""
    models = [one.model for one in asked]
    return Found(
        sizes=SizeCounts.of(seen.sizes),
        asked=asked,
        measured=measure_people(seen, models),
        attributes={
            name: find_in_view(
                view, measure_attribute(seen, name, [one.model for one in asked if one.attribute == name])
            )
            for name, view in seen.views.items()
        },
        journalist=sum_links(outside.risks, seen.sizes, threshold),
        unique_units=exact_sum(outside.unique * seen.sizes),
        classes_not_in_population=int(outside.fewer.sum()),
        by_class_id={name: _find_by_class_id(seen, name, view) for name, view in seen.by_class_id.items()},
    )


def find_in_view(view: View, measured: Measurements) -> FoundOfAttribute:
    """Find what the classes of one attribute give away."""
    informed = view.largest_informed
    return FoundOfAttribute(
        sizes=SizeCounts.of(view.sizes),
        belief=sum_beliefs(view.largest, view.right, view.sizes),
        informed=None if informed is None else sum_beliefs(informed, informed * view.sizes, view.sizes),
        bound=view.bound,
        measured=measured,
    )


def found_together(parts: Sequence[Found]) -> Found:
    """What is found in all classes."""
    first = parts[0]
    if len(parts) == 1:
        return first
    return Found(
        sizes=SizeCounts.together([part.sizes for part in parts]),
        asked=tuple(
            replace(same[0], verdict=verdicts_together([one.verdict for one in same]))
            for same in zip(*(part.asked for part in parts), strict=True)
        ),
        measured=measured_together([part.measured for part in parts]),
        attributes={name: _of_attribute([part.attributes[name] for part in parts]) for name in first.attributes},
        journalist=sum((part.journalist for part in parts), LinkSums()),
        unique_units=sum(part.unique_units for part in parts),
        classes_not_in_population=sum(part.classes_not_in_population for part in parts),
        by_class_id={name: found_together([part.by_class_id[name] for part in parts]) for name in first.by_class_id},
    )


def _of_attribute(parts: Sequence[FoundOfAttribute]) -> FoundOfAttribute:
    informed = [part.informed for part in parts if part.informed is not None]
    return FoundOfAttribute(
        sizes=SizeCounts.together([part.sizes for part in parts]),
        belief=BeliefSums.together(part.belief for part in parts),
        informed=BeliefSums.together(informed) if informed else None,
        bound=parts[0].bound,
        measured=measured_together([part.measured for part in parts]),
    )


def _find_by_class_id(seen: AttackerView, name: str, view: View) -> Found:
    alone = replace(seen, sizes=view.sizes, views={name: view}, by_class_id={}, smallest=None)
    return Found(
        sizes=SizeCounts.of(view.sizes),
        asked=(),
        measured=measure_people(alone, []),
        attributes={name: find_in_view(view, measure_attribute(alone, name, []))},
        journalist=LinkSums(),
    )

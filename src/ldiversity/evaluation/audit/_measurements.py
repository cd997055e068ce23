"""What models measure in some classes, and how that of all classes follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ldiversity.errors import UnsupportedError
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._views import View, people_alike, worst_reached
from ldiversity.models import MODELS, Figures, PrivacyModel

__all__ = ["Measurement", "Measurements", "measure_attribute", "measure_people", "measured_together"]

_NOT_IN_PARTS: Final = (
    "This figure needs all classes in memory at once: audit without a memory setting, on one machine."
)


@dataclass(frozen=True)
class Measurement:
    """What one model measures: why there is nothing, what the worst class reaches, or a figure of all classes."""

    model: PrivacyModel
    why: str | None = None
    worst: float = 0.0
    whole: Figures | None = None


Measurements = Mapping[str, Measurement]
"""By the names of figures."""


def measure_people(seen: AttackerView, asked: Sequence[PrivacyModel]) -> Measurements:
    """Measure models that look only at how many people look alike."""
    people, smallest = people_alike(seen.sizes), _smallest(seen)
    of_people = [model for model in (*_surveyed(), *asked) if model.of_people]
    found: dict[str, Measurement] = {}
    for model in {model.figure.name: model for model in reversed(of_people)}.values():
        found |= _measure(people, [model], smallest)
    return found


def measure_attribute(seen: AttackerView, attribute: str, asked: Sequence[PrivacyModel]) -> Measurements:
    """Measure one attribute by all models that audits know, and by those that were asked for."""
    view = seen.views[attribute]
    view.check_size()
    known = {model.figure.name: model for model in reversed([*_surveyed(), *asked]) if not model.of_people}
    fewest = int(view.sizes.min(initial=_smallest(seen))) if seen.joint else _smallest(seen)
    found: dict[str, Measurement] = {}
    for monotone in (True, False):  # the others look at the classes as the release numbers them
        some = [model for model in known.values() if model.monotone == monotone]
        if some:
            found |= _measure(seen.view(attribute, type(some[0])), some, fewest)
    return found


def measured_together(parts: Sequence[Measurements]) -> Measurements:
    """What is measured in all classes."""
    return {name: _together([part[name] for part in parts]) for name in parts[0]}


def _together(parts: Sequence[Measurement]) -> Measurement:
    model = parts[0].model
    if len(parts) == 1 or parts[0].why is not None:
        return parts[0]
    if parts[0].whole is None:
        worst = min if model.higher_is_safer else max
        return Measurement(model, worst=worst(one.worst for one in parts))
    whole = model.of_all([one.whole for one in parts if one.whole is not None])
    return Measurement(model, why=_NOT_IN_PARTS) if whole is None else Measurement(model, whole=whole)


def _surveyed() -> list[PrivacyModel]:
    return [model for kind in MODELS.values() for model in kind.survey()]


def _smallest(seen: AttackerView) -> int:
    if seen.smallest is not None:
        return seen.smallest
    return int(seen.sizes.min(initial=seen.n_records))


def _measure(view: View, models: Sequence[PrivacyModel], smallest: int) -> dict[str, Measurement]:
    """Measure one attribute; `smallest` is the size of the smallest class."""
    found: dict[str, Measurement] = {}
    simple: list[PrivacyModel] = []
    for model in models:
        name, why = model.figure.name, model.unfit(view.domain)
        if why is not None:
            found[name] = Measurement(model, why)
            continue
        try:
            whole = model.overall(view.picture(type(model)), smallest)
        except UnsupportedError as refused:
            found[name] = Measurement(model, refused.message)
            continue
        if whole is None:
            simple.append(model)
        else:
            found[name] = Measurement(model, whole=whole)
    for model, reached in zip(simple, worst_reached(view, simple), strict=True):
        refused_why = reached if isinstance(reached, str) else None
        found[model.figure.name] = Measurement(model, refused_why, worst=0.0 if isinstance(reached, str) else reached)
    return found

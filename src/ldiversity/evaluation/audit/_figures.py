"""The value that each model reaches, under names that never change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ldiversity.base.answers import BESIDE, HIDDEN, fact
from ldiversity.errors import UnsupportedError
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._views import View, people_alike, worst_reached
from ldiversity.models import MODELS, Figures, PrivacyModel, Verdict
from ldiversity.sentences import say

__all__ = ["Asked", "Figure", "all_figures", "ask"]

_INFORMED: Final = "the same, to someone who knows how frequent each value is overall"


@dataclass(frozen=True)
class Asked:
    """A model that was asked for, and its verdict for one attribute; no attribute for models of people."""

    attribute: str | None
    verdict: Verdict = field(metadata=BESIDE)

    @property
    def model(self) -> PrivacyModel:
        """The model."""
        return self.verdict.model

    @fact
    def text(self) -> str:
        """The model as users write it."""
        return self.model.text

    @fact
    def promise(self) -> str:
        """What it asks for, in words."""
        return self.model.phrase


@dataclass(frozen=True)
class Figure:
    """The value that one model reaches.

    Attributes
    ----------
    name
        Such as ``"entropy_l"``.
    value
        The value of the worst class of any attribute, or several by name; None when there is none, or it is infinite.
    by_attribute
        The same for each attribute.
    meaning, scale
        What the value means, in plain words, and the parameter of the model to compare it with.
    passed
        Whether the models of this name that were asked for hold; None when none was asked for.
    why
        Why there is no value.
    """

    name: str
    value: Figures | None
    by_attribute: Mapping[str, Figures | None]
    meaning: str
    scale: str = field(metadata=HIDDEN)
    passed: bool | None = None
    required: tuple[str, ...] = ()
    why: str | None = None


def ask(
    seen: AttackerView, models: Sequence[PrivacyModel], attributes: Sequence[str] | None = None
) -> tuple[Asked, ...]:
    """Judge each attribute by each model, or raise `UnsupportedError` for a model that does not suit the release."""
    asked: list[Asked] = []
    for model in models:
        if model.of_people:
            asked.append(Asked(None, people_alike(seen.sizes).judge(model)))
            continue
        names = seen.views if attributes is None else attributes
        asked += [Asked(name, _judged(seen.view(name, type(model)), model)) for name in names]
    return tuple(asked)


def all_figures(seen: AttackerView, asked: Sequence[Asked]) -> dict[str, Figure]:
    """Every figure that can be computed, by name."""
    surveyed = [model for kind in MODELS.values() for model in kind.survey()]
    people = people_alike(seen.sizes)
    smallest = int(seen.sizes.min(initial=seen.n_records))
    figures = {}
    of_people = [model for model in (*surveyed, *(one.model for one in asked)) if model.of_people]
    for model in {model.figure.name: model for model in reversed(of_people)}.values():
        (told,) = _measure(people, [model], smallest).values()
        figures[model.figure.name] = Figure(
            model.figure.name, told.value, {}, model.figure.meaning, model.scale, why=told.why
        )
    by_name: dict[str, dict[str, _Told]] = {}
    for attribute, view in seen.views.items():
        view.check_size()
        wanted = [*surveyed, *(one.model for one in asked if one.attribute == attribute)]
        known = {model.figure.name: model for model in reversed(wanted) if not model.of_people}
        fewest = int(view.sizes.min(initial=smallest)) if seen.joint else smallest
        for monotone in (True, False):  # the others look at the classes as the release numbers them
            some = [model for model in known.values() if model.monotone == monotone]
            if some:
                for name, told in _measure(seen.view(attribute, type(some[0])), some, fewest).items():
                    by_name.setdefault(name, {})[attribute] = told
    for name, found in by_name.items():
        figures[name] = _figure(name, found)
    return {name: _with_verdict(figure, asked) for name, figure in figures.items()}


@dataclass(frozen=True)
class _Told:
    """The figure of a model for one attribute, or why there is none."""

    model: PrivacyModel
    value: Figures | None
    why: str | None = None
    meaning: str = ""


def _judged(view: View, model: PrivacyModel) -> Verdict:
    try:
        return view.judge(model)
    except UnsupportedError as refused:
        rule = say("{} cannot be checked here. {}", repr(model.name), refused.message)
        raise UnsupportedError("audit", rule, hint=refused.hint) from None


def _measure(view: View, models: Sequence[PrivacyModel], smallest: int) -> dict[str, _Told]:
    """The figure of each model for one attribute; `smallest` is the size of the smallest class."""
    found: dict[str, _Told] = {}
    simple: list[PrivacyModel] = []
    for model in models:
        name, why = model.figure.name, model.unfit(view.domain)
        if why is not None:
            found[name] = _Told(model, None, why)
            continue
        try:
            whole = model.overall(view.picture(type(model)), smallest)
        except UnsupportedError as refused:
            found[name] = _Told(model, None, refused.message)
            continue
        if whole is None:
            simple.append(model)
        else:
            found[name] = _Told(model, whole) if whole else _Told(model, None, model.figure.infinite)
    for model, reached in zip(simple, worst_reached(view, simple), strict=True):
        told = None if isinstance(reached, str) else model.figure.told(reached)
        why = reached if isinstance(reached, str) else model.figure.infinite
        found[model.figure.name] = _Told(model, told, None if told is not None else why)
    frequency = found.get("frequency")
    if frequency is not None and view.bound is not None:
        found["frequency"] = _Told(frequency.model, view.bound)
    if frequency is not None and (likeliest := view.largest_informed) is not None:
        informed = float(likeliest.max(initial=0.0))
        found["frequency_informed"] = _Told(frequency.model, informed, meaning=_INFORMED)
    return found


def _figure(name: str, found: Mapping[str, _Told]) -> Figure:
    """The figure of all attributes together."""
    told = list(found.values())
    values = [one.value for one in told if one.value is not None]
    worst = told[0].model.worst_of(values) if len(values) == len(told) else None
    whys = [one.why for one in told if one.why is not None]
    meaning = told[0].meaning or told[0].model.figure.meaning
    by_attribute = {attribute: one.value for attribute, one in found.items()}
    return Figure(name, worst, by_attribute, meaning, told[0].model.scale, why=whys[-1] if whys else None)


def _with_verdict(figure: Figure, asked: Sequence[Asked]) -> Figure:
    mine = [one for one in asked if one.model.figure.name == figure.name]
    if not mine:
        return figure
    texts = tuple(dict.fromkeys(one.model.text for one in mine))
    return replace(figure, passed=all(one.verdict.passed for one in mine), required=texts)

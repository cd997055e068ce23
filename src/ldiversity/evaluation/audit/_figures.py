"""The value that each model reaches, under names that never change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ldiversity.base.answers import HIDDEN
from ldiversity.evaluation.audit._asked import Asked
from ldiversity.evaluation.audit._found import FoundOfAttribute
from ldiversity.evaluation.audit._measurements import Measurement, Measurements
from ldiversity.models import Figures, PrivacyModel

__all__ = ["Figure", "all_figures"]

_INFORMED: Final = "the same, to someone who knows how frequent each value is overall"


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


def all_figures(
    measured: Measurements, attributes: Mapping[str, FoundOfAttribute], asked: Sequence[Asked]
) -> dict[str, Figure]:
    """Every figure that can be computed, by name; `measured` has those of people."""
    figures = {}
    for name, one in measured.items():
        told = _tell(one)
        figures[name] = Figure(name, told.value, {}, one.model.figure.meaning, one.model.scale, why=told.why)
    by_name: dict[str, dict[str, _Told]] = {}
    for attribute, found in attributes.items():
        for name, told in _tell_all(found).items():
            by_name.setdefault(name, {})[attribute] = told
    for name, of_attributes in by_name.items():
        figures[name] = _figure(name, of_attributes)
    return {name: _with_verdict(figure, asked) for name, figure in figures.items()}


@dataclass(frozen=True)
class _Told:
    """The figure of a model for one attribute, or why there is none."""

    model: PrivacyModel
    value: Figures | None
    why: str | None = None
    meaning: str = ""


def _tell_all(found: FoundOfAttribute) -> dict[str, _Told]:
    """The figures of one attribute."""
    told = {name: _tell(one) for name, one in found.measured.items()}
    frequency = told.get("frequency")
    if frequency is not None and found.bound is not None:
        told["frequency"] = _Told(frequency.model, found.bound)
    if frequency is not None and found.informed is not None:
        told["frequency_informed"] = _Told(frequency.model, found.informed.most, meaning=_INFORMED)
    return told


def _tell(measured: Measurement) -> _Told:
    model = measured.model
    if measured.why is not None:
        return _Told(model, None, measured.why)
    if measured.whole is not None:
        return _Told(model, measured.whole) if measured.whole else _Told(model, None, model.figure.infinite)
    told = model.figure.told(measured.worst)
    return _Told(model, told, None if told is not None else model.figure.infinite)


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

"""What is reached by every model, under names that never change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from ldiversity.errors import UnsupportedError
from ldiversity.evaluation.audit._bound import PosteriorBound
from ldiversity.evaluation.audit._seen import Seen
from ldiversity.evaluation.audit._sets import ExplodedView, SetView
from ldiversity.evaluation.audit._views import View, judge_sizes, recursive_reach, worst_reached
from ldiversity.models import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    LevelDiversity,
    LevelUnique,
    PrivacyModel,
    RecursiveDiversity,
    SemanticClassDiversity,
    TCloseness,
    UniqueDiversity,
    Verdict,
)

__all__ = ["Asked", "Figure", "all_figures", "ask", "figure_name", "model_text"]

_MEANINGS: Final[Mapping[str, str]] = {
    "k_anonymity": "records in the smallest class: nobody can be told from fewer",
    "distinct_l": "different values in the least diverse class",
    "entropy_l": "equally frequent values that would be as uncertain as the least uncertain class",
    "recursive_c": "for each l: how many times the rarer values the most frequent one has, in the worst class",
    "frequency": "the greatest share of one value in a class: how sure an attacker can be",
    "frequency_informed": "the same, to someone who knows how frequent each value is overall",
    "alpha_k": "the greatest share of one value in a class (alpha), together with the smallest class (k)",
    "t_equal": "the share of a class that would have to change its value to look like all records, at worst",
    "t_ordered": "the same, where near values in their order are cheaper to change into",
    "t_hierarchical": "the same, where near values in their tree are cheaper to change into",
    "beta": "how many times its overall share a value gains in a class, at worst",
    "beta_enhanced": "the same, where a frequent value may gain less; none where no beta holds",
    "delta": "the greatest logarithm of a value's share in a class over that overall; none where one is absent",
    "unique_l": "records in the smallest class when no value repeats in any class; else 0",
    "l_d": "values pairwise at least d apart in the worst class",
    "l_e": "different nodes at depth e of the tree in the worst class",
    "level_unique_l": "records in the smallest class when no level repeats in any class; else 0",
}

_NAMES: Final[Mapping[type[PrivacyModel], str]] = {
    KAnonymity: "k_anonymity",
    DistinctDiversity: "distinct_l",
    EntropyDiversity: "entropy_l",
    RecursiveDiversity: "recursive_c",
    FrequencyDiversity: "frequency",
    AlphaK: "alpha_k",
    DeltaDisclosure: "delta",
    UniqueDiversity: "unique_l",
    SemanticClassDiversity: "l_d",
    LevelDiversity: "l_e",
    LevelUnique: "level_unique_l",
    PosteriorBound: "frequency",
}

_GREATER_IS_SAFER: Final = frozenset(
    {"k_anonymity", "distinct_l", "entropy_l", "unique_l", "l_d", "l_e", "level_unique_l"}
)

_ALWAYS: Final[Sequence[PrivacyModel]] = (
    DistinctDiversity(2),
    EntropyDiversity(2),
    FrequencyDiversity(2),
    TCloseness(1.0),
    BetaLikeness(1.0),
    BetaLikeness(1.0, enhanced=True),
    DeltaDisclosure(1.0),
    UniqueDiversity(2),
)


@dataclass(frozen=True)
class Asked:
    """A model that was asked for, and how one attribute's classes fare; the attribute is None for k-anonymity."""

    model: PrivacyModel
    attribute: str | None
    verdict: Verdict

    def to_dict(self) -> dict[str, Any]:
        """In JSON's types, without the numbers of classes, which say nothing to others."""
        found = self.verdict.to_dict()
        worst = [{name: value for name, value in one.items() if name != "index"} for one in found["worst"]]
        return {"text": model_text(self.model), "attribute": self.attribute, **found, "worst": worst}


@dataclass(frozen=True)
class Figure:
    """What is reached by one model.

    Attributes
    ----------
    name
        Such as ``"entropy_l"``.
    value
        Of the worst class of any attribute; by l for ``recursive_c``; None when there is none, or it is infinite.
    by_attribute
        The same for each attribute.
    passed
        Whether the models of this name that were asked for hold; None when none was.
    why
        Why there is no value.
    """

    name: str
    value: Any
    by_attribute: Mapping[str, Any]
    passed: bool | None = None
    required: tuple[str, ...] = ()
    why: str | None = None

    @property
    def meaning(self) -> str:
        """What the value says, in plain words."""
        return _MEANINGS[self.name]

    def to_dict(self) -> dict[str, Any]:
        """In JSON's types."""
        return {
            "value": self.value,
            "passed": self.passed,
            "required": list(self.required),
            "by_attribute": dict(self.by_attribute),
            "meaning": self.meaning,
            "why": self.why,
        }


def ask(seen: Seen, models: Sequence[PrivacyModel], attributes: Sequence[str] | None = None) -> tuple[Asked, ...]:
    """Judge what is seen by each model, for each attribute.

    Raises
    ------
    UnsupportedError
        When a model makes no sense for this kind of release.
    """
    asked: list[Asked] = []
    for model in models:
        if isinstance(model, KAnonymity):
            asked.append(Asked(model, None, judge_sizes(model, seen.sizes)))
            continue
        names = seen.views if attributes is None else attributes
        asked += [Asked(model, name, _judged(seen.view(name, type(model)), model)) for name in names]
    return tuple(asked)


def all_figures(seen: Seen, asked: Sequence[Asked]) -> dict[str, Figure]:
    """Every figure that can be computed of what is seen, by name."""
    k = int(seen.sizes.min(initial=seen.n_records))
    values: dict[str, dict[str, Any]] = {}
    whys: dict[str, str] = {}
    for attribute, view in seen.views.items():
        extra = [one.model for one in asked if one.attribute == attribute]
        smallest = int(view.sizes.min(initial=k)) if seen.joint else k
        for name, (value, why) in _figures_of(view, smallest, extra).items():
            values.setdefault(name, {})[attribute] = value
            if why is not None:
                whys[name] = why
    for attribute, view in seen.by_class_id.items():
        (unique,) = worst_reached(view, [UniqueDiversity(2)])
        values["unique_l"][attribute] = _told(UniqueDiversity(2), unique)[0]
    figures = {"k_anonymity": Figure("k_anonymity", k, {})}
    for name, found in values.items():
        figures[name] = Figure(name, _worst(name, found), found, why=whys.get(name))
    return {name: _with_verdict(figure, asked) for name, figure in figures.items()}


def figure_name(model: PrivacyModel) -> str:
    """The name of the figure that a model is about.

    Examples
    --------
    >>> figure_name(TCloseness(0.2, ground="ordered"))
    't_ordered'
    """
    if isinstance(model, TCloseness):
        return f"t_{model.ground}"
    if isinstance(model, BetaLikeness):
        return "beta_enhanced" if model.enhanced else "beta"
    return _NAMES[type(model)]


def model_text(model: PrivacyModel) -> str:
    """Write a model as users do, without the rows of trees.

    Examples
    --------
    >>> model_text(RecursiveDiversity(c=3, l=2))
    'recursive:c=3:l=2'
    """
    own = {name: value for name, value in model.__dict__.items() if isinstance(value, bool | int | float | str)}
    parts = [f"{value:g}" if isinstance(value, float) else str(value) for value in own.values()]
    named = [f"{name}={part}" for name, part in zip(own, parts, strict=True)] if len(own) > 1 else parts
    return ":".join([model.name, *named])


def _judged(view: View, model: PrivacyModel) -> Verdict:
    try:
        return view.judge(model)
    except UnsupportedError as refused:
        raise UnsupportedError(
            f"audit: {model.name!r} cannot be checked here. {refused.message}", hint=refused.hint
        ) from None


def _figures_of(view: View, k: int, extra: Sequence[PrivacyModel]) -> dict[str, tuple[Any, str | None]]:
    """The value of each figure of one attribute, or None and why."""
    view.check_size()
    ordered = [TCloseness(1.0, ground="ordered")] if view.domain.ordered else []
    always = [*_ALWAYS, *ordered]
    known = {figure_name(model) for model in always} | {"k_anonymity", "recursive_c", "alpha_k"}
    models = [*always, *(model for model in extra if figure_name(model) not in known)]
    found: dict[str, tuple[Any, str | None]] = {}
    for model, reached in zip(models, worst_reached(view, models), strict=True):
        found.setdefault(figure_name(model), _told(model, reached))
    if not ordered:
        found["t_ordered"] = (None, "The values have no order.")
    if isinstance(view, ExplodedView):
        found["frequency"] = (view.bound, None)
    if isinstance(view, SetView):
        found["frequency_informed"] = (float(view.largest_informed.max(initial=0.0)), None)
    found["recursive_c"] = _recursive(view)
    try:
        view.picture(AlphaK)
        found["alpha_k"] = ({"alpha": float(view.largest.max(initial=0.0)), "k": k}, None)
    except UnsupportedError as refused:
        found["alpha_k"] = (None, refused.message)
    return found


def _recursive(view: View) -> tuple[Any, str | None]:
    try:
        counts = view.picture(RecursiveDiversity)
    except UnsupportedError as refused:
        return None, refused.message
    reach = {str(l): c for l, c in recursive_reach(counts).items()}
    return (reach, None) if reach else (None, "A class has one value only, so that no c holds.")


def _told(model: PrivacyModel, reached: float | str) -> tuple[Any, str | None]:
    if isinstance(reached, str):
        return None, reached
    if not isfinite(reached):
        return None, _INFINITE.get(figure_name(model), "Nothing that is greater holds.")
    return _SHOWN.get(figure_name(model), float)(reached), None


def _share(reached: float) -> float:
    return 1 / reached if reached else 0.0


_SHOWN: Final[Mapping[str, Callable[[float], Any]]] = {
    **dict.fromkeys(("distinct_l", "unique_l", "l_d", "l_e", "level_unique_l"), int),
    "frequency": _share,
}

_INFINITE: Final[Mapping[str, str]] = {
    "delta": "A class lacks a value that occurs elsewhere, so that no delta holds.",
    "beta_enhanced": "A frequent value gains more in a class than the enhanced form allows for any beta.",
}


def _worst(name: str, found: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a number, or numbers by l
    values = list(found.values())
    if any(value is None for value in values):
        return None
    if name == "recursive_c":
        shared = set.intersection(*(set(value) for value in values))
        return {l: max(value[l] for value in values) for l in sorted(shared, key=int)} or None
    if name == "alpha_k":
        return max(values, key=lambda value: float(value["alpha"]))
    return min(values) if name in _GREATER_IS_SAFER else max(values)


def _with_verdict(figure: Figure, asked: Sequence[Asked]) -> Figure:
    mine = [one for one in asked if figure_name(one.model) == figure.name]
    if not mine:
        return figure
    texts = tuple(dict.fromkeys(model_text(one.model) for one in mine))
    passed = all(one.verdict.passed for one in mine)
    return Figure(figure.name, figure.value, figure.by_attribute, passed, texts, figure.why)

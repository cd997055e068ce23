"""The verdict in plain words, and the first thing to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from ldiversity.auditing._figures import Asked, model_text
from ldiversity.auditing._seen import Seen
from ldiversity.models import (
    AlphaK,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    PrivacyModel,
    RecursiveDiversity,
    UniqueDiversity,
)

__all__ = ["Advice", "advise", "say"]

_GOOD_L: Final = 4
_LEAST_L: Final = 2


@dataclass(frozen=True)
class Advice:
    """The first thing to do.

    Attributes
    ----------
    text
        In plain words.
    words
        A command that would do it, word by word; ``TABLE`` stands for the table. Empty when there is none.
    largest_l
        The greatest l that classes can reach without leaving records out; None when there are no sensitive columns.
    """

    text: str
    words: tuple[str, ...] = ()
    largest_l: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """In JSON's types."""
        return {"text": self.text, "command": list(self.words) or None, "largest_l": self.largest_l}


def say(seen: Seen, asked: Sequence[Asked], risk: Mapping[str, Any], attribute_risk: Mapping[str, Any]) -> list[str]:
    """Say what was found: one sentence a fact, the most important first."""
    said = [sentence for name, one in attribute_risk.items() for sentence in _of_attribute(seen, name, one)]
    if seen.quasi:
        said.append(_of_uniques(risk))
    for name, view in seen.by_class_id.items():
        if len(view.sizes) != len(seen.sizes):
            said.append(
                f"The release numbers {len(view.sizes):,} classes of {name!r}, of which those with equal regions look "
                f"alike: an attacker sees {len(seen.sizes):,}."
            )
    return [*said, *map(_of_model, asked)]


def advise(seen: Seen, asked: Sequence[Asked], texts: Mapping[PrivacyModel, str]) -> Advice:
    """Say what to do first."""
    failing = [one for one in asked if not one.verdict.passed]
    largest = _largest_l(seen)
    if seen.kind != "table":
        return _advise_release(failing, largest)
    harmful = any(bool((view.largest >= 1).any()) for view in seen.views.values())
    if not failing and not harmful:
        held = "All models that were asked for hold" if asked else "No class gives a value away for certain"
        return Advice(f"{held}. Before publishing, decide what must hold, and ask for it as a model.", (), largest)
    if not seen.views or largest is None:
        return Advice("Generalize the quasi-identifiers, so that more people look alike.")
    needed = [_needed_l(one.model) for one in failing]
    only_sizes = all(isinstance(one.model, KAnonymity) for one in failing)
    for one, l in zip(failing, needed, strict=True):
        if l is None or (l > largest and only_sizes):
            return _advise_model(seen, one, texts, largest)
    return _advise_l(seen, [l for l in needed if l is not None], largest)


def _of_attribute(seen: Seen, name: str, risk: Mapping[str, Any]) -> list[str]:
    if seen.kind in {"sets", "exploded"}:
        bound = f"{risk['largest_share']:.3g}"
        said = [f"To someone without prior knowledge no set points at a value of {name!r} with more than {bound}."]
        if "informed" in risk:
            said.append(
                f"To someone who knows how frequent the values are it is {risk['informed']['largest_share']:.3g}, and "
                f"{risk['informed']['mean_largest_share']:.3g} on average."
            )
        return said
    n_one, n_classes = risk["classes_with_one_value"], risk["classes"]
    if n_one:
        lost = _people(risk["records_read_off"])
        said = [f"{n_one:,} of {n_classes:,} classes hold one value of {name!r} only; {lost} can be read off."]
    else:
        said = [f"None of {n_classes:,} classes holds one value of {name!r} only."]
    more = risk["records_at_least_50"] - risk["records_read_off"]
    if more:
        others = f"{_people(more)} {'more' if n_one else 'in all'}"
        said.append(f"For {others}, one value of {name!r} is at least as likely as all others together.")
    return said


def _of_uniques(risk: Mapping[str, Any]) -> str:
    n, above = risk["uniques"], risk["prosecutor"]["records_above"]
    alone = f"{_people(n)} of {risk['records']:,} look like nobody else" if n > 1 else "1 person looks like nobody else"
    return (
        f"{alone if n else 'Everybody looks like somebody else'}; whoever knows their quasi-identifiers finds "
        f"{_people(above)} with a probability above {risk['threshold']:g}."
    )


def _of_model(one: Asked) -> str:
    verdict, about = one.verdict, "" if one.attribute is None else f" of {one.attribute!r}"
    if verdict.passed:
        return f"{model_text(one.model)}{about} holds: the worst class reaches {verdict.reached:.4g}."
    return (
        f"{model_text(one.model)}{about} does not hold: {verdict.n_failing:,} of {verdict.n_classes:,} classes with "
        f"{verdict.n_records_failing:,} records break it; the worst reaches {verdict.reached:.4g}."
    )


def _people(n: int) -> str:
    return "1 person" if n == 1 else f"{n:,} people"


def _largest_l(seen: Seen) -> int | None:
    """Classes of l different values can take in all records when no value has more than 1/l of them."""
    reach = [int(view.marginal.sum()) // max(int(view.marginal.max(initial=0)), 1) for view in seen.views.values()]
    return min(reach) if reach else None


def _needed_l(model: PrivacyModel) -> int | None:
    """The l for which classes of l different values satisfy a model; None when no l is known to do."""
    if isinstance(model, DistinctDiversity | EntropyDiversity | FrequencyDiversity | UniqueDiversity):
        return ceil(model.l)
    if isinstance(model, RecursiveDiversity):
        return model.l if model.c > 1 else None
    if isinstance(model, KAnonymity):
        return model.k
    return max(ceil(1 / model.alpha), model.k) if isinstance(model, AlphaK) else None


def _advise_release(failing: Sequence[Asked], largest: int | None) -> Advice:
    if failing:
        reached = "" if largest is None else f"; at most l = {largest} is possible without leaving records out"
        return Advice(f"Do not hand this release on: publish the table again with a stronger method{reached}.")
    return Advice("Nothing that was asked for is broken; attacks show what the models do not stop.", (), largest)


def _advise_model(seen: Seen, one: Asked, texts: Mapping[PrivacyModel, str], largest: int | None) -> Advice:
    text = texts.get(one.model)
    if text is None:
        return Advice(f"Group the records by a method that keeps {one.model.name}, such as Mondrian.", (), largest)
    words = ("--method", "mondrian", "--model", text, "--output", "release")
    return Advice(f"Group the records into classes that satisfy {text}.", (*_start(seen), *words), largest)


def _advise_l(seen: Seen, needed: Sequence[int], largest: int) -> Advice:
    wanted = max(needed, default=min(_GOOD_L, largest))
    if largest < _LEAST_L:
        words = ("--method", "bsgi", "-l", str(_LEAST_L), "--overflow", "suppress", "--output", "release")
        return Advice(
            "One value has more than half of the records, so that no classes reach l = 2 with all of them: leave some "
            "of its records out, or merge rare values.",
            (*_start(seen), *words),
            largest,
        )
    l = max(_LEAST_L, min(wanted, largest))
    less = f" (l = {wanted} is out of reach)" if wanted > largest else ""
    return Advice(
        f"Group the records into classes of {l} different values{less}; at most l = {largest} is possible without "
        "leaving records out.",
        (*_start(seen), "--method", "bsgi", "-l", str(l), "--output", "release"),
        largest,
    )


def _start(seen: Seen) -> tuple[str, ...]:
    quasi = ("--quasi", _joined(seen.quasi)) if seen.quasi else ()
    return ("ldiversity", "anonymize", "TABLE", *quasi, "--sensitive", _joined(list(seen.views)))


def _joined(names: Sequence[str]) -> str:
    """Names as the command line reads them: one with a comma or quote stands in double quotes."""
    return ",".join('"' + name.replace('"', '""') + '"' if set(name) & set(',"') else name for name in names)

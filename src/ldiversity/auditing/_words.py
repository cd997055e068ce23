"""The verdict in plain words, and the first thing to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Final, NamedTuple

from ldiversity._numbers import counted, level, number, percent
from ldiversity.auditing._figures import Asked, model_text
from ldiversity.auditing._risk import recognized
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

__all__ = ["Advice", "Learned", "advise", "learned", "say"]

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
    if seen.joint:
        threshold = risk["threshold"]
        for name, view in seen.views.items():
            to = f"To someone who asks for {name!r} and knows the quasi-identifiers and all other sensitive values: "
            said.append(to + _of_uniques(recognized(view.sizes, threshold), "knows all this"))
    if seen.quasi:
        alone = "only their quasi-identifiers" if seen.joint else "their quasi-identifiers"
        said.append(_capitalized(_of_uniques(risk, f"knows {alone}")))
    for name, view in seen.by_class_id.items():
        if len(view.sizes) != len(seen.sizes):
            said.append(
                f"The release numbers {len(view.sizes):,} classes of {name!r}, of which those with equal regions look "
                f"alike: an attacker sees {len(seen.sizes):,}."
            )
    return [*said, *map(_of_model, asked)]


class Learned(NamedTuple):
    """How many people's values someone learns: names of columns, rows of a name and numbers, and a sentence."""

    heads: list[str]
    rows: list[tuple[str, list[int]]]
    sentence: str


def learned(kind: str, risk: Mapping[str, Any]) -> Learned:
    """Say how much is learned about the values of an attribute.

    Parameters
    ----------
    kind, risk
        As in `Audit.to_dict`: ``kind``, and ``attribute_risk`` of the attribute.
    """
    names = {
        "records_read_off": "can be read off",
        "records_at_least_90": "likeliest value at least 90 %",
        "records_at_least_50": "likeliest value at least 50 %",
    }
    known = [risk] if "informed" not in risk else [risk, risk["informed"]]
    heads = ["number"] if "informed" not in risk else ["without prior knowledge", "knowing how frequent values are"]
    rows = [(text, [one[name] for one in known]) for name, text in names.items()]
    return Learned(["people", *heads], rows, _guess(kind, risk))


def _guess(kind: str, risk: Mapping[str, Any]) -> str:
    mean, overall = percent(risk["mean_largest_share"]), percent(risk["largest_share_overall"])
    if kind == "table":
        return f"A guess of the likeliest value of the class is right for {mean}; without the table, for {overall}."
    if kind == "exploded":
        return (
            f"The numbers go by the bound of the mechanism, {mean} without prior knowledge; whoever knows how frequent "
            f"values are may be surer. The most frequent one has about {overall} of all records."
        )
    if "informed" in risk:
        informed = percent(risk["informed"]["mean_largest_share"])
        return (
            "These numbers are for someone who knows which record is the person's. The likeliest value of its set then "
            f"has {mean} on average without prior knowledge, and {informed} knowing how frequent values are; the "
            f"most frequent one has about {overall} of all records. Whoever cannot tell people who look alike apart "
            "learns less."
        )
    return (
        f"A guess of the likeliest value is right for {mean} if one knows which class is the person's; without the "
        f"release, for {overall}."
    )


def advise(seen: Seen, asked: Sequence[Asked], texts: Mapping[PrivacyModel, str]) -> Advice:
    """Say what to do first."""
    failing = [one for one in asked if not one.verdict.passed]
    largest = _largest_l(seen)
    if seen.kind != "table":
        return _advise_release(failing, largest)
    harmful = any(bool((view.largest >= 1).any()) for view in seen.views.values())
    if not failing and not seen.views:
        held = "All models that were asked for hold. " if asked else ""
        return Advice(
            f"{held}Only the sizes of classes were looked at: name the sensitive columns, to see what can be learned."
        )
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
        bound = percent(risk["largest_share"])
        said = [f"To someone without prior knowledge no set points at a value of {name!r} with more than {bound}."]
        if "informed" in risk:
            said.append(
                "To someone who knows how frequent the values are, and which record is the person's, it is "
                f"{percent(risk['informed']['largest_share'])}, and "
                f"{percent(risk['informed']['mean_largest_share'])} on average."
            )
        return said
    n_one, n_classes = risk["classes_with_one_value"], risk["classes"]
    if n_one:
        lost = _people(risk["records_read_off"])
        hold = "The only class holds" if n_classes == 1 else f"{n_one:,} of {n_classes:,} classes hold"
        said = [f"{hold} one value of {name!r} only; {lost} can be read off."]
    elif n_classes == 1:
        said = [f"The only class holds more than one value of {name!r}."]
    else:
        said = [f"None of {n_classes:,} classes holds one value of {name!r} only."]
    more = risk["records_at_least_50"] - risk["records_read_off"]
    if more:
        others = f"{_people(more)} {'more' if n_one else 'in all'}"
        said.append(f"For {others}, one value of {name!r} is at least as likely as all others together.")
    return said


def _of_uniques(risk: Mapping[str, Any], knows: str) -> str:
    n, above = risk["uniques"], risk["prosecutor"]["records_above"]
    alone = f"{_people(n)} of {risk['records']:,} look like nobody else" if n > 1 else "1 person looks like nobody else"
    return (
        f"{alone if n else 'everybody looks like somebody else'}; whoever {knows} finds "
        f"{_people(above)} with a probability above {level(risk['threshold'])}."
    )


def _of_model(one: Asked) -> str:
    verdict, about = one.verdict, "" if one.attribute is None else f" of {one.attribute!r}"
    if verdict.passed:
        return f"{model_text(one.model)}{about} holds: the worst class reaches {number(verdict.reached)}."
    records = counted(verdict.n_records_failing, "record", "records")
    border = verdict.model.strict and verdict.margin == 0
    must = f", and must be strictly less than {number(verdict.required)}" if border else ""
    if verdict.n_classes == 1:
        broken = f"the only class, of {records}, breaks it; it reaches"
    else:
        broken = f"{verdict.n_failing:,} of {verdict.n_classes:,} classes with {records} break it; the worst reaches"
    return f"{model_text(one.model)}{about} does not hold: {broken} {number(verdict.reached)}{must}."


def _people(n: int) -> str:
    return counted(n, "person", "people")


def _capitalized(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


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

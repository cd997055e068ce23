"""The verdict in plain words, and the first thing to do about it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ldiversity.base.findings import Confirmed
from ldiversity.base.numbers import counted, counted_of, number, percent, percent_at_most
from ldiversity.evaluation.audit._asked import Asked
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._found import Found
from ldiversity.evaluation.audit._risk import AttributeRisk, Recognized, RecordRisk, recognized
from ldiversity.evaluation.audit._sampled import Sampled
from ldiversity.evaluation.audit._sampled_words import of_population
from ldiversity.evaluation.audit._sets import SetView
from ldiversity.evaluation.audit._unit import PEOPLE, RECORDS, Unit

__all__ = ["Learned", "given_away", "learned", "say"]


def say(
    seen: AttackerView,
    found: Found,
    risk: RecordRisk,
    attribute_risk: Mapping[str, AttributeRisk],
    sampled: Sampled | None = None,
) -> list[str]:
    """Say what was found: one sentence per fact, the most important first."""
    said = [_of_confirmed(one) for one in seen.confirmed]
    said += [] if seen.n_people is None else [_of_people(seen, found.sizes.n_records)]
    if seen.several_rows is not None:
        column = seen.several_rows.column
        whose = f"person={column!r} (--person {shlex.quote(column)})"
        # Weights and people are refused together, because a weight says how many people one record stands for.
        beside = "" if sampled is None else ", and leave the weights out"
        said.append(f"{column}: {seen.several_rows.text} Say whose row it is: {whose}{beside}.")
    said += [sentence for name, one in attribute_risk.items() for sentence in _of_attribute(seen, name, one)]
    if seen.joint:
        threshold = risk.threshold
        for name, one in found.attributes.items():
            to = f"To someone who asks for {name!r} and knows the quasi-identifiers and all other sensitive values: "
            unit = seen.unit(one.sizes.n_records)
            said.append(to + _of_uniques(recognized(one.sizes, threshold), unit, "knows all this"))
    if seen.quasi:
        alone = "only their quasi-identifiers" if seen.joint else "their quasi-identifiers"
        sentence = _of_uniques(risk, seen.unit(risk.records), f"knows {alone}")
        said.append(sentence[:1].upper() + sentence[1:])
    for name, by_id in found.by_class_id.items():
        if by_id.sizes.n_classes != found.sizes.n_classes:
            said.append(
                f"The release numbers {number(by_id.sizes.n_classes)} classes of {name!r}, but classes with equal "
                f"regions look alike: an attacker sees {number(found.sizes.n_classes)}."
            )
    said += [] if sampled is None else of_population(sampled, found.sizes.n_records)
    said += [_of_model(one, _unit_of_model(seen, found, one)) for one in found.asked]
    compared = () if sampled is None else sampled.asked
    return [*said, *(_of_model(one, RECORDS, " against the shares of the population") for one in compared)]


def _unit_of_model(seen: AttackerView, found: Found, one: Asked) -> Unit:
    """What the classes of a model hold; of a release, models judge records."""
    sizes = found.sizes if one.attribute is None else found.attributes[one.attribute].sizes
    return seen.unit(sizes.n_records) if seen.kind == "table" else RECORDS


def _of_confirmed(one: Confirmed) -> str:
    return (
        f"The column {one.column!r} is published, and {one.does}: the holder was warned, and confirmed it. The figures "
        "below do not count what it gives away."
    )


def given_away(confirmed: Sequence[Confirmed]) -> str:
    """What no model counts, because the holder confirmed it: each column, and what it does."""
    return ", ".join(f"{one.column!r} ({one.does})" for one in confirmed)


class Learned(NamedTuple):
    """How many people's values someone learns: names of columns, rows of a name and numbers, and a sentence."""

    heads: list[str]
    rows: list[tuple[str, list[int]]]
    sentence: str


def learned(kind: str, risk: AttributeRisk, people: int | None = None) -> Learned:
    """Say how much is learned about the values of an attribute; `kind` and `people` are those of the `Audit`."""
    known = [risk] if risk.informed is None else [risk, risk.informed]
    heads = ["number"] if risk.informed is None else ["without prior knowledge", "knowing how frequent values are"]
    rows = [
        ("can be read off", [one.records_read_off for one in known]),
        ("likeliest value at least 90 %", [one.records_at_least_90 for one in known]),
        ("likeliest value at least 50 %", [one.records_at_least_50 for one in known]),
    ]
    return Learned([_unit_of_values(kind, risk, people).many, *heads], rows, _guess(kind, risk))


def _unit_of_values(kind: str, risk: AttributeRisk, people: int | None) -> Unit:
    """What the figures of an attribute count; of a release, they are about records."""
    return Unit.of(risk.records, people) if kind == "table" else RECORDS


def _guess(kind: str, risk: AttributeRisk) -> str:
    mean, overall = percent(risk.mean_largest_share), percent(risk.largest_share_overall)
    if kind == "table":
        return f"A guess of the likeliest value of the class is right for {mean}; without the table, for {overall}."
    if kind == "exploded":
        return (
            f"The numbers follow from the bound of the mechanism, {mean} without prior knowledge; someone who knows "
            f"how frequent values are may be surer. The most frequent value has about {overall} of all records."
        )
    if risk.informed is not None:
        informed = percent(risk.informed.mean_largest_share)
        return (
            "These numbers are for someone who knows which record is the person's. The likeliest value of its set then "
            f"has {mean} on average without prior knowledge, and {informed} knowing how frequent values are; the "
            f"most frequent value has about {overall} of all records. Someone who cannot tell which of several records "
            "is the person's learns less."
        )
    return (
        f"A guess of the likeliest value is right for {mean}, for someone who knows the person's class; without the "
        f"release, for {overall}."
    )


def _of_attribute(seen: AttackerView, name: str, risk: AttributeRisk) -> list[str]:
    if seen.kind in {"sets", "exploded"}:
        bound = percent_at_most(risk.largest_share)
        said = [f"To someone without prior knowledge no set points at a value of {name!r} with more than {bound}."]
        if risk.informed is not None:
            view = seen.views.get(name)
            truly = isinstance(view, SetView) and view.counted
            source = "" if truly else " Frequencies are estimated from the release."
            said.append(
                "To someone who knows how frequent the values are, and which record is the person's, it is "
                f"{percent(risk.informed.largest_share)}, and "
                f"{percent(risk.informed.mean_largest_share)} on average.{source}"
            )
        return said
    unit = _unit_of_values(seen.kind, risk, seen.n_people)
    n_one, n_classes = risk.classes_with_one_value, risk.classes
    if n_one:
        lost = unit.counted(risk.records_read_off)
        hold = (
            "The only class holds" if n_classes == 1 else counted_of(n_one, n_classes, "class|classes", "holds", "hold")
        )
        said = [f"{hold} one value of {name!r} only; {lost} can be read off."]
    elif n_classes == 1:
        said = [f"The only class holds more than one value of {name!r}."]
    else:
        said = [f"None of {number(n_classes)} classes holds one value of {name!r} only."]
    more = risk.records_at_least_50 - risk.records_read_off
    if more:
        others = f"{unit.counted(more)} {'more' if n_one else 'in all'}"
        said.append(f"For {others}, one value of {name!r} is at least as likely as all others together.")
    return said


def _of_uniques(risk: Recognized, unit: Unit, knows: str) -> str:
    n, above = risk.uniques, risk.prosecutor.records_above
    alone = f"{unit.counted(n)} of {number(risk.records)} {'look' if n > 1 else 'looks'} like nobody else"
    return (
        f"{alone if n else 'everybody looks like somebody else'}; someone who {knows} finds "
        f"{unit.counted(above)} with a probability above {percent(risk.threshold)}."
    )


def _of_people(seen: AttackerView, n_counted: int) -> str:
    n_people, n_rows = seen.n_people or 0, seen.n_rows or 0
    most = "at most " if seen.n_suppressed and seen.kind != "table" else ""  # some of them may have no row any more
    if not seen.exact_people:
        several = (
            " Nothing says in which class a row of theirs is, so each class counts the fewest people who may have its "
            f"records, at least {RECORDS.counted(n_counted)} in all."
        )
    elif seen.unit(n_counted) is PEOPLE:
        several = ""
    else:
        several = f" Who is in several classes counts as a record in each, {RECORDS.counted(n_counted)} in all."
    return (
        f"People are counted, not rows: {counted(n_rows, 'row')} belong to {most}{PEOPLE.counted(n_people)}, by "
        f"{seen.person!r}; everybody counts once in a class"
        f"{'' if seen.kind == 'table' else ', when it is about being recognized'}.{several}"
    )


def _of_model(one: Asked, unit: Unit, against: str = "") -> str:
    verdict, about = one.verdict, against if one.attribute is None else f" of {one.attribute!r}{against}"
    if verdict.passed:
        return f"{one.model.text}{about} holds: the worst class reaches {number(verdict.reached)}."
    records = unit.counted(verdict.n_records_failing)
    border = verdict.model.strict and verdict.margin == 0
    must = f", and must be strictly less than {number(verdict.required)}" if border else ""
    if verdict.n_classes == 1:
        broken = f"the only class, of {records}, breaks it; it reaches"
    else:
        some = f"{number(verdict.n_failing)} of {number(verdict.n_classes)} classes"
        verb = "breaks" if verdict.n_failing == 1 else "break"
        broken = f"{some} with {records} {verb} it; the worst reaches"
    return f"{one.model.text}{about} does not hold: {broken} {number(verdict.reached)}{must}."

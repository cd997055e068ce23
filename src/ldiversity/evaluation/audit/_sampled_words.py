"""What a sample says about its population, in words and as rows of tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ldiversity.base.numbers import counted, figure, level, number, percent, percent_between, points
from ldiversity.evaluation.audit._figures import Figure
from ldiversity.evaluation.audit._sampled import AlikeInTable, PeopleEstimate, Sampled

__all__ = ["SampledTable", "of_population", "sampled_tables"]


class SampledTable(NamedTuple):
    """A sentence, and a table with numbers in all columns but the first."""

    about: str
    heads: list[str]
    rows: list[list[str]]


def of_population(sampled: Sampled, records: int) -> list[str]:
    """Say who may be recognized and what may be guessed in the population, one sentence per fact."""
    alone = sampled.alike[0]
    links = (
        f"About {_between(alone.people)} of them look like a record that is alone in the table. Someone who takes such "
        f"a match for the person is right with a probability of {_link(alone)}."
    )
    stand = f"{counted(records, 'record stands', 'records stand')} for about {_people(sampled.people)}."
    said = [f"{stand} {links if alone.classes else 'No record is alone in the table.'}"]
    for name, one in sampled.attributes.items():
        said.append(
            f"Of the people that the table stands for, about {percent(one.guessed_right.share)} have the commonest "
            f"value of {name!r} among the records that look like them; a guess without the table is right for about "
            f"{percent(one.largest_share)}."
        )
    return said


def sampled_tables(sampled: Sampled, models: Mapping[str, Figure]) -> list[SampledTable]:
    """The figures as tables; `models` are those of the table itself."""
    interval = f"interval ({level(sampled.confidence)})"
    people = [["look like no record", *_row(sampled.like_nobody)]]
    people += [[f"look like a class of {_fewer(one)}", *_row(one.people)] for one in sampled.alike]
    for name, of_name in sampled.attributes.items():
        people.append([f"{name}: the commonest value of such records is theirs", *_row(of_name.guessed_right)])
        people.append([f"{name}: the only value of such records is theirs", *_row(of_name.read_off_right)])
    links = [
        [_fewer(one), number(one.classes), number(one.records), percent(one.right_link), _link_limits(one)]
        for one in sampled.alike
    ]
    tables = [
        SampledTable(
            f"If all {_people(sampled.people)} are looked up in the table:",
            ["people of the population", "number", interval, "share"],
            people,
        ),
        SampledTable(
            "If one of those who look like such a class is linked to a record of it:",
            ["records in a class", "classes", "records", "the link is right", interval],
            links,
        ),
    ]
    compared = [
        [name, figure(models[name].value), figure(one.value)]
        for name, one in sampled.models.items()
        if one.value is not None or models[name].value is not None
    ]
    if compared:
        heads = ["model", "against the table", "against the population"]
        tables.append(SampledTable("Models that compare a class with all records:", heads, compared))
    if sampled.attributes:
        apart = [[name, points(_apart(sampled, name))] for name in sampled.attributes]
        about = "By how many points the share of a value in the table differs from that in the population:"
        tables.append(SampledTable(about, ["sensitive", "at most"], apart))
    return tables


def _apart(sampled: Sampled, name: str) -> float:
    return max(abs(one.in_table - one.share) for one in sampled.attributes[name].shares)


def _fewer(one: AlikeInTable) -> str:
    return "1 record" if one.below == 2 else f"fewer than {number(one.below)} records"  # noqa: PLR2004 - less than two


def _people(people: float) -> str:
    return counted(round(people), "person", "people")


def _row(one: PeopleEstimate) -> list[str]:
    return [number(round(one.people)), _limits(one).strip(" ()"), percent(one.share)]


def _limits(one: PeopleEstimate) -> str:
    if one.low is None or one.high is None:
        return ""
    return f" ({number(round(one.low))} to {number(round(one.high))})"


def _between(one: PeopleEstimate) -> str:
    return f"{number(round(one.people))}{_limits(one) or ' (too few records for an interval)'}"


def _link_limits(one: AlikeInTable) -> str:
    return percent_between(one.right_link_low, one.right_link_high).strip(" ()")


def _link(one: AlikeInTable) -> str:
    return f"{percent(one.right_link)}{percent_between(one.right_link_low, one.right_link_high)}"

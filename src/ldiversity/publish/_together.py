"""Which decisions of a publication go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ldiversity.base.numbers import in_bytes
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.publish._alike import check_kept_quasi
from ldiversity.release import RECORDS
from ldiversity.sentences import Method, Parameter, Setting, say

if TYPE_CHECKING:
    from ldiversity.engines import Engine
    from ldiversity.methods import GroupingMethod
    from ldiversity.publish._method import ChosenMethod
    from ldiversity.publish._publication import Publication

__all__ = ["check_epsilon_unkeyed", "check_family", "check_ids", "check_memory", "misplaced_by"]

_OWNER: Final = "Publication"
_BOUNDED: Final = Parameter("output"), Parameter("memory")
_LEAST_MEMORY: Final = 400_000_000
_INTERSECTED: Final = "Keyed draws are for sets. Classes of two releases can be intersected even with a key."
_WHY_NOT: Final = {
    "key": _INTERSECTED,
    "record_id": _INTERSECTED,
    "stable_order": "Records are grouped in a random order, so no two runs give the same classes.",
    "layout": "The method decides the layout of a grouped release.",
    "marginals": "Sets are published beside the quasi-identifiers themselves, which need no frequencies.",
    "grid": "A grid is for methods that publish intervals, such as bsgi, mondrian and tp.",
}


def check_family(question: Publication, choices: Sequence[ChosenMethod]) -> None:
    """Refuse decisions that only methods of the other family take."""
    if not question.sensitive:
        _check_records_alone(question.grouping)
    if question.grouping is None:
        given: dict[str, object] = {"hierarchies": question.hierarchies, "marginals": question.marginals}
    else:
        names = ("key", "record_id", "stable_order", "layout")
        given = {name: getattr(question, name) for name in names}
    if not all(one.rounds for one in choices):
        given["grid"] = question.grid
    misplaced = [name for name, value in given.items() if value]
    if misplaced:
        raise misplaced_by(question, misplaced[0])
    check_kept_quasi(question)
    _refuse_coarse_ids(question)
    if question.record_id and question.person is not None:
        raise ParameterError(
            _OWNER, say("{} must be left out when {} is given", Parameter("record_id"), Parameter("person"))
        ).with_hint(say("With a key, {} takes its place.", Parameter("person")))
    if question.layout == "exploded" and len(question.sensitive) > 1:
        raise UnsupportedError(_OWNER, "layout", "must be 'sets' when there are several sensitive columns").with_hint(
            "Publish sets, or one sensitive column at a time."
        )


def _check_records_alone(grouping: GroupingMethod | None) -> None:
    """Without a sensitive column, only promises about records can be made, and only by generalizing them."""
    needed = "must name at least one column: the one nobody may learn about a person"
    enough = Setting("method", "mondrian"), Setting("model", "k-anonymity:5")
    if grouping is None or grouping.layout != "generalized":
        hint = say("Without one, only methods that generalize can publish: {} with {}.", *enough)
        raise ParameterError(_OWNER, "sensitive", needed, hint=hint)
    about_values = [rule.text for rule in grouping.promises(RECORDS) if not rule.of_people]
    if about_values:
        hint = say("Only a promise about records can be made without one: {} with {} alone.", *enough)
        why = f"{needed}, because {about_values[0]!r} is about its values"
        raise ParameterError(_OWNER, "sensitive", why, hint=hint)


def check_epsilon_unkeyed(question: Publication, *, keyed: bool) -> None:
    """Refuse a key with an epsilon: equal values would show equal sets, so that different sets prove a difference."""
    bounded = any(getattr(method, "epsilon", None) is not None for method in question.methods.values())
    if bounded and (keyed or question.record_id):
        # A key that is handed to a run comes later, so it is named with what belongs to it.
        given = {"key": True, "record_id": question.record_id, "stable_order": question.stable_order}
        names = [Parameter(name) for name, value in given.items() if value]
        why = "{} must be left out with {}: sets that a key repeats would prove whether two values differ"
        way_out = (
            f"Publish without {' and '.join(['{}'] * len(names))}: every row and release is then a draw of its own, "
        )
        raise ParameterError(_OWNER, say(why, names[0], Parameter("epsilon"))).with_hint(
            say(f"{way_out}and epsilons add up.", *names)
        )


def check_ids(question: Publication, *, keyed: bool) -> None:
    """Refuse a key that cannot tell people apart, and what needs a key without one."""
    check_epsilon_unkeyed(question, keyed=keyed)
    whose = Parameter("record_id"), Parameter("person")
    if keyed and not question.record_id and question.person is None:
        raise ParameterError(_OWNER, say("{} or {} must be given with {}", *whose, Parameter("key"))).with_hint(
            say("{} names the columns that tell records apart, {} the one that says whose row it is.", *whose)
        )
    if keyed:
        return
    if question.record_id:
        raise ParameterError(_OWNER, say("{} must be given with {}", Parameter("key"), whose[0])).with_hint(
            say("{} names the columns by which the key tells records apart.", whose[0])
        )
    if question.stable_order:
        raise ParameterError(_OWNER, "stable_order", "must be left out without a key").with_hint(
            "A key decides the order. Without one, rows come in a random order each time."
        )


def check_memory(question: Publication, engine: Engine, *, in_memory: bool) -> None:
    """Refuse a limit of memory that could not be kept, before any work is done."""
    if engine.memory is None:
        return
    if engine.memory.bytes < _LEAST_MEMORY:
        raise ParameterError(
            f"must be at least {in_bytes(_LEAST_MEMORY)} to publish",
            parameter="memory",
            got=in_bytes(engine.memory.bytes),
        ).with_hint("Python, its packages and the loops that draw take most of it, whatever the table is.")
    if in_memory:
        raise ParameterError(
            say("{} must be given with {}: without a folder the release is in memory", *_BOUNDED)
        ).with_hint(say("Name a folder, or leave {} out.", Parameter("memory")))
    if question.grouping is not None and question.grouping.parts is None:
        raise UnsupportedError(
            f"is not offered with {question.grouping.name}, which groups all records at once", parameter="memory"
        ).with_hint(
            "Leave it out, or choose a method that groups a table in parts, such as bsgi, or hides values in sets."
        )


def _refuse_coarse_ids(question: Publication) -> None:
    """An id that is read at a coarser level is the same for several people, who would then share their draws."""
    may_rise = {*question.levels, *(question.quasi if question.model else ())}
    for role, names in {"record_id": question.record_id, "person": (question.person,)}.items():
        coarse = next((name for name in names if name in may_rise), None)
        if coarse is not None:
            raise ParameterError(
                _OWNER, role, "must be read as it is, but is published at a coarser level", column=coarse
            ).with_hint("Add a copy of the column to the table, and name that, or publish the column as it is.")


def misplaced_by(question: Publication, name: str) -> ParameterError:
    chosen = question.grouping or next(iter(question.methods.values()))
    family = "hides values in sets" if question.grouping is None else "groups records"
    hint = _level_instead(question.hierarchies) if name == "hierarchies" else _WHY_NOT.get(name)
    return ParameterError(_OWNER, name, f"must be left out with {chosen.name}, a method that {family}", hint=hint)


def _level_instead(hierarchies: Mapping[str, object]) -> str:
    """How a column gets coarser without classes: by a level of its own."""
    column, given = next(iter(hierarchies.items()))
    kind, _, first = given.partition("/")[0].partition(":") if isinstance(given, str) else ("", "", "")
    level = f"width:{first}" if kind == "width" and first else "prefix:3"
    return say(
        "Publish a column at one coarser level, as in {}, or choose a method that groups records, such as {}.",
        Setting("levels", (column, level)),
        Method("Mondrian"),
    )

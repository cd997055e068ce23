"""What an audit is asked, of a table or of a release."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ldiversity.base.budget import Budget
from ldiversity.base.checks import column_name, name_some
from ldiversity.engines import Engine, LocalEngine
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.evaluation.audit._asked import Asked, ask
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._classes import Counting, MissingQuasi, check_others, count_table
from ldiversity.evaluation.audit._found import FoundIn, find
from ldiversity.evaluation.audit._from_sample import Drawn, look_at_sample
from ldiversity.evaluation.audit._linking import as_published
from ldiversity.evaluation.audit._on_engine import audit_on, several_rows_on
from ldiversity.evaluation.audit._population import Recognition, look_outside
from ldiversity.evaluation.audit._release_aspects import Wanted
from ldiversity.evaluation.audit._release_on_engine import audit_release_on
from ldiversity.evaluation.audit._release_parts import audit_release, check_whole
from ldiversity.evaluation.audit._releases import chosen_columns, see_release
from ldiversity.evaluation.audit._tables import audit_table
from ldiversity.evaluation.audit._views import ClassView
from ldiversity.evaluation.audit._whose import count_people_of
from ldiversity.models import MODELS, PrivacyModel, parse_model
from ldiversity.release import Release, load_release
from ldiversity.sentences import Parameter, Setting
from ldiversity.sentences import say as say_with
from ldiversity.tables import GivenReadOptions, Reading, Sensitive, Source, open_source, options_for, rows_per_id

__all__ = [
    "Question",
    "ask_release",
    "ask_table",
    "check_of_release",
    "read_models",
    "release_of",
    "see_table",
]

_JOINT: Final = (
    "An attacker who asks for one sensitive attribute is assumed to know the others.",
    "Sizes of classes, k-anonymity and the risk of being recognized depend only on the quasi-identifiers.",
)

_MANIFEST: Final = "release.json"


@dataclass(frozen=True, eq=False)
class Question:
    """What `audit` was asked, checked as far as that is possible without the data. The parts are named as there."""

    quasi: tuple[str, ...]
    sensitive: tuple[Sensitive, ...]
    models: tuple[PrivacyModel, ...]
    missing: MissingQuasi
    joint_knowledge: bool
    recognition: Recognition
    reading: Reading
    given_read: GivenReadOptions
    others: tuple[str, ...]
    person: str | None
    original: Any
    engine: Engine
    drawn: Drawn

    @property
    def budget(self) -> Budget | None:
        """The memory that may be taken here."""
        return self.engine.memory

    def opened_original(self) -> Source:
        """The table that a release was made from; one that is open already was read as it should be."""
        given = self.original
        return given if isinstance(given, Source) else open_source(given, **self.reading)

    def people(self, names: Collection[str]) -> Source | None:
        """The population, if one was given; `names` are the quasi-identifiers."""
        population = self.recognition.population
        if population is None:
            return None
        known = {name: kind for name, kind in self.reading["types"].items() if name in names}
        return open_source(population, types=known, read=options_for(population, self.given_read))


def release_of(data: Any, engine: Engine | None = None) -> Release | None:  # noqa: ANN401 - any frame, path or release
    """The release that was given, if it is one; an engine elsewhere takes other folders for tables."""
    here = engine is None or isinstance(engine, LocalEngine)
    if isinstance(data, str | os.PathLike) and Path(data).is_dir() and (here or (Path(data) / _MANIFEST).exists()):
        data = load_release(Path(data))
    return data if isinstance(data, Release) else None


def ask_table(data: Any, question: Question) -> FoundIn:  # noqa: ANN401 - any frame or path
    """Find what a table gives away."""
    if question.original is not None:
        raise ParameterError("audit", "original", "must be left out for a table, which is its own original")
    source = question.engine.open(data, **question.reading)
    with source.unchanged():
        found = _ask_source(source, question)
    question.engine.check_unchanged(source)
    return found


def _ask_source(source: Source, question: Question) -> FoundIn:
    _check_others(source, question.quasi, question.sensitive, question.others, question.person)
    _check_looked_at(question.models, question.sensitive)
    names = [one.name for one in question.sensitive]
    question.drawn.check_table(source, names, question.engine, question.recognition, question.person)
    counting = Counting.of(
        source,
        quasi=question.quasi,
        sensitive=question.sensitive,
        missing=question.missing,
        joint_knowledge=question.joint_knowledge,
        person=question.person,
    )
    others = [name for name in source.columns if name not in counting.names]
    if not isinstance(question.engine, LocalEngine):
        return _ask_on(question.engine, source, counting, question, others)
    told = audit_table(
        source,
        counting,
        question.models,
        threshold=question.recognition.threshold.limit,
        fraction=question.recognition.sample_fraction,
        population=question.people(question.quasi),
        budget=question.budget,
    )
    several = None if question.person is not None else next(iter(rows_per_id(source, others)), None)
    notes = _JOINT if question.joint_knowledge else ()
    sampled = look_at_sample(source, counting, question.drawn, question.models)
    return replace(told, seen=replace(told.seen, notes=notes, several_rows=several), sampled=sampled)


def _ask_on(engine: Engine, source: Source, counting: Counting, question: Question, others: Sequence[str]) -> FoundIn:
    """The same, where an engine holds the rows."""
    if question.recognition.population is not None:
        raise UnsupportedError(
            "audit", "population", f"must be left out on the engine {engine.name!r}, which compares no two tables"
        ).with_hint(say_with("Say which share of the population is in the table, {}.", Setting("sample_fraction", 0.1)))
    told = audit_on(
        engine,
        source,
        counting,
        question.models,
        threshold=question.recognition.threshold.limit,
        fraction=question.recognition.sample_fraction,
    )
    n_rows = told.found.sizes.n_records + told.seen.n_dropped
    several = None if question.person is not None else several_rows_on(engine, source, others, n_rows)
    notes = _JOINT if question.joint_knowledge else ()
    return replace(told, seen=replace(told.seen, notes=notes, several_rows=several))


def ask_release(release: Release, question: Question) -> FoundIn:
    """Find what a release gives away."""
    person = question.person
    question.drawn.check_release()
    check_of_release(joint_knowledge=question.joint_knowledge, person=person, original=question.original is not None)
    names = [one.name for one in question.sensitive]
    quasi, sensitive = chosen_columns(release, question.quasi, names)
    _check_looked_at(question.models, sensitive)
    budget, recognition = question.budget, question.recognition
    whole = _needs_whole(release, quasi, question)
    if not isinstance(question.engine, LocalEngine):
        if whole is not None:
            raise UnsupportedError("audit", "engine", f"must be left out for {whole}").with_hint(
                say_with("Say how much memory may be taken, {}.", Setting("memory", "2GB"))
            )
        return audit_release_on(
            question.engine,
            release,
            quasi,
            sensitive,
            _wanted(release, question.models, sensitive),
            threshold=recognition.threshold.limit,
            fraction=recognition.sample_fraction,
        )
    if budget is not None and whole is None:
        return audit_release(
            release,
            quasi,
            sensitive,
            _wanted(release, question.models, sensitive),
            threshold=recognition.threshold.limit,
            fraction=recognition.sample_fraction,
            budget=budget,
        )
    if budget is not None and whole is not None:
        check_whole(budget, release.n_rows * release.rows_per_record, whole)
    records = seen = see_release(release, quasi=quasi, sensitive=names)
    if person is not None:
        column_name("audit", "person", person)
        seen = count_people_of(seen, release, question.opened_original(), person)
    asked = ask(seen, question.models) if question.models else _claims(records, release)
    everybody, people = question.people(seen.quasi), None
    if everybody is not None:
        published = as_published("population", everybody, release, seen.quasi)
        people = count_table(published, quasi=list(seen.quasi), missing=question.missing)
    outside = look_outside(seen, people, recognition.sample_fraction)
    found = find(seen, asked, outside, recognition.threshold.limit)
    return FoundIn(seen, found, None if people is None else int(people.sizes.sum()))


def _needs_whole(release: Release, quasi: Sequence[str], question: Question) -> str | None:
    """Why all rows of a release must be in memory at once; None when they need not."""
    if question.recognition.population is not None:
        return "a population that is compared with a release"
    if question.person is not None:
        return "people who are counted in a release"
    if release.generalized and all(release.forms[name].kind == "exact" for name in quasi):
        return "a generalized release by columns that are published as they were"
    return None


def _wanted(release: Release, models: Sequence[PrivacyModel], sensitive: Sequence[str]) -> list[Wanted]:
    """What was asked for, or else what the release itself promises."""
    if models:
        return [
            Wanted(model, name)
            for model in models
            for name in ([None] if model.of_people else list[str | None](sensitive))
        ]
    return [
        Wanted(model, None if model.of_people else name, by_class_id=True)
        for name in sensitive or release.subjects
        for model in release.promised(name)
    ]


def see_table(
    source: Source,
    quasi: Sequence[str],
    attributes: Sequence[Sensitive],
    missing: MissingQuasi,
    person: str | None,
) -> AttackerView:
    """See a table as an attacker who knows the columns `quasi` does."""
    _check_others(source, quasi, attributes, (), person)
    found = count_table(source, quasi=quasi, sensitive=attributes, missing=missing, person=person)
    return AttackerView(
        kind="table",
        name=source.name,
        quasi=found.quasi,
        keys=found.keys,
        sizes=found.sizes,
        views={name: ClassView(counts) for name, counts in found.counts.items()},
    )


def check_of_release(*, joint_knowledge: bool, person: str | None, original: bool) -> None:
    """Refuse what makes no sense of a release."""
    if joint_knowledge:
        raise UnsupportedError(
            "audit", "joint_knowledge", "must be left out for a release, which hides each attribute on its own"
        ).with_hint("The attack 'joint' shows what attributes say about each other.")
    if person is not None and not original:
        raise UnsupportedError(
            "audit",
            "person",
            "must come with the table that the release was made from, as a release does not say whose rows it holds",
        ).with_hint(say_with("Name that table ({}), or leave {} out.", Parameter("original"), Parameter("person")))
    if original and person is None:
        raise ParameterError("audit", say_with("{} must be given with {}", Parameter("person"), Parameter("original")))


def _check_others(
    source: Source, quasi: Sequence[str], attributes: Sequence[Sensitive], others: Sequence[str], person: str | None
) -> None:
    roles = [*quasi, *(one.name for one in attributes)]
    # An identifier that is dropped may well say whose row it is.
    check_others(source, [name for name in others if name != person], roles)
    if person is not None:
        check_others(source, [column_name("audit", "person", person)], roles)


def read_models(
    given: str | PrivacyModel | Sequence[str | PrivacyModel],
) -> tuple[list[PrivacyModel], dict[PrivacyModel, str]]:
    """The models, and the text forms that users wrote."""
    several = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    models: list[PrivacyModel] = []
    texts: dict[PrivacyModel, str] = {}
    for one in several:
        if not isinstance(one, str | PrivacyModel):
            raise ParameterError(
                "audit", "models", "must be privacy models or their text forms", got=type(one).__name__
            )
        model = parse_model(one) if isinstance(one, str) else one
        models.append(model)
        if isinstance(one, str):
            texts[model] = one
    return models, texts


def _check_looked_at(wanted: Sequence[PrivacyModel], looked_at: Collection[object]) -> None:
    """Refuse a model of values when no sensitive column is named."""
    unseen = [model.name for model in wanted if not model.of_people]
    if unseen and not looked_at:
        raise ParameterError(
            "audit", "sensitive", f"must name the sensitive columns to check {name_some(unseen)}"
        ).with_hint(f"Only {name_some(_of_people())} can be checked without them.")


def _of_people() -> list[str]:
    return [name for name, model in MODELS.items() if model.of_people]


def _claims(seen: AttackerView, release: Release) -> tuple[Asked, ...]:
    """What the release itself promises, for the classes as it numbers them."""
    seen = replace(seen, views={**seen.views, **seen.by_class_id})
    names = list(seen.views) or release.subjects
    asked = [one for name in names for one in ask(seen, release.promised(name), [name])]
    # Which people look alike is the same for every attribute, so it is reported once.
    return tuple(one for place, one in enumerate(asked) if one not in asked[:place])

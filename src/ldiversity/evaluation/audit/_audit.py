"""`audit` and `check`: what a table or release gives away."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from ldiversity.base.checks import column_name, column_names, name_some
from ldiversity.base.numbers import counted
from ldiversity.base.thresholds import DEFAULT_THRESHOLD, Threshold
from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.evaluation.audit._advice import advise
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._classes import MissingQuasi, check_others, count_table
from ldiversity.evaluation.audit._figures import Asked, all_figures, ask
from ldiversity.evaluation.audit._population import Recognition, look_outside
from ldiversity.evaluation.audit._releases import see_release
from ldiversity.evaluation.audit._result import Audit, ClassIdRisk
from ldiversity.evaluation.audit._risk import attribute_risk, class_figures, reidentification_risk
from ldiversity.evaluation.audit._views import ClassView
from ldiversity.evaluation.audit._words import say
from ldiversity.models import MODELS, PrivacyModel, Verdict, parse_model
from ldiversity.release import Release, load_release
from ldiversity.tables import (
    GivenReadOptions,
    Reading,
    RowsPerId,
    Sensitive,
    Source,
    as_read_options,
    as_sensitive,
    open_source,
    options_for,
    role_words,
    rows_per_id,
)

__all__ = ["audit", "check"]

_JOINT: Final = (
    "An attacker who asks for one sensitive attribute is assumed to know the others.",
    "Sizes of classes, k-anonymity and the risk of being recognized depend only on the quasi-identifiers.",
)
_APART: Final = "A person may have several records: no class holds two of them, so the values of a class count people."
_TOGETHER: Final = "A person may have several records: their sets belong together."
_MAY_LOOK_ALIKE: Final = (
    "Records that look alike may be one person's, so the figures about being recognized count records, not people."
)


def audit(  # noqa: PLR0913 - a question has these parts, each with a name
    data: Any,  # noqa: ANN401 - any frame, path or release
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sensitive | Sequence[str | Sensitive] = (),
    models: str | PrivacyModel | Sequence[str | PrivacyModel] = (),
    missing: MissingQuasi = "category",
    joint_knowledge: bool = False,
    population: Any = None,  # noqa: ANN401 - any frame or path
    sample_fraction: float | None = None,
    threshold: float | str | Threshold = DEFAULT_THRESHOLD,
    rationale: str = "",
    types: Mapping[str, str] | None = None,
    read: GivenReadOptions = None,
    drop: str | Sequence[str] = (),
    plain: str | Sequence[str] = (),
    person: str | None = None,
) -> Audit:
    """Say what a table or a release gives away: the value that each model reaches, risks, and a verdict in plain words.

    A table is read once, batch by batch. Memory depends on the different combinations that occur, not on the number of
    rows. For a release, the original is not needed. The answer never quotes a cell.

    Parameters
    ----------
    data
        A path or frame, or a release or its folder.
    quasi
        Columns by which people might be recognized; those of the release when empty.
    sensitive
        What nobody may learn about one person; `Sensitive` says how missing values are treated. When empty, those of
        the release; for a table, the audit then looks only at the sizes of classes.
    models
        What must hold: models, or text forms such as ``"k-anonymity:5"``. When empty, what a release claims.
    missing
        ``"category"``: a missing quasi-identifier of a table counts as a value like any other. ``"drop"``: such rows
        are left out. ``"refuse"``: such rows are an error.
    joint_knowledge
        Whether an attacker who asks for one sensitive attribute of a table knows the others.
    population
        A table of all people among whom an attacker searches, with the same quasi-identifiers.
    sample_fraction
        Instead of a population: which share of it is in the table, drawn at random. How many people look alike there is
        estimated from that share alone; no model of the population is fitted.
    threshold
        A record with a greater probability of being recognized counts as at risk: a number from 0 to 1, or a name
        among `THRESHOLDS`, such as ``"ema-0070"``.
    rationale
        Why that threshold was chosen.
    types
        Types of columns of text files, to replace the inferred ones, for the table and the population.
    read
        How to read them, as for `Publication`. The population takes those of the options that its kind of file has.
    drop, plain
        As for `anonymize`. They do not change the figures; the advised command names them.
    person
        The column of a table that says whose row it is, when a person may have several. Then people are counted, not
        rows: everybody once in a class, with the value that most people of the class have. A release does not say whose
        rows it holds.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [30, 30, 40, 40], "disease": ["flu", "cut", "flu", "flu"]})
    >>> found = audit(table, quasi="age", sensitive="disease", models="distinct:2")
    >>> found.passed, found.models["distinct_l"].value, found.models["frequency"].value
    (False, 1, 1.0)
    >>> print(found.verdict[0])
    1 of 2 classes hold one value of 'disease' only; 2 people can be read off.
    """
    asked_risk = Recognition.of(
        "audit",
        {
            "population": population,
            "sample_fraction": sample_fraction,
            "threshold": threshold,
            "rationale": rationale,
        },
    )
    left, kept = column_names("audit", "drop", drop), column_names("audit", "plain", plain)
    attributes = as_sensitive("audit", sensitive)
    reading: Reading = {"types": dict(types or {}), "read": as_read_options("audit", read)}
    seen, release = _see(
        data,
        quasi,
        attributes,
        missing,
        reading,
        joint_knowledge=joint_knowledge,
        others=[*left, *kept],
        person=person,
    )
    wanted, texts = _models(models)
    _check_looked_at(seen, wanted)
    asked = ask(seen, wanted) if wanted or release is None else _claims(seen, release)
    people = None
    if population is not None:
        known = {name: kind for name, kind in (types or {}).items() if name in seen.quasi}
        source = open_source(population, types=known, read=options_for(population, read))
        if release is not None and release.coarse:
            table = pa.Table.from_batches(list(source.batches(list(seen.quasi))))
            source = open_source(release.as_published(table))
        people = count_table(source, quasi=list(seen.quasi), missing=missing)
    outside = look_outside(seen, people, asked_risk.sample_fraction)
    risk = reidentification_risk(seen, outside, asked_risk.threshold.limit)
    learned = {name: attribute_risk(view) for name, view in seen.views.items()}
    roles = role_words(quasi=seen.quasi, sensitive=attributes, drop=left, plain=kept, types=types, read=read)
    return Audit(
        kind=seen.kind,
        name=seen.name,
        quasi=seen.quasi,
        sensitive=tuple(seen.views),
        records=seen.n_records if seen.n_rows is None else seen.n_rows,
        people=seen.n_people,
        dropped=seen.n_dropped,
        suppressed=seen.n_suppressed,
        models=all_figures(seen, asked),
        asked=asked,
        classes=class_figures(seen),
        risk=risk,
        threshold=asked_risk.threshold,
        population=outside.used,
        attribute_risk=learned,
        by_class_id=_by_class_id(seen),
        verdict=tuple(say(seen, asked, risk, learned)),
        advice=advise(seen, asked, texts, roles, risk),
        notes=(*seen.notes, *_notes(seen, release), *((outside.used.meaning,) if seen.quasi else ())),
        frame_kind=seen.frame_kind,
        confirmed=seen.confirmed,
    )


def check(  # noqa: PLR0913 - as for `audit`
    model: str | PrivacyModel,
    data: Any,  # noqa: ANN401 - any frame, path or release
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sensitive | None = None,
    missing: MissingQuasi = "category",
    types: Mapping[str, str] | None = None,
    read: GivenReadOptions = None,
    person: str | None = None,
) -> Verdict:
    """Check one privacy model on a table or a release, for one sensitive attribute.

    Parameters
    ----------
    model
        The model, or its text form.
    data
        A path or frame, or a release or its folder.
    quasi, missing, types, read, person
        As for `audit`.
    sensitive
        The attribute. It may be left out for k-anonymity, and for a release that has only one.

    Returns
    -------
    Verdict
        Whether it holds, the value reached, the margin, and the sizes of the worst classes.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [30, 30, 40, 40], "disease": ["flu", "cut", "flu", "flu"]})
    >>> verdict = check("frequency:2", table, quasi="age", sensitive="disease")
    >>> verdict.passed, verdict.reached, verdict.n_records_failing
    (False, 1.0, 2)
    """
    (wanted,), _ = _models(model)
    given = () if sensitive is None else sensitive
    reading: Reading = {"types": dict(types or {}), "read": as_read_options("check", read)}
    seen, _ = _see(data, quasi, as_sensitive("check", given), missing, reading, joint_knowledge=False, person=person)
    if not wanted.of_people and len(seen.views) != 1:
        named = f"one of {name_some(seen.views)}" if seen.views else "the sensitive column"
        raise ParameterError("check", "sensitive", f"must name {named} to check {wanted.name!r}")
    return ask(seen, [wanted])[0].verdict


def _see(  # noqa: PLR0913 - a question has these parts, each with a name
    data: Any,  # noqa: ANN401 - any frame, path or release
    quasi: str | Sequence[str],
    attributes: Sequence[Sensitive],
    missing: MissingQuasi,
    reading: Reading,
    *,
    joint_knowledge: bool,
    others: Sequence[str] = (),
    person: str | None = None,
) -> tuple[AttackerView, Release | None]:
    names = column_names("audit", "quasi", quasi)
    if isinstance(data, str | os.PathLike) and Path(data).is_dir():
        data = load_release(Path(data))
    if isinstance(data, Release):
        if joint_knowledge:
            raise UnsupportedError(
                "audit", "joint_knowledge", "must be left out for a release, which hides each attribute on its own"
            ).with_hint("The attack 'joint' shows what attributes say about each other.")
        if person is not None:
            raise UnsupportedError(
                "audit", "person", "must be left out for a release, which does not say whose rows it holds"
            ).with_hint("Audit the table, or attack the release with the table that it was made from.")
        return see_release(data, quasi=names, sensitive=[one.name for one in attributes]), data
    source = open_source(data, **reading)
    roles = [*names, *(one.name for one in attributes)]
    # An identifier that is dropped may well say whose row it is.
    check_others(source, [name for name in others if name != person], roles)
    if person is not None:
        check_others(source, [column_name("audit", "person", person)], roles)
    found = count_table(
        source, quasi=names, sensitive=attributes, missing=missing, joint_knowledge=joint_knowledge, person=person
    )
    seen = AttackerView(
        kind="table",
        name=source.name,
        quasi=found.quasi,
        keys=found.keys,
        sizes=found.sizes,
        views={name: ClassView(counts) for name, counts in found.counts.items()},
        n_dropped=found.n_dropped,
        frame_kind=source.frame_kind,
        joint=joint_knowledge and len(found.counts) > 1,
        notes=_JOINT if joint_knowledge else (),
        n_rows=None if person is None else found.n_rows,
        n_people=found.n_people,
        person=person,
        several_rows=None if person is not None else _several_rows(source, attributes),
    )
    return seen, None


def _several_rows(source: Source, attributes: Sequence[Sensitive]) -> RowsPerId | None:
    sensitive = {one.name for one in attributes}
    found = rows_per_id(source, [name for name in source.columns if name not in sensitive])
    return found[0] if found else None


def _models(
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


def _check_looked_at(seen: AttackerView, wanted: Sequence[PrivacyModel]) -> None:
    """Refuse a model of values when no sensitive column is named."""
    unseen = [model.name for model in wanted if not model.of_people]
    if unseen and not seen.views:
        raise ParameterError(
            "audit", "sensitive", f"must name the sensitive columns to check {name_some(unseen)}"
        ).with_hint(f"Only {name_some(_of_people())} can be checked without them.")


def _of_people() -> list[str]:
    return [name for name, model in MODELS.items() if model.of_people]


def _by_class_id(seen: AttackerView) -> dict[str, ClassIdRisk]:
    """Values of models and risks for the classes as a generalized release numbers them."""
    described = {}
    for name, view in seen.by_class_id.items():
        alone = replace(seen, sizes=view.sizes, views={name: view}, by_class_id={})
        models = {model: figure.value for model, figure in all_figures(alone, ()).items()}
        described[name] = ClassIdRisk(models, attribute_risk(view))
    return described


def _claims(seen: AttackerView, release: Release) -> tuple[Asked, ...]:
    """What the release itself promises, for the classes as it numbers them."""
    seen = replace(seen, views={**seen.views, **seen.by_class_id})
    names = list(seen.views) or release.subjects
    asked = [one for name in names for one in ask(seen, release.promised(name), [name])]
    # Which people look alike is the same for every attribute, so it is reported once.
    return tuple(one for place, one in enumerate(asked) if one not in asked[:place])


def _notes(seen: AttackerView, release: Release | None) -> list[str]:
    notes = []
    if seen.n_dropped:
        notes.append(f"{counted(seen.n_dropped, 'row was', 'rows were')} left out because something was missing.")
    if seen.n_suppressed:
        notes.append(f"{counted(seen.n_suppressed, 'record', 'records')} had been left out by the holder.")
    notes += [f"{counted(n, 'row shows', 'rows show')} no value of {name!r}." for name, n in seen.unseen.items() if n]
    if release is not None and release.person:
        notes.append(f"{_APART if release.grouped else _TOGETHER} {_MAY_LOOK_ALIKE}")
    return notes

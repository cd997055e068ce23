"""`audit`: what a table or release gives away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ldiversity.base.checks import column_names
from ldiversity.base.ending import orderly_end
from ldiversity.base.numbers import counted
from ldiversity.base.thresholds import DEFAULT_THRESHOLD, Threshold
from ldiversity.engines import Engine, choose_engine
from ldiversity.evaluation.audit._advice import advise, advise_sample
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._classes import MissingQuasi
from ldiversity.evaluation.audit._epsilons import epsilon_note
from ldiversity.evaluation.audit._figures import all_figures
from ldiversity.evaluation.audit._found import Found, FoundIn
from ldiversity.evaluation.audit._from_sample import Drawn
from ldiversity.evaluation.audit._population import Recognition, population_used
from ldiversity.evaluation.audit._question import Question, ask_release, ask_table, read_models, release_of
from ldiversity.evaluation.audit._result import Audit, ClassIdRisk
from ldiversity.evaluation.audit._risk import attribute_risk, class_figures, reidentification_risk
from ldiversity.evaluation.audit._words import say
from ldiversity.models import PrivacyModel
from ldiversity.release import Release
from ldiversity.tables import GivenReadOptions, Sensitive, as_read_options, as_sensitive, role_words

__all__ = ["audit"]

_APART: Final = "A person may have several records: no class holds two of them, so the values of a class count people."
_TOGETHER: Final = "A person may have several records: their sets belong together."
_ON_THEIR_OWN: Final = "A person may have several records: with an epsilon, each is a draw of its own."
_ROUGHLY_KNOWN: Final = (
    "How frequent values are is estimated from the release. With an epsilon that estimate is noisy, the more so the "
    "smaller the epsilon, and what someone learns who knows the frequencies is as rough."
)
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
    original: Any = None,  # noqa: ANN401 - any frame or path
    weights: str | None = None,
    strata: str | None = None,
    memory: str | int | None = None,
    engine: Engine | str | None = None,
) -> Audit:
    """Say what a table or a release gives away: the value that each model reaches, risks, and a verdict in plain words.

    A table is read once, batch by batch. Memory depends on the different combinations that occur, not on the number of
    rows; with `memory`, on nothing but that. For a release, the original is not needed. The answer never quotes a cell.

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
        The column of a table that says whose row it is, when a person may have several. Then everybody counts once in
        a class, with the value that most people of the class have; who is in several classes has one record in each.
        For a release it is a column of `original`.
    original
        For a release with `person`: the table that it was made from, which says whose rows it holds. Then figures about
        being recognized count people. What the release promises, and what is learned once a record is found, is about
        records.
    weights
        A column of survey weights: how many people of a population a record of the table stands for, at least 1. Then
        `sampled` says how many of them may be recognized, or their values guessed, with design-based intervals, and
        models that compare classes with all records must also hold against the shares of the population.
    strata
        A column with the strata of the sample.
    memory
        How much memory the audit may take, such as ``"500MB"``; no limit when None. What does not fit waits in
        encrypted temporary files, and every figure is the same.
    engine
        Where rows are counted: an engine or its name, as for `anonymize`; a frame of Spark stays on Spark. Classes are
        judged there, and only what is found comes back; every figure is the same. A release must be in a folder that
        all workers see.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [30, 30, 40, 40], "disease": ["flu", "cut", "flu", "flu"]})
    >>> found = audit(table, quasi="age", sensitive="disease", models="distinct:2")
    >>> found.passed, found.models["distinct_l"].value, found.models["frequency"].value
    (False, 1, 1.0)
    >>> print(found.verdict[0])
    1 of 2 classes holds one value of 'disease' only; 2 records can be read off.
    """
    recognition = Recognition.of(
        "audit",
        {
            "population": population,
            "sample_fraction": sample_fraction,
            "threshold": threshold,
            "rationale": rationale,
        },
    )
    left, kept = column_names("audit", "drop", drop), column_names("audit", "plain", plain)
    wanted, texts = read_models(models)
    chosen = choose_engine(data, engine, memory)
    question = Question(
        quasi=tuple(column_names("audit", "quasi", quasi)),
        sensitive=tuple(as_sensitive("audit", sensitive)),
        models=tuple(wanted),
        missing=missing,
        joint_knowledge=joint_knowledge,
        recognition=recognition,
        reading={"types": dict(types or {}), "read": as_read_options("audit", read)},
        given_read=read,
        others=(*left, *kept),
        person=person,
        original=original,
        engine=chosen,
        drawn=Drawn.of(weights, strata),
    )
    release = release_of(data, chosen)
    try:
        with orderly_end(chosen.close):
            told = ask_table(data, question) if release is None else ask_release(release, question)
    finally:
        if chosen is not engine:
            chosen.close()
    roles = role_words(
        quasi=told.seen.quasi,
        sensitive=question.sensitive,
        drop=left,
        plain=kept,
        types=types,
        read=read,
        person=person,
    )
    return _answer(told, release, texts, roles, recognition)


def _answer(
    told: FoundIn,
    release: Release | None,
    texts: Mapping[PrivacyModel, str],
    roles: Sequence[str],
    recognition: Recognition,
) -> Audit:
    """Say what was found."""
    seen, found = told.seen, told.found
    used = population_used(
        found.sizes.n_records,
        told.n_population,
        recognition.sample_fraction,
        sampled=told.sampled is not None,
    )
    risk = reidentification_risk(found, recognition.threshold.limit, population=used.known != "none")
    learned = {name: attribute_risk(one, seen.views[name]) for name, one in found.attributes.items()}
    return Audit(
        kind=seen.kind,
        name=seen.name,
        quasi=seen.quasi,
        sensitive=tuple(seen.views),
        records=found.sizes.n_records if seen.n_rows is None else seen.n_rows,
        people=seen.n_people,
        counting=seen.unit(found.sizes.n_records),
        dropped=seen.n_dropped,
        suppressed=seen.n_suppressed,
        models=all_figures(found.measured, found.attributes, found.asked),
        asked=found.asked,
        classes=class_figures(found.sizes),
        risk=risk,
        threshold=recognition.threshold,
        population=used,
        attribute_risk=learned,
        by_class_id=_by_class_id(seen, found),
        verdict=tuple(say(seen, found, risk, learned, told.sampled)),
        advice=advise_sample(seen, found.asked, told.sampled) or advise(seen, found, texts, roles, risk),
        notes=(
            *seen.notes,
            *_notes(seen, release),
            *((used.meaning,) if seen.quasi else ()),
            *(() if told.sampled is None else (told.sampled.meaning,)),
        ),
        frame_kind=seen.frame_kind,
        confirmed=seen.confirmed,
        sampled=told.sampled,
    )


def _by_class_id(seen: AttackerView, found: Found) -> dict[str, ClassIdRisk]:
    """Values of models and risks for the classes as a generalized release numbers them."""
    described = {}
    for name, one in found.by_class_id.items():
        figures = all_figures(one.measured, one.attributes, ())
        risk = attribute_risk(one.attributes[name], seen.by_class_id[name])
        described[name] = ClassIdRisk({model: figure.value for model, figure in figures.items()}, risk)
    return described


def _drawn(release: Release) -> tuple[str, ...]:
    """The attributes that are hidden in sets."""
    return () if release.grouped else release.sensitive


def _notes(seen: AttackerView, release: Release | None) -> list[str]:
    notes = []
    if seen.n_dropped:
        notes.append(f"{counted(seen.n_dropped, 'row was', 'rows were')} left out because something was missing.")
    if seen.n_suppressed:
        notes.append(f"{counted(seen.n_suppressed, 'record', 'records')} had been left out by the holder.")
    notes += [f"{counted(n, 'row shows', 'rows show')} no value of {name!r}." for name, n in seen.unseen.items() if n]
    if release is not None and release.person:
        alike = "" if seen.person is not None else f" {_MAY_LOOK_ALIKE}"
        together = all(map(release.drawn_together, release.sensitive))
        sets = _TOGETHER if together else _ON_THEIR_OWN
        notes.append(f"{_APART if release.grouped else sets}{alike}")
    if release is not None and any(release.drawn_by(name).epsilon is not None for name in _drawn(release)):
        notes.append(_ROUGHLY_KNOWN)
    spent = None if release is None else epsilon_note(release)
    if spent is not None:
        notes.append(spent)
    return notes

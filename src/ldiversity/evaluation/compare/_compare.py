"""`compare`: several methods on one table, and which one to publish."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack, cast

import pyarrow as pa

from ldiversity.base.checks import check_integer, check_number, column_names
from ldiversity.base.numbers import number, percent
from ldiversity.base.progress import reports_progress, stage, tell
from ldiversity.evaluation.attacks import Attack
from ldiversity.evaluation.audit import Recognition, RecognitionChoices
from ldiversity.evaluation.compare._candidates import candidates, left_out
from ldiversity.evaluation.compare._measure import identity, run_candidate
from ldiversity.evaluation.compare._result import Comparison
from ldiversity.evaluation.compare._run import ComparedRun
from ldiversity.evaluation.compare._setting import Measures, Setting, make_setting
from ldiversity.evaluation.compare._store import RunStore
from ldiversity.evaluation.measures import QueryWorkload
from ldiversity.methods import Method
from ldiversity.publish import ColumnDecisions, Columns, Publication, check_confirm
from ldiversity.tables import Sensitive, open_source

__all__ = ["compare"]


class ComparedDecisions(ColumnDecisions, RecognitionChoices, total=False):
    """Decisions about the columns, and about how likely being recognized may be."""

    confirm: str | Sequence[str]


@reports_progress
def compare(  # noqa: PLR0913 - the public door; every argument is a decision of the holder
    data: Any,  # noqa: ANN401 - any frame or path
    *,
    l: int | Iterable[int] = range(2, 8),
    methods: str | Method | Sequence[str | Method] | None = None,
    models: str | Sequence[str | Sequence[str]] = (),
    options: Mapping[str, object] | None = None,
    queries: int | QueryWorkload | None = None,
    attacks: str | Attack | Sequence[str | Attack] | None = None,
    targets: int = 2000,
    risk: float | None = None,
    sample: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: Callable[[float, str], None] | None = None,  # noqa: ARG001 - heard of at the door
    seed: int | None = None,
    **decisions: Unpack[ComparedDecisions],
) -> Comparison:
    """Run several methods on a table, measure each release, and say which one to publish. For the holder only.

    Every release is made in memory, audited, attacked, measured with queries, and forgotten; only figures remain. A
    method that cannot run on this table becomes a row that says why.

    Parameters
    ----------
    data
        A path or any data frame.
    l
        The values of l to try.
    methods
        Names, each run with every `l`, or methods, run as they are. When None, all that need no further option.
    models
        Privacy models such as ``"entropy:3"``: the methods that take one also run with each of these. A list of models
        makes one run that keeps all of them.
    options
        Further options, for all methods that have them; for example ``{"d": 2, "distance": "ordered"}`` lets
        `semantic` run, ``{"e": 1, "tree": "diseases.csv"}`` lets `le-anatomy`.
    queries
        How many random counting queries (300 when None), or your own workload.
    attacks
        Names or attacks. When None: ``homogeneity``, ``mechanism``, ``definetti`` and ``joint``, by people who
        know quasi-identifiers and the release.
    targets
        How many people to attack, drawn from the table.
    risk
        The greatest acceptable gain of an attacker over guessing, from 0 to 1, at the upper end of its interval. It
        decides the recommendation.
    sample
        Compare on so many records, drawn at random, or on all records of so many people where `person` is given; for
        large tables. All when None. Records of a sample lie farther apart than those of the table, so its figures
        compare the runs, and are not those of the whole table.
    folder
        Where finished runs are kept, so that you can interrupt, repeat and extend a comparison. It holds no cell, but
        figures that must stay with the holder.
    progress
        Called with the share of the work that is done and the name of the step.
    seed
        Makes draws, queries and targets repeatable. This is safe, because no release is kept.
    decisions
        Decisions about the columns, as for `Publication`: `quasi`, `sensitive`, `drop`, `plain`, `types`, `read`,
        `hierarchies`, `person`, `confirm`; `drop`, `plain` and `confirm` do not change what is measured. And about
        being recognized, as for `audit`: `population`, `sample_fraction`, `threshold`, `rationale`.

    Returns
    -------
    Comparison
        Rows, the Pareto set, a recommendation, and the publication and the command that follow it.

    Examples
    --------
    >>> import ldiversity as ld
    >>> people = ld.datasets.patients(400, seed=1)
    >>> roles = {"quasi": ["age", "sex"], "sensitive": "disease"}
    >>> found = compare(people, **roles, l=[2, 3], methods=["anatomy", "bsgi"], seed=1)
    >>> [row.label for row in found.rows]
    ['anatomy l=2', 'anatomy l=3', 'bsgi l=2', 'bsgi l=3']
    >>> found.command[:3]
    ['ldiversity', 'anonymize', 'TABLE']
    """
    several = None if methods is None else [methods] if isinstance(methods, str | Method) else list(methods)
    levels = l if isinstance(l, Iterable) and not isinstance(l, str) else [l]
    runs = candidates(several, levels, options or {}, [models] if isinstance(models, str) else models)
    if seed is not None:
        check_integer("compare", "seed", seed, minimum=0)
    if sample is not None:
        check_integer("compare", "sample", sample, minimum=1)
    limit = None if risk is None else check_number("compare", "risk", risk, minimum=0, maximum=1)
    with stage("reading", until=0.1):
        confirm = column_names("compare", "confirm", decisions.pop("confirm", ()))
        columns, recognition = _divided(decisions)
        said = Columns(**columns)
        source = open_source(data, types=said.types, read=said.read)
        check_confirm(confirm, source)
        setting = make_setting(source, said, Measures(queries, attacks, targets, seed, recognition, sample))
    store = RunStore.open(folder)
    shared = store.mark(**setting.decides)
    rows: list[ComparedRun] = []
    for place, candidate in enumerate(runs):
        mark = None if shared is None else store.mark(setting=shared, method=candidate.name, run=candidate.method)
        row = store.load(mark)
        if row is not None:
            now = identity(candidate)  # files may have been renamed since
            row = replace(row, label=now.label, method=now.method, options=now.options, words=now.words)
            rows.append(replace(row, for_comparison=now.for_comparison))
            continue
        with stage(candidate.label, until=0.1 + 0.8 * (place + 1) / len(runs)):
            row, lasting = run_candidate(candidate, setting)
        if lasting:
            store.save(mark, row)
        rows.append(row)
    rows = _judged(rows)
    found = Comparison(
        rows=tuple(rows),
        table=setting.name,
        records=setting.table.num_rows,
        quasi=setting.quasi,
        sensitive=tuple(one.name for one in setting.sensitive),
        unprotected=setting.unprotected,
        guessing=setting.guessing,
        uninformed=setting.uninformed,
        risk_limit=limit,
        threshold=recognition.threshold,
        notes=(*_how(setting, rows), *(left_out(options or {}) if methods is None else [])),
        # As the holder said it, not as it was measured: a domain that was read off the whole table would be declared
        # then, and publish values of records that are dropped or left out.
        publications={
            one.label: Publication.of(said, one.chosen, confirm=confirm) for one in runs if one.chosen is not None
        },
        file=str(data) if isinstance(data, str | os.PathLike) else "TABLE",
        frame_kind=setting.frame_kind,
        drawn_from=setting.drawn_from,
        person=setting.person,
    )
    # Runs are not screened, because nothing of theirs is handed out; what is recommended will be.
    with stage("screening", until=1.0):
        screened = () if found.publication is None else found.publication.screen(source)
    tell(1.0, "comparing")
    return replace(found, findings=screened)


def _judged(rows: list[ComparedRun]) -> list[ComparedRun]:
    """The runs, judged by queries after all where cells of the table differ in nothing that could be lost."""
    if any(row.association_lost is not None for row in rows):
        return rows
    return [replace(row, judged_by="queries") for row in rows]


def _divided(decisions: ComparedDecisions) -> tuple[ColumnDecisions, Recognition]:
    """Decisions about the columns, and about being recognized."""
    about = {name: value for name, value in decisions.items() if name in RecognitionChoices.__annotations__}
    others = {name: value for name, value in decisions.items() if name not in about}
    return cast("ColumnDecisions", others), Recognition.of("compare", cast("RecognitionChoices", about))


def _with_value(table: pa.Table, one: Sensitive) -> int:
    """How many records have a value; a missing value counts when it is a category."""
    return int(table.num_rows - (table[one.name].null_count if one.missing == "drop" else 0))


def _found(asked: Recognition, searched: str) -> str:
    """Who searches among whom for the figures about being recognized; `searched` is what was compared."""
    among = (
        "the population that was given"
        if asked.population is not None
        else f"{searched} itself, because no population was given"
        if asked.sample_fraction is None
        else f"a population of which {searched} is {percent(asked.sample_fraction)}, drawn at random"
    )
    limit = f"Limit: {percent(asked.threshold.limit)}. {asked.threshold.reason}"
    return f"Found at worst: by someone who searches {among}. {limit}"


def _how(setting: Setting, rows: Sequence[ComparedRun]) -> list[str]:
    queries = sum(len(workload) for workload in setting.workloads)
    whose = min(setting.targets, max(_with_value(setting.table, one) for one in setting.sensitive))
    attacked = f"{number(whose)} {'record' if whose == 1 else 'records'}"
    if setting.person is not None and whose == setting.table.num_rows:
        attacked += f" of {number(len(setting.table[setting.person].unique()))} people"
    floor = f"{number(setting.sanity, 3)} {'record' if setting.sanity == 1 else 'records'}"
    risk = (
        f"Risk: {attacked} were attacked, and the attack that gains most over guessing from the true shares counts "
        "(among the records found, where some are left out). It is a mean over records: where one value is common, "
        "leaks of rare values hardly change it. So also look at the worst belief, and at how much likelier a value "
        "becomes."
    )
    error = (
        f"Error: the median of {number(queries)} random counting queries, relative to the true answer, or to {floor} "
        "where that is more."
    )
    sound = (
        "A run is sound when it makes a promise, no attack except those that learn beats it, and none is sure of "
        "values and right about them. An unsound run is recommended only when no other is worth publishing."
    )
    found = _found(setting.recognition, "the table" if setting.drawn_from is None else "the sample")
    notes = [risk, error, sound, found, "Publishing draws anew, so its figures will differ slightly from these."]
    if any(row.judged_by == "association" for row in rows):
        notes.append(
            f"Someone who knows only how frequent values are is off by {percent(setting.uninformed)} for half of the "
            "queries, so these say little here: the map and the recommendation use what is lost within small cells."
        )
    if len(setting.sensitive) > 1:
        notes.append("With several sensitive columns, the worst of them counts.")
    return notes

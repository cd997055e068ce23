"""`anonymize`: from a table to a release."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from ldiversity._checks import check_choice, name_some
from ldiversity._random import FreshWords, Key, KeyedWords
from ldiversity.anonymization._columns import published_type
from ldiversity.anonymization._draw import (
    FreshWordsPerThread,
    HiddenAttribute,
    Randomizer,
    RecordIds,
    draw_context,
)
from ldiversity.anonymization._notes import domain_notes, holder_notes, is_declared, key_note
from ldiversity.engines import Engine, LocalEngine
from ldiversity.errors import LDiversityError, LDiversityWarning, ParameterError, UnsupportedError
from ldiversity.mechanisms import SetMechanism
from ldiversity.methods import Method, RandomizingMethod
from ldiversity.privacy import claim_of
from ldiversity.release import (
    Format,
    Release,
    ReleaseDescription,
    SetLayout,
    SetRelease,
    load_release,
    staging_folder,
    write_release,
)
from ldiversity.schema import Attribute, Domain, Role, Schema
from ldiversity.tables import Sensitive, Source, check_roles, fit_coder, open_source

__all__ = ["Preparation", "anonymize", "prepare"]


@dataclass(frozen=True)
class Preparation:
    """All that is decided before the first value is hidden.

    Attributes
    ----------
    source
        The table.
    schema
        The columns that will be published.
    hidden
        The sensitive attributes with their mechanisms.
    counts
        How often each value occurs: the holder's knowledge, never published.
    notes
        What the holder should know.
    undeclared
        Sensitive attributes whose domain was read off the table.
    """

    source: Source
    schema: Schema
    hidden: tuple[HiddenAttribute, ...]
    counts: Mapping[str, Any]
    n_rows: int
    record_id: tuple[str, ...]
    notes: tuple[str, ...]
    undeclared: tuple[str, ...] = ()

    @property
    def published_types(self) -> dict[str, pa.DataType]:
        """The columns that are published as they are, with their types."""
        names = self.schema.names(Role.QUASI, Role.PLAIN)
        return {name: published_type(name, self.source.columns[name]) for name in names}


def anonymize(  # noqa: PLR0913 - the public door; every argument is a decision of the holder
    data: Any,  # noqa: ANN401 - any frame or path
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sensitive | Sequence[str | Sensitive],
    method: Method | Mapping[str, Method],
    drop: str | Sequence[str] = (),
    plain: str | Sequence[str] = (),
    key: Key | None = None,
    record_id: str | Sequence[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    data_format: Format = "parquet",
    layout: SetLayout = "sets",
    overwrite: bool = False,
    types: Mapping[str, str] | None = None,
    engine: Engine | None = None,
    insecure_seed: int | None = None,
) -> Release:
    """Publish a table so that nobody learns any one person's sensitive value from it.

    Every record keeps its quasi-identifiers; each sensitive value is hidden in a set. Rows come out in a
    uniformly random order. Before a release is handed out, its claims are checked on what was produced.

    Parameters
    ----------
    data
        A data frame (pandas, polars, pyarrow, or anything that speaks Arrow) or the path of a file.
    quasi
        Columns published as they are, by which people might be recognized.
    sensitive
        Columns to be hidden; a name, or `Sensitive` to declare a domain, bins or a policy for missing values.
    method
        How: one method for all sensitive columns, or one for each by name.
    drop
        Columns that name people. Columns without any role are dropped as well; `Release.notes` lists them.
    plain
        Columns published as they are on the holder's word that they tell nothing.
    key, record_id
        Keyed draws: the same record with the same value gets the same set in every release made with this key, so
        that releases cannot be intersected. `record_id` names the columns that tell records apart.
    output
        A folder to write. A file is then streamed: memory does not grow with the table. Without it the
        release stays in memory.
    data_format
        ``"parquet"`` or ``"csv"``, when there is an `output`.
    layout
        ``"sets"``, or ``"exploded"`` for one row a member, as in the paper on semantic diversity.
    overwrite
        Replace a release that is already at `output`.
    types
        Types of columns of a text file, where the inferred one is not wanted, for example ``{"zip": "text"}``.
    engine
        Where to compute; this machine when None.
    insecure_seed
        Draw from a seed that can be repeated. For tests: whoever learns the seed learns the true values.

    Returns
    -------
    Release
        What may be handed to anyone.

    Examples
    --------
    >>> import pyarrow as pa
    >>> patients = pa.table({"age": [41, 50, 68], "disease": ["flu", "cut", "flu"]})
    >>> disease = Sensitive("disease", domain=["cold", "cut", "fever", "flu"])
    >>> from ldiversity.methods import RandomizedAddition
    >>> release = anonymize(patients, quasi="age", sensitive=disease, method=RandomizedAddition(l=2))
    >>> sorted(release.table["age"].to_pylist()), release.sets("disease").shape
    ([41, 50, 68], (3, 2))
    """
    check_choice("anonymize", "layout", layout, ("sets", "exploded"))
    check_choice("anonymize", "data_format", data_format, ("parquet", "csv"))
    if (key is None) != (record_id is None):
        raise ParameterError(
            "anonymize: key and record_id must be given together.",
            hint="record_id names the columns by which the key tells records apart.",
        )
    if key is not None and insecure_seed is not None:
        raise ParameterError("anonymize: insecure_seed must be left out when there is a key.")
    preparation = prepare(
        data,
        quasi=quasi,
        sensitive=sensitive,
        method=method,
        drop=drop,
        plain=plain,
        record_id=record_id,
        types=types,
    )
    if layout == "exploded" and len(preparation.hidden) > 1:
        raise UnsupportedError(
            "anonymize: layout must be 'sets' when there are several sensitive columns.",
            hint="Publish sets, or one sensitive column at a time.",
        )
    for attribute in preparation.hidden:
        for caution in attribute.mechanism.cautions():
            warnings.warn(f"{attribute.name}: {caution}", LDiversityWarning, stacklevel=2)
    keyed = () if key is None else (key_note(preparation.undeclared),)
    notes = (*preparation.notes, *domain_notes(preparation.undeclared), *keyed)
    preparation = replace(preparation, notes=notes)
    run = _Run(preparation, key, layout, engine, insecure_seed)
    if output is None:
        return run.in_memory()
    return run.to_folder(Path(output), data_format=data_format, overwrite=overwrite)


def prepare(  # noqa: PLR0913 - the holder's decisions, as for `anonymize`
    data: Any,  # noqa: ANN401 - any frame or path
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sensitive | Sequence[str | Sensitive],
    method: Method | Mapping[str, Method],
    drop: str | Sequence[str] = (),
    plain: str | Sequence[str] = (),
    record_id: str | Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
) -> Preparation:
    """Read the domains, fit the mechanisms, and say what would be published; hides nothing yet."""
    source = data if isinstance(data, Source) else open_source(data, types=types)
    quasi, drop, plain = _names(quasi), _names(drop), _names(plain)
    ids = _names(record_id or ())
    wanted = _sensitive(sensitive)
    names = [attribute.name for attribute in wanted]
    without_role = check_roles(source, quasi=quasi, sensitive=names, drop=drop, plain=plain, record_id=ids)
    methods = _methods(method, names)
    published = {*quasi, *plain}
    hidden: list[HiddenAttribute] = []
    counts: dict[str, Any] = {}
    for attribute in wanted:
        coder, counts[attribute.name] = fit_coder(source, attribute)
        mechanism = _fit(attribute.name, methods[attribute.name], coder.domain)
        hidden.append(HiddenAttribute(attribute.name, coder, mechanism))
    return Preparation(
        source=source,
        schema=_schema(source, quasi, plain, hidden),
        hidden=tuple(hidden),
        counts=counts,
        n_rows=min(int(count.sum()) for count in counts.values()),
        record_id=tuple(ids),
        undeclared=tuple(attribute.name for attribute in wanted if not is_declared(attribute)),
        notes=holder_notes(source, wanted, counts, without_role=without_role, ids=[i for i in ids if i in published]),
    )


@dataclass(frozen=True)
class _Run:
    """One run of `anonymize`, after all decisions."""

    preparation: Preparation
    key: Key | None
    layout: SetLayout
    given_engine: Engine | None
    insecure_seed: int | None

    def in_memory(self) -> Release:
        engine, randomizer = self._start()
        batches = list(self._randomized(engine, randomizer))
        self._finish(randomizer)
        (shuffled,) = engine.shuffle(batches, n_rows=self.preparation.n_rows, scratch=None)
        description = self._description()
        release = SetRelease.from_coded(
            description, shuffled, frame_kind=self.preparation.source.frame_kind, notes=self.preparation.notes
        )
        release.verify()
        return release

    def to_folder(self, target: Path, *, data_format: Format, overwrite: bool) -> Release:
        engine, randomizer = self._start()
        with staging_folder(target, overwrite=overwrite) as staging:
            scratch = staging / "scratch"
            scratch.mkdir(mode=0o700)
            rows = self.preparation.n_rows * (self._l_rows() if self.layout == "exploded" else 1)
            shuffled = engine.shuffle(self._randomized(engine, randomizer), n_rows=rows, scratch=scratch)
            checked = self._finish_after(shuffled, randomizer)
            write_release(staging, self._description(), checked, data_format=data_format)
            scratch.rmdir()
        release = load_release(target, frame=self.preparation.source.frame_kind)
        return replace(release, notes=self.preparation.notes)

    def _start(self) -> tuple[Engine, Randomizer]:
        seeded = None if self.insecure_seed is None else FreshWords.from_insecure_seed(self.insecure_seed)
        engine = self.given_engine or LocalEngine(workers=None if seeded is None else 1, words=seeded)
        hidden = self.preparation.hidden
        record_ids = None
        if self.key is not None:
            record_ids = RecordIds(self.key, self.preparation.record_id)
            hidden = tuple(
                replace(a, context_words=KeyedWords(self.key, draw_context(a.name, a.coder.domain, a.mechanism)))
                for a in hidden
            )
        randomizer = Randomizer(
            published=self.preparation.published_types,
            hidden=hidden,
            fresh=FreshWordsPerThread(seeded),
            record_ids=record_ids,
            exploded=self.layout == "exploded",
        )
        return engine, randomizer

    def _randomized(self, engine: Engine, randomizer: Randomizer) -> Iterator[pa.RecordBatch]:
        preparation = self.preparation
        needed = {*randomizer.published, *(a.name for a in preparation.hidden), *preparation.record_id}
        columns = [name for name in preparation.source.columns if name in needed]
        return engine.map_batches(randomizer, preparation.source.batches(columns, chunk_rows=engine.chunk_rows))

    def _finish(self, randomizer: Randomizer) -> None:
        if randomizer.record_ids is not None:
            randomizer.record_ids.check_unique()

    def _finish_after(self, tables: Iterable[pa.Table], randomizer: Randomizer) -> Iterator[pa.Table]:
        """Hand the tables on; the ids are complete once the first one comes, before anything is written."""
        checked = False
        for table in tables:
            if not checked:
                self._finish(randomizer)
                checked = True
            yield table

    def _l_rows(self) -> int:
        return self.preparation.hidden[0].mechanism.l

    def _description(self) -> ReleaseDescription:
        hidden = self.preparation.hidden
        return ReleaseDescription(
            schema=self.preparation.schema,
            mechanisms={a.name: a.mechanism for a in hidden},
            claims=tuple(claim_of(a.name, a.mechanism) for a in hidden),
            layout=self.layout,
        )


def _fit(column: str, method: RandomizingMethod, domain: Domain) -> SetMechanism:
    """Fit a method, and name the column in whatever it has to say against it."""
    try:
        return method.fit(domain)
    except LDiversityError as error:
        error.message = f"{column}: {error.message}"
        raise


def _names(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _sensitive(sensitive: str | Sensitive | Sequence[str | Sensitive]) -> list[Sensitive]:
    listed = [sensitive] if isinstance(sensitive, str | Sensitive) else list(sensitive)
    return [Sensitive(item) if isinstance(item, str) else item for item in listed]


def _methods(method: Method | Mapping[str, Method], names: list[str]) -> dict[str, RandomizingMethod]:
    chosen = dict(method) if isinstance(method, Mapping) else dict.fromkeys(names, method)
    if set(chosen) != set(names):
        raise ParameterError(
            "anonymize: method must name every sensitive column and no other.",
            hint=f"Sensitive are {name_some(names)}.",
        )
    methods = {name: one for name, one in chosen.items() if isinstance(one, RandomizingMethod)}
    if len(methods) < len(chosen):
        raise ParameterError(
            "anonymize: method must be a method object.", hint="For example method=ld.RandomizedAddition(l=3)."
        )
    return methods


def _schema(source: Source, quasi: list[str], plain: list[str], hidden: list[HiddenAttribute]) -> Schema:
    by_name = {attribute.name: attribute for attribute in hidden}
    attributes = []
    for name, kind in source.columns.items():
        if name in by_name:
            coder = by_name[name].coder
            attributes.append(Attribute(name, Role.SENSITIVE, str(coder.type), coder.domain))
        elif name in quasi or name in plain:
            role = Role.QUASI if name in quasi else Role.PLAIN
            attributes.append(Attribute(name, role, str(published_type(name, kind))))
    return Schema(tuple(attributes))

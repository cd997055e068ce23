"""Publishing with a method that hides values in sets: from a table to a release of sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

import pyarrow as pa

from ldiversity.base.progress import stage, tell, unwatched
from ldiversity.engines import Secrets
from ldiversity.publish._alike import check_people_alike
from ldiversity.publish._distinct import check_distinct
from ldiversity.publish._draw import DrawSets, HiddenAttribute
from ldiversity.publish._identities import ORDER, DistinctIds
from ldiversity.publish._numbered_texts import NumberedTexts, TooManyTexts, repeated_texts
from ldiversity.publish._prepare import Preparation
from ldiversity.publish._uniqueness import people_alike
from ldiversity.release import (
    AlikeClaim,
    Claim,
    ReadBack,
    Release,
    ReleaseDescription,
    SetRelease,
    SetWriter,
    check_description,
    claim_of,
    finish_release,
    load_release,
)
from ldiversity.schema import Role
from ldiversity.tables import rechunk

__all__ = ["publish_sets"]

_PIECE_ROWS: Final = 1 << 18


def publish_sets(preparation: Preparation, output: Path | None, *, overwrite: bool, secrets: Secrets) -> Release:
    """Hide every sensitive value in a set, and publish the records in a random order."""
    frame_kind, notes = preparation.source.frame_kind, preparation.notes
    description = _describe(preparation)
    engine = preparation.engine
    if output is None:
        shuffled = pa.Table.from_batches(list(_draw(preparation, secrets, scratch=None, until=0.8)))
        with stage("checking", until=1.0):
            made = SetRelease.from_coded(description, shuffled, frame_kind=frame_kind, notes=notes)
            # Categories that no row shows are not published, and need not fit.
            check_description(replace(description, schema=made.schema), shuffled.num_rows)
            made.verify()
        return made
    with engine.staging(output, overwrite=overwrite) as staging:
        scratch = staging / "scratch"
        scratch.mkdir(mode=0o700)
        rows = _draw(preparation, secrets, scratch=scratch, until=0.6)
        if preparation.question.stable_order and not engine.orders_by_key:
            rows = _in_even_pieces(rows)
        writer = SetWriter(preparation.data_format, description)
        written = engine.write(staging, writer, rows)
        finish_release(staging, writer, written, n_rows=_all_rows(preparation), back=ReadBack(engine.read_back))
        scratch.rmdir()
        tell(1.0, "writing")
    with unwatched():  # the release is complete: nothing may stop it now
        release = load_release(output, frame=frame_kind)
    return replace(release, notes=notes)


def _draw(
    preparation: Preparation, secrets: Secrets, *, scratch: Path | None, until: float
) -> Iterable[pa.RecordBatch]:
    """The rows as they will be published, in a random order, or in the stable one of a key."""
    engine, question = preparation.engine, preparation.question
    factory = DrawSets(
        preparation.published_types,
        preparation.hidden,
        record_id=question.record_id,
        person=question.person,
        exploded=question.layout == "exploded",
        stable_order=question.stable_order,
        random_order=engine.orders_by_key,
        digests=bool(question.record_id) and not engine.orders_by_key,
    )
    ids = question.record_id if question.person is None else (question.person,)
    needed = {*factory.published, *(a.name for a in preparation.hidden), *ids}
    columns = [name for name in preparation.shown.columns if name in needed]
    with stage("drawing", until=until, passes=1):
        if engine.orders_by_key:
            if question.record_id:
                check_distinct(
                    engine,
                    preparation.shown,
                    preparation.hidden,
                    question.record_id,
                    n_rows=_n_rows(preparation),
                    secrets=secrets,
                    scratch=scratch,
                )
            drawn = engine.map(factory, preparation.shown, columns, secrets=secrets)
            ordered: Iterable[pa.RecordBatch] = _order(preparation, drawn, secrets, scratch)
        elif scratch is None:
            ordered = _drawn_here(preparation, factory, columns, secrets, scratch)
        else:
            texts = repeated_texts(preparation.shown, [name for name in columns if name not in ids])
            ordered = _drawn_as_numbers(preparation, factory, columns, secrets, scratch, texts)
    if question.model and question.person is not None:
        quasi = preparation.schema.names(Role.QUASI)
        people = people_alike(preparation.shown, quasi, question.person, chunk_rows=engine.chunk_rows)
        check_people_alike(question.model, people)
    return ordered


def _drawn_as_numbers(
    preparation: Preparation,
    factory: DrawSets,
    columns: list[str],
    secrets: Secrets,
    scratch: Path,
    texts: frozenset[str],
) -> Iterable[pa.RecordBatch]:
    """The rows in their order; on the way, texts that many rows have are numbers."""
    codes = {attribute.name: len(attribute.coder.domain.values) for attribute in preparation.hidden}
    while True:
        own = NumberedTexts(texts & factory.published.keys(), codes)
        try:
            ordered = _drawn_here(preparation, replace(factory, encoded=texts), columns, secrets, scratch, own)
        except TooManyTexts as found:
            # The draws of a row are the same each time.
            texts -= {found.column}
        else:
            return own.named(ordered)


def _drawn_here(
    preparation: Preparation,
    factory: DrawSets,
    columns: list[str],
    secrets: Secrets,
    scratch: Path | None,
    texts: NumberedTexts | None = None,
) -> Iterable[pa.RecordBatch]:
    """The rows in their order; they pass through this process, so ids are looked at on their way."""
    drawn = preparation.engine.map(factory, preparation.shown, columns, secrets=secrets)
    distinct = DistinctIds(scratch)
    with closing(distinct.taken_off(drawn)) as without_ids:
        moved = without_ids if texts is None else texts.numbered(without_ids)
        ordered = _order(preparation, moved, secrets, scratch)
    # Now all ids are known, and nothing has been written yet.
    distinct.check()
    return ordered


def _order(
    preparation: Preparation, rows: Iterable[pa.RecordBatch], secrets: Secrets, scratch: Path | None
) -> Iterable[pa.RecordBatch]:
    engine, n_rows = preparation.engine, _n_rows(preparation)
    by = ORDER if preparation.question.stable_order or engine.orders_by_key else None
    return engine.order(rows, n_rows=n_rows, scratch=scratch, secrets=secrets, by=by)


def _all_rows(preparation: Preparation) -> int | None:
    """How many rows must be in the files, so that none is lost on the way; None where that is not known exactly."""
    return _n_rows(preparation) if len(preparation.counts) == 1 else None


def _n_rows(preparation: Preparation) -> int:
    """About how many rows are published: with several sensitive columns, different rows may lack a value."""
    exploded = preparation.question.layout == "exploded"
    return preparation.n_rows * (preparation.hidden[0].mechanism.l if exploded else 1)


def _in_even_pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of one size, so that files do not depend on how many were worked on at once."""
    return rechunk(iter(batches), _PIECE_ROWS)


def _claims(preparation: Preparation, attribute: HiddenAttribute) -> Iterator[Claim | AlikeClaim]:
    yield claim_of(attribute.name, attribute.mechanism)
    for model in preparation.question.model:
        yield AlikeClaim(attribute.name, model, people=preparation.question.person is not None)


def _describe(preparation: Preparation) -> ReleaseDescription:
    hidden = preparation.hidden
    return ReleaseDescription(
        schema=preparation.schema,
        mechanisms={a.name: a.mechanism for a in hidden},
        claims=tuple(claim for a in hidden for claim in _claims(preparation, a)),
        layout=preparation.question.layout or "sets",
        forms=preparation.forms(preparation.labels),
        confirmed=preparation.confirmed,
        person=preparation.question.person is not None,
    )

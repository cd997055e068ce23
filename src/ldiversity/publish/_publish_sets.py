"""Publishing with a method that hides values in sets: from a table to a release of sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

import pyarrow as pa

from ldiversity.base.progress import stage, tell, unwatched
from ldiversity.engines import Secrets
from ldiversity.publish._alike import check_people_alike
from ldiversity.publish._draw import DrawSets, HiddenAttribute
from ldiversity.publish._identities import ORDER, DistinctIds
from ldiversity.publish._prepare import Preparation
from ldiversity.publish._uniqueness import LookAlikes
from ldiversity.release import (
    AlikeClaim,
    Claim,
    Release,
    ReleaseDescription,
    SetRelease,
    check_description,
    claim_of,
    load_release,
    write_release,
)
from ldiversity.schema import Role

__all__ = ["publish_sets"]

_PIECE_ROWS: Final = 1 << 18


def publish_sets(preparation: Preparation, output: Path | None, *, overwrite: bool, secrets: Secrets) -> Release:
    """Hide every sensitive value in a set, and publish the records in a random order."""
    frame_kind, notes = preparation.source.frame_kind, preparation.notes
    description = _describe(preparation)
    if output is None:
        (shuffled,) = _draw(preparation, secrets, scratch=None, until=0.8)
        with stage("checking", until=1.0):
            made = SetRelease.from_coded(description, shuffled, frame_kind=frame_kind, notes=notes)
            # Categories that no row shows are not published, and need not fit.
            check_description(replace(description, schema=made.schema), shuffled.num_rows)
            made.verify()
        return made
    with preparation.engine.staging(output, overwrite=overwrite) as staging:
        scratch = staging / "scratch"
        scratch.mkdir(mode=0o700)
        rows = _draw(preparation, secrets, scratch=scratch, until=0.6)
        if preparation.question.stable_order:
            rows = _in_even_pieces(rows)
        write_release(
            staging, description, rows, data_format=preparation.data_format, storage=preparation.engine.storage
        )
        scratch.rmdir()
        tell(1.0, "writing")
    with unwatched():  # the release is complete: nothing may stop it now
        release = load_release(output, frame=frame_kind)
    return replace(release, notes=notes)


def _draw(preparation: Preparation, secrets: Secrets, *, scratch: Path | None, until: float) -> Iterator[pa.Table]:
    """The rows as they will be published, in a random order, or in the stable one of a key."""
    engine, question = preparation.engine, preparation.question
    exploded = question.layout == "exploded"
    factory = DrawSets(
        preparation.published_types,
        preparation.hidden,
        record_id=question.record_id,
        person=question.person,
        exploded=exploded,
        stable_order=question.stable_order,
    )
    ids = question.record_id if question.person is None else (question.person,)
    needed = {*factory.published, *(a.name for a in preparation.hidden), *ids}
    columns = [name for name in preparation.shown.columns if name in needed]
    n_rows = preparation.n_rows * (preparation.hidden[0].mechanism.l if exploded else 1)
    distinct = DistinctIds()
    with (
        stage("drawing", until=until, passes=1),
        closing(engine.map(factory, preparation.shown, columns, secrets=secrets)) as drawn,
    ):
        ordered = engine.order(
            distinct.taken_off(drawn),
            n_rows=n_rows,
            scratch=scratch,
            secrets=secrets,
            by=ORDER if question.stable_order else None,
        )
    # Now all ids are known, and nothing has been written yet.
    distinct.check()
    if question.model and question.person is not None:
        quasi = preparation.schema.names(Role.QUASI)
        check_people_alike(question.model, LookAlikes.read(preparation.shown, quasi, person=question.person))
    return ordered


def _in_even_pieces(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The same rows in tables of one size, so that files do not depend on how many were worked on at once."""
    held: list[pa.Table] = []
    for table in tables:
        held.append(table)
        while sum(one.num_rows for one in held) >= _PIECE_ROWS:
            joined = pa.concat_tables(held).combine_chunks()
            yield joined.slice(0, _PIECE_ROWS)
            held = [joined.slice(_PIECE_ROWS)]
    rest = pa.concat_tables(held).combine_chunks() if held else None
    if rest is not None and rest.num_rows:
        yield rest


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

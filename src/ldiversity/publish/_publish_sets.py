"""Publishing with a method that hides values in sets: from a table to a release of sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from ldiversity.base.randomness import FreshWords, Key, KeyedWords
from ldiversity.engines import Engine, LocalEngine
from ldiversity.publish._draw import FreshWordsPerThread, Randomizer, RecordIds, draw_context
from ldiversity.publish._prepare import Preparation
from ldiversity.release import (
    Format,
    Release,
    ReleaseDescription,
    SetLayout,
    SetRelease,
    check_description,
    claim_of,
    load_release,
    staging_folder,
    write_release,
)

__all__ = ["publish_sets"]


def publish_sets(  # noqa: PLR0913 - what the holder decided
    preparation: Preparation,
    *,
    key: Key | None,
    layout: SetLayout,
    engine: Engine | None,
    insecure_seed: int | None,
    output: Path | None,
    data_format: Format,
    overwrite: bool,
) -> Release:
    """Hide every sensitive value in a set, and publish the records in a random order."""
    run = _Run(preparation, key, layout, engine, insecure_seed)
    if output is None:
        return run.in_memory()
    return run.to_folder(output, data_format=data_format, overwrite=overwrite)


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
        check_description(description, shuffled.num_rows)
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

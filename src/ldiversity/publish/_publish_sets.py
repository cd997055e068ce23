"""Publishing with a method that hides values in sets: from a table to a release of sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from ldiversity.base.progress import stage, tell, unwatched
from ldiversity.base.randomness import FreshWords, Key
from ldiversity.engines import Engine, LocalEngine, Secrets
from ldiversity.publish._draw import DistinctIds, DrawSets
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
    seeded = None if insecure_seed is None else FreshWords.from_insecure_seed(insecure_seed)
    run = _Run(preparation, layout, engine or LocalEngine(), Secrets(key, insecure=seeded))
    if output is None:
        return run.in_memory()
    return run.to_folder(output, data_format=data_format, overwrite=overwrite)


@dataclass(frozen=True, eq=False, repr=False)
class _Run:
    """One run, after all decisions."""

    preparation: Preparation
    layout: SetLayout
    engine: Engine
    secrets: Secrets

    def in_memory(self) -> Release:
        (shuffled,) = self._drawn(scratch=None, until=0.8)
        description = self._description()
        check_description(description, shuffled.num_rows)
        with stage("checking", until=1.0):
            release = SetRelease.from_coded(
                description, shuffled, frame_kind=self.preparation.source.frame_kind, notes=self.preparation.notes
            )
            release.verify()
        return release

    def to_folder(self, target: Path, *, data_format: Format, overwrite: bool) -> Release:
        with self.engine.staging(target, overwrite=overwrite) as staging:
            scratch = staging / "scratch"
            scratch.mkdir(mode=0o700)
            shuffled = self._drawn(scratch=scratch, until=0.6)
            write_release(staging, self._description(), shuffled, data_format=data_format)
            scratch.rmdir()
            tell(1.0, "writing")
        with unwatched():  # it has its name now
            release = load_release(target, frame=self.preparation.source.frame_kind)
        return replace(release, notes=self.preparation.notes)

    def _drawn(self, *, scratch: Path | None, until: float) -> Iterator[pa.Table]:
        """The rows as they will be published, in a random order."""
        preparation = self.preparation
        exploded = self.layout == "exploded"
        factory = DrawSets(preparation.published_types, preparation.hidden, preparation.record_id, exploded)
        needed = {*factory.published, *(a.name for a in preparation.hidden), *preparation.record_id}
        columns = [name for name in preparation.source.columns if name in needed]
        n_rows = preparation.n_rows * (preparation.hidden[0].mechanism.l if exploded else 1)
        ids = DistinctIds()
        with (
            stage("drawing", until=until, passes=1),
            closing(self.engine.map(factory, preparation.source, columns, secrets=self.secrets)) as drawn,
        ):
            shuffled = self.engine.order(ids.taken_off(drawn), n_rows=n_rows, scratch=scratch, secrets=self.secrets)
        # All ids are there, and nothing is written yet.
        ids.check()
        return shuffled

    def _description(self) -> ReleaseDescription:
        hidden = self.preparation.hidden
        return ReleaseDescription(
            schema=self.preparation.schema,
            mechanisms={a.name: a.mechanism for a in hidden},
            claims=tuple(claim_of(a.name, a.mechanism) for a in hidden),
            layout=self.layout,
        )

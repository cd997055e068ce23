"""The end of a survey: its reports as ordinary releases, in folders."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ldiversity.collection.results._answer import ExportedRelease
from ldiversity.collection.results._release import to_release
from ldiversity.errors import ParameterError
from ldiversity.release import staging_folder

if TYPE_CHECKING:
    from ldiversity.collection.store import Store
    from ldiversity.release import Format

__all__ = ["export"]


def export(
    store: Store,
    survey_id: str,
    folder: str | os.PathLike[str],
    *,
    data_format: Format = "parquet",
    overwrite: bool = False,
) -> tuple[ExportedRelease, ...]:
    """Write the reports of a survey as an ordinary release, verified on the written bytes; all or nothing.

    A linked survey becomes one release. Otherwise the folder has one release for each question, in a folder with the
    question's name.

    Parameters
    ----------
    store
        Where the reports are.
    survey_id
        The survey.
    folder
        The folder to write.
    data_format
        The format of the rows.
    overwrite
        Whether a release that is there is replaced.

    Raises
    ------
    ParameterError
        When there is no such survey.
    SchemaError
        When there is no report.
    """
    signed = store.survey(survey_id)
    if signed is None:
        raise ParameterError("export", "survey", "must be one of this database")
    survey, target = signed.survey, Path(folder)
    releases = [to_release(signed, part, store.bodies(survey_id, part)) for part in range(len(survey.parts))]
    if len(releases) == 1:
        releases[0].save(target, data_format=data_format, overwrite=overwrite)
        folders = [target]
    else:
        names = [part[0].name for part in survey.parts]
        with staging_folder(target, overwrite=overwrite) as staging:
            for name, release in zip(names, releases, strict=True):
                release.save(staging / name, data_format=data_format)
        folders = [target / name for name in names]
    return tuple(
        ExportedRelease(str(at), tuple(one.name for one in part), release.n_rows)
        for at, part, release in zip(folders, survey.parts, releases, strict=True)
    )

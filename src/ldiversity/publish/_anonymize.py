"""`anonymize` and `plan`: a publication and its table in one call."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack, overload

from ldiversity.base.randomness import Key
from ldiversity.publish._publication import Decisions, Publication, RunSettings

if TYPE_CHECKING:
    from ldiversity.engines import Engine
    from ldiversity.publish._plan_result import ClassPlan, Plan
    from ldiversity.release import Release
    from ldiversity.tables import PandasFrame, PolarsFrame, PolarsTable

    class _Asked(Decisions, RunSettings, total=False):
        output: str | os.PathLike[str] | None


__all__ = ["anonymize", "plan"]


@overload
def anonymize(data: PandasFrame, **asked: Unpack[_Asked]) -> Release[PandasFrame]: ...
@overload
def anonymize(data: PolarsTable, **asked: Unpack[_Asked]) -> Release[PolarsFrame]: ...
@overload
def anonymize(data: object, **asked: Unpack[_Asked]) -> Release: ...
def anonymize(
    data: Any,
    *,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    engine: Engine | str | None = None,
    memory: str | int | None = None,
    progress: Callable[[float, str], None] | None = None,
    insecure_seed: int | None = None,
    **decisions: Unpack[Decisions],
) -> Release:
    """Publish a table so that nobody can learn a person's sensitive value from it.

    A method either hides each sensitive value in a set, while every record keeps its quasi-identifiers, or groups
    records into classes in which nothing says which value belongs to whom. Rows come out in a uniformly random order.
    Before a release is handed out, its claims are checked on what was produced.

    Parameters
    ----------
    data
        A data frame (pandas, polars, pyarrow, Spark, or anything that speaks Arrow) or the path of a file.
    output, overwrite, engine, memory, progress, insecure_seed
        As for `Publication.publish`.
    decisions
        The keyword arguments of `Publication`: `quasi`, `sensitive`, `method` and so on. `key` may also be a `Key`.

    Returns
    -------
    Release
        What may be handed to anyone.

    Examples
    --------
    >>> import pyarrow as pa
    >>> patients = pa.table({"age": [41, 50, 68], "disease": ["flu", "cut", "flu"]})
    >>> from ldiversity.tables import Sensitive
    >>> disease = Sensitive("disease", domain=["cold", "cut", "fever", "flu"])
    >>> release = anonymize(patients, quasi="age", sensitive=disease, method="randomized-addition:l=2")
    >>> sorted(release.table["age"].to_pylist()), release.sets("disease").shape
    ([41, 50, 68], (3, 2))
    """
    given = decisions.get("key")
    secret = given if isinstance(given, Key) else None
    if secret is not None:
        decisions["key"] = None
    return Publication(**decisions).publish(
        data,
        output,
        overwrite=overwrite,
        key=secret,
        engine=engine,
        memory=memory,
        progress=progress,
        insecure_seed=insecure_seed,
    )


def plan(
    data: Any,  # noqa: ANN401 - any frame or path
    **decisions: Unpack[Decisions],
) -> Plan | ClassPlan:
    """Say what publishing a table would promise and cost; takes the same decisions as `anonymize`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> patients = pa.table({"age": [41, 50, 68, 20], "disease": ["flu", "cut", "flu", "cold"]})
    >>> answer = plan(patients, quasi="age", sensitive="disease", method="randomized-addition:l=2")
    >>> answer.feasible, answer.attributes[0].outlook.posterior
    (True, 0.5)
    """
    return Publication(**decisions).plan(data)

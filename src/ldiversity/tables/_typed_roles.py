"""Write the holder's decisions about columns as options of the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ldiversity.base.typed import join_assignment, join_names, number_text
from ldiversity.tables._sensitive import Sensitive

__all__ = ["role_words"]


def role_words(
    *,
    quasi: Sequence[str] = (),
    sensitive: Sequence[Sensitive] = (),
    drop: Sequence[str] = (),
    plain: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Write roles, domains, bins, types and the treatment of missing values as the options that all commands share.

    Examples
    --------
    >>> " ".join(role_words(quasi=["age", "sex"], sensitive=[Sensitive("income", width=10, missing="drop")]))
    '--quasi age,sex --sensitive income --missing income=drop --bins income=width:10'
    """
    words: list[str] = []
    named = {"--quasi": quasi, "--sensitive": [column.name for column in sensitive], "--drop": drop, "--plain": plain}
    for option, names in named.items():
        words += [option, join_names(names)] if names else []
    for column in sensitive:
        start = f"{join_assignment(column.name)}="
        if column.missing != "refuse":
            words += ["--missing", start + column.missing]
        if column.domain is not None:
            words += ["--domain", start + join_names([str(value) for value in column.domain if value is not None])]
        if column.bins is not None:
            words += ["--bins", start + _bins(column)]
    for name, kind in (types or {}).items():
        words += ["--type", f"{join_assignment(name)}={kind}"]
    return tuple(words)


def _bins(column: Sensitive) -> str:
    edges = None if column.edges is None else "/".join(number_text(edge) for edge in column.edges)
    numbers = {"width": column.width, "quantiles": column.quantiles, "low": column.low, "high": column.high}
    parts = {name: number_text(value) for name, value in numbers.items() if value is not None}
    return ",".join(f"{name}:{text}" for name, text in (({} if edges is None else {"edges": edges}) | parts).items())

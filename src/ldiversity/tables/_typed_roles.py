"""The holder's decisions about columns as words of the command line."""

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
    """Say roles, domains, bins, types and what becomes of missing values in options, as every command takes them.

    Examples
    --------
    >>> " ".join(role_words(quasi=["age", "sex"], sensitive=[Sensitive("income", width=10, missing="drop")]))
    '--quasi age,sex --sensitive income --missing income=drop --bins income=width:10'
    """
    words: list[str] = []
    named = {"--quasi": quasi, "--sensitive": [one.name for one in sensitive], "--drop": drop, "--plain": plain}
    for option, names in named.items():
        words += [option, join_names(names)] if names else []
    for one in sensitive:
        start = f"{join_assignment(one.name)}="
        if one.missing != "refuse":
            words += ["--missing", start + one.missing]
        if one.domain is not None:
            words += ["--domain", start + join_names([str(value) for value in one.domain if value is not None])]
        if one.bins is not None:
            words += ["--bins", start + _bins(one)]
    for name, kind in (types or {}).items():
        words += ["--type", f"{join_assignment(name)}={kind}"]
    return tuple(words)


def _bins(one: Sensitive) -> str:
    edges = None if one.edges is None else "/".join(number_text(edge) for edge in one.edges)
    numbers = {"width": one.width, "quantiles": one.quantiles, "low": one.low, "high": one.high}
    parts = {name: number_text(value) for name, value in numbers.items() if value is not None}
    return ",".join(f"{name}:{text}" for name, text in (({} if edges is None else {"edges": edges}) | parts).items())

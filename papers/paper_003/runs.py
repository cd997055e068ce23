"""Paper 003: every compared method on Adult, for l = 2 to 7, measured once for all figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import pyarrow as pa

import ldiversity as ld
from ldiversity.methods import Grouping, GroupingMethod, GroupingRun
from papers.exhibits import Setting
from papers.paper_002.runs import least_time
from papers.paper_003.data import Tables, measure, read_tables
from papers.paper_003.regions import cut_loss, plain_cut_loss

__all__ = ["CUT", "EFFORT", "METHODS", "NEAR", "PLAIN", "PUBLISHED", "column", "run_methods"]

PUBLISHED: Final = "BSGI, published"
NEAR: Final = "BSGI, ours"
EFFORT: Final = "BSGI, ours with effort"
CUT: Final = "loss, regions of cuts"
PLAIN: Final = "loss, regions of cuts at medians"

_DISTINCT: Final = "Mondrian, distinct"

METHODS: Final[Mapping[str, Callable[[int], GroupingMethod]]] = MappingProxyType(
    {
        PUBLISHED: lambda l: ld.BSGI(l, "paper"),
        NEAR: lambda l: ld.BSGI(l, effort=0),
        EFFORT: ld.BSGI,
        _DISTINCT: lambda l: ld.Mondrian(model=f"distinct:{l}"),
        "Mondrian, entropy": lambda l: ld.Mondrian(model=f"entropy:{l}"),
        "Mondrian, frequency": lambda l: ld.Mondrian(l=l),
        "Incognito, distinct": lambda l: ld.Incognito(model=f"distinct:{l}"),
        "Incognito, frequency": lambda l: ld.Incognito(l=l),
    }
)
"""The compared methods. The paper does not say which l-diversity its Mondrian and Incognito keep: at least l distinct
values, an entropy of at least log l, or no value above 1/l, which is what BSGI keeps."""

_PARAMETERS: Final = range(2, 8)


@dataclass(frozen=True)
class _Scale:
    """How large a run is."""

    rows: int | None
    repeats: int


_FULL: Final = _Scale(None, 3)
_QUICK: Final = _Scale(6_000, 1)
_TINY: Final = 600


def run_methods(setting: Setting) -> pa.Table:
    """Measure every method for every l: one row each.

    Columns: ``method``, ``l``, ``records``, ``classes``, ``average size``, ``discernibility``, ``loss`` with tight
    boxes and, of Mondrian, with the regions that its cuts leave and with those of a plain one, ``greatest share`` and
    ``mean share`` of one value in a class, ``seconds`` of processor time, the least of the repetitions, and ``time``,
    the same in units of the published BSGI's at l = 2.
    """
    scale = _QUICK if setting.quick else _FULL
    tables = read_tables(setting, scale.rows)
    _compile(read_tables(setting, _TINY))
    rows: list[dict[str, str | int | float | None]] = []
    unit = 0.0
    total = len(METHODS) * len(_PARAMETERS)
    for name, make in METHODS.items():
        for l in _PARAMETERS:
            setting.progress(len(rows) / total, f"{name}, l={l}")
            grouping, seconds = _timed(make(l), tables, scale.repeats)
            unit = unit or seconds
            found = measure(tables, grouping)
            rows.append(
                {
                    "method": name,
                    "l": l,
                    "records": tables.plain.n_rows,
                    "classes": found.classes,
                    "average size": found.average,
                    "discernibility": found.discernibility,
                    "loss": found.loss,
                    CUT: cut_loss(tables.plain, grouping.partitions[0]) if name.startswith("Mondrian") else None,
                    PLAIN: plain_cut_loss(tables.plain, l) if name == _DISTINCT else None,
                    "greatest share": found.greatest_share,
                    "mean share": found.mean_share,
                    "time": seconds / unit,
                    "seconds": seconds,
                }
            )
    return pa.Table.from_pylist(rows)


def column(data: pa.Table, method: str, name: str) -> dict[int, float]:
    """The measurements of one method, by l."""
    rows = data.select(["method", "l", name]).to_pylist()
    return {row["l"]: row[name] for row in rows if row["method"] == method}


def _compile(tiny: Tables) -> None:
    """Run each method once on few records, so that no compilation is measured."""
    for make in METHODS.values():
        _group(make(2), tiny)


def _group(method: GroupingMethod, tables: Tables) -> Grouping:
    table = tables.hierarchical if isinstance(method, ld.Incognito) else tables.plain
    return method.group(table, GroupingRun(workers=1))


def _timed(method: GroupingMethod, tables: Tables, repeats: int) -> tuple[Grouping, float]:
    found: list[Grouping] = []
    seconds = least_time(lambda: found.append(_group(method, tables)), repeats)
    return found[-1], seconds

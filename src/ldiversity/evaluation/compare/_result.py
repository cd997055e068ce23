"""`Comparison`: what was found, as data, table, picture and recommendation."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ldiversity._version import __version__
from ldiversity.base.numbers import percent, points
from ldiversity.errors import UnsupportedError
from ldiversity.evaluation.compare._choice import Choice, choose, eligible, flaws, pareto_set
from ldiversity.evaluation.compare._run import ComparedRun
from ldiversity.publish import Publication
from ldiversity.tables import to_native

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["HOLDER_ONLY", "VERSION", "Comparison"]

VERSION: Final = 1
"""Of `Comparison.to_dict`; grows when a name changes its meaning or goes away."""

HOLDER_ONLY: Final = (
    "Computed with the original table: for its holder alone. Do not hand out these figures; hand out the release."
)

_COLUMNS: Final[Mapping[str, pa.DataType]] = {
    "run": pa.string(),
    "method": pa.string(),
    "l": pa.int64(),
    "pareto": pa.bool_(),
    "recommended": pa.bool_(),
    "risk": pa.float64(),
    "risk_high": pa.float64(),
    "attack": pa.string(),
    "attribute": pa.string(),
    "success": pa.float64(),
    "promised": pa.float64(),
    "baseline": pa.float64(),
    "beaten_by": pa.string(),
    "k_anonymity": pa.float64(),
    "distinct_l": pa.float64(),
    "frequency": pa.float64(),
    "beta": pa.float64(),
    "disclosed": pa.float64(),
    "uniques": pa.int64(),
    "ncp": pa.float64(),
    "suppression": pa.float64(),
    "relative_error": pa.float64(),
    "distribution_mse": pa.float64(),
    "cpu_seconds": pa.float64(),
    "reason": pa.string(),
}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several methods on one table: their risks, errors and costs, and which one to publish. For the holder alone.

    Attributes
    ----------
    rows
        One `ComparedRun` a method and its options; failures say why.
    table
        What messages call the table.
    records
        How many it has.
    quasi, sensitive
        The columns.
    unprotected
        What the same attackers would achieve on the table as it is: the share of people whose value is named
        rightly by those who know quasi-identifiers, by attribute.
    guessing
        The same for those who know the true shares of values alone.
    uninformed
        The error of those who know how frequent the values of each column are, and nothing else: what a release must
        undercut to be of use.
    risk_limit
        The greatest acceptable gain over guessing, when one was given.
    notes
        How it was done, where that is not obvious.
    publications
        What each run would publish, by its label; to be saved, or published from.
    file
        The path of the table; ``TABLE`` when it was given as a frame.
    """

    rows: tuple[ComparedRun, ...]
    table: str
    records: int
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    unprotected: Mapping[str, float] = field(default_factory=dict)
    guessing: Mapping[str, float] = field(default_factory=dict)
    uninformed: float = 1.0
    risk_limit: float | None = None
    notes: tuple[str, ...] = ()
    publications: Mapping[str, Publication] = field(default_factory=dict, repr=False)
    file: str = field(default="TABLE", repr=False)
    frame_kind: str = field(default="arrow", repr=False)

    @cached_property
    def pareto(self) -> tuple[ComparedRun, ...]:
        """The runs that no other beats in both risk and error, by risk; of the sound ones worth publishing, if any."""
        return pareto_set(eligible(self.rows, self._gains))

    @cached_property
    def choice(self) -> Choice:
        """The recommended run, its reason and its cautions."""
        return choose(self.rows, self.risk_limit, unprotected=self._gains, uninformed=self.uninformed)

    @property
    def _gains(self) -> dict[str, float]:
        """What the table as it is gives away beyond guessing, by attribute."""
        return {name: max(0.0, share - self.guessing.get(name, 0.0)) for name, share in self.unprotected.items()}

    @property
    def recommendation(self) -> str:
        """Which run to publish and why, in one sentence."""
        return self.choice.sentence

    @property
    def command(self) -> list[str] | None:
        """The words of the command that publishes the recommended run; None when there is none.

        ``TABLE`` stands for the file of the table when it was given as a frame. Publishing draws anew, so that
        figures will differ a little from those measured.
        """
        return None if self.publication is None else self.publication.command(self.file)

    @property
    def publication(self) -> Publication | None:
        """What the recommended run would publish; None when nothing is recommended."""
        return None if self.choice.run is None else self.publications.get(self.choice.run.label)

    def to_dict(self) -> dict[str, Any]:
        """Everything in JSON's types; infinite numbers are None.

        ``version``, ``package``, ``holder_only`` (a sentence), ``table``, ``records``, ``quasi``, ``sensitive``,
        ``unprotected``, ``guessing``, ``uninformed``, ``rows`` (see `ComparedRun`, with ``pareto``, ``recommended`` and
        ``flaws``: why a run is not sound), ``pareto`` (labels), ``recommendation``, ``recommended`` (a label),
        ``cautions``, ``command`` (a line for a shell), ``risk_limit``, ``picture`` (with ``alt``) and ``notes``.
        """
        chosen, front = self.choice.run, {run.label for run in self.pareto}
        described = {
            "version": VERSION,
            "package": __version__,
            "holder_only": HOLDER_ONLY,
            "table": self.table,
            "records": self.records,
            "quasi": list(self.quasi),
            "sensitive": list(self.sensitive),
            "unprotected": dict(self.unprotected),
            "guessing": dict(self.guessing),
            "uninformed": self.uninformed,
            "rows": [
                {
                    **run.to_dict(),
                    "pareto": run.label in front,
                    "recommended": run is chosen,
                    "flaws": list(flaws(run)),
                }
                for run in self.rows
            ],
            "pareto": [run.label for run in self.pareto],
            "recommendation": self.recommendation,
            "recommended": None if chosen is None else chosen.label,
            "cautions": list(self.choice.cautions),
            "command": None if self.command is None else shlex.join(self.command),
            "risk_limit": self.risk_limit,
            "picture": {"alt": self.alt},
            "notes": list(self.notes),
        }
        finite: dict[str, Any] = _finite(described)
        return finite

    def to_frame(self) -> Any:  # noqa: ANN401 - the kind of frame that came in
        """One row a run: the figures of the table and the map."""
        rows = [self._flat(run) for run in self.rows]
        table = pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in _COLUMNS.items()})
        return to_native(table, self.frame_kind)

    def _flat(self, run: ComparedRun) -> dict[str, Any]:
        best = run.best_attack or {}
        l = run.options.get("l")
        own = {
            "run": run.label,
            "l": l if isinstance(l, int) else None,
            "pareto": run in self.pareto,
            "recommended": run is self.choice.run,
            "attack": best.get("attack"),
            "attribute": best.get("attribute"),
            "success": best.get("success"),
            "promised": best.get("claim"),
            "baseline": best.get("baseline"),
            "beaten_by": ", ".join(run.broken) or None,
            **{name: run.models.get(name) for name in ("k_anonymity", "distinct_l", "frequency", "beta")},
        }
        return {name: own[name] if name in own else getattr(run, name) for name in _COLUMNS}

    @property
    def alt(self) -> str:
        """The map in words, for people who cannot see it."""
        measured = [run for run in self.rows if run.measured]
        if not measured:
            return "An empty map: no run was measured."
        places = "; ".join(
            f"{run.label}: risk {points(run.risk or 0)} points, error {percent(run.error or 0)}" for run in self.pareto
        )
        marked = f" Marked as recommended: {self.choice.run.label}." if self.choice.run is not None else ""
        number = f"{len(measured)} {'run' if len(measured) == 1 else 'runs'}"
        return (
            f"Map of {number}, risk to the right (what the best attacker gains over guessing) and error upwards "
            f"(median of queries). Those to choose from that no other beats in both, from the safest: {places}.{marked}"
        )

    def figure(self) -> Figure:
        """Draw the risk-utility map.

        Raises
        ------
        UnsupportedError
            When no run was measured.
        """
        from ldiversity.pictures import plot_map

        runs = [run for run in self.rows if run.measured]
        if not runs:
            raise UnsupportedError("compare", "there is no map, because no run was measured", hint=self.recommendation)
        best = [run.best_attack or {} for run in runs]
        ends = {
            name: [max(0.0, (one[name] if one[name] is not None else one["success"]) - one["baseline"]) for one in best]
            for name in ("low", "high")
        }
        return plot_map(
            [run.method for run in runs],
            _short(runs),
            [run.risk or 0.0 for run in runs],
            [run.error or 0.0 for run in runs],
            pareto=[run in self.pareto for run in runs],
            flawed=[bool(flaws(run)) for run in runs],
            series=[_series(run) for run in runs],
            low=ends["low"],
            high=ends["high"],
            chosen=next((place for place, run in enumerate(runs) if run is self.choice.run), None),
            limit=self.risk_limit,
            title=f"{self.table}: risk and error of {len(runs)} {'release' if len(runs) == 1 else 'releases'}",
        )

    def plot(self, path: str | os.PathLike[str]) -> Path:
        """Write the map as PNG, SVG or PDF, by the extension of `path`; its table is `to_frame`, its words `alt`."""
        from ldiversity.pictures import save_figure

        return save_figure(self.figure(), path)

    def __str__(self) -> str:
        lines = [self.recommendation, *self.choice.cautions]
        if self.command is not None:
            lines.append(f"  $ {shlex.join(self.command)}")
        return "\n".join([*lines, HOLDER_ONLY])

    def _repr_html_(self) -> str:
        from ldiversity.evaluation.compare._html import fragment

        return fragment(self)


def _short(runs: Sequence[ComparedRun]) -> list[str]:
    """What tells runs of one method apart: l alone where that does, else the label's rest."""
    met = Counter((run.method, run.options.get("l")) for run in runs)
    return [
        str(l)
        if (l := run.options.get("l")) is not None and met[run.method, l] == 1
        else run.label.removeprefix(run.method).strip()
        for run in runs
    ]


def _series(run: ComparedRun) -> str:
    """The same for runs that differ in l alone."""
    others = {name: str(value) for name, value in run.options.items() if name != "l"}
    return f"{run.method} {others}" if "l" in run.options else run.label


def _finite(facts: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(facts, Mapping):
        return {str(name): _finite(value) for name, value in facts.items()}
    if isinstance(facts, list | tuple):
        return [_finite(value) for value in facts]
    return None if isinstance(facts, float) and not isfinite(facts) else facts

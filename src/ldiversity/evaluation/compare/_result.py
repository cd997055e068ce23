"""`Comparison`: the answer as data, table, picture and recommendation."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ldiversity._version import __version__
from ldiversity.base.answers import BESIDE, HIDDEN, Answer, fact, fit_screen, keyed, named_fact
from ldiversity.base.findings import Finding
from ldiversity.base.numbers import counted, number, percent, points
from ldiversity.base.thresholds import DEFAULT_THRESHOLD, THRESHOLDS, Threshold
from ldiversity.errors import UnsupportedError
from ldiversity.evaluation.compare._choice import Choice, choose, eligible, flaws, pareto_set
from ldiversity.evaluation.compare._run import NOT_RUN, ComparedRun
from ldiversity.pictures import Drawn, plot_map
from ldiversity.publish import Publication
from ldiversity.tables import to_native

if TYPE_CHECKING:
    from ldiversity.pictures import Axes, Figure

__all__ = ["HOLDER_ONLY", "Comparison", "JudgedRun"]

HOLDER_ONLY: Final = (
    "Computed with the original table: for its holder only. Do not share these figures; share the release."
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
    "recognized": pa.float64(),
    "records_at_risk": pa.int64(),
    "ncp": pa.float64(),
    "suppression": pa.float64(),
    "relative_error": pa.float64(),
    "distribution_mse": pa.float64(),
    "conditional_error": pa.float64(),
    "association_lost": pa.float64(),
    "coefficient_error": pa.float64(),
    "classifier_accuracy": pa.float64(),
    "classifier_error": pa.float64(),
    "cpu_seconds": pa.float64(),
    "reason": pa.string(),
}


@dataclass(frozen=True)
class JudgedRun:
    """A run, and how it compares with the others.

    Attributes
    ----------
    run
        What it promised, gave away, kept and cost.
    pareto
        Whether no other run to choose from beats it in both risk and error.
    recommended
        Whether it is the one to publish.
    flaws
        Why it is not sound.
    """

    run: ComparedRun = field(metadata=BESIDE)
    pareto: bool
    recommended: bool
    flaws: tuple[str, ...]


@dataclass(frozen=True)
class PictureWords:
    """A picture in words."""

    alt: str


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Drawn, Answer, schema="comparison", version=1):
    """Several methods on one table: their risks, errors and costs, and which one to publish. For the holder only.

    Attributes
    ----------
    rows
        One `ComparedRun` per method with its options; a failed one says why.
    table
        The name of the table in messages.
    records
        How many records were compared: those of the table, or of a sample of it.
    drawn_from
        How many records the table has, where only a sample of it was compared; None when all were.
    quasi, sensitive
        The columns.
    unprotected
        What the same attackers would achieve on the raw table: the share of people whose value they name correctly when
        they know quasi-identifiers, by attribute.
    guessing
        The same for attackers who know only the true shares of values.
    uninformed
        The error of someone who knows only how frequent the values of each column are. A useful release has a smaller
        error.
    risk_limit
        The greatest acceptable gain over guessing, when one was given.
    threshold
        The greatest acceptable probability of being recognized, and where it comes from.
    notes
        How runs were measured, where that is not obvious.
    publications
        What each run would publish, by its label; save it, or publish with it.
    file
        The path of the table; ``TABLE`` when it was given as a frame.
    plot_file
        Where the map was written; None when it was not written.
    findings
        What publishing the recommended run would give away; where one is `blocking`, it is refused.
    person
        The column that says whose record it is; None when there is none.
    advised
        The words of `command`, when a face supplies them; else they are made from the publication.
    """

    rows: tuple[ComparedRun, ...] = field(metadata=HIDDEN)
    table: str
    records: int
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    unprotected: Mapping[str, float] = field(default_factory=dict)
    guessing: Mapping[str, float] = field(default_factory=dict)
    uninformed: float = 1.0
    risk_limit: float | None = None
    threshold: Threshold = THRESHOLDS[DEFAULT_THRESHOLD]
    notes: tuple[str, ...] = ()
    publications: Mapping[str, Publication] = field(default_factory=dict, repr=False, metadata=HIDDEN)
    file: str = field(default="TABLE", repr=False, metadata=HIDDEN)
    plot_file: str | None = field(default=None, metadata=keyed("plot"))
    findings: tuple[Finding, ...] = ()
    advised: tuple[str, ...] = field(default=(), repr=False, metadata=HIDDEN)
    frame_kind: str = field(default="arrow", repr=False, metadata=HIDDEN)
    drawn_from: int | None = None
    person: str | None = field(default=None, repr=False, metadata=HIDDEN)

    @cached_property
    def pareto(self) -> tuple[ComparedRun, ...]:
        """The runs to choose from that no other beats in both risk and error, ordered by risk."""
        return pareto_set(eligible(self.rows, self._gains))

    @cached_property
    def choice(self) -> Choice:
        """The recommended run, its reason and its cautions."""
        return choose(self.rows, self.risk_limit, unprotected=self._gains, uninformed=self.uninformed)

    @property
    def _gains(self) -> dict[str, float]:
        """What the raw table gives away beyond guessing, by attribute."""
        return {name: max(0.0, share - self.guessing.get(name, 0.0)) for name, share in self.unprotected.items()}

    @fact
    def recommendation(self) -> str:
        """Which run to publish and why, in one sentence."""
        return self.choice.sentence

    @property
    def command(self) -> list[str] | None:
        """The words of the command that publishes the recommended run; None when there is none.

        ``TABLE`` stands for the file of the table when it was given as a frame. Publishing draws anew, so its figures
        will differ slightly from these.
        """
        if self.advised:
            return list(self.advised)
        return None if self.publication is None else self.publication.command(self.file)

    @property
    def publication(self) -> Publication | None:
        """What the recommended run would publish; None when nothing is recommended."""
        return None if self.choice.run is None else self.publications.get(self.choice.run.label)

    @named_fact("command")
    def command_line(self) -> str | None:
        """The same as a line for a shell."""
        return None if self.command is None else shlex.join(self.command)

    @named_fact("rows")
    def judged(self) -> tuple[JudgedRun, ...]:
        """Every run, and how it compares with the others."""
        front, chosen = {run.label for run in self.pareto}, self.choice.run
        return tuple(JudgedRun(run, run.label in front, run is chosen, flaws(run)) for run in self.rows)

    @named_fact("pareto")
    def _pareto_labels(self) -> tuple[str, ...]:
        return tuple(run.label for run in self.pareto)

    @fact
    def recommended(self) -> str | None:
        """The label of the recommended run."""
        return None if self.choice.run is None else self.choice.run.label

    @fact
    def cautions(self) -> tuple[str, ...]:
        """What to know about the recommended run; first, why it would be refused as it is, and if it is of a sample."""
        refused = [f"It is refused until this is settled: {one}" for one in self.findings if one.blocking]
        # An attack that failed in any run may have failed to show a risk, so it is said whatever is recommended.
        not_run = [note for run in self.rows for note in run.notes if note.startswith(NOT_RUN)]
        said = (*refused, *([] if self.of_sample is None else [self.of_sample]), *self.choice.cautions, *not_run)
        return tuple(dict.fromkeys(said))

    @property
    def of_sample(self) -> str | None:
        """What it means that only a sample was compared; None when all records were."""
        if self.drawn_from is None:
            return None
        drawn = "drawn at random" if self.person is None else "those of people drawn at random"
        return (
            f"Only {number(self.records)} of {number(self.drawn_from)} records were compared, {drawn}. They lie "
            "farther apart than those of the table: classes are sparser and lose more detail, records are easier to "
            "find, and answers to queries are farther off. So the figures compare the runs; they are not "
            "those of the whole table."
        )

    @fact
    def picture(self) -> PictureWords:
        """The map in words."""
        return PictureWords(self.alt)

    @fact
    def holder_only(self) -> str:
        """Who may see it."""
        return HOLDER_ONLY

    @fact
    def package(self) -> str:
        """The version of this package."""
        return __version__

    def to_frame(self) -> Any:  # noqa: ANN401 - the kind of frame that came in
        """One row per run: the figures of the table and the map."""
        rows = [self._flat(run) for run in self.rows]
        table = pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in _COLUMNS.items()})
        return to_native(table, self.frame_kind)

    def _flat(self, run: ComparedRun) -> dict[str, object]:
        best = run.best_attack
        l = run.options.get("l")
        own = {
            "run": run.label,
            "l": l if isinstance(l, int) else None,
            "pareto": run in self.pareto,
            "recommended": run is self.choice.run,
            "attack": None if best is None else best.attack,
            "attribute": None if best is None else best.attribute,
            "success": None if best is None else best.success,
            "promised": None if best is None else best.claim,
            "baseline": None if best is None else best.baseline,
            "beaten_by": ", ".join(run.broken) or None,
            "conditional_error": None if run.conditional is None else run.conditional.release,
            "coefficient_error": None if run.coefficients is None else run.coefficients.release,
            "classifier_accuracy": None if run.classifier is None else run.classifier.release,
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
        return (
            f"Map of {counted(len(measured), 'run')}. To the right: risk, what the best attacker gains over guessing. "
            f"Upwards: error, {self._error_words}. Left and low is better. Runs that no "
            f"other beats in both, from the safest: {places}.{marked}"
        )

    @property
    def _error_words(self) -> str:
        if any(run.judged_by == "association" for run in self.rows):
            return "how much is lost of how values depend on quasi-identifiers within small cells"
        return "how far answers to queries are off, in the median"

    def figure(self) -> Figure:
        """Draw the risk-utility map, or raise `UnsupportedError` when no run was measured."""
        return self._map()

    def _draw_into(self, ax: Axes) -> None:
        self._map(ax)

    def _map(self, ax: Axes | None = None) -> Figure:
        runs = [run for run in self.rows if run.measured]
        if not runs:
            raise UnsupportedError("compare", "there is no map, because no run was measured", hint=self.recommendation)
        best = [run.best_attack for run in runs if run.best_attack is not None]  # every measured run has one
        return plot_map(
            [f"{run.method} (for comparison)" if run.for_comparison else run.method for run in runs],
            _short(runs),
            [run.risk or 0.0 for run in runs],
            [run.error or 0.0 for run in runs],
            pareto=[run in self.pareto for run in runs],
            flawed=[bool(flaws(run)) for run in runs],
            series=[_series(run) for run in runs],
            low=[max(0.0, one.end("low")) for one in best],
            high=[max(0.0, one.end("high")) for one in best],
            chosen=next((place for place, run in enumerate(runs) if run is self.choice.run), None),
            limit=self.risk_limit,
            title=f"{counted(len(runs), 'way', 'ways')} to publish {self.table}: how safe, how useful",
            ax=ax,
        )

    def __str__(self) -> str:
        command = [] if self.command_line is None else [f"  $ {self.command_line}"]
        return fit_screen([self.recommendation, *command, HOLDER_ONLY, *self.cautions])

    def _repr_html_(self) -> str:
        from ldiversity.evaluation.compare._html import fragment

        return fragment(self)


def _short(runs: Sequence[ComparedRun]) -> list[str]:
    """What distinguishes the runs of one method: l where that is enough, else the rest of the label."""
    met = Counter((run.method, str(run.options.get("l"))) for run in runs)
    return [
        f"l={l}"
        if isinstance(l := run.options.get("l"), int) and met[run.method, str(l)] == 1
        else run.label.removeprefix(run.method).strip()
        for run in runs
    ]


def _series(run: ComparedRun) -> str:
    """The series of a run; runs that differ only in l share one."""
    others = {name: str(value) for name, value in run.options.items() if name != "l"}
    return f"{run.method} {others}" if "l" in run.options else run.label

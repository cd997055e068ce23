"""`Audit`: the answer as data, as text and as a small page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ldiversity.base.answers import BESIDE, HIDDEN, OPTIONAL, Answer, fact, fit_screen
from ldiversity.base.findings import Confirmed
from ldiversity.base.notebook import ShownInNotebooks
from ldiversity.base.thresholds import Threshold
from ldiversity.evaluation.audit._advice import Advice
from ldiversity.evaluation.audit._asked import Asked
from ldiversity.evaluation.audit._figures import Figure
from ldiversity.evaluation.audit._population import PopulationUsed
from ldiversity.evaluation.audit._risk import AttributeRisk, ClassSizes, RecordRisk
from ldiversity.evaluation.audit._sampled import Sampled
from ldiversity.evaluation.audit._unit import PEOPLE, RECORDS, Unit
from ldiversity.evaluation.audit._words import given_away
from ldiversity.models import Figures
from ldiversity.tables import to_native

__all__ = ["Audit", "ClassIdRisk"]


@dataclass(frozen=True)
class ClassIdRisk:
    """What one attribute reaches for the classes as a generalized release numbers them.

    Attributes
    ----------
    models
        The value of each figure, by its name.
    risk
        How much is learned.
    """

    models: Mapping[str, Figures | None]
    risk: AttributeRisk = field(metadata=BESIDE)


@dataclass(frozen=True, repr=False)
class Audit(ShownInNotebooks, Answer, schema="audit", version=2):
    """What a table or release gives away. It holds no cell of the table, only numbers of classes and records.

    Attributes
    ----------
    kind
        ``"table"``, or the layout of a release: ``"sets"``, ``"exploded"``, ``"generalized"``, ``"bucketized"``.
    name
        Its name in messages.
    quasi, sensitive
        The columns.
    records, dropped, suppressed
        How many records were counted, how many rows were left out because a value was missing, and how many records
        the holder did not publish.
    people
        How many people the records belong to, where a column says so: then everybody counts once in a class, and the
        rows of a person that look alike are one record in all other figures. None where each row counts. Of a release
        from which records were left out, the people before that, so at most as many.
    models
        The value that each model reaches, by name: ``k_anonymity``, ``distinct_l``, ``entropy_l`` (exp of the least
        entropy), ``recursive_c`` (the c reached for each l), ``frequency`` (the greatest share of one value in a
        class), ``alpha_k``, ``t_equal``, ``t_ordered``, ``beta``, ``beta_enhanced``, ``delta`` and ``unique_l``;
        ``t_hierarchical``, ``l_d``, ``l_e`` and ``level_unique_l`` where asked for; ``frequency_informed`` for releases
        of sets. A model of another package brings its own name.
    asked
        The models that were asked for, each with its verdict for each attribute.
    classes
        How many classes there are, and how large they are.
    risk
        How likely people are to be recognized.
    threshold, population
        How likely that may be and why, and the people among whom attackers search.
    attribute_risk
        By attribute: the values of how many records can be read off, and how sure an attacker can be of others.
    by_class_id
        The figures of a generalized release by its own numbers of classes.
    verdict
        The same in plain words, one sentence per fact.
    advice
        The first thing to do.
    confirmed
        Columns of a release that name people or give a value away, and were published knowingly.
    notes
        How records were counted, where that is not obvious.
    sampled
        Where weights were given: what the table says about the population that it was drawn from.
    """

    kind: str
    name: str
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    records: int
    dropped: int
    suppressed: int
    models: Mapping[str, Figure]
    asked: tuple[Asked, ...]
    classes: ClassSizes
    risk: RecordRisk
    threshold: Threshold
    population: PopulationUsed
    attribute_risk: Mapping[str, AttributeRisk]
    by_class_id: Mapping[str, ClassIdRisk]
    verdict: tuple[str, ...]
    advice: Advice
    notes: tuple[str, ...] = ()
    confirmed: tuple[Confirmed, ...] = ()
    frame_kind: str = field(default="arrow", repr=False, metadata=HIDDEN)
    people: int | None = None
    counting: Unit = field(default=RECORDS, repr=False, metadata=HIDDEN)
    sampled: Sampled | None = field(default=None, repr=False, metadata=OPTIONAL)

    @fact
    def passed(self) -> bool | None:
        """Whether every model that was asked for holds; None when none was.

        With weights, models that compare classes with all records must hold against the table and the population.
        """
        if not self.asked:
            return None
        return all(one.verdict.passed for one in self.asked) and (self.sampled is None or self.sampled.passed)

    @fact
    def unit(self) -> str:
        """What sums in `classes` and `risk` count: ``"people"``, if nobody is in two classes; else ``"records"``."""
        return self.counting.many

    @property
    def in_a_class(self) -> str:
        """What the size of one class counts: people, where a column says whose rows they are, or records."""
        return (RECORDS if self.people is None else PEOPLE).many

    @property
    def conclusion(self) -> str | None:
        """Whether what was asked for holds, with what no model counts; None when nothing was asked for."""
        if self.passed is None:
            return None
        held = "What was asked for holds" if self.passed else "What was asked for does not hold"
        if not self.confirmed:
            return f"{held}."
        link = "but" if self.passed else "and"
        return f"{held}, {link} no model counts what is published knowingly: {given_away(self.confirmed)}."

    def __str__(self) -> str:
        lines = [f"First: {self.advice.text}", *([f"  $ {self.advice.command}"] if self.advice.command else [])]
        return fit_screen([*self.verdict, *lines])

    def to_frame(self) -> Any:  # noqa: ANN401 - the kind of frame that came in
        """The figures of all models: one row per model and attribute, and one per l of ``recursive_c``."""
        rows = [
            {"model": name, "attribute": attribute, "value": number, "passed": figure.passed, "meaning": figure.meaning}
            for figure in self.models.values()
            for attribute, value in _by_attribute(figure)
            for name, number in _numbers(figure, value)
        ]
        kinds = {
            "model": pa.string(),
            "attribute": pa.string(),
            "value": pa.float64(),
            "passed": pa.bool_(),
            "meaning": pa.string(),
        }
        table = pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()})
        return to_native(table, self.frame_kind)

    def to_html(self) -> str:
        """A page that needs nothing else, to hand to someone who decides."""
        from ldiversity.evaluation.audit._html import page

        return page(self)


def _by_attribute(figure: Figure) -> list[tuple[str | None, Figures | None]]:
    return list(figure.by_attribute.items()) or [(None, figure.value)]


def _numbers(figure: Figure, value: Figures | None) -> list[tuple[str, float | None]]:
    if not isinstance(value, Mapping):
        return [(figure.name, None if value is None else float(value))]
    if figure.scale in value:
        return [(figure.name, float(value[figure.scale]))]
    return [(f"{figure.name}[{part}]", float(number)) for part, number in value.items()]

"""`Audit`: what was found, as data, as text and as a small page."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Final

import pyarrow as pa

from ldiversity.base.notebook import ShownInNotebooks
from ldiversity.evaluation.audit._advice import Advice
from ldiversity.evaluation.audit._figures import Asked, Figure
from ldiversity.models import Figures
from ldiversity.tables import to_native

__all__ = ["VERSION", "Audit"]

VERSION: Final = 1
"""Of `Audit.to_dict`; grows when a name changes its meaning or goes away."""


@dataclass(frozen=True)
class Audit(ShownInNotebooks):
    """What a table or release gives away. No cell of the table is in it, only numbers of classes and records.

    Attributes
    ----------
    kind
        ``"table"``, or the layout of a release: ``"sets"``, ``"exploded"``, ``"generalized"``, ``"bucketized"``.
    name
        What messages call it.
    quasi, sensitive
        The columns.
    records, dropped, suppressed
        How many records were looked at, how many rows were left out because something was missing, and how many
        records the holder had left out.
    models
        What is reached, by name; see `to_dict`.
    asked
        The models that were asked for, each with its verdict for each attribute.
    classes, risk, attribute_risk
        As in `to_dict`.
    verdict
        The same in plain words, one sentence a fact.
    advice
        The first thing to do.
    notes
        How it was counted, where that is not obvious.
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
    classes: Mapping[str, Any]
    risk: Mapping[str, Any]
    attribute_risk: Mapping[str, Any]
    by_class_id: Mapping[str, Any]
    verdict: tuple[str, ...]
    advice: Advice
    notes: tuple[str, ...] = ()
    frame_kind: str = field(default="arrow", repr=False)

    @property
    def passed(self) -> bool | None:
        """Whether every model that was asked for holds; None when none was."""
        return all(one.verdict.passed for one in self.asked) if self.asked else None

    def __str__(self) -> str:
        lines = [*self.verdict, f"First: {self.advice.text}"]
        if self.advice.words:
            lines.append(f"  $ {shlex.join(self.advice.words)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Everything in JSON's types; infinite numbers are None.

        ``version``, ``kind``, ``name``, ``quasi``, ``sensitive``, ``records``, ``dropped``, ``suppressed``, ``passed``.

        ``models``: by name ``{"value", "passed", "required", "by_attribute", "meaning", "why"}``. The names are
        ``k_anonymity``, ``distinct_l``, ``entropy_l`` (exp of the least entropy, not truncated), ``recursive_c`` (the
        c reached for each l), ``frequency`` (the greatest share of one value in a class), ``alpha_k``, ``t_equal``,
        ``t_ordered``, ``beta``, ``beta_enhanced``, ``delta`` and ``unique_l``; ``t_hierarchical``, ``l_d``, ``l_e``
        and ``level_unique_l`` where asked for; ``frequency_informed`` for releases of sets. A model of another package
        brings a name of its own.

        ``asked``: the verdict on each model that was asked for, for each attribute, with the sizes of the worst
        classes. ``classes``: how many there are, and how large. ``risk``: ``prosecutor``, ``journalist``,
        ``marketer``, ``uniques``. ``attribute_risk``: by attribute, how many people can be read off, and how sure an
        attacker can be of others. ``by_class_id``: the figures of a generalized release by its own numbers of
        classes, ``verdict``, ``advice``, ``notes``.
        """
        described = {
            "version": VERSION,
            "kind": self.kind,
            "name": self.name,
            "quasi": list(self.quasi),
            "sensitive": list(self.sensitive),
            "records": self.records,
            "dropped": self.dropped,
            "suppressed": self.suppressed,
            "passed": self.passed,
            "models": {name: figure.to_dict() for name, figure in self.models.items()},
            "asked": [one.to_dict() for one in self.asked],
            "classes": dict(self.classes),
            "risk": dict(self.risk),
            "attribute_risk": dict(self.attribute_risk),
            "by_class_id": dict(self.by_class_id),
            "verdict": list(self.verdict),
            "advice": self.advice.to_dict(),
            "notes": list(self.notes),
        }
        finite: dict[str, Any] = _finite(described)
        return finite

    def to_frame(self) -> Any:  # noqa: ANN401 - the kind of frame that came in
        """The figures of all models: one row a model and attribute, and one for each l of ``recursive_c``."""
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

        return page(self.to_dict())


def _by_attribute(figure: Figure) -> list[tuple[str | None, Figures | None]]:
    return list(figure.by_attribute.items()) or [(None, figure.value)]


def _numbers(figure: Figure, value: Figures | None) -> list[tuple[str, float | None]]:
    if not isinstance(value, Mapping):
        return [(figure.name, None if value is None else float(value))]
    if figure.scale in value:
        return [(figure.name, float(value[figure.scale]))]
    return [(f"{figure.name}[{part}]", float(number)) for part, number in value.items()]


def _finite(facts: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(facts, Mapping):
        return {str(name): _finite(value) for name, value in facts.items()}
    if isinstance(facts, list | tuple):
        return [_finite(value) for value in facts]
    return None if isinstance(facts, float) and not isfinite(facts) else facts

"""Find what a table that is a sample says about the people it stands for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa

from ldiversity.base.arrays import CodeArray
from ldiversity.base.checks import column_name
from ldiversity.base.numbers import level
from ldiversity.engines import Engine, LocalEngine
from ldiversity.errors import ParameterError, SchemaError, UnsupportedError
from ldiversity.evaluation.audit._asked import ask
from ldiversity.evaluation.audit._attacker_view import AttackerView
from ldiversity.evaluation.audit._classes import Counting, Dropped, check_any, class_counts, fit_values
from ldiversity.evaluation.audit._figures import Figure, all_figures
from ldiversity.evaluation.audit._found import find_in_view
from ldiversity.evaluation.audit._looking_up import (
    CONFIDENCE,
    LEAST_RECORDS,
    Estimated,
    Rule,
    Sample,
    commonest_value,
    look_like,
    only_value,
    people_outside,
    shares_of,
)
from ldiversity.evaluation.audit._measurements import measure_attribute
from ldiversity.evaluation.audit._numbering import number_rows
from ldiversity.evaluation.audit._population import Recognition
from ldiversity.evaluation.audit._sampled import AlikeInTable, PeopleEstimate, Sampled, SampledAttribute, ShareOfValue
from ldiversity.evaluation.audit._views import ClassView
from ldiversity.models import KAnonymity, Population, PrivacyModel, SomeClasses
from ldiversity.schema import Domain
from ldiversity.sentences import Parameter, say
from ldiversity.tables import Source, sampling_weights, stratum_numbers, unknown_column, value_type

__all__ = ["Drawn", "look_at_sample"]

_BELOW: Final = (2, 3, 5, 10)
"""Classes of fewer records than these are looked at, and those that k-anonymity was asked for."""

_PEOPLE: Final = 1_000_000_000
"""Shares are given to models as whole numbers of so many people."""

_COMPARED: Final = "; all records are here the people of the population"
_WHY_NOT: Final = {
    "population": "a population that is counted needs no weights",
    "sample_fraction": "weights say it for each record",
    "person": "a weight says how many people one record stands for",
}
"""What does not go with weights."""

_MEANING: Final = (
    f"Intervals about the population hold the truth in {level(CONFIDENCE)} of samples. They take records of a stratum "
    "as drawn independently, each with the probability 1 / weight, the sum of the weights as the number of people, and "
    "the quasi-identifiers as chosen before. Nothing else is assumed about the population; samples of whole households "
    "or villages need wider ones. No sample tells how many people look like one particular class of few records, only "
    "how many look like all such classes together. To someone who knows who was sampled, the risk is that of the "
    f"prosecutor. There is an interval where as much is known as from {LEAST_RECORDS} records of equal weight."
)


@dataclass(frozen=True)
class Drawn:
    """The columns that say how a table was drawn from a population; both None where it was not."""

    weights: str | None = None
    strata: str | None = None

    @classmethod
    def of(cls, weights: str | None, strata: str | None) -> Drawn:
        """Check what a caller said."""
        if weights is not None:
            column_name("audit", "weights", weights)
        if strata is not None:
            column_name("audit", "strata", strata)
            if weights is None:
                rule = say("{} must be given with {}", Parameter("weights"), Parameter("strata"))
                raise ParameterError("audit", rule).with_hint("They say how many people a record stands for.")
        return cls(weights, strata)

    def check_release(self) -> None:
        """Refuse a release."""
        if self.weights is not None:
            raise UnsupportedError(
                "audit",
                "weights",
                "must be left out for a release, whose records no longer show the values that weights count",
            ).with_hint(say("Audit the table that it was made from with {}.", Parameter("weights")))

    def check_table(
        self,
        source: Source,
        sensitive: Collection[str],
        engine: Engine,
        recognition: Recognition,
        person: str | None,
    ) -> None:
        """Refuse what does not go together, and columns that are not there."""
        if self.weights is None:
            return
        given = {
            "population": recognition.population is not None,
            "sample_fraction": recognition.sample_fraction is not None,
            "person": person is not None,
        }
        for parameter, why in _WHY_NOT.items():
            if given[parameter]:
                rule = say("{} and {} must not be given together", Parameter("weights"), Parameter(parameter))
                raise UnsupportedError("audit", rule).with_hint(f"Leave one of them out: {why}.")
        if not isinstance(engine, LocalEngine) or engine.memory is not None:
            here = isinstance(engine, LocalEngine)
            way_out = say("leave {} and {} out", Parameter("memory"), Parameter("engine"))
            raise UnsupportedError(
                "audit", say("{} needs all rows in memory: {}", Parameter("weights"), way_out)
            ).with_hint(None if here else "Rows that are elsewhere must be collected first, or written to a file.")
        for name in (self.weights, self.strata):
            if name is not None and name not in source.columns:
                raise unknown_column(source.name, name, source.columns, from_file=source.from_file)
        if self.weights in sensitive:
            raise SchemaError(source.name, "must have one role", column=self.weights, hint="Name each column once.")
        if self.strata is not None and value_type(source.columns[self.strata]) is None:
            raise SchemaError("audit", "must hold texts, numbers, booleans or dates for strata", column=self.strata)


def look_at_sample(source: Source, counting: Counting, drawn: Drawn, models: Sequence[PrivacyModel]) -> Sampled | None:
    """Say what the table says about the population, if it is a sample."""
    if drawn.weights is None:
        return None
    beside = [drawn.weights, *([] if drawn.strata is None else [drawn.strata])]
    columns = list(dict.fromkeys([*counting.columns, *beside]))
    dropped = Dropped()
    rows = pa.concat_tables([counting.kept(batch, dropped) for batch in source.batches(columns)])
    check_any(source.name, rows.num_rows)
    weights = sampling_weights("audit", drawn.weights, rows.column(drawn.weights))
    if (weights < 1).any():
        raise SchemaError(
            "audit", "must be at least 1 for every record, which stands for its own person", column=drawn.weights
        ).with_hint(
            "Weights that were scaled to the number of records say nothing about a population: multiply them by the "
            "number of people over their sum."
        )
    strata = np.zeros(len(weights), dtype=np.int64)
    if drawn.strata is not None:
        strata = stratum_numbers("audit", drawn.strata, number_rows(rows, [drawn.strata])[0])
    return _Looking(source, counting, rows, Sample(weights, strata, number_rows(rows, counting.quasi)[0])).sampled(
        drawn.weights, drawn.strata, models
    )


@dataclass(frozen=True, eq=False)
class _Looking:
    """The rows of a sample, and who looks alike among them."""

    source: Source
    counting: Counting
    rows: pa.Table
    sample: Sample

    @property
    def people(self) -> float:
        return float(self.sample.weights.sum())

    def sampled(self, weights: str, strata: str | None, models: Sequence[PrivacyModel]) -> Sampled:
        sample = self.sample
        below = sorted({*_BELOW, *(model.k for model in models if isinstance(model, KAnonymity))})
        coded = {one.name: self._coded(one.name) for one in self.counting.sensitive}
        compared = [model for model in models if not model.only_counts and not model.of_people]
        seen = AttackerView(
            kind="table",
            name=self.source.name,
            quasi=self.counting.quasi,
            keys=pa.table({}),
            sizes=sample.sizes,
            views={name: self._view(name, *of_name) for name, of_name in coded.items()},
        )
        return Sampled(
            weights=weights,
            strata=strata,
            people=self.people,
            effective_records=self.people**2 / float(np.square(sample.weights).sum()),
            like_nobody=self._estimate(0, sample, look_like(sample, 0, 1)),
            alike=tuple(self._alike(limit) for limit in below),
            attributes={name: self._attribute(name, *of_name) for name, of_name in coded.items()},
            models=_compared(seen, compared),
            asked=ask(seen, compared),
            meaning=_MEANING,
        )

    def _coded(self, name: str) -> tuple[CodeArray, Domain]:
        """The codes of a sensitive column."""
        column = self.rows.column(name)
        coder = self.counting.binned.get(name)
        if coder is not None:
            return np.asarray(column, dtype=np.int32), coder.domain
        sensitive = next(one for one in self.counting.sensitive if one.name == name)
        coder = fit_values(self.source, sensitive, column)
        return coder.codes(column), coder.domain

    def _known(self, name: str) -> Sample:
        """The same records, by all that an attacker knows who asks for this attribute."""
        if not self.counting.joint_knowledge:
            return self.sample
        known = [*self.counting.quasi, *(other for other in self.counting.names if other != name)]
        return Sample(self.sample.weights, self.sample.stratum_of, number_rows(self.rows, known)[0])

    def _view(self, name: str, codes: CodeArray, domain: Domain) -> ClassView:
        """The classes of the table among the people of the population."""
        sample = self._known(name)
        counts = class_counts(sample.class_of, codes, np.ones(len(codes), dtype=np.int64), len(sample.sizes), domain)
        people = np.bincount(codes, weights=sample.weights, minlength=len(domain)) * (_PEOPLE / self.people)
        whole = np.where(people > 0, np.maximum(np.rint(people), 1), 0).astype(np.int64)
        return ClassView(SomeClasses.of(counts, Population(domain, whole)))

    def _alike(self, below: int) -> AlikeInTable:
        sizes = self.sample.sizes
        few = sizes < below
        classes, records = int(few.sum()), int(sizes[few].sum())
        people = self._estimate(records, self.sample, look_like(self.sample, 1, below))
        if not classes:  # which is known, and not estimated
            people = PeopleEstimate(0.0, 0.0, 0.0, 0.0, people.records)
        links = [classes / n if n and classes else None for n in (people.people, people.high, people.low)]
        return AlikeInTable(below, classes, records, people, *links)

    def _attribute(self, name: str, codes: CodeArray, domain: Domain) -> SampledAttribute:
        sample, n = self._known(name), len(codes)
        pairs = class_counts(sample.class_of, codes, np.ones(n, dtype=np.int64), len(sample.sizes), domain)
        view, shares = ClassView(pairs), shares_of(sample, codes, len(domain))
        sure = int(sample.sizes[np.diff(pairs.starts) == 1].sum())
        in_table = pairs.population.counts / n
        return SampledAttribute(
            shares=tuple(
                ShareOfValue(inside, one.value, one.low, one.high)
                for inside, one in zip(in_table.tolist(), shares, strict=True)
            ),
            largest_share=max(one.value for one in shares),
            guessed_right=self._estimate(float(view.right.sum()), sample, commonest_value(sample, codes)),
            read_off_right=self._estimate(sure, sample, only_value(sample, codes)),
        )

    def _estimate(self, in_table: float, sample: Sample, rule: Rule) -> PeopleEstimate:
        """Add those of the table to an estimate for everybody else."""
        found: Estimated = people_outside(sample, rule)
        people = in_table + found.value
        low, high = (None if limit is None else in_table + limit for limit in (found.low, found.high))
        return PeopleEstimate(people, people / self.people, low, high, found.records)


def _compared(seen: AttackerView, asked: Sequence[PrivacyModel]) -> dict[str, Figure]:
    """The figures of models that compare classes with all records."""
    measured = {
        name: {figure: one for figure, one in measure_attribute(seen, name, asked).items() if not one.model.only_counts}
        for name in seen.views
    }
    found = {name: find_in_view(view, measured[name]) for name, view in seen.views.items()}
    figures = all_figures({}, found, ask(seen, asked))
    return {name: replace(one, meaning=f"{one.meaning}{_COMPARED}") for name, one in figures.items()}

"""Many random counting queries, which show how well a release answers what people ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import ceil, prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldiversity.base.checks import check_choice, check_integer, check_number
from ldiversity.errors import ParameterError, SchemaError, UnsupportedError
from ldiversity.evaluation.measures._axes import Axis, make_axis
from ldiversity.evaluation.measures._counting import Chosen, count_estimated, count_true, unmix
from ldiversity.evaluation.measures._errors import squared_errors
from ldiversity.evaluation.measures._original import code_sensitive, read_columns
from ldiversity.release import check_release
from ldiversity.schema import Domain
from ldiversity.tables import open_source, to_values, value_type

if TYPE_CHECKING:
    from ldiversity.base.arrays import BoolArray, CodeArray, FloatArray
    from ldiversity.release import Release

__all__ = ["Query", "QueryWorkload"]

_OWNER: Final = "QueryWorkload"
_SANITY: Final = 0.001
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, eq=False)
class Query:
    """Ask how many records have one of the selected values in each column.

    `chosen` selects values of each quasi-identifier in the query, `sensitive`, shape (F,), sensitive values.
    """

    chosen: Chosen
    sensitive: BoolArray


@dataclass(frozen=True, eq=False)
class QueryWorkload:
    """Random counting queries, after Xiao and Tao (2006) and paper 000. Made by `random`.

    Attributes
    ----------
    queries
        The queries.
    sensitive
        The sensitive attribute.
    domain
        Its values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ldiversity.evaluation.measures._samples import bucketized
    >>> original = pa.table({"age": [20, 21, 22, 23], "disease": ["d0", "d1", "d0", "d1"]})
    >>> workload = QueryWorkload.random(original, ["age"], "disease", qd=1, selectivity=0.25, n_queries=20, seed=1)
    >>> workload.relative_error(original, bucketized([0, 0, 1, 1])) <= 1.0
    True
    """

    queries: tuple[Query, ...]
    sensitive: str
    domain: Domain
    _axes: Mapping[str, Axis] = field(repr=False)
    _type: str = field(repr=False)

    @classmethod
    def random(  # noqa: PLR0913 - the parameters of the paper
        cls,
        original: Any,  # noqa: ANN401 - a path or any frame
        quasi: Sequence[str],
        sensitive: str,
        *,
        qd: int = 3,
        selectivity: float = 0.07,
        n_queries: int = 1000,
        seed: int = 0,
        domain: Domain | None = None,
    ) -> QueryWorkload:
        """Draw queries over `qd` random quasi-identifiers each.

        Parameters
        ----------
        original
            The table that releases are made from: a path or any data frame. Only the holder has it.
        quasi
            The quasi-identifiers from which queries draw.
        sensitive
            The sensitive attribute.
        qd
            How many quasi-identifiers a query names; the defaults are those of paper 000.
        selectivity
            The share of the records that a query would select if attributes were independent and uniform.
        n_queries
            How many queries to draw.
        seed
            The same seed gives the same queries.
        domain
            The values of the sensitive attribute where they differ from the original (bins, a declared domain):
            ``release.domain(sensitive)``.

        Notes
        -----
        From every attribute A in a query, including the sensitive one, ``ceil(|A| s^(1 / (qd + 1)))`` different values
        are drawn uniformly (paper 000, Eq. 20), with ``|A|`` the number of its values in the original.
        """
        names = list(quasi)
        check_integer(_OWNER, "qd", qd, minimum=1, maximum=max(1, len(set(names))))
        check_integer(_OWNER, "n_queries", n_queries, minimum=1)
        if not 0 < check_number(_OWNER, "selectivity", selectivity) <= 1:
            raise ParameterError(_OWNER, "selectivity", "must be above 0 and at most 1", got=repr(selectivity))
        if not names or len(set(names)) < len(names) or sensitive in names:
            raise ParameterError(_OWNER, "quasi", "must name distinct columns that are not sensitive", got=repr(names))
        rng = np.random.default_rng(check_integer(_OWNER, "seed", seed, minimum=0))
        table = read_columns(_OWNER, original, [*names, sensitive])
        if not table.num_rows:
            raise ParameterError(_OWNER, "original", "must have at least one record", got="none")
        axes = {name: make_axis(name, table[name]) for name in names}
        known, kind = _domain_of(sensitive, table[sensitive], domain)
        portion = selectivity ** (1 / (qd + 1))
        queries = []
        for _ in range(n_queries):
            picked = rng.choice(len(names), size=qd, replace=False)
            chosen = {names[which]: _draw(rng, len(axes[names[which]]), portion) for which in sorted(picked)}
            queries.append(Query(chosen, _draw(rng, len(known), portion)))
        return cls(tuple(queries), sensitive, known, axes, kind)

    def __len__(self) -> int:
        return len(self.queries)

    def answers(self, original: Any) -> FloatArray:  # noqa: ANN401 - a path or any frame
        """Give the true answers, shape (queries,)."""
        return self._answered(self._true(original))

    def uninformed(self, original: Any) -> FloatArray:  # noqa: ANN401 - a path or any frame
        """Give the answers of someone who knows how frequent the values of each column are, and nothing else.

        Shape (queries,). Columns are assumed to be unrelated. A release is useful where its answers are better.

        Examples
        --------
        >>> import pyarrow as pa
        >>> original = pa.table({"age": [20, 20, 22, 22], "disease": ["d0", "d0", "d1", "d1"]})
        >>> workload = QueryWorkload.random(original, ["age"], "disease", qd=1, selectivity=0.25, n_queries=3, seed=1)
        >>> workload.uninformed(original).tolist()
        [1.0, 1.0, 1.0]
        """
        positions, codes = self._coded(original)
        known = codes >= 0
        shares = {name: _shares(places[known], len(self._axes[name])) for name, places in positions.items()}
        selected = [
            prod(float(shares[name] @ chosen) for name, chosen in query.chosen.items()) for query in self.queries
        ]
        counts = np.bincount(codes[known], minlength=len(self.domain))
        return self._answered(np.array(selected)[:, None] * counts)

    def estimates(self, release: Release, *, estimator: str = "classes") -> FloatArray:
        """Give the answers that a data user gets from the release alone, shape (queries,).

        Parameters
        ----------
        release
            What was published.
        estimator
            How to count classes. ``"classes"``: every record counts with the shares of its class, as in the papers; a
            generalized class is spread evenly over its region, or as the published marginal says. ``"linear"``: as in
            `estimate`, undo the mixing within classes that were formed without looking at quasi-identifiers (Anatomy).
            Sets are always estimated linearly, without bias; single answers may be negative.

        Notes
        -----
        The values of a quasi-identifier are assumed to be known, as in the papers.
        """
        check_choice(_OWNER, "estimator", estimator, ["classes", "linear"])
        return self._answered(self._estimated(release, estimator))

    def offered_estimates(self, release: Release) -> dict[str, FloatArray]:
        """Give the answers by each estimator that is offered for the release, by its name; see `estimates`.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from ldiversity.evaluation.measures._samples import bucketized
        >>> original = pa.table({"age": [20, 21, 22, 23], "disease": ["d0", "d1", "d0", "d1"]})
        >>> workload = QueryWorkload.random(original, ["age"], "disease", qd=1, selectivity=0.25, n_queries=3, seed=1)
        >>> list(workload.offered_estimates(bucketized([0, 0, 1, 1])))
        ['classes']
        """
        counts, order = self._counted(release)
        if not release.grouped:
            return {"linear": self._answered(counts[:, order])}
        found = {"classes": self._answered(counts[:, order])}
        if release.blind(self.sensitive) and len(release.sensitive) == 1:
            with suppress(UnsupportedError):  # classes that all hold every value cannot be unmixed
                found["linear"] = self._answered(unmix(counts, release, self.sensitive)[:, order])
        return found

    def relative_errors(
        self,
        original: Any,  # noqa: ANN401 - a path or any frame
        release: Release,
        *,
        sanity: float | None = None,
        estimator: str = "classes",
    ) -> FloatArray:
        """Give the relative error of each query, shape (queries,); see `relative_error`."""
        n_rows = self._n_rows(original)
        bound = _SANITY * n_rows if sanity is None else check_number(_OWNER, "sanity", sanity, minimum=0)
        answers = self.answers(original)
        errors = np.abs(self.estimates(release, estimator=estimator) - answers)
        scale = np.maximum(answers, bound)
        return np.divide(errors, scale, out=np.where(errors > 0, np.inf, 0.0), where=scale > 0)

    def relative_error(
        self,
        original: Any,  # noqa: ANN401 - a path or any frame
        release: Release,
        *,
        sanity: float | None = None,
        estimator: str = "classes",
    ) -> float:
        """Give the median relative error of the queries. Lower is better.

        Parameters
        ----------
        original
            The table that the release was made from.
        release
            What was published of it.
        sanity
            The least divisor of an error, so that queries which select almost nothing do not dominate; 0.1 % of the
            records when None.
        estimator
            As in `estimates`.

        Notes
        -----
        The error of a query is ``|estimate - answer| / max(answer, sanity)``.
        """
        return float(np.median(self.relative_errors(original, release, sanity=sanity, estimator=estimator)))

    def mean_squared_error(
        self,
        original: Any,  # noqa: ANN401 - a path or any frame
        release: Release,
        *,
        estimator: str = "classes",
    ) -> float:
        """Give the mean over the queries of the error that paper 000 measures (Eq. 2). Lower is better.

        The cell of a query is the records that its quasi-identifiers select; its error is that of `distribution_mse`
        per cell. Queries that select no record do not count.
        """
        errors = squared_errors(self._true(original), self._estimated(release, estimator))
        return float(np.mean(errors)) if len(errors) else 0.0

    def _true(self, original: Any) -> FloatArray:  # noqa: ANN401 - a path or any frame
        positions, codes = self._coded(original)
        return count_true([query.chosen for query in self.queries], positions, codes, len(self.domain))

    def _coded(self, original: Any) -> tuple[dict[str, NDArray[np.intp]], CodeArray]:  # noqa: ANN401 - as above
        names = list(dict.fromkeys(name for query in self.queries for name in query.chosen))
        table = read_columns(_OWNER, original, [*names, self.sensitive])
        codes = code_sensitive(table[self.sensitive], self.sensitive, self.domain, self._type)
        return {name: self._axes[name].codes(table[name]) for name in names}, codes

    def _estimated(self, release: Release, estimator: str) -> FloatArray:
        counts, order = self._counted(release)
        return (unmix(counts, release, self.sensitive) if estimator == "linear" else counts)[:, order]

    def _counted(self, release: Release) -> tuple[FloatArray, list[int]]:
        """Counts with the shares of classes, or of sets, and the position of each value of the workload in them."""
        check_release(_OWNER, release)
        if self.sensitive not in release.sensitive:
            raise SchemaError(_OWNER, "must be sensitive in the release", column=self.sensitive)
        code_of = release.domain(self.sensitive).code_of
        lacking = sum(value not in code_of for value in self.domain.values)
        if lacking:
            raise SchemaError(
                _OWNER, "the release must know every value of the workload", got=f"{lacking} that its domain lacks"
            ).with_hint("Draw the queries with domain=release.domain(...).")
        chosen = [query.chosen for query in self.queries]
        order = [code_of[value] for value in self.domain.values]
        return count_estimated(chosen, self._axes, release, self.sensitive), order

    def _answered(self, counts: FloatArray) -> FloatArray:
        asked = np.stack([query.sensitive for query in self.queries])
        answers: FloatArray = np.where(asked, counts, 0.0).sum(axis=1)
        return answers

    def _n_rows(self, original: Any) -> int:  # noqa: ANN401 - a path or any frame
        source = open_source(original)
        if source.n_rows is not None:
            return source.n_rows
        return sum(batch.num_rows for batch in source.batches([self.sensitive]))


def _shares(positions: NDArray[Any], size: int) -> FloatArray:
    """The share of each position on an axis; the position after the last is for values that are not on it."""
    return np.bincount(positions, minlength=size)[:size] / max(len(positions), 1)


def _draw(rng: np.random.Generator, size: int, portion: float) -> NDArray[np.bool_]:
    # Rounding may make a product that should be a whole number slightly larger.
    number = min(size, ceil(size * portion - _ROUNDING))
    chosen = np.zeros(size, dtype=np.bool_)
    chosen[rng.choice(size, size=max(1, number), replace=False)] = True
    return chosen


def _domain_of(name: str, column: pa.ChunkedArray, domain: Domain | None) -> tuple[Domain, str]:
    kind = value_type(column.type)
    if kind is None:
        raise SchemaError(_OWNER, "must hold single values", column=name, got=column.type)
    if domain is not None:
        texts = any(isinstance(value, str) for value in domain.values)
        return domain, "string" if texts and domain.edges is not None else str(kind)
    values = to_values(make_axis(name, column).values, kind)
    return Domain(tuple(values.to_pylist())), str(kind)

"""Completed tables: a release with one drawn value in place of each set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, cast

import pyarrow as pa

from ldiversity.base.above import from_above
from ldiversity.release._dtypes import to_frame
from ldiversity.schema import Role
from ldiversity.tables import Frame_co, domain_array

if TYPE_CHECKING:
    from ldiversity.base.arrays import CodeArray
    from ldiversity.release._base import Release

__all__ = ["Completable"]


class Completable(Generic[Frame_co]):
    """What can be completed: a release, of whose records the true values can be drawn."""

    def impute(
        self,
        m: int = 20,
        *,
        by: Any = None,  # noqa: ANN401 - as `estimate` takes it, which is above
        formula: str | None = None,
        sensitive: str | Sequence[str] | None = None,
        seed: int | None = None,
    ) -> list[Frame_co]:
        """Draw `m` completed tables, for any analysis of true values; `combine` puts their results together.

        Each has the published columns, and one value in place of each set. Values are drawn from what the set and an
        estimated distribution say, and the distribution is drawn anew for each table, so that Rubin's rules hold. A
        table keeps the relations between the attribute and the columns of `by`, or those that the formula has. **All
        other relations come out too weak**, so name every column that the analysis uses.

        One completed table is no substitute for the true one, and says nothing reliable about any record.

        Parameters
        ----------
        m
            How many tables, from 2 to 10000; at least 20 where sets hide much.
        by
            Columns whose cells have distributions of their own: names, bins and groups, as in `estimate`. All
            relations of the attribute with them are kept. Cells need about 10 records per value.
        formula
            A regression instead, as in `regress`: ``"disease ~ age + C(sex)"``. The relations in it are kept.
        sensitive
            The attributes to draw; several are drawn together, and keep the relation between them. When None, all, or
            with a formula the one before its ~.
        seed
            The same seed gives the same tables. It is the user's own randomness, and tells nothing about the release.

        Returns
        -------
        list
            Frames of the kind that the release came from. Sensitive columns that were not drawn are left out.

        Examples
        --------
        >>> import ldiversity as ld
        >>> patients = ld.datasets.patients(2000, seed=1).select(["sex", "disease"])
        >>> release = ld.anonymize(patients, quasi="sex", sensitive="disease", method=ld.RandomizedAddition(l=2))
        >>> tables = release.impute(20, by="sex", seed=1)
        >>> len(tables), tables[0].column_names, tables[0].num_rows
        (20, ['sex', 'disease'], 2000)
        """
        release = cast("Release", self)
        drawn = from_above("estimation", "draw_values")(
            release, m, by=by, formula=formula, sensitive=sensitive, seed=seed
        )
        return [_completed(release, codes) for codes in drawn]


def _completed(release: Release, codes: Mapping[str, CodeArray]) -> Any:  # noqa: ANN401 - the kind of frame is the release's
    """A frame with the published columns, and the values that these codes stand for."""
    schema = release.schema
    plain = [one.name for one in schema.attributes if one.role not in {Role.SENSITIVE, Role.IDENTIFIER}]
    published = release.columns(plain)
    cells = {name: published.column(name) for name in plain}
    cells |= {name: domain_array(release.domain(name)).take(pa.array(drawn)) for name, drawn in codes.items()}
    table = pa.table({name: cells[name] for name in schema.names() if name in cells})
    ordered = release._ordered(table)  # noqa: SLF001 - of the same object
    return to_frame(ordered, schema, release.frame_kind)

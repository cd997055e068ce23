"""What becomes public when records are left out: slow and obvious cases of each rule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.methods import CodedTable, Grouping, GroupingMethod, GroupingRun, Partition, SensitiveColumn
from ldiversity.publish._public import public_column
from ldiversity.tables import SelectedRows, open_source

SHOWN = np.array([True, False, True, True])


def column(domain: ld.Domain, codes: list[int]) -> SensitiveColumn:
    return SensitiveColumn("s", np.array(codes, dtype=np.int32), domain)


def test_values_that_only_hidden_records_have_leave_the_domain() -> None:
    public = public_column(column(ld.Domain(("a", "b", "c"), ordered=True, positions=(1, 2, 3)), [0, 1, 2, 2]), SHOWN)

    assert public.domain == ld.Domain(("a", "c"), ordered=True, positions=(1, 3))
    assert public.codes.tolist() == [0, -1, 1, 1]


def test_of_bins_the_range_of_what_is_shown_stays() -> None:
    bins = ld.Domain(("[0, 1)", "[1, 2)", "[2, 3)", "[3, 4]"), True, (0.5, 1.5, 2.5, 3.5), (0, 1, 2, 3, 4))

    public = public_column(column(bins, [0, 3, 2, 2]), SHOWN)

    assert public.domain == ld.Domain(("[0, 1)", "[1, 2)", "[2, 3]"), True, (0.5, 1.5, 2.5), (0, 1, 2, 3))
    assert public.codes.tolist() == [0, -1, 2, 2]


def test_the_category_of_missing_values_is_the_policys_and_stays() -> None:
    bins = ld.Domain(("[0, 1)", "[1, 2]", None), True, (0.5, 1.5, math.nan), (0, 1, 2))

    public = public_column(column(bins, [1, 2, 1, 1]), SHOWN)

    assert public.domain.values == ("[1, 2]", None)
    assert public.domain.edges == (1, 2)
    assert public.codes.tolist() == [0, -1, 0, 0]


def test_where_only_missing_values_are_shown_no_bin_stays() -> None:
    bins = ld.Domain(("[0, 1)", "[1, 2]", None), True, (0.5, 1.5, math.nan), (0, 1, 2))

    public = public_column(column(bins, [2, 1, 2, 2]), SHOWN)

    assert (public.domain.values, public.domain.edges) == ((None,), None)


def test_selected_rows_are_a_table_of_their_own() -> None:
    source = open_source(pa.table({"a": range(10), "b": [*"abcdefghij"]}))

    some = SelectedRows(source, np.arange(10) % 3 == 0)

    read = [batch.to_pydict() for batch in some.batches(["b"], chunk_rows=3)]
    assert read == [{"b": ["a", "d", "g"]}, {"b": ["j"]}]
    assert some.n_rows == 4


@dataclass(frozen=True)
class LeavesOut(GroupingMethod):
    """Leaves out the record of the greatest first number, and pairs the others in the order of that number."""

    name: ClassVar[str] = "leaves-out"
    leaves_out: ClassVar[bool] = True
    layout: ClassVar[Literal["generalized", "bucketized"]] = "generalized"
    rule: Any = None
    once: int = 9

    def group(self, table: CodedTable, run: GroupingRun) -> Grouping:  # noqa: ARG002 - nothing to say
        by = table.numbers[0].values if table.numbers else table.categories[0].codes
        order = np.argsort(by, kind="stable")
        class_of = np.full(table.n_rows, -1, dtype=np.int32)
        kept = order[:-1] if table.n_rows == self.once else order
        class_of[kept] = np.arange(len(kept)) // 2
        return Grouping((Partition(class_of, len(kept) // 2),))

    def promises(self, domain: ld.Domain) -> tuple[ld.PrivacyModel, ...]:  # noqa: ARG002 - any
        rule: ld.PrivacyModel = self.rule or ld.AlphaK(alpha=1.0, k=2)
        return (rule,)


def nine(**others: Any) -> pa.Table:
    return pa.table({"x": range(1, 10), "s": [*"abababab", "z"], **others})


def test_a_missing_value_of_a_hidden_record_adds_nothing_to_a_declared_hierarchy() -> None:
    tree = ld.Hierarchy.from_rows([("u", "all"), ("v", "all")])
    table = nine(q=[*"uvuvuvuv", None])

    release = ld.anonymize(table, quasi=["x", "q"], sensitive="s", method=LeavesOut(), hierarchies={"q": tree})

    assert isinstance(release, ld.ClassRelease)
    assert release.forms["q"].labels == ("u", "v")


def test_a_claim_that_the_smaller_domain_breaks_is_kept_by_grouping_again() -> None:
    # Among a, b and z ordered closeness divides by two, among a and b by one.
    table = pa.table({"x": range(1, 10), "s": [*"aabaabab", "z"]})
    rule = ld.TCloseness(t=0.3, ground="ordered")

    class Apart(LeavesOut):
        def group(self, table: CodedTable, run: GroupingRun) -> Grouping:
            if table.n_rows == self.once:
                return super().group(table, run)
            return Grouping((Partition(np.zeros(table.n_rows, dtype=np.int32), 1),))

    release = ld.anonymize(table, quasi="x", sensitive="s", method=Apart(rule=rule))

    assert isinstance(release, ld.ClassRelease)
    assert release.domain("s").values == ("a", "b")
    assert (release.classes("s").n_classes, release.suppressed) == (1, 1)
    assert release.mechanism("s").facts["left_out_before"] == 1
    assert any("grouped again" in note for note in release.notes)


def test_widths_are_chosen_without_the_records_that_are_left_out() -> None:
    table = pa.table({"x": [*range(8), 100_000], "s": [*"abababab", "z"]})

    release = ld.anonymize(table, quasi="x", sensitive="s", method=LeavesOut(), hierarchies={"x": "auto"})

    assert isinstance(release, ld.ClassRelease)
    assert set(release.table["x"].to_pylist()) == {"[0, 2)", "[2, 4)", "[4, 6)", "[6, 8)"}


def test_bins_of_hidden_cells_must_be_declared() -> None:
    @dataclass(frozen=True)
    class HidesCells(LeavesOut):
        layout: ClassVar[Literal["generalized", "bucketized"]] = "bucketized"

        def group(self, table: CodedTable, run: GroupingRun) -> Grouping:
            (some,) = super().group(table, run).partitions
            return Grouping((Partition(np.zeros(table.n_rows, dtype=np.int32), 1), some))

    table = nine(pay=[1, 2, 3, 4, 5, 6, 7, 8, 9_000])
    given: dict[str, Any] = {"quasi": "x", "method": HidesCells()}

    with pytest.raises(ld.UnsupportedError, match="pay: bins must be declared"):
        ld.anonymize(table, **given, sensitive=["s", ld.Sensitive("pay", quantiles=4)])
    release = ld.anonymize(table, **given, sensitive=["s", ld.Sensitive("pay", width=2)])
    assert release.domain("pay").edges == (0, 2, 4, 6, 8, 10)


def test_levels_of_values_that_nobody_shows_are_not_told() -> None:
    rng = np.random.default_rng(1)
    codes = np.concatenate([np.zeros(40, dtype=int), rng.integers(1, 9, 20)])
    table = pa.table({"x": range(60), "s": codes, "t": rng.permutation(codes)})

    release = ld.anonymize(table, quasi="x", sensitive=["s", "t"], method=ld.LLMSU(l=4, merge=True), insecure_seed=1)

    for name in ("s", "t"):
        levels = release.mechanism(name).facts["levels"][name]
        assert len(levels) == len(release.domain(name))
        assert sorted(set(levels)) == list(range(max(levels) + 1))

"""The rerun of paper 002: verdicts follow from the data, whatever the data are."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pytest

from ldiversity.errors import SchemaError, UnsupportedError
from ldiversity.pictures._figures import style
from papers import Exhibit, Setting
from papers.paper_002.growth import judge_growth, run_sizes
from papers.paper_002.joint import attack, judge_attack
from papers.paper_002.runs import JOINT, MAXIMAL, PUBLISHED, UNMERGED, by, read_columns
from papers.paper_002.study import Paper002, make_exhibits
from papers.paper_002.verdicts import judge_additional, judge_hidden, judge_time

Judge: TypeAlias = Callable[[pa.Table], tuple[str, str]]
FACTORS = {PUBLISHED: 1.0, UNMERGED: 1.0, JOINT: 1.5, MAXIMAL: 2.0}


def measured(cases: list[tuple[int, int]]) -> pa.Table:
    """Measurements as the paper tells them: L-LMSU hides half of what MBF hides, and takes half its time."""
    return pa.Table.from_pylist(
        [
            {
                "method": method, "columns": columns, "L": level, "hide loss": 0.02 * level * factor,
                "missing": 0.02 * level * factor, "additional loss": 0.1 / factor, "left": 100,
                "joined": int(10 / factor), "time": factor / 2, "milliseconds": 5 * factor,
            }
            for columns, level in cases
            for method, factor in FACTORS.items()
        ]
    )  # fmt: skip


@pytest.fixture
def levels() -> pa.Table:
    return measured([(2, level) for level in range(2, 8)])


@pytest.fixture
def columns() -> pa.Table:
    return measured([(number, level) for level in (2, 3, 4) for number in (2, 3, 4)])


def changed(data: pa.Table, method: str, name: str, factor: float, level: int | None = None) -> pa.Table:
    """The same measurements, one of them multiplied for one method, at one L or at all."""
    values = [
        row[name] * (factor if row["method"] == method and level in {None, row["L"]} else 1) for row in data.to_pylist()
    ]
    return data.set_column(data.column_names.index(name), name, pa.array(values))


# --- Verdicts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("judge", [judge_hidden, judge_additional, judge_time])
def test_data_as_the_paper_tells_them_agree(levels: pa.Table, judge: Judge) -> None:
    assert judge(levels)[0] in {"agrees", "better"}


@pytest.mark.parametrize(
    ("judge", "method", "name", "factor"),
    [
        (judge_hidden, PUBLISHED, "hide loss", 3.0),
        (judge_hidden, PUBLISHED, "missing", 3.0),
        (judge_hidden, UNMERGED, "hide loss", 0.5),
        (judge_additional, MAXIMAL, "additional loss", 3.0),
        (judge_time, PUBLISHED, "time", 3.0),
    ],
)
def test_other_data_give_another_verdict(levels: pa.Table, judge: Judge, method: str, name: str, factor: float) -> None:
    assert judge(changed(levels, method, name, factor))[0] == "differs"
    assert judge(changed(levels, method, name, factor, level=4))[0] == "agrees with exceptions"


def test_the_levels_at_which_more_is_hidden_are_named(levels: pa.Table) -> None:
    words = judge_hidden(changed(levels, PUBLISHED, "hide loss", 3.0, level=4))[1]

    assert "hides less than MBF at L=2, 3, 5, 6, 7 and more at L=4." in words


def test_that_merging_hides_more_is_said(levels: pa.Table) -> None:
    words = judge_hidden(changed(levels, UNMERGED, "hide loss", 0.5))[1]

    assert "hides more than leaving it out at every L and less at none" in words


def test_numbers_of_columns_are_named_where_they_vary(columns: pa.Table) -> None:
    words = judge_hidden(changed(columns, PUBLISHED, "hide loss", 3.0, level=4))[1]

    assert "more at L=4 with 2, 3, 4 columns." in words


def test_differences_below_three_digits_do_not_count(levels: pa.Table) -> None:
    hidden = changed(levels, UNMERGED, "hide loss", 0.999)

    assert judge_hidden(hidden)[0] in {"agrees", "better"}


def test_how_many_left_records_joined_a_class_is_said(levels: pa.Table) -> None:
    words = judge_additional(changed(levels, MAXIMAL, "additional loss", 3.0))[1]

    assert "60 of 600 with L-LMSU, published and 30 of 600 with MBF joined" in words


def test_a_far_greater_additional_loss_of_ours_is_explained(levels: pa.Table) -> None:
    words = judge_additional(changed(levels, JOINT, "additional loss", 100.0, level=4))[1]

    assert (
        "with 2 columns at L=4 6 join and 94 are hidden, with MBF 5 and 95. So its larger classes come with fewer"
        in words
    )


def test_a_far_greater_additional_loss_that_hides_no_fewer_is_said(levels: pa.Table) -> None:
    data = changed(changed(levels, JOINT, "additional loss", 100.0), JOINT, "joined", 0.0)

    assert "come with NOT fewer hidden records" in judge_additional(data)[1]


def test_times_are_told_in_milliseconds(levels: pa.Table) -> None:
    assert "L-LMSU, published 5.0 to 5.0, MBF 10 to 10" in judge_time(levels)[1]


def times(power: float, other: float = 1.0) -> pa.Table:
    """Times that grow with a power of the number of records."""
    powers = {PUBLISHED: power, MAXIMAL: other, JOINT: 1.0}
    return pa.Table.from_pylist(
        [
            {"method": method, "records": size, "milliseconds": (size / 1000) ** own}
            for size in (1000, 2000, 4000)
            for method, own in powers.items()
        ]
    )


@pytest.mark.parametrize(("power", "outcome"), [(1.0, "agrees"), (0.6, "agrees"), (2.0, "differs")])
def test_growth_is_judged_by_its_power(power: float, outcome: str) -> None:
    assert judge_growth(times(power))[0] == outcome


@pytest.mark.parametrize(("other", "part"), [(1.0, "MBF is so as well"), (2.0, "MBF is not.")])
def test_growth_tells_whether_mbf_is_linear_as_well(other: float, part: str) -> None:
    assert part in judge_growth(times(1.0, other))[1]


# --- Exhibits ------------------------------------------------------------------------------------------


def exhibits_of(levels: pa.Table, columns: pa.Table) -> list[Exhibit]:
    return [*make_exhibits("Fig. 1", levels), *make_exhibits("Fig. 2", columns)]


def test_every_panel_is_there_in_order(levels: pa.Table, columns: pa.Table) -> None:
    items = [exhibit.item for exhibit in exhibits_of(levels, columns)]

    assert items == ["Fig. 1(a)", "Fig. 1(b)", "Fig. 1(c)", "Fig. 2(a)", "Fig. 2(b)", "Fig. 2(c)"]


@pytest.mark.parametrize(("place", "panels"), [(0, 2), (1, 1), (2, 1), (3, 6), (4, 3), (5, 3)])
def test_pictures_have_their_panels_a_legend_and_words(
    levels: pa.Table, columns: pa.Table, place: int, panels: int
) -> None:
    exhibit = exhibits_of(levels, columns)[place]

    with style():
        figure = exhibit.draw()

    assert len(figure.axes) == panels
    assert figure.legends
    assert exhibit.item in figure.get_suptitle()
    assert PUBLISHED in exhibit.alt


def test_additional_losses_that_differ_by_far_are_drawn_by_powers_of_ten(columns: pa.Table) -> None:
    figure = list(make_exhibits("Fig. 2", columns))[1].draw()

    assert {axis.get_yscale() for axis in figure.axes} == {"symlog"}


def test_the_linear_claim_is_left_to_the_item_that_varies_the_records(levels: pa.Table) -> None:
    claim = list(make_exhibits("Fig. 1", levels))[2].claim

    assert "judged in an item of its own" in claim


def test_measurements_are_found_by_what_is_left_open(columns: pa.Table) -> None:
    assert list(by(columns, MAXIMAL, "hide loss", L=3)) == [2, 3, 4]
    assert list(by(columns, MAXIMAL, "hide loss", columns=2)) == [2, 3, 4]


# --- Definition 3 --------------------------------------------------------------------------------------


def codes(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int32)


def test_columns_that_determine_each_other_give_the_value_away() -> None:
    # Records 0 to 3 have equal codes in both columns; the classes of one are 01 and 23, of the other 02 and 13 ...
    values = codes(0, 1, 2, 3)

    found = attack(values, codes(0, 0, 1, 1), values, codes(0, 1, 0, 1))

    # ... so that record 0 has 0 or 1 by one class, and 0 or 2 by the other.
    assert found.tolist() == [1, 1, 1, 1]


def test_joint_classes_leave_a_half() -> None:
    found = attack(codes(0, 1, 2, 3), codes(0, 0, 1, 1), codes(0, 1, 2, 3), codes(0, 0, 1, 1))

    assert found.tolist() == [0.5, 0.5, 0.5, 0.5]


def test_classes_of_three_are_left_out() -> None:
    found = attack(codes(0, 1, 0, 1, 2), codes(0, 0, 1, 1, 1), codes(0, 1, 0, 1, 2), codes(0, 0, 1, 1, 1))

    assert len(found) == 2


@pytest.mark.parametrize(("mean", "outcome"), [(0.5, "agrees"), (0.66, "differs")])
def test_the_claim_is_kept_as_long_as_the_mean_is_a_half(mean: float, outcome: str) -> None:
    row = {"pair": "a, b", "mean probability": 0.5, "share above 0.9": 0.0}
    data = pa.Table.from_pylist(
        [
            {**row, "classes": "separate classes (published)", "mean probability": mean},
            {**row, "classes": "joint classes (ours)"},
        ]
    )

    assert judge_attack(data)[0] == outcome


# --- The rerun -----------------------------------------------------------------------------------------


def test_without_the_data_the_study_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"adult\.csv\.gz is needed"):
        list(Paper002().exhibits(Setting(data=tmp_path)))


def test_another_table_under_the_name_of_adult_is_refused(tmp_path: Path) -> None:
    (tmp_path / "adult.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n"))

    with pytest.raises(SchemaError, match=r"adult\.csv\.gz"):
        list(Paper002().exhibits(Setting(data=tmp_path)))


def test_more_records_than_the_table_has_are_the_table_again(public_data: Path) -> None:
    columns = read_columns(Setting(data=public_data), 300)

    assert run_sizes(columns, [200, 700])["records"].to_pylist() == [200] * 3 + [700] * 3


@pytest.fixture(scope="module")
def rerun(public_data: Path) -> dict[str, Exhibit]:
    return {exhibit.item: exhibit for exhibit in Paper002().exhibits(Setting(quick=True, data=public_data))}


def test_as_published_more_is_hidden_than_by_mbf_at_small_levels(rerun: dict[str, Exhibit]) -> None:
    data = rerun["Fig. 1(a)"].data

    assert rerun["Fig. 1(a)"].outcome == "differs"
    assert by(data, PUBLISHED, "hide loss", columns=2)[4] > by(data, MAXIMAL, "hide loss", columns=2)[4] + 0.03


def test_joint_classes_never_hide_more_than_mbf(rerun: dict[str, Exhibit]) -> None:
    for item in ("Fig. 1(a)", "Fig. 2(a)"):
        assert "and more at none." in rerun[item].words.rpartition("Our joint classes")[2]


def test_separate_classes_break_the_promise(rerun: dict[str, Exhibit]) -> None:
    with style():
        figure = rerun["Definition 3"].draw()

    assert rerun["Definition 3"].outcome == "differs"
    assert figure.legends

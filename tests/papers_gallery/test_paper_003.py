"""The rerun of paper 003: verdicts follow from the data, whatever the data are."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.text import Text

from ldiversity.errors import InternalError, SchemaError, UnsupportedError
from ldiversity.hierarchies import Hierarchy
from ldiversity.methods import (
    CategoryColumn,
    CodedTable,
    Grouping,
    GroupingRun,
    NumberColumn,
    Partition,
    SensitiveColumn,
)
from ldiversity.pictures._figures import style
from ldiversity.schema import Domain
from papers import Setting, Verdict
from papers.paper_003.data import WIDTHS, Tables, describe_table, measure, read_tables
from papers.paper_003.regions import cut_loss, plain_cut_loss
from papers.paper_003.runs import CUT, EFFORT, METHODS, NEAR, PLAIN, PUBLISHED, column
from papers.paper_003.study import Paper003, make_exhibits
from papers.paper_003.verdicts import (
    PRINTED_SIZES,
    compare_models,
    judge_discernibility,
    judge_gain,
    judge_loss,
    judge_privacy,
    judge_sizes,
    judge_times,
)

Judge: TypeAlias = Callable[[pa.Table], Verdict]
RECORDS = 30_162


def row(method: str, l: int) -> dict[str, str | int | float | None]:
    """A measurement as the paper has it, the loss of our BSGI at a tenth of the published one's."""
    kind = method.split(",", maxsplit=1)[0]
    wide = {"Mondrian, entropy": 1.7, "Mondrian, frequency": 5.0}.get(method, 1.0)
    size = PRINTED_SIZES[kind][l] * wide
    loss = {"BSGI": 0.07 * l, "Mondrian": 0.1 * l, "Incognito": 1.0}[kind] * (0.1 if "ours" in method else 1.0)
    return {
        "method": method, "l": l, "records": RECORDS, "classes": int(RECORDS / size), "average size": size,
        "discernibility": RECORDS * size, "loss": loss, CUT: loss if kind == "Mondrian" else None,
        PLAIN: loss if method == "Mondrian, distinct" else None,
        "greatest share": 0.9 if "distinct" in method else 1 / l,
        "mean share": 0.4, "time": {"BSGI": 1.0, "Mondrian": 3.0, "Incognito": 1000.0}[kind],
        "seconds": {"BSGI": 0.2, "Mondrian": 0.6, "Incognito": 200.0}[kind],
    }  # fmt: skip


@pytest.fixture
def as_printed() -> pa.Table:
    return pa.Table.from_pylist([row(method, l) for method in METHODS for l in range(2, 8)])


def changed(data: pa.Table, methods: str, name: str, factor: float) -> pa.Table:
    """The same measurements, one of them multiplied for the methods whose names begin so."""
    values = [
        None if one[name] is None else one[name] * (factor if one["method"].startswith(methods) else 1)
        for one in data.to_pylist()
    ]
    return data.set_column(data.column_names.index(name), name, pa.array(values))


# --- Verdicts ------------------------------------------------------------------------------------------

JUDGES = [judge_sizes, judge_times, judge_loss, judge_privacy, judge_discernibility]


@pytest.mark.parametrize("judge", JUDGES)
def test_data_as_the_paper_has_them_agree(as_printed: pa.Table, judge: Judge) -> None:
    assert judge(as_printed)[0] in {"agrees", "better"}


@pytest.mark.parametrize(
    ("judge", "methods", "name", "factor"),
    [
        (judge_sizes, PUBLISHED, "average size", 1.01),
        (judge_sizes, NEAR, "average size", 1.01),
        (judge_sizes, "Incognito", "average size", 0.1),
        (judge_times, PUBLISHED, "time", 4.0),
        (judge_times, "Incognito", "time", 0.02),
        (judge_loss, PUBLISHED, "loss", 2.0),
        (judge_privacy, NEAR, "greatest share", 1.1),
        (judge_privacy, "Mondrian, distinct", "greatest share", 0.1),
        (judge_gain, NEAR, "loss", 20.0),
        (judge_discernibility, "Mondrian", "discernibility", 0.5),
        (judge_discernibility, "Incognito", "discernibility", 0.1),
    ],
)
def test_other_data_give_another_verdict(
    as_printed: pa.Table, judge: Judge, methods: str, name: str, factor: float
) -> None:
    assert judge(changed(as_printed, methods, name, factor))[0] == "differs"


def test_the_model_nearest_to_the_printed_sizes_is_named(as_printed: pa.Table) -> None:
    assert next(iter(compare_models(as_printed))) == "Mondrian, distinct"
    assert (
        next(iter(compare_models(changed(as_printed, "Mondrian, distinct", "average size", 9)))) == "Mondrian, entropy"
    )


def test_the_ratio_that_contradicts_seventy_percent_is_said(as_printed: pa.Table) -> None:
    words = judge_loss(changed(as_printed, PUBLISHED, "loss", 4.0))[1]

    assert "loses 2.80, 2.80, 2.80, 2.80, 2.80, 2.80 times what Mondrian does" in words
    assert "the paper has 0.70 at l=7" in words


def test_a_time_that_grows_with_l_is_said(as_printed: pa.Table) -> None:
    times = [0.1 * one["l"] if one["method"] == PUBLISHED else one["time"] for one in as_printed.to_pylist()]
    data = as_printed.set_column(as_printed.column_names.index("time"), "time", pa.array(times))

    outcome, words, *_ = judge_times(data)

    assert outcome == "differs"
    assert "What does not hold: BSGI independent of l." in words


def test_the_loss_of_ours_is_also_compared_with_the_mondrian_of_table_5(as_printed: pa.Table) -> None:
    words = judge_loss(changed(as_printed, NEAR, "loss", 30.0))[1]

    assert "Ours loses 2.10, 2.10" in words
    assert "less than with tight boxes at no l" in words


def test_the_loss_is_judged_by_regions_of_cuts_and_tight_boxes_stand_beside(as_printed: pa.Table) -> None:
    tight = changed(as_printed, "Mondrian", "loss", 0.1)

    outcome, _, figure, _ = judge_loss(tight)

    assert outcome == "better"
    assert figure.startswith("BSGI / Mondrian: 0.70, 0.70")
    assert "7.00, 7.00 with tight boxes" in figure
    assert judge_loss(changed(as_printed, "Mondrian", CUT, 0.1))[0] == "differs"


def test_a_plain_mondrian_stands_beside_and_a_disagreement_is_told(as_printed: pa.Table) -> None:
    assert "The two say the same about who loses less." in judge_loss(as_printed).words

    words = judge_loss(changed(as_printed, "Mondrian", PLAIN, 0.5)).words

    assert "whose cuts are known, it is 1.40, 1.40" in words
    assert "The two disagree about who loses less at l=2, 3, 4, 5, 6, 7 alone." in words


def test_the_time_of_effort_is_said(as_printed: pa.Table) -> None:
    words = judge_times(changed(as_printed, EFFORT, "time", 3.0))[1]

    assert "Ours with effort takes 3.0 to 3.0 times as long as the published BSGI." in words


def test_times_are_told_in_seconds(as_printed: pa.Table) -> None:
    assert "BSGI, published 0.2 to 0.2" in judge_times(as_printed)[1]
    assert "seconds" in list(make_exhibits(as_printed))[1].data.column_names


def test_a_missed_goal_is_not_better(as_printed: pa.Table) -> None:
    outcome, words, *_ = judge_gain(changed(as_printed, NEAR, "loss", 9.9))

    assert outcome == "differs"
    assert "missed at l=2, 4, 7." in words


def test_goals_are_met_or_missed_on_the_whole_table(as_printed: pa.Table) -> None:
    assert "83 % at l=7: met." in judge_gain(as_printed)[1]
    assert "missed at l=2." in judge_gain(changed(as_printed, NEAR, "loss", 2.0))[1]


def test_goals_are_not_named_for_a_sample(as_printed: pa.Table) -> None:
    sample = as_printed.set_column(2, "records", pa.array([6000] * as_printed.num_rows))

    assert "Aimed at" not in judge_gain(sample)[1]
    assert {exhibit.item: exhibit for exhibit in make_exhibits(sample)}["Fig. 5 (ours)"].data[
        "aimed at"
    ].null_count == 12


# --- Exhibits ------------------------------------------------------------------------------------------


def test_every_figure_and_table_is_there_in_order(as_printed: pa.Table) -> None:
    items = [exhibit.item for exhibit in make_exhibits(as_printed)]

    assert items == ["Table 5", "Fig. 4", "Fig. 5", "Fig. 5 (privacy)", "Fig. 5 (ours)", "Fig. 6"]


@pytest.mark.parametrize("place", range(6))
def test_pictures_have_a_legend_a_title_and_words(as_printed: pa.Table, place: int) -> None:
    exhibit = list(make_exhibits(as_printed))[place]

    with style():
        figure = exhibit.draw()

    assert figure.legends
    assert figure.get_suptitle()
    assert "at l=7" in exhibit.alt


def test_table_5_shows_the_printed_sizes_beside_ours(as_printed: pa.Table) -> None:
    data = next(make_exhibits(as_printed)).data

    assert column(data, "Mondrian, distinct", "printed in the paper")[7] == 18.73


def test_lines_of_shares_that_hide_each_other_are_named_below_the_picture(as_printed: pa.Table) -> None:
    figure = list(make_exhibits(as_printed))[3].draw()
    written = " ".join(" ".join(text.get_text().split()) for text in figure.findobj(Text))

    assert "lines on each other: BSGI, published / BSGI, ours" in written


def test_the_first_exhibit_says_what_is_measured_and_the_others_point_to_it(as_printed: pa.Table) -> None:
    first, *others = make_exhibits(as_printed, "Which columns.")

    assert first.words.endswith("Which columns.")
    assert all(exhibit.words.endswith("(Sensitive: occupation; see Table 5.)") for exhibit in others)


# --- Measurements --------------------------------------------------------------------------------------


def test_the_sensitive_column_is_the_one_whose_value_the_paper_names(public_data: Path) -> None:
    words = describe_table(Setting(data=public_data))

    assert "is that of occupation (Prof-specialty, 13.4 %)" in words
    assert "education as the number education-num" in words


@pytest.fixture(scope="module")
def tables(public_data: Path) -> Tables:
    return read_tables(Setting(data=public_data), 300)


def test_one_class_of_all_loses_everything_that_the_sample_spans(tables: Tables) -> None:
    whole = Grouping((Partition(np.zeros(300, dtype=np.int32), 1),))

    assert measure(tables, whole).loss == pytest.approx(1.0)


def test_classes_of_one_lose_nothing_and_tell_all(tables: Tables) -> None:
    alone = measure(tables, Grouping((Partition(np.arange(300, dtype=np.int32), 300),)))

    assert alone.loss == 0
    assert alone.greatest_share == 1
    assert alone.discernibility == 300


def test_the_highest_levels_lose_everything_and_the_lowest_nothing(tables: Tables) -> None:
    one_class = Partition(np.zeros(300, dtype=np.int32), 1)
    categories = {"marital-status": 2, "race": 1, "sex": 1}
    top = {**{name: len(widths) + 1 for name, widths in WIDTHS.items()}, **categories}
    bottom = dict.fromkeys(top, 0)

    assert measure(tables, Grouping((one_class,), levels=top)).loss == pytest.approx(1.0)
    assert measure(tables, Grouping((one_class,), levels=bottom)).loss == 0


def test_intervals_lose_their_length_within_the_range(tables: Tables) -> None:
    one_class = Partition(np.zeros(300, dtype=np.int32), 1)
    bottom = {column.name: 0 for column in tables.plain.quasi}
    age = tables.plain.numbers[0]
    low, high = age.values // 10 * 10, age.values // 10 * 10 + 9
    length = np.minimum(high, age.values.max()) - np.maximum(low, age.values.min())

    loss = measure(tables, Grouping((one_class,), levels={**bottom, "age": 2})).loss

    assert loss == pytest.approx(length.mean() / np.ptp(age.values) / 7)


def coded(ages: list[int], sexes: list[int]) -> CodedTable:
    labels = ("f", "m")
    sex = CategoryColumn("sex", np.array(sexes, dtype=np.int32), labels, Hierarchy.from_rows([("f", "*"), ("m", "*")]))
    disease = SensitiveColumn("disease", np.zeros(len(ages), dtype=np.int32), Domain(("flu",)))
    return CodedTable((NumberColumn("age", np.array(ages), 20.0, 60.0), sex), (disease,))


def classes(*class_of: int) -> Partition:
    return Partition(np.array(class_of, dtype=np.int32), max(class_of) + 1)


def test_regions_of_cuts_reach_to_the_next_cut() -> None:
    table = coded([20, 22, 40, 60], [0, 0, 0, 0])

    # One cut above 22: the ages 20 to 22, and 22 to 60; sex is never cut, so that a class may hold both.
    assert cut_loss(table, classes(0, 0, 1, 1)) == pytest.approx(((2 / 40 + 1) * 2 + (38 / 40 + 1) * 2) / 2 / 4)


def test_regions_of_cuts_narrow_with_every_cut() -> None:
    table = coded([20, 20, 60, 60], [0, 1, 0, 1])

    # Cut by age (or by sex), and each side by the other: every class has one sex, and reaches up or down to a cut.
    assert cut_loss(table, classes(0, 1, 2, 3)) == pytest.approx((0 + 0 + 1 + 1) / 2 / 4)


def test_regions_of_a_plain_mondrian_end_at_medians() -> None:
    table = coded([20, 22, 40, 60], [0, 0, 0, 0])
    diseases = SensitiveColumn("disease", np.array([0, 1, 0, 1], dtype=np.int32), Domain(("flu", "cold")))

    # The median of the ages is 22; neither side has two diseases twice, and so neither is cut again.
    assert plain_cut_loss(CodedTable(table.quasi, (diseases,)), 2) == pytest.approx((1 / 20 + 19 / 20 + 2) / 4)
    assert plain_cut_loss(table, 2) == pytest.approx(1.0)  # all have the same disease


def test_without_a_cut_everything_is_lost_and_tight_boxes_never_lose_more(tables: Tables) -> None:
    whole = classes(*([0] * 300))
    grouping = METHODS["Mondrian, distinct"](3).group(tables.plain, GroupingRun(workers=1))

    assert cut_loss(tables.plain, whole) == pytest.approx(1.0)
    assert measure(tables, grouping).loss < cut_loss(tables.plain, grouping.partitions[0]) < 1.0


def test_classes_that_no_cut_separates_are_an_error() -> None:
    with pytest.raises(InternalError, match="cannot be told apart"):
        cut_loss(coded([20, 60, 20, 60], [0, 0, 0, 0]), classes(0, 0, 1, 1))


def test_another_table_under_the_name_of_adult_is_refused(tmp_path: Path) -> None:
    (tmp_path / "adult.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n"))

    with pytest.raises(SchemaError, match=r"adult\.csv\.gz"):
        list(Paper003().exhibits(Setting(data=tmp_path)))


def test_without_the_data_the_study_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"adult\.csv\.gz is needed"):
        list(Paper003().exhibits(Setting(data=tmp_path)))


@pytest.mark.slow
def test_a_quick_rerun_reaches_the_sizes_of_table_5_and_less_loss(public_data: Path) -> None:
    exhibits = {exhibit.item: exhibit for exhibit in Paper003().exhibits(Setting(quick=True, data=public_data))}

    assert exhibits["Table 5"].outcome == "agrees"
    assert exhibits["Fig. 5"].outcome == "differs"
    assert exhibits["Fig. 5 (privacy)"].outcome == "agrees"
    assert exhibits["Fig. 5 (ours)"].outcome == "better"
    assert exhibits["Fig. 6"].outcome == "agrees"

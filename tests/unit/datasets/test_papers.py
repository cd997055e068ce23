from __future__ import annotations

import pyarrow.compute as pc

from ldiversity.datasets import hospital, obesity


def test_obesity_has_the_row_totals_of_table_8() -> None:
    groups = obesity().group_by(["gender", "age"], use_threads=False).aggregate([([], "count_all")])

    assert groups["count_all"].to_pylist() == [230, 200, 380, 190]


def test_obesity_has_120_men_over_50_at_level_1() -> None:
    table = obesity()
    men_over_50 = pc.and_(pc.equal(table["gender"], "male"), pc.equal(table["age"], "over 50"))

    assert pc.sum(pc.and_(men_over_50, pc.equal(table["level"], 1))).as_py() == 120


def test_hospital_has_eight_patients_and_six_diseases() -> None:
    table = hospital()

    assert table.num_rows == 8
    assert pc.count_distinct(table["disease"]).as_py() == 6


def test_hospital_addresses_are_texts() -> None:
    assert hospital()["address"].to_pylist()[0] == "13000"

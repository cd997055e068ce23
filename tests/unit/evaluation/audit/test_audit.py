"""What an audit says: figures, risks, sentences, advice, and nothing of the source."""

from __future__ import annotations

import json
from dataclasses import asdict

import pandas as pd
import pyarrow as pa
import pytest

import ldiversity as ld

# Classes of age: 30 (flu, cut, flu, flu), 40 (cut, cut), 50 (flu).
TABLE = pa.table({"age": [30, 30, 30, 30, 40, 40, 50], "disease": ["flu", "cut", "flu", "flu", "cut", "cut", "flu"]})


@pytest.fixture(scope="module")
def found() -> ld.Audit:
    return ld.audit(TABLE, quasi="age", sensitive="disease", models=["k-anonymity:2", "distinct:2"])


def test_the_dictionary_has_the_names_that_are_promised(found: ld.Audit) -> None:
    described = found.to_dict()

    assert (described["schema"], described["version"]) == ("audit", 2)
    assert {"models", "classes", "risk", "attribute_risk", "verdict", "advice", "asked", "notes"} <= set(described)
    assert set(described["models"]) == {
        *("k_anonymity", "distinct_l", "entropy_l", "recursive_c", "frequency", "alpha_k", "t_equal", "t_ordered"),
        *("beta", "beta_enhanced", "delta", "unique_l"),
    }
    assert all({"value", "passed"} <= set(figure) for figure in described["models"].values())


def test_the_dictionary_is_json(found: ld.Audit) -> None:
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == found.to_dict()


def test_models_that_were_not_asked_for_neither_pass_nor_fail(found: ld.Audit) -> None:
    assert (found.models["k_anonymity"].passed, found.models["entropy_l"].passed) == (False, None)


def test_without_models_nothing_passes_or_fails() -> None:
    assert ld.audit(TABLE, quasi="age", sensitive="disease").passed is None


def test_people_who_can_be_read_off_are_counted(found: ld.Audit) -> None:
    assert found.verdict[0] == "2 of 3 classes hold one value of 'disease' only; 3 records can be read off."


def test_the_risk_of_an_attribute_is_told_by_how_sure_one_can_be(found: ld.Audit) -> None:
    risk = found.attribute_risk["disease"]

    assert (risk.records_read_off, risk.records_at_least_50, risk.records_at_least_90) == (3, 7, 3)
    assert risk.mean_largest_share == pytest.approx((3 + 3) / 7)
    assert risk.records_by_largest_share == {"0-0.25": 0, "0.25-0.5": 0, "0.5-0.75": 4, "0.75-1": 3}


def test_a_prosecutor_finds_one_in_as_many_as_look_alike(found: ld.Audit) -> None:
    assert asdict(found.risk.prosecutor) == {
        "max": 1,
        "mean": pytest.approx(3 / 7),
        "records_above": 7,
        "classes_above": 3,
    }


def test_the_threshold_is_the_callers() -> None:
    found = ld.audit(TABLE, quasi="age", sensitive="disease", threshold=0.5)

    assert found.risk.prosecutor.records_above == 1


def test_without_a_population_the_journalist_is_the_prosecutor(found: ld.Audit) -> None:
    assert found.risk.journalist.max == found.risk.prosecutor.max
    assert "No population was given, so the journalist's risk equals the prosecutor's." in found.notes


def test_a_population_lowers_the_risk_of_journalist_and_marketer() -> None:
    population = pa.table({"age": [30] * 8 + [40] * 4 + [50] * 5 + [60] * 9})

    found = ld.audit(TABLE, quasi="age", sensitive="disease", population=population)

    assert found.risk.journalist.max == 0.25
    assert found.risk.marketer.expected_records == pytest.approx(4 / 8 + 2 / 4 + 1 / 5)
    assert found.risk.prosecutor.max == 1


def test_a_population_that_lacks_people_of_the_table_is_noticed() -> None:
    found = ld.audit(TABLE, quasi="age", sensitive="disease", population=pa.table({"age": [30] * 8}))

    assert found.risk.journalist.classes_not_in_population == 2


def test_a_population_of_another_type_is_refused() -> None:
    with pytest.raises(ld.SchemaError, match="column 'age' must have the type integer, got text"):
        ld.audit(TABLE, quasi="age", sensitive="disease", population=pa.table({"age": ["30"]}))


def test_the_advice_names_a_command_and_the_largest_l(found: ld.Audit) -> None:
    command = "ldiversity anonymize TABLE --quasi age --sensitive disease --method mondrian"

    assert " ".join(found.advice.words).startswith(f"{command} --model k-anonymity:2 --model distinct:2")
    assert found.advice.largest_l == 1


def advice(*models: str, values: str = "abcabc") -> str:
    table = pa.table({"age": range(len(values)), "s": list(values)})
    return " ".join(ld.audit(table, quasi="age", sensitive="s", models=models).advice.words)


def test_the_advice_is_the_l_that_was_asked_for() -> None:
    assert "--method bsgi -l 3" in advice("distinct:3")


def test_the_advice_is_no_l_that_is_out_of_reach() -> None:
    assert advice("distinct:5") == ""


def test_a_k_that_no_l_reaches_takes_classes_of_any_values() -> None:
    assert "--method mondrian --model k-anonymity:6" in advice("k-anonymity:6")


def test_other_models_take_classes_that_satisfy_them() -> None:
    assert "--method mondrian --model t-closeness:0.1" in advice("t-closeness:0.1")


def test_several_models_are_promised_together() -> None:
    assert "--method mondrian --model t-closeness:0.1 --model distinct:2" in advice("t-closeness:0.1", "distinct:2")


def test_models_that_all_records_together_break_get_no_command() -> None:
    assert advice("t-closeness:0.1", "distinct:4") == ""


def test_without_a_text_form_no_command_is_made_up() -> None:
    table = pa.table({"age": [1, 2], "s": ["a", "b"]})
    tree = ld.TCloseness(0.1, "hierarchical", ld.Hierarchy.from_rows([("a", "*"), ("b", "*")]))

    assert ld.audit(table, quasi="age", sensitive="s", models=tree).advice.words == ()


def test_a_table_that_gives_nothing_away_needs_nothing() -> None:
    table = pa.table({"age": [1, 1], "s": ["a", "b"]})

    assert ld.audit(table, quasi="age", sensitive="s", models="distinct:2").advice.text.startswith("All models")


def test_names_with_commas_are_quoted_in_the_command() -> None:
    table = pa.table({"home, zip": [1, 2], "s": ["a", "b"]})

    assert '"home, zip"' in ld.audit(table, quasi="home, zip", sensitive="s").advice.words


def test_the_table_of_models_is_a_frame_of_the_kind_that_came_in() -> None:
    frame = ld.audit(TABLE.to_pandas(), quasi="age", sensitive="disease").to_frame()

    assert isinstance(frame, pd.DataFrame)
    assert frame.set_index("model").loc["frequency", "value"] == 1


def test_the_c_of_each_l_is_a_row_of_its_own() -> None:
    table = pa.table({"age": [1] * 6, "s": list("aaabbc")})

    rows = ld.audit(table, quasi="age", sensitive="s").to_frame().to_pylist()

    assert {row["model"]: row["value"] for row in rows if "recursive" in row["model"]} == {
        "recursive_c[2]": 1,
        "recursive_c[3]": 3,
    }


def test_the_worst_attribute_counts() -> None:
    table = pa.table({"age": [1, 1, 1], "s": ["a", "b", "c"], "t": ["a", "a", "b"]})

    figure = ld.audit(table, quasi="age", sensitive=["s", "t"]).models["distinct_l"]

    assert (figure.value, figure.by_attribute) == (2, {"s": 3, "t": 2})


def test_sizes_alone_can_be_audited() -> None:
    found = ld.audit(TABLE, quasi="age", models="k-anonymity:2")

    assert (found.passed, list(found.models), found.sensitive) == (False, ["k_anonymity"], ())


def test_a_model_of_values_needs_a_sensitive_column() -> None:
    with pytest.raises(ld.ParameterError, match="sensitive must name the sensitive columns to check 'distinct'"):
        ld.audit(TABLE, quasi="age", models=["k-anonymity:2", "distinct:2"])


@pytest.mark.parametrize("models", [(), "k-anonymity:7"])
def test_values_that_nobody_looked_at_are_not_called_safe(models: str) -> None:
    text = ld.audit(TABLE.append_column("sex", [["f"] * 7]), quasi="sex", models=models).advice.text

    assert "gives a value away" not in text
    assert "The audit looked only at the sizes of classes" in text


def test_asked_models_with_trees_and_distances_are_figures_too() -> None:
    table = pa.table({"age": [1] * 4, "s": [1, 2, 3, 4]})

    assert ld.audit(table, quasi="age", sensitive="s", models="semantic:2:2:ordered").models["l_d"].value == 2


def test_the_page_escapes_what_columns_are_called() -> None:
    table = pa.table({"<script>alert(1)</script>": [1, 2], "s": ["a", "b"]})

    page = ld.audit(table, quasi="<script>alert(1)</script>", sensitive="s").to_html()

    assert "<script" not in page
    assert "http" not in page


def test_the_small_page_has_the_verdict_and_the_models(found: ld.Audit) -> None:
    page = found._repr_html_()

    assert "can be read off" in page
    assert "distinct_l" in page


def test_no_cell_of_the_source_is_in_what_is_found() -> None:
    table = pa.table({"zip": ["secretville"] * 3 + ["hiddenton"], "s": ["leprosy", "flu", "flu", "leprosy"]})

    found = ld.audit(table, quasi="zip", sensitive="s", models=["distinct:2", "t-closeness:0.1"])

    everything = json.dumps(found.to_dict()) + str(found) + found.to_html() + repr(found)
    assert not [cell for cell in ("secretville", "hiddenton", "leprosy", "flu") if cell in everything]


def test_the_text_ends_with_what_to_do(found: ld.Audit) -> None:
    assert str(found).splitlines()[-2].startswith("  $ ldiversity anonymize TABLE")

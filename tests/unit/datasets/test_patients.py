from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ldiversity.datasets import DISEASES, patients, patients_tree, patients_truth, write_patients
from ldiversity.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path


def test_same_seed_gives_the_same_table() -> None:
    assert patients(500, seed=3).equals(patients(500, seed=3))


def test_another_seed_gives_another_table() -> None:
    assert not patients(500, seed=3).equals(patients(500, seed=4))


def test_default_table_has_two_thousand_patients_and_six_columns() -> None:
    table = patients()

    assert (table.num_rows, table.num_columns) == (2000, 6)


def test_empty_table_has_its_columns() -> None:
    assert patients(0).column_names == ["name", "age", "sex", "zip", "job", "disease"]


def test_names_are_distinct_numbers_of_patients() -> None:
    names = patients(1000)["name"].to_pylist()

    assert len(set(names)) == 1000
    assert all(name[0] == "P" and name[1:].isdigit() for name in names)


def test_zip_codes_are_five_digits_of_text_some_with_a_leading_zero() -> None:
    zips = patients(1000)["zip"].to_pylist()

    assert all(len(code) == 5 and code.isdigit() for code in zips)
    assert any(code.startswith("0") for code in zips)


def test_ages_reach_from_childhood_to_old_age() -> None:
    ages = np.array(patients(5000)["age"])

    assert 0 <= ages.min() < 5
    assert 90 < ages.max() < 100


def test_every_disease_of_the_tree_occurs_in_a_large_table() -> None:
    drawn = set(patients(20_000)["disease"].to_pylist())

    assert drawn == {disease.value for disease in DISEASES}


def test_probabilities_sum_to_one_in_every_band_and_sex() -> None:
    np.testing.assert_allclose(patients_truth().probabilities.sum(axis=2), 1.0)


def test_probabilities_are_never_zero() -> None:
    assert patients_truth().probabilities.min() > 0


def test_probabilities_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        patients_truth().probabilities[0, 0, 0] = 1.0


def test_drawn_diseases_follow_the_stated_probabilities() -> None:
    truth = patients_truth()
    table = patients(200_000, seed=7)
    band = np.searchsorted(truth.age_edges, np.array(table["age"]), side="right") - 1
    sex = np.array([truth.sexes.index(value) for value in table["sex"].to_pylist()])
    code_of = {value: code for code, value in enumerate(truth.diseases)}
    disease = np.array([code_of[value] for value in table["disease"].to_pylist()])

    counts = np.zeros(truth.probabilities.shape)
    np.add.at(counts, (band, sex, disease), 1)
    expected = counts.sum(axis=2, keepdims=True) * truth.probabilities
    chi2 = ((counts - expected) ** 2 / expected).sum()

    # 12 cells x 23 degrees of freedom: mean 276, sd 23.5; small expectations widen the tail (var of a term is
    # 2 + 1/expected). 6 sd of the exact variance is a false alarm below 1e-6.
    sd = np.sqrt(2 * 276 + (1 / expected).sum())
    assert abs(chi2 - 276) < 6 * sd


def test_heart_failure_comes_with_age() -> None:
    truth = patients_truth()
    by_band = truth.probabilities[:, 1, truth.diseases.index("C11 heart failure")]

    assert by_band[-1] > 20 * by_band[1]


def test_breast_cancer_is_mostly_a_disease_of_women() -> None:
    truth = patients_truth()
    female, male = truth.probabilities[3, :, truth.diseases.index("N11 breast cancer")]

    assert female > 20 * male


def test_no_block_of_the_tree_holds_a_third_of_the_diseases() -> None:
    chapters = [disease.row[2] for disease in DISEASES]

    assert max(map(chapters.count, chapters)) < len(DISEASES) / 3


def test_tree_has_every_disease_as_a_leaf() -> None:
    tree = patients_tree()

    assert set(tree.leaves) == set(patients_truth().diseases)


def test_written_table_has_a_header_and_a_line_a_patient(tmp_path: Path) -> None:
    table_path, _ = write_patients(tmp_path / "new", n=10)

    lines = table_path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "name,age,sex,zip,job,disease"
    assert len(lines) == 11


def test_written_tree_goes_from_leaf_to_root(tmp_path: Path) -> None:
    _, tree_path = write_patients(tmp_path, n=10)

    first = tree_path.read_text(encoding="utf-8").splitlines()[0]
    assert first == "A11 norovirus;A1 infections of the gut;A infections;any disease"


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_frames_of_other_kinds_hold_the_same_cells(frame: str) -> None:
    native = patients(50, frame=frame)

    assert type(native).__module__.split(".")[0] == frame
    assert native["disease"].to_list() == patients(50)["disease"].to_pylist()


def test_unknown_frame_is_refused_in_one_sentence() -> None:
    with pytest.raises(
        ParameterError, match=r"^patients: frame must be one of 'arrow', 'pandas', 'polars', got 'r'\.$"
    ):
        patients(5, frame="r")


def test_negative_number_of_patients_is_refused() -> None:
    with pytest.raises(ParameterError, match="n must be an integer of at least 0, got -1"):
        patients(-1)

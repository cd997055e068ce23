"""Sizes of classes and hidden records, on cases that can be checked by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.evaluation.measures._samples import bucketized
from ldiversity.models import FrequencyDiversity
from ldiversity.release import ClassRelease, Release
from ldiversity.schema import Attribute, Domain, Role, Schema


@pytest.fixture
def separate() -> ClassRelease:
    """Two attributes with classes of their own; the third record shows no job, the fourth no disease."""
    schema = Schema(
        (
            Attribute("disease", Role.SENSITIVE, "string", Domain(("cold", "flu"))),
            Attribute("job", Role.SENSITIVE, "string", Domain(("clerk", "cook", "nurse"))),
        )
    )
    return ClassRelease.in_memory(
        schema=schema,
        layout="bucketized",
        rules={"disease": FrequencyDiversity(l=2), "job": FrequencyDiversity(l=3)},
        class_of={"disease": np.array([0, 0, 1, -1, 1]), "job": np.array([0, 0, -1, 0, 0])},
        values={"disease": np.array([0, 1, 0, 0, 1]), "job": np.array([0, 1, 0, 2, 0])},
        columns=pa.table({}),
    )


def test_discernibility_sums_squares_and_charges_hidden_records_with_all() -> None:
    assert ld.discernibility(bucketized([0, 0, 1, 1, 1], suppressed=2)) == 4 + 9 + 2 * 7


def test_average_class_size_leaves_suppressed_records_out() -> None:
    assert ld.average_class_size(bucketized([0, 0, 1, 1, 1], suppressed=2)) == 2.5


def test_the_normalized_average_is_1_when_classes_are_as_small_as_can_be() -> None:
    assert ld.average_class_size(bucketized([0, 0, 1, 1]), l=2) == 1.0


def test_additional_loss_is_0_when_classes_are_as_small_as_can_be() -> None:
    assert ld.additional_loss(bucketized([0, 0, 1, 1])) == 0.0


def test_additional_loss_takes_another_l() -> None:
    assert ld.additional_loss(bucketized([0, 0, 0, 1, 1, 1]), l=1) == (2 + 2) / 2


def test_suppression_is_the_share_of_records_left_out() -> None:
    assert ld.suppression(bucketized([0, 0, 1], suppressed=1)) == 0.25


def test_hide_loss_of_the_example_of_paper_002() -> None:
    # Eight records, six of them in the class, two lost.
    assert ld.hide_loss(bucketized([0, 0, 0, 0, 0, 0], suppressed=2)) == 1 / 4


def test_hide_loss_of_one_attribute_counts_its_own_records(separate: ClassRelease) -> None:
    assert ld.hide_loss(separate, sensitive="job") == 1 / 5


def test_hide_loss_of_all_attributes_counts_records_that_lack_one(separate: ClassRelease) -> None:
    assert ld.hide_loss(separate) == 2 / 5


def test_separate_classes_are_measured_one_attribute_at_a_time(separate: ClassRelease) -> None:
    assert ld.discernibility(separate, sensitive="disease") == 4 + 4 + 1 * 5
    assert ld.discernibility(separate, sensitive="job") == 16 + 1 * 5


@pytest.mark.parametrize("measure", [ld.discernibility, ld.average_class_size, ld.additional_loss])
def test_separate_classes_must_be_named(measure: Callable[[Release], float], separate: ClassRelease) -> None:
    with pytest.raises(ld.ParameterError, match="each has its own classes"):
        measure(separate)


@pytest.mark.parametrize("measure", [ld.discernibility, ld.average_class_size, ld.additional_loss])
def test_a_release_of_sets_has_no_classes(measure: Callable[[Release], float], sets: Release) -> None:
    with pytest.raises(ld.UnsupportedError, match="has no classes"):
        measure(sets)


def test_a_release_of_sets_hides_nobody(sets: Release) -> None:
    assert (ld.hide_loss(sets), ld.suppression(sets)) == (0.0, 0.0)


def test_an_unknown_attribute_is_named(separate: ClassRelease) -> None:
    with pytest.raises(ld.ParameterError, match="sensitive must be one of 'disease', 'job', got 'age'"):
        ld.hide_loss(separate, sensitive="age")

"""Each model on tables: what holds, a planted violation, and every policy on missing values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.models import LevelUnique, PrivacyModel
from ldiversity.tables import Sensitive

TREE = ld.Hierarchy.from_rows([("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")])
DOMAIN = ["a", "b", "c", "d"]

# Four classes of the four values, then one more class that breaks the rule.
GOOD = [(str(zone), value) for zone in range(4) for value in DOMAIN]
ALIKE = [("new", value) for value in "aaaa"]
FEW = [("new", value) for value in "abcd"[:1]]
SKEWED = [("new", value) for value in "aaab"]
NEAR = [("new", value) for value in "abab"]

MODELS: list[tuple[PrivacyModel, list[tuple[str, str]]]] = [
    (ld.KAnonymity(4), FEW),
    (ld.DistinctDiversity(4), ALIKE),
    (ld.EntropyDiversity(3.5), SKEWED),
    (ld.RecursiveDiversity(c=2, l=3), SKEWED),
    (ld.FrequencyDiversity(4), SKEWED),
    (ld.AlphaK(alpha=0.25, k=4), SKEWED),
    (ld.UniqueDiversity(4), NEAR),
    (LevelUnique(4, levels=(0, 1, 2, 3)), NEAR),
    (ld.LevelDiversity(2, 1, TREE), NEAR),
    (ld.SemanticClassDiversity(2, 2, "ordered"), NEAR),
    (ld.TCloseness(0.25), ALIKE),
    (ld.TCloseness(0.25, ground="ordered"), ALIKE),
    (ld.TCloseness(0.25, ground="hierarchical", hierarchy=TREE), ALIKE),
    (ld.BetaLikeness(0.5), ALIKE),
    (ld.BetaLikeness(0.5, enhanced=True), ALIKE),
    (ld.DeltaDisclosure(0.5), ALIKE),
]
NAMES = [f"{model.name}-{getattr(model, 'ground', '')}{getattr(model, 'enhanced', '')}" for model, _ in MODELS]


def table(rows: Sequence[tuple[str | None, str | None]]) -> pa.Table:
    return pa.table(
        {"zone": pa.array([z for z, _ in rows], pa.string()), "s": pa.array([v for _, v in rows], pa.string())}
    )


def check(
    model: PrivacyModel,
    rows: Sequence[tuple[str | None, str | None]],
    missing: Any = "category",
    lacking: Any = "refuse",
) -> ld.Verdict:
    sensitive = Sensitive("s", domain=DOMAIN, missing=lacking)
    return ld.check(model, table(rows), quasi="zone", sensitive=sensitive, missing=missing)


@pytest.mark.parametrize("model", [model for model, _ in MODELS], ids=NAMES)
def test_a_table_that_satisfies_a_model_passes(model: PrivacyModel) -> None:
    assert check(model, GOOD).passed


@pytest.mark.parametrize(("model", "bad"), MODELS, ids=NAMES)
def test_a_planted_violation_is_caught(model: PrivacyModel, bad: list[tuple[str, str]]) -> None:
    verdict = check(model, [*GOOD, *bad])

    assert not verdict.passed
    assert verdict.n_records_failing >= len(bad)


@pytest.mark.parametrize(("model", "bad"), MODELS, ids=NAMES)
def test_a_violation_among_people_with_a_missing_quasi_identifier_is_caught(
    model: PrivacyModel, bad: list[tuple[str, str]]
) -> None:
    assert not check(model, [*GOOD, *((None, value) for _, value in bad)]).passed


@pytest.mark.parametrize(("model", "bad"), MODELS, ids=NAMES)
def test_a_violation_that_is_left_out_breaks_nothing(model: PrivacyModel, bad: list[tuple[str, str]]) -> None:
    assert check(model, [*GOOD, *((None, value) for _, value in bad)], missing="drop").passed


@pytest.mark.parametrize("model", [model for model, _ in MODELS], ids=NAMES)
def test_missing_quasi_identifiers_can_be_refused(model: PrivacyModel) -> None:
    with pytest.raises(ld.SchemaError, match="got 1 row without"):
        check(model, [*GOOD, (None, "a")], missing="refuse")


@pytest.mark.parametrize("model", [model for model, _ in MODELS], ids=NAMES)
def test_a_missing_sensitive_value_is_refused_by_every_model(model: PrivacyModel) -> None:
    with pytest.raises(ld.SchemaError, match="got 1 row without"):
        check(model, [*GOOD, ("0", None)])


@pytest.mark.parametrize("model", [model for model, _ in MODELS], ids=NAMES)
def test_rows_without_a_sensitive_value_can_be_left_out_for_every_model(model: PrivacyModel) -> None:
    assert check(model, [*GOOD, ("0", None)], lacking="drop").passed


CATEGORY = [model for model, _ in MODELS if not isinstance(model, LevelUnique)]


@pytest.mark.parametrize("model", CATEGORY, ids=lambda model: f"{model.name}-{getattr(model, 'ground', '')}")
def test_the_missing_category_is_a_value_to_every_model(model: PrivacyModel) -> None:
    assert check(model, [*GOOD, *((str(zone), None) for zone in range(4))], lacking="category").passed
    assert not check(model, [*GOOD, ("new", None)], lacking="category").passed


def test_models_may_be_written_as_texts() -> None:
    assert ld.check("distinct:4", table(GOOD), quasi="zone", sensitive="s").reached == 4


def test_k_anonymity_needs_no_sensitive_column() -> None:
    assert ld.check("k-anonymity:4", table(GOOD), quasi="zone").passed


def test_other_models_need_one() -> None:
    with pytest.raises(ld.ParameterError, match="sensitive must name the sensitive column to check 'distinct'"):
        ld.check("distinct:4", table(GOOD), quasi="zone")


def test_a_model_must_be_one() -> None:
    with pytest.raises(ld.ParameterError, match="models must be privacy models or their text forms, got int"):
        ld.check(3, table(GOOD), quasi="zone")  # type: ignore[arg-type]


@pytest.mark.parametrize(("k", "passed"), [(2, True), (3, False)])
def test_a_model_checks_a_table_itself(k: int, passed: bool) -> None:  # noqa: FBT001
    table = pa.table({"age": [1, 1, 2, 2], "disease": ["flu", "cut", "flu", "cold"]})

    assert ld.KAnonymity(k).check(table, quasi="age", sensitive="disease").passed is passed


def test_a_model_checks_a_release_itself() -> None:
    table = pa.table({"age": range(8), "disease": ["flu", "cut"] * 4})
    release = ld.anonymize(table, quasi="age", sensitive="disease", method=ld.Anatomy(l=2))

    assert ld.UniqueDiversity(2).check(release) == ld.check("unique:2", release)

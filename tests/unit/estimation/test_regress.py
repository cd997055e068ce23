"""`regress`: what it answers, in which frames, and what it refuses in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.estimation._regression._design import Design
from ldiversity.estimation._regression._formula import read_formula
from ldiversity.mechanisms import UniformSelection
from ldiversity.release import SetRelease
from ldiversity.schema import Attribute, Domain, Role, Schema

N, F = 1500, 4
VALUES = ("cold", "flu", "gout", "ulcer")


def draw(values: np.ndarray, l: int = 2, f: int = F) -> np.ndarray:
    mechanism = UniformSelection(f, l)
    words = np.random.default_rng(9).integers(0, 2**64, (len(values), mechanism.words_per_record), dtype=np.uint64)
    return mechanism.sample(values.astype(np.int32), words)[0]


def release_of(values: np.ndarray, kind: str = "arrow", domain: Domain | None = None, **columns: Any) -> ld.Release:
    table = pa.table(columns)
    shown = [Attribute(field.name, Role.QUASI, str(field.type)) for field in table.schema]
    domain = domain or Domain(VALUES)
    schema = Schema((*shown, Attribute("disease", Role.SENSITIVE, "string", domain)))
    sets = {"disease": draw(values, f=len(domain))}
    mechanisms = {"disease": UniformSelection(len(domain), 2)}
    return SetRelease.in_memory(schema=schema, columns=table, sets=sets, mechanisms=mechanisms, frame_kind=kind)


rng = np.random.default_rng(8)
AGE = rng.integers(20, 80, N)
SEX = np.array(["f", "m"])[rng.integers(0, 2, N)]
LOGITS = np.column_stack([np.zeros(N), 0.04 * (AGE - 50), (SEX == "m") * 0.8, np.full(N, -0.5)])
DISEASE = (LOGITS + rng.gumbel(size=LOGITS.shape)).argmax(axis=1)


@pytest.fixture(scope="module")
def release() -> ld.Release:
    return release_of(DISEASE, "pandas", age=AGE, sex=SEX)


@pytest.fixture(scope="module")
def fit(release: ld.Release) -> ld.Regression:
    return ld.regress(release, "disease ~ age + C(sex)", reference="cold")


def test_it_has_the_names_and_shapes_of_statsmodels(fit: ld.Regression) -> None:
    terms = ["Intercept", "age", "C(sex)[T.m]"]

    for frame in (fit.params, fit.bse, fit.tvalues, fit.pvalues):
        assert list(frame.index) == terms
        assert list(frame.columns) == ["flu", "gout", "ulcer"]
    assert fit.conf_int().loc[("flu", "age"), "low"] < fit.params.loc["age", "flu"]
    assert fit.conf_int(0.5).loc[("flu", "age"), "low"] > fit.conf_int().loc[("flu", "age"), "low"]
    assert fit.cov_params().shape == (9, 9)
    assert np.sqrt(np.diag(fit.cov_params())) == pytest.approx(fit.bse.to_numpy().T.ravel())
    assert (fit.nobs, fit.reference) == (N, "cold")
    assert fit.llf is not None
    assert fit.llf < 0
    assert fit.pvalues.loc["age", "flu"] < 1e-4
    for text in ("flu (against cold)", "C(sex)[T.m]", "std err", "2.5 %", "97.5 %", "1,500 records"):
        assert text in fit.summary()


@pytest.mark.parametrize("kind", ["arrow", "polars"])
def test_frames_are_of_the_kind_of_the_release(kind: str, fit: ld.Regression) -> None:
    other = ld.regress(release_of(DISEASE, kind, age=AGE, sex=SEX), "disease ~ age + C(sex)", reference="cold")

    frame = other.params
    assert type(frame).__module__.startswith("pyarrow" if kind == "arrow" else "polars")
    assert list(frame["term"]) == ["Intercept", "age", "C(sex)[T.m]"] or kind == "arrow"
    assert np.asarray(frame["flu"]) == pytest.approx(fit.params["flu"].to_numpy())
    assert len(other.to_frame()) == len(fit.to_frame()) == 9


def test_one_outcome_is_a_series_and_its_prediction_a_probability(release: ld.Release) -> None:
    fit = ld.regress(release, "disease == 'flu' ~ age")

    assert isinstance(fit.params, pd.Series)
    assert list(fit.conf_int().columns) == ["low", "high"]
    predicted = fit.predict(pd.DataFrame({"age": [20, 79, None], "other": 1}))
    odds = np.exp(fit.params["Intercept"] + fit.params["age"] * np.array([20, 79]))
    assert predicted["flu"].to_numpy()[:2] == pytest.approx(odds / (1 + odds))
    assert predicted.iloc[:2].sum(axis=1).to_numpy() == pytest.approx(1)
    assert predicted["flu"].isna().tolist() == [False, False, True]
    assert len(fit.predict()) == N


def test_predictions_for_records_that_do_not_fit_are_refused(fit: ld.Regression) -> None:
    with pytest.raises(ld.ParameterError, match="has no 'sex'"):
        fit.predict(pd.DataFrame({"age": [20]}))
    with pytest.raises(ld.ParameterError, match="categories that the regression has seen"):
        fit.predict(pd.DataFrame({"age": [20], "sex": ["x"]}))


def test_equal_records_are_put_together_without_changing_the_answer(
    release: ld.Release, fit: ld.Regression, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ldiversity.estimation._regression import _select

    few = ld.regress(release, "disease ~ C(sex)", reference="cold")
    seen: list[int] = []
    together = _select._put_together

    def apart(matrix: np.ndarray, pieces: np.ndarray) -> None:
        merged = together(matrix, pieces)
        assert merged is not None
        seen.append(len(merged[1]))

    monkeypatch.setattr(_select, "_put_together", apart)
    each = ld.regress(release, "disease ~ C(sex)", reference="cold")

    assert seen == [2 * 6]  # two sexes, six sets
    assert each.coefficients == pytest.approx(few.coefficients, abs=1e-6)
    assert each.covariance == pytest.approx(few.covariance, rel=1e-6)


def test_values_and_filters_choose_what_is_told_apart(release: ld.Release) -> None:
    some = ld.regress(release, "disease ~ age", values=["flu", "gout"])
    most = ld.regress(release, "disease ~ age", values=2, where="age >= 30")

    assert (some.outcomes, some.reference) == (("flu", "gout"), "(others)")
    assert len(most.outcomes) == 2
    assert most.n_records == np.count_nonzero(AGE >= 30)
    assert most.where == ("age >= 30",)
    assert ld.regress(release, "disease ~ age", values=["flu", "gout"], reference="flu").reference == "flu"
    assert ld.regress(release, "disease in ['flu', 'gout'] ~ age").outcomes == ("flu or gout",)


def test_columns_at_a_declared_level_are_categories_in_their_order() -> None:
    table = pa.table({"age": AGE, "disease": np.array(VALUES)[DISEASE]})
    release = ld.anonymize(
        table, quasi="age", sensitive="disease", method=ld.RandomizedAddition(l=2), levels={"age": "width:20"}
    )

    fit = ld.regress(release, "disease == 'flu' ~ age")

    assert fit.terms == ("Intercept", "age[T.[40, 60)]", "age[T.[60, 80)]")
    assert len(fit.predict(table)) == N


CASES: dict[str, tuple[dict[str, Any], str]] = {
    "a sensitive predictor": ({"formula": "disease ~ disease"}, "each record shows a set of its values"),
    "no sensitive outcome": ({"formula": "age ~ sex"}, "'age' is none"),
    "an unknown column": ({"formula": "disease ~ np.sqrt.__self__ + age"}, "does not exist"),
    "an unknown value": ({"formula": "disease == 'plague' ~ age"}, "must name values of the domain"),
    "all values": ({"formula": "disease in ['cold', 'flu', 'gout', 'ulcer'] ~ age"}, "at least one value"),
    "a category as a number": ({"formula": "disease ~ log(sex)"}, "must be computable"),
    "infinity": ({"formula": "disease ~ log(age - 20)"}, "must give finite numbers"),
    "the same twice": ({"formula": "disease ~ age + {2 * age + 1}"}, "follows from the terms before"),
    "a filter on what is hidden": ({"where": "disease = flu"}, "must name published columns"),
    "no record": ({"where": "age > 100"}, "select"),
    "few records": ({"where": "age = 30", "formula": "disease ~ C(sex) * bs(age, df=9)"}, "coefficients|finite|before"),
    "a reference outside": ({"values": ["flu"], "reference": "gout"}, "told apart"),
    "a text as values": ({"values": "flu"}, "a number, or a list"),
    "too many values": ({"values": 4}, "values must be an integer from 1 to 3"),
    "values twice": ({"formula": "disease == 'flu' ~ age", "values": 2}, "values must be left out"),
    "a linear model of texts": ({"model": "linear"}, "a sensitive column of numbers"),
    "an unknown model": ({"model": "probit"}, "model must be one of"),
    "no confidence": ({"confidence": 1}, "between 0 and 1"),
}


@pytest.mark.parametrize(("given", "said"), CASES.values(), ids=CASES)
def test_what_cannot_be_answered_is_refused_in_one_sentence(
    release: ld.Release, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(ld.LDiversityError, match=said) as refused:
        ld.regress(release, **({"formula": "disease ~ age"} | given))

    assert "\n" not in refused.value.message


def test_missing_predictors_are_refused_or_left_out() -> None:
    ages = pa.array([None if place < 7 else int(age) for place, age in enumerate(AGE)])
    release = release_of(DISEASE, age=ages, sex=SEX)

    with pytest.raises(ld.ParameterError, match="'age' is missing in 7 records") as refused:
        ld.regress(release, "disease ~ age")

    assert refused.value.hint == "Leave these records out by missing='drop'."
    fit = ld.regress(release, "disease ~ age", missing="drop")
    assert (fit.n_records, fit.left_out) == (N - 7, 7)
    assert "7 records left out" in fit.summary()


def test_cells_that_were_missing_before_they_were_made_coarser_are_missing() -> None:
    ages = pa.array([None if place < 7 else int(age) for place, age in enumerate(AGE)])
    release = ld.anonymize(
        pa.table({"age": ages, "disease": np.array(VALUES)[DISEASE]}),
        quasi="age",
        sensitive="disease",
        levels={"age": "width:20"},
        method=ld.RandomizedAddition(l=2),
        insecure_seed=1,
    )

    with pytest.raises(ld.ParameterError, match="'age' is missing in 7 records"):
        ld.regress(release, "disease ~ age")

    fit = ld.regress(release, "disease ~ age", missing="drop")
    assert (fit.n_records, fit.left_out) == (N - 7, 7)
    assert "(missing)" not in fit.summary()


def test_an_outcome_that_does_not_occur_is_refused_with_a_way_out_that_works() -> None:
    domain = Domain((*VALUES, "measles"))
    release = release_of(DISEASE, domain=domain, age=AGE)

    with pytest.raises(ld.ParameterError, match="1 of 5 outcomes occurs never") as refused:
        ld.regress(release, "disease ~ age")

    assert "measles" not in str(refused.value)
    (advised,) = [part for part in refused.value.hint.parts if not isinstance(part, str)]  # type: ignore[union-attr]
    assert len(ld.regress(release, "disease ~ age", values=advised.value).outcomes) == advised.value


def test_a_value_to_compare_with_that_does_not_occur_is_not_taken_for_the_others() -> None:
    release = release_of(DISEASE, domain=Domain((*VALUES, "measles")), age=AGE)
    refusal = "the outcome that all others are compared with occurs never"

    with pytest.raises(ld.ParameterError, match=refusal) as refused:
        ld.regress(release, "disease ~ age", values=4)
    (advised,) = [part for part in refused.value.hint.parts if not isinstance(part, str)]  # type: ignore[union-attr]
    assert len(ld.regress(release, "disease ~ age", values=advised.value).outcomes) == advised.value

    with pytest.raises(ld.ParameterError, match=refusal) as refused:
        ld.regress(release, "disease ~ age", reference="measles")
    assert "another value in reference" in str(refused.value.hint)


def test_separation_has_an_interval_without_an_end_that_holds_the_estimate() -> None:
    apart = np.where(SEX == "m", 0, 1 + DISEASE % 3)

    fit = ld.regress(release_of(apart, age=AGE, sex=SEX), "disease == 'cold' ~ sex")

    found = {one.term: one for one in fit.table}
    assert (found["Intercept"].low, found["sex[T.m]"].high) == (-np.inf, np.inf)
    assert 4 < found["sex[T.m]"].low <= found["sex[T.m]"].coefficient
    assert found["Intercept"].coefficient <= found["Intercept"].high < -2
    assert "around 'Intercept', 'sex[T.m]'" in fit.summary()


def test_intervals_follow_the_likelihood_where_it_is_no_parabola() -> None:
    """Compared with a slow and obvious search: the other coefficient at its best for each of many slopes."""
    from scipy.optimize import minimize_scalar

    rng = np.random.default_rng(4)
    x, method = np.exp(rng.standard_normal(500)), ld.RandomizedAddition(l=1, epsilon=2.0)
    chances = 1 / (1 + np.exp(1.5 + 0.4 * x))
    table = pa.table({"x": x, "s": np.array(["a", "b"])[(rng.random(500) < chances).astype(int)]})
    release = ld.anonymize(table, quasi="x", sensitive="s", method=method, insecure_seed=3)
    fit = ld.regress(release, "s == 'b' ~ x")
    x = release.columns(("x",))["x"].to_numpy()
    shown = release.sets("s")[:, 0] == 1
    kept = np.exp(2.0) / (np.exp(2.0) + 1)

    def fall(slope: float) -> float:
        def lost(intercept: float) -> float:
            b = 1 / (1 + np.exp(-np.clip(intercept + slope * x, -500, 500)))
            as_b = b * kept + (1 - b) * (1 - kept)
            return -float(np.log(np.where(shown, as_b, 1 - as_b)).sum())

        return float(minimize_scalar(lost, bounds=(-12, 12), method="bounded").fun)

    low, high = (float(fit.conf_int()[end][1].as_py()) for end in ("low", "high"))
    grid = np.linspace(-12, 1.5, 271)
    falls = np.array([fall(slope) for slope in grid])
    inside = grid[2 * (falls - falls.min()) < 1.959964**2]

    assert fit._profiles is not None
    assert high == pytest.approx(inside.max(), abs=0.06)
    assert low == pytest.approx(inside.min(), abs=0.06) if inside.min() > grid[0] else low < inside.min()
    assert fit.conf_int(alpha=0.5)["high"][1].as_py() < high


@pytest.mark.parametrize(
    ("method", "said"),
    [(ld.Anatomy(l=2), "share classes"), (ld.Mondrian(l=2), "share classes")],
    ids=["anatomy", "mondrian"],
)
def test_grouped_releases_are_refused_with_the_reason(method: ld.Method, said: str) -> None:
    table = pa.table({"age": AGE, "sex": SEX, "disease": np.array(VALUES)[DISEASE]}).slice(0, 200)
    release = ld.anonymize(table, quasi=["age", "sex"], sensitive="disease", method=method)

    with pytest.raises(ld.UnsupportedError, match=said) as refused:
        ld.regress(release, "disease ~ age")

    assert "estimate" in str(refused.value.hint)


def test_the_mean_of_numbers_is_that_of_numbers_which_are_right_on_average() -> None:
    domain = Domain((10, 20, 30, 40), ordered=True, positions=(10.0, 20.0, 30.0, 40.0))
    release = release_of(DISEASE, domain=domain, age=AGE)
    sets = release.sets("disease")

    fit = ld.regress(release, "disease ~ age", model="linear")

    # l = 2 of 4: a member counts 3/2 - 1/2, another value -1/2, and a sum over 4 values of both is one record.
    numbers = 1.5 * np.array([10, 20, 30, 40])[sets].sum(axis=1) - 0.5 * 100
    design = np.column_stack([np.ones(N), AGE])
    slow, *_ = np.linalg.lstsq(design, numbers, rcond=None)
    bread = np.linalg.inv(design.T @ design)
    meat = (design * (numbers - design @ slow)[:, None] ** 2).T @ design
    assert fit.coefficients[0] == pytest.approx(slow)
    assert fit.covariance == pytest.approx(bread @ meat @ bread * N / (N - 2))
    assert np.asarray(fit.predict()["disease"]) == pytest.approx(design @ slow)
    assert (fit.reference, fit.llf) == (None, None)


def test_a_formula_that_hides_code_in_backticks_runs_nothing(release: ld.Release, tmp_path: Path) -> None:
    file = tmp_path / "made"
    formula = f"""disease ~ I(age + ("`" != __import__("os").system("touch {file}") != "`"))"""

    for ask in (lambda: ld.regress(release, formula), lambda: release.impute(2, formula=formula)):
        with pytest.raises(ld.ParameterError, match="formula may"):
            ask()
        assert not file.exists()


def test_powers_of_whole_numbers_do_not_overflow() -> None:
    whole = Design.make(read_formula("disease ~ I(age**12) - 1").right, pa.table({"age": AGE}), N)

    assert np.allclose(whole.matrix[:, 0], AGE.astype(float) ** 12, rtol=1e-12)


def test_categories_of_whole_numbers_keep_their_names() -> None:
    columns = pa.table({"age": AGE})

    assert Design.make(read_formula("disease ~ C(age // 20)").right, columns, N).names[1:] == (
        "C(age // 20)[T.2]",
        "C(age // 20)[T.3]",
    )


def test_whole_numbers_that_floating_point_cannot_hold_are_refused() -> None:
    with pytest.raises(ld.SchemaError, match="below 2"):
        Design.make(read_formula("disease ~ C(key)").right, pa.table({"key": [2**53 + 1, 5]}), 2)


@pytest.mark.parametrize("term", ["C(one):C(other)", "C(one * other)", "bs(number, df=90):C(one)"])
def test_too_many_columns_are_refused_before_they_are_made(term: str) -> None:
    columns = {name: np.arange(4000) % size for name, size in (("one", 61), ("other", 59), ("number", 4000))}

    with pytest.raises(ld.ParameterError, match="at most 2000 columns") as refused:
        Design.make(read_formula(f"disease ~ {term}").right, pa.table(columns), 4000)
    assert refused.value.hint

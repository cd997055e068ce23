"""Formulas are read, not run: columns, numbers, arithmetic and known functions, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pytest

from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.estimation._regression._design import import_formulaic
from ldiversity.estimation._regression._formula import read_formula
from ldiversity.estimation._regression._names import known_names


@pytest.mark.parametrize(
    ("text", "outcome", "chosen", "columns"),
    [
        ("disease ~ age + C(sex)", "disease", None, ("age", "sex")),
        ("`my disease` ~ 1", "my disease", None, ()),
        ("disease == 'flu' ~ `home zip` + log(`home zip`)", "disease", ("flu",), ("home zip",)),
        ("disease in [1, 2] ~ age", "disease", (1, 2), ("age",)),
        ("disease ~ age * sex - 1", "disease", None, ("age", "sex")),
        ("disease ~ scale(age) + bs(income, df=4)", "disease", None, ("age", "income")),
        ("disease ~ C(sex, contr.treatment('f')) + np.sqrt(age)", "disease", None, ("sex", "age")),
        ("disease ~ I(age > 65) + {age / 10}", "disease", None, ("age",)),
    ],
)
def test_a_formula_says_what_it_needs(text: str, outcome: str, chosen: object, columns: tuple[str, ...]) -> None:
    read = read_formula(text)

    assert (read.outcome, read.chosen, set(read.columns)) == (outcome, chosen, set(columns))


@pytest.mark.parametrize(
    "term",
    [
        "__import__('pathlib').Path('{file}').touch()",
        "{{__import__('pathlib').Path('{file}').touch()}}",
        "I(open('{file}', 'w'))",
        "C(age, open('{file}', 'w'))",
        "np.load('{file}')",
        "I([open('{file}', 'w') for _ in age])",
        "I((lambda: open('{file}', 'w'))())",
        "contr.__init__('{file}')",
        "eval('1')",
        "lag(age)",
        # Backticks in texts are texts for Python, and formulaic writes texts into code of its own.
        'I(age + ("`" != open("{file}", "w") != "`"))',
        "I(age + ('`' != open('{file}', 'w') != '`'))",
        'C(age, contr.treatment("`" != open("{file}", "w") != "`"))',
        "I(age + ('\" + str(open(chr(47))) + \"' != 1))",
        'I(age + ("\\") + open(1) + (\\"" != 1))',
        'I(age != "it\'s")',
        "`open`('{file}', 'w')",
        "I(`open`('{file}', 'w'))",
        "I(`lambda`: age)",
        "poly(age, 2, _state=age)",
        "C(age, **age)",
    ],
)
def test_a_formula_runs_nothing_of_its_own(term: str, tmp_path: Path) -> None:
    file = tmp_path / "made"

    with pytest.raises(ParameterError, match="formula"):
        read_formula(f"disease ~ age + {term.format(file=file)}")

    assert not file.exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (3, "one ~"),
        ("disease", "one ~"),
        ("disease ~ age ~ sex", "one ~"),
        ("log(disease) ~ age", "must begin with a sensitive column"),
        ("disease == flu ~ age", "values in quotes"),
        ("disease == ['flu'] ~ age", "one value after =="),
        ("disease in 'flu' ~ age", "a list of values after in"),
        ("disease in [] ~ age", "a list of values after in"),
        ("disease ~ age +", "that can be read"),
        ("disease ~ (age", "that can be read"),
        ("disease ~ ", "one list of predictors"),
        ("disease ~ age | sex", "one list of predictors"),
        ("disease ~ .", "that can be read"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(text: object, said: str) -> None:
    with pytest.raises(ParameterError, match=said) as refused:
        read_formula(text)

    assert "\n" not in refused.value.message
    assert refused.value.parameter == "formula"
    assert refused.value.hint


@pytest.mark.parametrize(
    ("term", "said"),
    [
        ("I(9**9**9**9 * age)", "constants of at most 1e\\+100"),
        ("I(age * (-9)**(9**9))", "constants of at most 1e\\+100"),
        ("I(age * 10**60 * (10**60 * 10**60))", "constants of at most 1e\\+100"),
        ("I(age * I(9)**I(9)**I(9)**I(9))", "functions of columns"),
        ("I(age + (1 << 10**9))", "something else"),
        ("I(age + ('a' * 10**9 != 'b'))", "something else"),
        ("I(age + ('%1000000000d' % 3 != 'b'))", "something else"),
        ("C(age, levels=[1] * 10**9)", "something else"),
        ("poly(age, 100000)", "degree of at most 100"),
        ("poly(age, degree=10**5)", "degree of at most 100"),
        ("poly(age, income)", "degree of at most 100"),
        ("bs(age, df=100000)", "df of at most 100"),
        ("bs(age, 4, None, 100000)", "degree of at most 100"),
        ("cr(age, df=100000)", "df of at most 100"),
        (f"cs(age, knots={list(range(101))})", "knots of at most 100"),
        ("(age + sex)**1000000", "at most 10000 terms"),
        ("(age + sex)**(+1000000)", "a whole number after the"),
        ("*".join(f"a{number}" for number in range(30)), "at most 10000 terms"),
        (" + ".join(["age"] * 3000), "at most 10000 letters"),
    ],
)
def test_what_would_cost_without_end_is_refused_before_it_is_evaluated(term: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said) as refused:
        read_formula(f"disease ~ {term}")

    assert "\n" not in refused.value.message
    assert refused.value.hint


def test_names_in_backticks_are_told_apart() -> None:
    read = read_formula("disease ~ I(`a b` + a_b) + C(`c-d`, contr.treatment('x y'))")

    assert set(read.columns) == {"a b", "a_b", "c-d"}


def test_terms_see_no_names_but_those_of_formulas(tmp_path: Path) -> None:
    file = tmp_path / "made"
    formula = import_formulaic().Formula(
        f"{{(__import__('os').mkdir('{file}') != 1) * age}}"
    )  # as if it had passed the check
    frame = pa.table({"age": [1.0, 2.0]}).to_pandas()

    with pytest.raises(Exception, match="NoneType"):
        formula.get_model_matrix(frame, known_names([]), output="numpy")
    assert not file.exists()

    formula.get_model_matrix(frame, {}, output="numpy")  # the plant: without these names, the file is made
    assert file.exists()


def test_without_formulaic_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "formulaic", None)

    with pytest.raises(UnsupportedError, match="formulaic, which is not installed") as refused:
        read_formula("disease ~ age")

    assert refused.value.hint == "Run: pip install ldiversity[regression]"

"""Formulas are read, not run: columns, numbers, arithmetic and known functions, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ldiversity.errors import ParameterError, UnsupportedError
from ldiversity.estimation._regression._formula import read_formula


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


def test_without_formulaic_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "formulaic", None)

    with pytest.raises(UnsupportedError, match="formulaic, which is not installed") as refused:
        read_formula("disease ~ age")

    assert refused.value.hint == "Run: pip install ldiversity[regression]"

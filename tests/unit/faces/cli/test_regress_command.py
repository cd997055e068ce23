"""``ldiversity regress``: the same facts as in Python, as a table, as JSON and as CSV."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

import ldiversity as ld
from ldiversity.faces.cli import cli


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(1)
    age = rng.integers(20, 80, 900)
    disease = np.array(["cold", "flu", "gout"])[
        (rng.gumbel(size=(900, 3)) + np.outer(age, [0, 0.03, 0])).argmax(axis=1)
    ]
    release = ld.anonymize(
        pa.table({"age": age, "disease": disease}),
        quasi="age",
        sensitive="disease",
        method=ld.RandomizedAddition(l=2),
        insecure_seed=1,
    )
    release.save(tmp_path_factory.mktemp("regress") / "release")
    return Path(tmp_path_factory.getbasetemp()) / "regress0" / "release"


def run(*words: object) -> Result:
    return CliRunner().invoke(cli, ["regress", *map(str, words)], prog_name="ldiversity")


def test_it_prints_what_python_answers(folder: Path, tmp_path: Path) -> None:
    fit = ld.regress(folder, "disease ~ age", reference="cold")

    page = run(folder, "disease ~ age", "--reference", "cold", "--csv", tmp_path / "out.csv")
    document = run(folder, "disease ~ age", "--reference", "cold", "--json")

    assert page.exit_code == 0
    for text in ("disease ~ age: logit regression, 900 records", "Outcomes are compared with: cold.", "gout", "P>|z|"):
        assert text in page.stdout
    assert json.loads(document.stdout) == json.loads(json.dumps(fit.to_dict()))
    assert (tmp_path / "out.csv").read_text(encoding="utf-8-sig").startswith("outcome,term,coefficient,std_error,z")


@pytest.mark.parametrize(("values", "outcomes"), [("1", 1), ("flu,gout", 2)])
def test_values_are_a_number_or_a_list(folder: Path, values: str, outcomes: int) -> None:
    found = json.loads(run(folder, "disease ~ age", "--values", values, "--json").stdout)

    assert len(found["outcomes"]) == outcomes
    assert found["reference"] == "(others)"


def test_a_fault_is_spelled_as_the_command_line_does(folder: Path) -> None:
    refused = run(folder, "disease ~ disease")

    assert refused.exit_code == 2
    assert "formula must have published columns after the ~" in refused.stderr
    assert "--model logit" in run(folder, "disease ~ age", "--model", "linear").stderr


def test_a_formula_runs_no_code_and_costs_no_more_than_it_may(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "made"
    hidden = f"""disease ~ I(age + ("`" != __import__("os").system("touch {file}") != "`"))"""

    for formula in (
        hidden,
        "disease ~ I(9**9**9**9 * age)",
        "disease ~ poly(age, 100000)",
        "disease ~ bs(age, df=1e5)",
    ):
        refused = run(folder, formula)

        assert refused.exit_code == 2, formula
        assert "formula m" in refused.stderr
    assert not file.exists()

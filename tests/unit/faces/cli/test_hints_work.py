"""Every command that is printed to be run next can be run, on tidy tables and on messy ones."""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]


def people(n: int) -> list[list[object]]:
    draw = random.Random(1)
    return [
        [f"n{i}", 20 + i % 37, draw.choice("FM"), draw.randint(1000, 1040), draw.choice(["flu", "cut", "sty", "gout"])]
        for i in range(n)
    ]


Cells = list[object]
HEADS = "name,age,sex,zip,disease"


def hole(i: int, value: object, every: int = 7) -> object:
    return "" if i % every == 0 else value


TABLES: dict[str, tuple[str, Callable[[int, Cells], Cells]]] = {
    "tidy": (HEADS, lambda _, p: p),
    "missing": (HEADS, lambda i, p: [p[0], hole(i, p[1]), p[2], p[3], hole(i, p[4], 11)]),
    "mixed": (HEADS, lambda i, p: [p[0], hole(i, p[1]) or "unknown", *p[2:]]),
    "dates": ("name,birth,sex,disease", lambda i, p: [p[0], f"19{50 + i % 50}-03-11", p[2], p[4]]),
    "instants": ("name,birth,disease", lambda i, p: [p[0], f"19{50 + i % 50}-03-11T08:30:00", p[4]]),
    "fractions": ("name,age,income", lambda i, p: [*p[:2], 1000 + 37.25 * i]),
    "fractions with holes": ("name,age,income", lambda i, p: [*p[:2], hole(i, 1000 + 37.25 * i)]),
    "decimal commas": ("name;age;income", lambda i, p: [f'{p[0]};{p[1]};"{1000 + i % 7},5"']),
    "odd names": ('"a ""name""","age, in years","sex=yes",disease', lambda _, p: [*p[:3], p[4]]),
    "unicode": ("Ñame,年齢,disease", lambda _, p: [*p[:2], f"{p[4]}é"]),
    "several": (
        "name,age,disease,income,religion",
        lambda i, p: [*p[:2], hole(i, p[4]), "xyz"[i % 3], hole(i, "pqr"[i // 3 % 3], 11)],
    ),
    "constant": (HEADS, lambda _, p: [*p[:4], "flu"]),
    "no sensitive value": (HEADS, lambda _, p: [*p[:4], ""]),
}
SIZES = {"one row": 1, "two rows": 2, "header only": 0}


def write(file: Path, kind: str) -> Path:
    heads, change = TABLES.get(kind, TABLES["tidy"])
    rows = [change(i, one) for i, one in enumerate(people(SIZES.get(kind, 120)))]
    file.write_text("\n".join([heads, *(",".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")
    return file


KINDS = [*TABLES, *SIZES]


@pytest.fixture(params=KINDS)
def table(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "my table.csv", request.param)


def printed(result: Result) -> list[str]:
    """The commands that a page tells to run, with numbers in the place of what is to be filled in."""
    filled = {"WIDTH": "500", "LOW": "0", "HIGH": "10000"}
    lines = re.findall(r"^  \$ (ldiversity .*)$", result.stdout, re.MULTILINE)
    return [re.sub("WIDTH|LOW|HIGH", lambda found: filled[found[0]], line) for line in lines]


def test_what_describe_says_can_be_planned_published_and_estimated(run: Run, table: Path) -> None:
    described = run("describe", table)

    assert described.exit_code == 0, described.stderr
    for line in printed(described):
        planned = run(*shlex.split(line)[1:])
        assert planned.exit_code == 0, (line, planned.stderr)
        published = run("anonymize", *shlex.split(line)[2:], "-o", "release")
        assert published.exit_code == 0, (line, published.stderr)
        for next_line in printed(published):
            estimated = run(*shlex.split(next_line)[1:])
            assert estimated.exit_code == 0, (next_line, estimated.stderr)
        report = run("report", "release", "-o", "report.html", "--json")
        assert report.exit_code == 0, report.stderr


def test_a_column_that_tells_another_is_refused_with_two_ways_out_that_work(run: Run, tmp_path: Path) -> None:
    rows = [f"{age},{disease},{disease[0]}" for _, age, _, _, disease in people(120)]
    file = tmp_path / "coded.csv"
    file.write_text("\n".join(["age,disease,code", *rows]) + "\n", encoding="utf-8")
    words = ["plan", file, "--quasi", "age", "--sensitive", "disease", "-l", 2]

    refused = run(*words, "--plain", "code")

    assert refused.exit_code == 2
    assert "take it out of --plain" in refused.stderr
    assert run(*words).exit_code == 0
    (confirmed,) = re.findall(r"knowingly \((--confirm [^)]*)\)", refused.stderr)
    assert run(*words, "--plain", "code", *shlex.split(confirmed)).exit_code == 0


@pytest.mark.parametrize("how", ["drop", "category"])
def test_what_audit_says_can_be_run(run: Run, table: Path, how: str) -> None:
    described = printed(run("describe", table))
    if not described:
        return  # nothing of this table can be published, and describe says why
    roles = takewhile(lambda word: word not in {"--method", "-l"}, shlex.split(described[0])[2:])
    words = [word.replace("=category", f"={how}") for word in roles]

    audited = run("audit", *words)

    assert audited.exit_code == 0, audited.stderr
    for line in printed(audited):
        done = run(*shlex.split(line)[1:])
        assert done.exit_code == 0, (line, done.stderr)


WRONG = [
    (["plan", "TABLE", "--bins", "income=width:0,5"], "Fractions are written with a point"),
    (["plan", "TABLE", "--bins", "income=edges:0,5/1,5"], "Fractions are written with a point"),
    (["plan", "TABLE", "--method", "bsgi", "--hierarchy", "age=width:2,5/5"], "Fractions are written with a point"),
    (["plan", "TABLE", "--weight", "age=0,5", "--method", "bsgi"], "such as 0.5"),
    (["plan", "TABLE", "--method", "incognito", "--suppression", "0,05"], "Fractions are written with a point"),
    (["audit", "TABLE", "--threshold", "0,3"], "Fractions are written with a point"),
]


@pytest.mark.parametrize(("words", "said"), WRONG)
def test_a_decimal_comma_is_named(run: Run, tmp_path: Path, words: list[str], said: str) -> None:
    file = write(tmp_path / "table.csv", "fractions")
    roles = ["--quasi", "age", "--sensitive", "income", *(["-l", 2] if words[0] == "plan" else [])]

    result = run(*(file if word == "TABLE" else word for word in words), *roles)

    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def published(run: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Releases of dates and of numbers."""
    folder = tmp_path_factory.mktemp("published")
    made = {}
    for kind, quasi in (("dates", "birth,sex"), ("tidy", "age,sex"), ("instants", "birth")):
        for method in ("randomized-addition", "bsgi"):
            file = write(folder / f"{kind}.csv", kind)
            made[f"{kind} {method}"] = folder / f"{kind}-{method}"
            words = ["--quasi", quasi, "--sensitive", "disease", "--method", method, "-l", 2]
            result = run("anonymize", file, *words, "-o", made[f"{kind} {method}"])
            assert result.exit_code == 0, result.stderr
    return made


@pytest.mark.parametrize("method", ["randomized-addition", "bsgi"])
@pytest.mark.parametrize(
    ("kind", "by"),
    [
        *(("dates", "birth:10"), ("dates", "birth:q4"), ("dates", "sex:10"), ("dates", "birth:years")),
        *(("instants", "birth:10"), ("instants", "birth:decade"), ("tidy", "sex:5"), ("tidy", "age:year")),
        ("tidy", "sex:month"),
    ],
)
def test_a_division_that_is_refused_names_one_that_works(
    run: Run, published: dict[str, Path], kind: str, by: str, method: str
) -> None:
    release = published[f"{kind} {method}"]

    refused = run("estimate", release, "--by", by)

    assert refused.exit_code == 2
    column = by.partition(":")[0]
    named = re.findall(rf"--by ({column}(?::\w+)?)(?=[.;, ]|$)", refused.stderr)
    named += re.findall(rf"({column}:(?:year|10)),", refused.stderr)
    assert named, refused.stderr
    results = [run("estimate", release, "--by", one) for one in named]
    assert any(result.exit_code == 0 for result in results), (refused.stderr, [one.stderr for one in results])


@pytest.mark.parametrize(
    ("where", "works"),
    [("birth >= 1960", "birth >= 2020-01-31"), ("birth = March", "birth < 2020-01-31")],
)
def test_a_filter_of_dates_that_is_refused_says_how_dates_are_written(
    run: Run, published: dict[str, Path], where: str, works: str
) -> None:
    refused = run("estimate", published["dates randomized-addition"], "--where", where)

    assert refused.exit_code == 2
    assert "Write a day as 2020-01-31" in refused.stderr
    assert "cannot be read" not in run("estimate", published["dates randomized-addition"], "--where", works).stderr


@pytest.mark.parametrize("by", ["age:2,5", "age:0/2,5/9"])
def test_a_decimal_comma_in_cells_is_named(run: Run, published: dict[str, Path], by: str) -> None:
    refused = run("estimate", published["tidy randomized-addition"], "--by", by)

    assert refused.exit_code == 2
    assert "fractions are written with a point" in refused.stderr
    assert run("estimate", published["tidy randomized-addition"], "--by", by.replace("2,5", "2.5")).exit_code == 0

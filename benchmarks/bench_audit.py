"""What an audit costs: against pycanon's functions called one by one, and against polars, which counts alone.

The quasi-identifiers are those of Adult, drawn with replacement and with ages moved by up to three years, so that there
are about sixty thousand classes. pycanon wants an older numpy than this package, so that it is installed in a virtual
environment of its own; LDIVERSITY_PYCANON may name a Python that has it already. It is given four of its nine functions
(k-anonymity, distinct, entropy, t-closeness) to finish in minutes; the audit does all models.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from _measure import Result, cost_of, peak_memory_of

import ldiversity as ld
from ldiversity.errors import UnsupportedError
from ldiversity.evaluation.audit._numbering import number_rows
from ldiversity.release import Form
from ldiversity.schema import Attribute, Role, Schema

ROWS = 1_000_000
QUASI = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"]
SENSITIVE = "occupation"
TIMES_LESS = 50
MANY = 10_000_000
POLARS_WIDE, POLARS_MANY = 2.5, 1.14
"""Times what polars takes to count the cells that all models are judged by."""
SECONDS_WIDE, SECONDS_MANY = 0.4, 2.5

PYCANON = """
import json, sys, time
import pandas as pd
from pycanon import anonymity
table = pd.read_csv(sys.argv[1])
quasi, sensitive = sys.argv[2].split(","), [sys.argv[3]]
functions = {
    "k_anonymity": lambda: anonymity.k_anonymity(table, quasi),
    "distinct_l": lambda: anonymity.l_diversity(table, quasi, sensitive),
    "entropy_l": lambda: anonymity.entropy_l_diversity(table, quasi, sensitive),
    "t_equal": lambda: anonymity.t_closeness(table, quasi, sensitive),
}
found = {}
for name, function in functions.items():
    start = time.process_time()
    value = function()
    found[name] = {"seconds": time.process_time() - start, "value": float(value)}
print(json.dumps(found))
"""

MEMORY = """
import sys
import ldiversity as ld
ld.audit(sys.argv[1], quasi=sys.argv[2].split(","), sensitive=sys.argv[3])
"""

RELEASE_MEMORY = """
import sys
import ldiversity as ld
ld.audit(sys.argv[1])
"""


def run() -> list[Result]:
    try:
        table = adult_like(ROWS)
    except UnsupportedError as missing:
        print(f"audit: not measured, because Adult is not here. {missing}")
        return []
    ld.audit(table.slice(0, 1000), quasi=QUASI, sensitive=SENSITIVE)  # imports and compiles
    cost = cost_of(lambda: ld.audit(table, quasi=QUASI, sensitive=SENSITIVE))
    found = ld.audit(table, quasi=QUASI, sensitive=SENSITIVE)
    against_polars = [
        *_against_polars("1M rows, 7 columns", table, QUASI, POLARS_WIDE, SECONDS_WIDE),
        *_against_polars("10M rows, 3 columns", many_cells(MANY), ["age", "place", "sex"], POLARS_MANY, SECONDS_MANY),
    ]
    memory = [_memory(table), *(_release_memory(table, layout) for layout in ("sets", "generalized"))]
    return [*_against_pycanon(table, cost.cpu, found), *against_polars, _exact_semantic(table), *memory]


def adult_like(rows: int) -> pa.Table:
    """Rows of Adult, drawn with replacement, with ages moved a little."""
    adult = ld.datasets.adult("all", "keep").select([*QUASI, SENSITIVE])
    rng = np.random.default_rng(0)
    drawn = adult.take(pa.array(rng.integers(0, adult.num_rows, rows)))
    ages = np.clip(np.asarray(drawn["age"]) + rng.integers(-3, 4, rows), 17, 90)
    return drawn.set_column(0, "age", pa.array(ages)).combine_chunks()


def many_cells(rows: int) -> pa.Table:
    """About three million different combinations of three quasi-identifiers and a sensitive value."""
    rng = np.random.default_rng(1)
    places = rng.integers(0, 1500, rows)
    jobs = pa.array([f"occupation {number}" for number in range(14)])
    return pa.table(
        {
            "age": rng.integers(17, 90, rows),
            "place": pa.array([f"{number:05d}" for number in range(1500)]).take(pa.array(places)),
            "sex": pa.array(["f", "m"]).take(pa.array(rng.integers(0, 2, rows))),
            SENSITIVE: jobs.take(pa.array(rng.integers(0, 14, rows))),
        }
    )


def _against_polars(what: str, table: pa.Table, quasi: list[str], limit: float, seconds: float) -> list[Result]:
    import polars as pl

    frame, names = pl.from_arrow(table), [*quasi, SENSITIVE]
    theirs = cost_of(lambda: frame.group_by(names).len())
    ours = cost_of(lambda: ld.audit(table, quasi=quasi, sensitive=SENSITIVE))
    detail = f"{ours.cpu:.2f} s against {theirs.cpu:.2f} s for {len(frame.group_by(names).len()):,} cells"
    return [
        Result(f"audit, {what}", ours.cpu, seconds, "s CPU"),
        Result(f"audit, {what} / polars counting cells", ours.cpu / theirs.cpu, limit, "x CPU", detail),
    ]


def _against_pycanon(table: pa.Table, cpu: float, found: ld.Audit) -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        python = _python_with_pycanon(Path(folder))
        if python is None:
            print(f"audit: {cpu:.2f} s CPU; not compared, because pycanon could not be installed.")
            return []
        file = Path(folder) / "table.csv"
        pa_csv.write_csv(table, file)
        command = [str(python), "-c", PYCANON, str(file), ",".join(QUASI), SENSITIVE]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    theirs = json.loads(done.stdout.splitlines()[-1])
    seconds = {name: one["seconds"] for name, one in theirs.items()}
    listed = ", ".join(f"{name} {second:.1f} s" for name, second in seconds.items())
    detail = f"{cpu:.2f} s for all models of {found.classes.count:,} classes against {listed}"
    equal = all(abs(one["value"] - found.models[name].value) < 1e-6 for name, one in theirs.items())
    return [
        Result(
            "audit, 1M rows, 7 columns: CPU of pycanon / ours",
            sum(seconds.values()) / cpu,
            TIMES_LESS,
            "x",
            detail,
            True,
        ),
        Result("audit: values equal to pycanon's", float(equal), 1, "", "k, distinct, entropy, t", True),
    ]


def _python_with_pycanon(folder: Path) -> Path | None:
    given = os.environ.get("LDIVERSITY_PYCANON")
    if given:
        return Path(given)
    home = folder / "pycanon"
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    steps = ([sys.executable, "-m", "venv", str(home)], [str(python), "-m", "pip", "install", "-q", "pycanon"])
    for step in steps:
        if subprocess.run(step, check=False, capture_output=True).returncode:
            return None
    return python


def _exact_semantic(table: pa.Table) -> Result:
    values = np.random.default_rng(1).integers(0, 148, table.num_rows)
    wide = table.append_column("level", pa.array(values))
    distinct, semantic = ld.DistinctDiversity(3), ld.SemanticClassDiversity(3, 5, "ordered")
    costs = []
    for model in (distinct, semantic):
        ld.check(model, wide.slice(0, 1000), quasi=QUASI, sensitive="level")
        costs.append(cost_of(lambda model=model: ld.check(model, wide, quasi=QUASI, sensitive="level")).cpu)
    detail = f"{costs[1]:.2f} s against {costs[0]:.2f} s"
    return Result("exact (l,d) check, 1M rows, F=148 / distinct check", costs[1] / costs[0], 3, "x CPU", detail)


def _memory(table: pa.Table) -> Result:
    """Five times the rows, the same classes: memory must not grow with them."""
    peaks = []
    with tempfile.TemporaryDirectory() as folder:
        for times in (1, 5):
            file = Path(folder) / f"table{times}.csv"
            pa_csv.write_csv(pa.concat_tables([table] * times), file)
            peaks.append(peak_memory_of(MEMORY, str(file), ",".join(QUASI), SENSITIVE))
    return _ratio("audit of a file", peaks)


def _release_memory(table: pa.Table, layout: str) -> Result:
    """The same of a release, which is all that its audit reads."""
    peaks = []
    with tempfile.TemporaryDirectory() as folder:
        for times in (1, 5):
            home = Path(folder) / f"release{times}"
            many = pa.concat_tables([table] * times).combine_chunks()
            if layout == "sets":
                ld.anonymize(many, quasi=QUASI, sensitive=SENSITIVE, method=ld.RandomizedAddition(l=3), output=home)
            else:
                _one_class_a_combination(many).save(home)
            peaks.append(peak_memory_of(RELEASE_MEMORY, str(home)))
    return _ratio(f"audit of a release ({layout})", peaks)


def _one_class_a_combination(table: pa.Table) -> ld.ClassRelease:
    """Classes of equal columns, so that their number does not depend on the rows."""
    names = ["education", "marital-status", "race", "sex"]
    ids, first = number_rows(table, names)
    values = table[SENSITIVE].combine_chunks().dictionary_encode()
    labels = {name: tuple(sorted(table[name].unique().to_pylist())) for name in names}
    regions = {name: [[value] for value in table[name].take(pa.array(first)).to_pylist()] for name in names}
    sensitive = Attribute(SENSITIVE, Role.SENSITIVE, "string", ld.Domain(tuple(values.dictionary.to_pylist())))
    return ld.ClassRelease.in_memory(
        schema=Schema((*(Attribute(name, Role.QUASI, "string") for name in names), sensitive)),
        layout="generalized",
        rules={SENSITIVE: ld.AlphaK(1.0, 1)},
        class_of=ids,
        values={SENSITIVE: np.asarray(values.indices)},
        regions=pa.table(regions),
        forms={name: Form("values", labels=labels[name]) for name in names},
    )


def _ratio(what: str, peaks: list[int]) -> Result:
    detail = f"{peaks[1] / 1e6:.0f} MB against {peaks[0] / 1e6:.0f} MB"
    return Result(f"{what}: memory for 5M rows / for 1M rows", peaks[1] / peaks[0], 1.5, "x", detail)

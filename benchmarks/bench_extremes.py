"""How far ends of intervals single people out, with and without the public grid: the attack `extremes` on Adult.

Usage: LDIVERSITY_DATA=<folder with adult.csv.gz> python benchmarks/run.py extremes
"""

from __future__ import annotations

import os

from _measure import Result
from bench_grid import COARSE, METHODS, QUASI, marital_tree

import ldiversity as ld

GRIDS = {"without a grid": "exact", "default grid": None, "coarser grid": {**COARSE, "education-num": 2}}
MOST = {"without a grid": 1.0, "default grid": 0.6, "coarser grid": 0.35}
"""For a grid to be worth its loss, it must keep this share of the records from being singled out by an end."""


def run() -> list[Result]:
    if not os.environ.get("LDIVERSITY_DATA"):
        print("LDIVERSITY_DATA does not name the folder of the public data sets (Adult): no figures for extremes.")
        return []
    adult = ld.datasets.adult()
    results = []
    for name, method in METHODS.items():
        if name.startswith("TP"):
            continue  # its regions are single combinations of cells, or nothing
        for words, grid in GRIDS.items():
            release = ld.anonymize(
                adult,
                quasi=QUASI,
                sensitive="occupation",
                hierarchies={"marital-status": marital_tree(adult)},
                method=method,
                grid=grid,  # type: ignore[arg-type]
                insecure_seed=1,
            )
            (found,) = ld.attack(release, adult, attacks="extremes").results
            said = found.details
            detail = f"most by {said['isolating_column']}; by value {said['isolated_by_value']:.3f}; verbatim: "
            detail += ", ".join(f"{column} {said[f'verbatim_{column}']:.3f}" for column in QUASI[:4])
            title = f"{name}, {words}: share of records singled out by an end"
            results.append(Result(title, float(said["isolated_by_end"] or 0), MOST[words], "", detail))
    return results

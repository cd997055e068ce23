"""Make the stored samples of the format versions. A sample that exists is never made again.

``python -m tests.data.make_samples`` makes those of version 2 from those of version 1, in several files.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import ldiversity as ld
from tests.unit.release.several_files import save

HERE = Path(__file__).parent
DISEASES = [["flu", "lungs", "any"], ["asthma", "lungs", "any"], ["angina", "heart", "any"], ["stroke", "heart", "any"]]
DISEASES += [["eczema", "skin", "any"], ["rash", "skin", "any"], ["gout", "joints", "any"], ["sprain", "joints", "any"]]
SEXES = ld.Hierarchy.from_rows([("F", "any"), ("M", "any")])


def main() -> None:
    """Publish one small table in every layout, format and kind of mechanism."""
    n = 40
    table = pa.table(
        {
            "age": [20 + (7 * i) % 50 for i in range(n)],
            "sex": ["F" if i % 2 else "M" for i in range(n)],
            "disease": [DISEASES[(3 * i + i // 9) % 8][0] for i in range(n)],
            "income": pa.array([None if i == 0 else 100 * ((5 * i) % 23) for i in range(n)]),
        }
    )
    tree = ld.TreeDistance(ld.Hierarchy.from_rows(DISEASES))
    disease = ld.Sensitive("disease", domain=[row[0] for row in DISEASES])
    income = ld.Sensitive("income", width=500, low=0, high=2500, missing="category")
    publish = {
        "uniform-parquet": (disease, ld.RandomizedAddition(l=3), {}),
        "uniform-csv": (disease, ld.RandomizedAddition(l=3), {"data_format": "csv"}),
        "exploded-parquet": (disease, ld.RandomizedAddition(l=2), {"layout": "exploded"}),
        "balanced-parquet": (disease, ld.SemanticDiversity(l=2, d=2, distance=tree), {}),
        "simple-csv": (
            disease,
            ld.SemanticDiversity(l=3, d=2, distance=tree, selection="simple"),
            {"data_format": "csv"},
        ),
        "two-attributes-parquet": ([disease, income], ld.RandomizedAddition(l=2), {}),
        "generalized-parquet": (disease, ld.BSGI(l=2), {"hierarchies": {"sex": SEXES}}),
        "generalized-csv": (disease, ld.BSGI(l=2), {"data_format": "csv", "marginals": True}),
        "bucketized-parquet": ([disease, income], ld.MBF(l=2), {}),
        "bucketized-csv": (disease, ld.Anatomy(l=3), {"data_format": "csv"}),
        "separate-parquet": ([disease, income], ld.LLMSU(l=2, joint=False), {}),
    }
    for name, (sensitive, method, options) in publish.items():
        if (HERE / f"release-v1-{name}").exists():
            continue
        ld.anonymize(
            table,
            quasi=["age", "sex"],
            sensitive=sensitive,
            method=method,
            insecure_seed=1,
            output=HERE / f"release-v1-{name}",
            **options,
        )
    for name in ("uniform-parquet", "exploded-parquet", "generalized-csv", "bucketized-parquet", "separate-parquet"):
        if not (HERE / f"release-v2-{name}").exists():
            release = ld.load_release(HERE / f"release-v1-{name}")
            save(release, HERE / f"release-v2-{name}", 3, data_format=name.rpartition("-")[2])


if __name__ == "__main__":
    main()

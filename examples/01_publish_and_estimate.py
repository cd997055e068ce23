"""Publish a table of patients, then estimate from the release as a data user does.

Run: python examples/01_publish_and_estimate.py
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import ldiversity as ld


def main() -> None:
    """Publish, load, estimate, and compare with the truth that only the holder knows."""
    patients = ld.datasets.patients(5000)

    # --- the data holder ---------------------------------------------------------------------------------
    release = ld.anonymize(
        patients,
        quasi=["age", "sex", "zip"],
        sensitive=ld.Sensitive("disease", domain=ld.datasets.patients_truth().diseases),
        drop=["name", "job"],
        method=ld.RandomizedAddition(l=3),
    )
    print("Three published records; each shows its true disease and two others:")
    for record in release.table.slice(0, 3).to_pylist():
        print(f"  {record['age']:3} {record['sex']:6} {record['zip']}  {', '.join(record['disease'])}")

    with tempfile.TemporaryDirectory() as folder:
        release.save(Path(folder) / "release")

        # --- the data user -------------------------------------------------------------------------------
        received = ld.load_release(Path(folder) / "release")
        estimate = ld.estimate(received, by=["sex", ld.bins("age", edges=[0, 40, 60, 100])])

    # --- the holder again, who can check -----------------------------------------------------------------
    truth = Counter(
        disease
        for age, sex, disease in zip(*(patients[name].to_pylist() for name in ("age", "sex", "disease")), strict=True)
        if sex == "female" and age >= 60
    )
    rows = [row for row in estimate.to_frame().to_pylist() if row["sex"] == "female" and row["age"].startswith("[60")]
    rows.sort(key=lambda row: -row["count"])
    print("\nWomen aged 60 or older, the six most frequent diseases:")
    print(f"  {'disease':24} {'estimate':>8}   {'95 % interval':>13}   {'truth':>5}")
    for row in rows[:6]:
        interval = f"{row['low']:.0f} to {row['high']:.0f}"
        print(f"  {row['value']:24} {row['count']:8.0f}   {interval:>13}   {truth[row['value']]:5}")


if __name__ == "__main__":
    main()

"""Make the pictures of the README: ``make picture``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import ldiversity as ld
from ldiversity.pictures import plot_estimate, save_figure

HERE = Path(__file__).parent


def main() -> None:
    """Publish the built-in patients, estimate from the release alone, and draw it beside the truth."""
    patients = ld.datasets.patients(20_000, seed=1)
    # The seed makes the picture the same each time; never publish real people with one.
    release = ld.anonymize(
        patients,
        quasi=["age", "sex", "zip", "job"],
        drop="name",
        sensitive="disease",
        method=ld.RandomizedAddition(l=3),
        insecure_seed=1,
    )
    estimate = ld.estimate(release, by=[ld.bins("age", edges=[0, 30, 60, 100])])
    age, disease = np.asarray(patients["age"]), np.array(patients["disease"].to_pylist())
    bands = np.digitize(age, [30, 60])
    truth = [
        [np.mean(disease[bands == band] == value) for value in release.domain("disease").values] for band in range(3)
    ]
    records = estimate.records[:, None]
    figure = plot_estimate(
        [f"age {label}" for label in estimate.labels["age"].to_pylist()],
        release.domain("disease").labels,
        estimate.share,
        estimate.low / records,
        estimate.high / records,
        title="20,000 patients, three diseases shown for each: what the release tells",
        truth=truth,
        records=estimate.records,
    )
    save_figure(figure, HERE / "estimate.png")


if __name__ == "__main__":
    main()

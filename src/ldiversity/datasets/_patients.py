"""The patients of a made-up hospital, with a known truth."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ldiversity.base.checks import check_integer
from ldiversity.datasets._diseases import AGE_EDGES, DISEASES, SEXES, patients_truth
from ldiversity.datasets._frames import as_frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ldiversity.hierarchies import Hierarchy

__all__ = ["patients", "patients_tree", "write_patients"]

_BAND_SHARES: Final = (0.07, 0.07, 0.17, 0.25, 0.31, 0.13)
_FEMALE_SHARES: Final = (0.47, 0.52, 0.56, 0.50, 0.50, 0.60)
_ZIP_AREAS: Final = ("010", "013", "047", "130", "131", "208", "552", "907")
_ZIPS_PER_AREA: Final = 6
_JOBS: Final = (
    "artist", "builder", "clerk", "cook", "driver", "engineer", "farmer", "nurse", "out of work",
    "sales", "teacher",
)  # fmt: skip
_JOB_SHARES: Final = np.array(
    [
        [0.04, 0.01, 0.22, 0.06, 0.02, 0.06, 0.03, 0.15, 0.07, 0.18, 0.16],
        [0.03, 0.15, 0.11, 0.06, 0.14, 0.15, 0.05, 0.03, 0.07, 0.14, 0.07],
    ]
)
_SCHOOL_STARTS: Final = 6
_WORK_STARTS: Final = 18
_WORK_ENDS: Final = 66


def patients(n: int = 2000, seed: int = 0, frame: str = "arrow") -> Any:  # noqa: ANN401 - `frame` chooses the type
    """Make up a table of hospital patients.

    Parameters
    ----------
    n
        How many patients.
    seed
        The same `n` and `seed` give the same table. The generator is not a secure one: these are test data.
    frame
        ``"arrow"``, ``"pandas"`` or ``"polars"``.

    Returns
    -------
    pyarrow.Table, pandas.DataFrame or polars.DataFrame
        `name` (an invented patient number), `age` (0 to 99), `sex`, `zip` (five digits as text, some with
        leading zeros), `job` and `disease`, which depends on age band and sex as `patients_truth` says.

    See Also
    --------
    patients_tree : how alike the diseases are.
    patients_truth : the probabilities behind the table.

    Examples
    --------
    >>> patients(3).column_names
    ['name', 'age', 'sex', 'zip', 'job', 'disease']
    >>> patients(3)["name"].to_pylist()
    ['P000001', 'P000002', 'P000003']
    """
    n = check_integer("patients", "n", n, minimum=0)
    rng = np.random.default_rng(check_integer("patients", "seed", seed, minimum=0))
    band = _draw(rng, np.tile(_BAND_SHARES, (n, 1)))
    age = _ages(rng, band)
    sex = (rng.random(n) >= np.array(_FEMALE_SHARES)[band]).astype(np.intp)
    zip_codes = _zips(rng, n)
    jobs = _jobs(rng, age, sex)
    disease = _draw(rng, patients_truth().probabilities[band, sex])
    table = pa.table(
        {
            "name": pa.array([f"P{number:06d}" for number in range(1, n + 1)], pa.string()),
            "age": pa.array(age, pa.int64()),
            "sex": _labels(SEXES, sex),
            "zip": zip_codes,
            "job": jobs,
            "disease": _labels([d.value for d in DISEASES], disease),
        }
    )
    return as_frame("patients", table, frame)


def patients_tree() -> Hierarchy:
    """Return the tree of the diseases of `patients`: disease, block, chapter, root.

    The tree distance of two diseases is 1 within a block, 2 within a chapter, and 3 otherwise. Every value that
    `patients` can draw is a leaf, including those that do not occur in a small table.

    Examples
    --------
    >>> from ldiversity.datasets import DISEASES
    >>> DISEASES[0].row
    ('A11 norovirus', 'A1 infections of the gut', 'A infections', 'any disease')
    """
    from ldiversity.hierarchies import Hierarchy

    return Hierarchy.from_rows([disease.row for disease in DISEASES])


def write_patients(folder: str | Path, n: int = 2000, seed: int = 0) -> tuple[Path, Path]:
    """Write ``patients.csv`` and ``diseases.csv`` into a folder, create it if necessary, and return both paths.

    ``diseases.csv`` is a hierarchy file: one line per disease, ``leaf;block;chapter;root``, no header.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    table_path, tree_path = folder / "patients.csv", folder / "diseases.csv"
    table = patients(n, seed)
    with table_path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(table.column_names)
        writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    lines = [";".join(disease.row) for disease in DISEASES]
    tree_path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return table_path, tree_path


def _draw(rng: np.random.Generator, probabilities: NDArray[np.float64]) -> NDArray[np.intp]:
    """Draw one position from each row of `probabilities`, by inverting its cumulative sum."""
    cumulative = probabilities.cumsum(axis=1)
    cumulative[:, -1] = 1.0  # rounding must not leave a gap below 1
    drawn: NDArray[np.intp] = (rng.random((len(cumulative), 1)) >= cumulative).sum(axis=1)
    return drawn


def _ages(rng: np.random.Generator, band: NDArray[np.intp]) -> NDArray[np.int64]:
    low, high = np.array(AGE_EDGES[:-1])[band], np.array(AGE_EDGES[1:])[band]
    within = rng.random(len(band))
    last = band == len(AGE_EDGES) - 2
    within[last] = 1 - np.sqrt(1 - within[last])  # ever fewer people toward 100
    ages: NDArray[np.int64] = (low + within * (high - low)).astype(np.int64)
    return ages


def _zips(rng: np.random.Generator, n: int) -> pa.Array:
    zips = [f"{area}{7 * place + 1:02d}" for place in range(_ZIPS_PER_AREA) for area in _ZIP_AREAS]
    weights = 1.0 / np.arange(2, len(zips) + 2)
    return _labels(zips, rng.choice(len(zips), size=n, p=weights / weights.sum()))


def _jobs(rng: np.random.Generator, age: NDArray[np.int64], sex: NDArray[np.intp]) -> pa.Array:
    labels = [*_JOBS, "pupil", "child", "retired"]
    job = _draw(rng, _JOB_SHARES[sex])
    job[age < _WORK_STARTS] = labels.index("pupil")
    job[age < _SCHOOL_STARTS] = labels.index("child")
    job[age >= _WORK_ENDS] = labels.index("retired")
    return _labels(labels, job)


def _labels(labels: list[str] | tuple[str, ...], codes: NDArray[np.intp]) -> pa.Array:
    return pa.array(labels, pa.string()).take(pa.array(codes, pa.int64()))

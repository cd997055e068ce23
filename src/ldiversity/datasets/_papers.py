"""The two small tables with which the papers explain their methods."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from ldiversity.datasets._frames import as_frame

__all__ = ["hospital", "obesity"]

_OBESITY_COUNTS: Final = {
    ("male", "over 50"): (120, 50, 10, 20, 30),
    ("female", "over 50"): (80, 60, 30, 10, 20),
    ("male", "under 50"): (50, 30, 110, 100, 90),
    ("female", "under 50"): (20, 20, 40, 40, 70),
}

_HOSPITAL: Final = (
    ("M", 41, "13000", "Artist", "Fever"),
    ("F", 41, "17025", "Artist", "Sty"),
    ("M", 50, "13021", "Writer", "Cancer"),
    ("F", 51, "14053", "Nurse", "HIV"),
    ("M", 68, "15000", "Writer", "Chill"),
    ("F", 69, "16022", "Nurse", "HIV"),
    ("M", 72, "13001", "Artist", "Cut"),
    ("F", 77, "17001", "Artist", "Cancer"),
)


def obesity(frame: str = "arrow") -> Any:  # noqa: ANN401 - `frame` chooses the type
    """Return the 1,000 people of the worked example of semantic diversity.

    One row per person: `gender`, `age` ("over 50" or "under 50") and `level` of obesity from 1 to 5. The counts
    are those of Table 8 of the paper on (l, d)-semantic diversity.

    Parameters
    ----------
    frame
        ``"arrow"``, ``"pandas"`` or ``"polars"``.

    Examples
    --------
    >>> obesity().num_rows
    1000
    """
    rows = [
        (gender, age, level)
        for (gender, age), counts in _OBESITY_COUNTS.items()
        for level, count in enumerate(counts, start=1)
        for _ in range(count)
    ]
    gender, age, level = zip(*rows, strict=True)
    return as_frame("obesity", pa.table({"gender": gender, "age": age, "level": level}), frame)


def hospital(frame: str = "arrow") -> Any:  # noqa: ANN401 - `frame` chooses the type
    """Return the eight patients of the running example of randomized addition.

    One row per patient: `id`, `sex`, `age`, `address`, `job` and `disease`, as in Table 1 of the paper on
    randomized addition, with numbers in place of its names.

    Parameters
    ----------
    frame
        ``"arrow"``, ``"pandas"`` or ``"polars"``.

    Examples
    --------
    >>> hospital()["disease"].to_pylist()[:3]
    ['Fever', 'Sty', 'Cancer']
    """
    sex, age, address, job, disease = zip(*_HOSPITAL, strict=True)
    ids = [f"H{number}" for number in range(1, len(_HOSPITAL) + 1)]
    columns = {"id": ids, "sex": sex, "age": age, "address": address, "job": job, "disease": disease}
    return as_frame("hospital", pa.table(columns), frame)

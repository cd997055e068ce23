"""Write pycanon.json: what pycanon says of small tables, to compare the audit with.

Needs pycanon, which pins an older numpy than this package: run it in an environment of its own,
``python -m venv pycanon && pycanon/bin/pip install pycanon && pycanon/bin/python tests/data/make_pycanon.py``.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np


def tables() -> Iterator[tuple[str, dict[str, list[Any]], list[str]]]:
    """Names, columns (the sensitive one is ``s``) and quasi-identifiers."""
    patients = "heart heart viral viral cancer heart viral viral cancer cancer cancer cancer".split()  # noqa: SIM905
    yield "hospital", {"age": ["<30"] * 4 + [">=40"] * 4 + ["3*"] * 4, "s": patients}, ["age"]
    yield "salaries", {"zip": ["4"] * 3 + ["5"] * 3 + ["6"] * 3, "s": [3, 4, 5, 6, 11, 8, 7, 9, 10]}, ["zip"]
    rng = np.random.default_rng(7)
    for number, (n, n_values) in enumerate([(200, 4), (500, 6), (300, 3)]):
        columns = {
            "a": rng.integers(0, 3, n).tolist(),
            "b": rng.choice(list("xyz"), n).tolist(),
            "s": [f"v{value}" for value in np.minimum(rng.geometric(0.4, n) - 1, n_values - 1)],
        }
        yield f"drawn-{number}", columns, ["a", "b"]
    yield "numbers", {"a": rng.integers(0, 4, 240).tolist(), "s": rng.integers(0, 12, 240).tolist()}, ["a"]


def main() -> None:
    import pandas as pd
    from pycanon import anonymity  # type: ignore[import-not-found]

    found = {}
    for name, columns, quasi in tables():
        frame = pd.DataFrame(columns)
        alpha, k = anonymity.alpha_k_anonymity(frame, quasi, ["s"])
        values = {
            "k_anonymity": anonymity.k_anonymity(frame, quasi),
            "distinct_l": anonymity.l_diversity(frame, quasi, ["s"]),
            "entropy_l": anonymity.entropy_l_diversity(frame, quasi, ["s"]),
            "t_closeness": anonymity.t_closeness(frame, quasi, ["s"]),
            "alpha": alpha,
            "k": k,
            "beta": anonymity.basic_beta_likeness(frame, quasi, ["s"]),
            "delta": anonymity.delta_disclosure(frame, quasi, ["s"]),
        }
        found[name] = {"columns": columns, "quasi": quasi, "pycanon": {k: float(v) for k, v in values.items()}}
    version = importlib.metadata.version("pycanon")
    text = json.dumps({"version": version, "tables": found}, separators=(",", ":"))
    Path(__file__).with_name("pycanon.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Risks of a plain table beside anonymeter's figures on the same table, and how their cost grows with the rows.

The table is made from Adult: half of its records are the original's, half are those of other people. anonymeter is
compared where it is installed; both make 500 attacks of their own, so that shares differ by chance (.16 is five
standard errors).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
from _measure import Result

import ldiversity as ld

PEOPLE = 4_000
COLUMNS = ["age", "workclass", "fnlwgt", "education", "occupation", "sex", "hours-per-week", "native-country"]
LINK = (["age", "education", "hours-per-week"], ["workclass", "fnlwgt", "occupation"])
SECRET = "occupation"  # noqa: S105 - a column
FIVE_ERRORS = 0.16
SIZES = 100_000, 400_000
ALL = ["singling-out", "linkability", "inference"]


def run() -> list[Result]:
    """Compare with anonymeter, and measure growth."""
    adult = ld.datasets.adult().select(COLUMNS)
    order = np.random.default_rng(0).permutation(adult.num_rows)
    parts = [adult.take(order[start : start + PEOPLE]) for start in range(0, 3 * PEOPLE, PEOPLE)]
    original, control, others = parts
    published = pa.concat_tables([original.slice(0, PEOPLE // 2), others.slice(0, PEOPLE // 2)])
    beside = [] if find_spec("anonymeter") is None else list(_beside(published, original, control))
    return [*beside, _growth(adult)]


def _beside(published: pa.Table, original: pa.Table, control: pa.Table) -> Iterator[Result]:
    start = time.process_time()
    found = ld.attack_table(published, original, control=control, secret=[SECRET], link=LINK)
    ours, cost = {one.attack: one for one in found.risks}, time.process_time() - start
    start = time.process_time()
    theirs = _anonymeter(published, original, control)
    other_cost = time.process_time() - start
    for name, (success, other, risk) in theirs.items():
        one = ours[name]
        control_share = 0.0 if one.control is None else one.control.share
        apart = max(abs(one.success.share - success), abs(control_share - other))
        detail = (
            f"success {one.success.share:.3f} and {success:.3f}, on others {control_share:.3f} and {other:.3f}, "
            f"risk {one.risk:.3f} and {risk:.3f}"
        )
        yield Result(f"{name} beside anonymeter", apart, FIVE_ERRORS, "difference of shares", detail)
    yield Result("risks: cost beside anonymeter", cost / other_cost, 1.0, "x", f"{cost:.1f} s and {other_cost:.1f} s")


def _anonymeter(published: pa.Table, original: pa.Table, control: pa.Table) -> dict[str, tuple[float, float, float]]:
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    # Its predicates are written in pandas' language, which takes no hyphens in names.
    tables = [
        one.rename_columns([name.replace("-", "_") for name in one.column_names]).to_pandas()
        for one in (original, published, control)
    ]
    frames = dict(zip(("ori", "syn", "control"), tables, strict=True))
    link = tuple([name.replace("-", "_") for name in side] for side in LINK)
    known = [name for name in tables[0].columns if name != SECRET]
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for mode in ("univariate", "multivariate"):
            made = SinglingOutEvaluator(**frames, n_attacks=500, max_attempts=20_000)
            found[f"singling-out ({mode})"] = made.evaluate(mode=mode)
        linked = LinkabilityEvaluator(**frames, aux_cols=link, n_attacks=500, n_neighbors=1)
        found["linkability"] = linked.evaluate(n_jobs=1)
        inferred = InferenceEvaluator(**frames, aux_cols=known, secret=SECRET, n_attacks=500)
        found[f"inference ({SECRET!r})"] = inferred.evaluate(n_jobs=1)
        results = {name: (one.results(), one.risk()) for name, one in found.items()}
    return {name: (r.n_success / 500, r.n_control / 500, risk.value) for name, (r, risk) in results.items()}


def _growth(adult: pa.Table) -> Result:
    """Four times the rows, on sets; the same number of attacks."""
    costs = []
    for rows in SIZES:
        table = adult.take(np.random.default_rng(1).integers(0, adult.num_rows, rows))
        quasi = [name for name in COLUMNS if name != SECRET]
        release = ld.anonymize(table, quasi=quasi, sensitive=SECRET, method=ld.RandomizedAddition(l=3), confirm=quasi)
        start = time.process_time()
        ld.attack(release, table, attacks=ALL)
        costs.append(time.process_time() - start)
    detail = f"{costs[0]:.1f} s at {SIZES[0]:,} rows, {costs[1]:.1f} s at {SIZES[1]:,}"
    return Result("risks: growth for four times the rows", costs[1] / costs[0], 6.0, "x", detail)

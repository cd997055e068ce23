"""How fast true values are hidden in memory, against numpy's own generator and against a peer."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
from _measure import Result, cost_of

import ldiversity as ld
from ldiversity import OrderedDistance, SemanticDiversity
from ldiversity.base.randomness import Key, KeyedWords
from ldiversity.engines import NumberedBatch, Secrets
from ldiversity.methods import RandomizedAddition
from ldiversity.publish import draw_sets
from ldiversity.publish._draw import DrawSets, HiddenAttribute
from ldiversity.schema import Domain
from ldiversity.tables import Coder

RECORDS = 10_000_000
PEER_RECORDS = 200_000
KEYED_RECORDS = 1_000_000
VALUES = 50
L = 3


def run() -> list[Result]:
    codes = np.random.default_rng(0).integers(0, VALUES, RECORDS, dtype=np.int32)
    uniform = RandomizedAddition(l=L).fit(Domain(values=tuple(range(VALUES))))
    draw_sets(uniform, codes[:1000], _words())
    ours = cost_of(lambda: draw_sets(uniform, codes, _words()))
    floor = cost_of(lambda: np.random.default_rng(0).random((RECORDS, L - 1)))
    peer = _peer_records_per_second(codes[:PEER_RECORDS])
    results = [
        Result(
            "randomized addition l=3, 10M records / numpy random alone",
            ours.cpu / floor.cpu,
            2.5,
            "x CPU",
            f"{ours.cpu:.2f} s against {floor.cpu:.2f} s",
        )
    ]
    if peer is not None:
        results.append(
            Result(
                "records/s against multi-freq-ldpy Subset Selection",
                RECORDS / ours.cpu / peer,
                20,
                "x",
                f"{RECORDS / ours.cpu:.3g} against {peer:.3g}",
                at_least=True,
            )
        )
    return [*results, *_semantic(ours.cpu), *_keyed()]


def _words() -> KeyedWords:
    """Words as in a run without a key: under a key of the job, for each row."""
    return KeyedWords(Key.new(), b"bench")


def _semantic(uniform_cpu: float) -> list[Result]:
    results = []
    for n_values, d in [(14, 3), (VALUES, 5), (148, 10)]:
        levels = Domain(values=tuple(range(n_values)), ordered=True)
        mechanism = SemanticDiversity(l=L, d=d, distance=OrderedDistance()).fit(levels)
        own = np.random.default_rng(1).integers(0, n_values, RECORDS, dtype=np.int32)
        draw_sets(mechanism, own[:1000], _words())
        cost = cost_of(lambda mechanism=mechanism, own=own: draw_sets(mechanism, own, _words()))
        name = f"balanced sampling F={n_values}, (3,{d}), 10M records / uniform"
        results.append(Result(name, cost.cpu / uniform_cpu, 4, "x CPU", f"{cost.cpu:.2f} s"))
    levels = Domain(values=tuple(range(148)), ordered=True)
    for d in (10, 20, 29):
        fit = cost_of(lambda d=d: SemanticDiversity(l=5, d=d, distance=OrderedDistance()).fit(levels), repeat=1)
        results.append(Result(f"balanced fit F=148, l=5, d={d}", fit.cpu, 5, "s CPU"))
    return results


def _keyed() -> list[Result]:
    """Partition draws under a key, from the id of a record to its set."""
    key = Key.new()
    numbers = np.random.default_rng(2).permutation(KEYED_RECORDS)
    texts = pa.array([f"record {number}" for number in numbers])
    results = []
    for n_values, l, ids, limit in [
        (16, 4, pa.array(numbers), 0.8),
        (16, 3, pa.array(numbers), 0.8),
        (16, 4, texts, 0.8),
        (VALUES, L, pa.array(numbers), 0.8),
        (2000, 5, pa.array(numbers[: KEYED_RECORDS // 50]), 60),
        (100_000, 5, pa.array(numbers[: KEYED_RECORDS // 50]), 120),
    ]:
        codes = np.random.default_rng(3).integers(0, n_values, len(ids), dtype=np.int32)
        values = pa.array(codes)
        domain = Domain(values=tuple(range(n_values)))
        hidden = HiddenAttribute("s", Coder("s", domain, pa.int32()), RandomizedAddition(l=l).fit(domain))
        batch = pa.record_batch({"id": ids, "s": values})
        draw = DrawSets({}, (hidden,), record_id=("id",))(Secrets(key))
        draw(NumberedBatch(batch.slice(0, 100), 0, 0))
        cost = cost_of(lambda draw=draw, batch=batch: draw(NumberedBatch(batch, 0, 0)))
        kind = "texts" if ids is texts else "integers"
        name = f"keyed partition draws F={n_values}, l={l}, ids are {kind}"
        results.append(Result(name, cost.cpu / len(ids) * 1e6, limit, "us CPU a record"))
    return [*results, _published(key, numbers)]


def _published(key: Key, numbers: np.ndarray) -> Result:
    """What a key costs a whole run in memory, from table to checked release."""
    table = pa.table({"id": numbers, "age": numbers % 90, "s": np.random.default_rng(3).integers(0, 16, len(numbers))})
    roles = {"quasi": ["age"], "sensitive": "s", "method": RandomizedAddition(l=4)}
    keyed = cost_of(lambda: ld.anonymize(table, **roles, key=key, record_id="id"))
    fresh = cost_of(lambda: ld.anonymize(table, **roles, drop=["id"]))
    detail = f"{keyed.cpu / len(numbers) * 1e6:.2f} against {fresh.cpu / len(numbers) * 1e6:.2f} us a record"
    return Result("anonymize 1M records in memory, with key / without", keyed.cpu / fresh.cpu, 2, "x CPU", detail)


def _peer_records_per_second(codes: np.ndarray) -> float | None:
    try:
        from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
    except ImportError:
        print("multi-freq-ldpy is not installed (make bench installs it): no figure against the peer.")
        return None
    epsilon = math.log(VALUES / L - 1)  # for which the peer's subsets have L members
    SS_Client(0, VALUES, epsilon)
    listed = codes.tolist()
    cost = cost_of(lambda: [SS_Client(code, VALUES, epsilon) for code in listed], repeat=2)
    return len(listed) / cost.cpu

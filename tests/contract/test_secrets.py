"""What holds a secret stays in its process and shows nothing, found by looking at every class of the package.

A pickle is a clear text that ends up in queues, files and logs. Objects are made as a run makes them, under a key whose
bytes are then searched for.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.base.randomness import FreshWords, IdentityHash, Key, KeyedWords, Secret
from ldiversity.base.spill import BlockCipher, Spill
from ldiversity.collection.blind import BlindKey
from ldiversity.collection.device import Device
from ldiversity.collection.device._ledger import Ledger
from ldiversity.collection.draw import DeviceSecret
from ldiversity.collection.survey import SurveyKey
from ldiversity.engines import LocalEngine, NumberedBatch, Secrets
from ldiversity.engines.spark._envelope import Envelope, Seal
from ldiversity.evaluation.compare._store import RunStore
from ldiversity.mechanisms import UniformSelection
from ldiversity.methods import Candidates, RandomParts
from ldiversity.publish._draw import DrawSets, HiddenAttribute, Randomizer
from ldiversity.publish._identities import HashedIds
from ldiversity.publish._parts._group import GroupPart, PartGrouper
from ldiversity.publish._parts._numbers import RandomNumbers
from ldiversity.publish._parts._route import ChooseRows, MoveRows, RouteRows, Rule, _Chooser, _Mover, _Router
from ldiversity.publish._parts._show import ClassNumbers, ShowRows, ShowValues, _Shower, _ValueShower
from ldiversity.publish._parts._table import TableShape
from ldiversity.tables import Coder, Sensitive, fit_coder, open_source

CANARY = bytes(range(200, 232))
KEY = Key(CANARY)
TABLE = pa.table({"id": ["a", "b", "c"], "age": [1, 2, 3], "disease": ["flu", "cut", "sty"]})
CODER: Coder = fit_coder(open_source(TABLE), Sensitive("disease"))[0]
FACTORY = DrawSets({"age": pa.int64()}, (HiddenAttribute("disease", CODER, UniformSelection(3, 2)),), ("id",))
SHAPE = TableShape((), {}, (), {}, None, None, frozenset(), frozenset(), {})
NO_PART = GroupPart(SHAPE, ld.Anatomy(l=2), 1, {}, "local")
NO_RULE = Rule("change parts", (), ())
NOBODY = Candidates(1, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint64))
NUMBERS = ClassNumbers("class_id", np.zeros(1, dtype=np.int64), 3)

MADE: dict[type[Secret], Callable[[], Secret]] = {
    Key: lambda: KEY,
    FreshWords: FreshWords,
    KeyedWords: lambda: KeyedWords(KEY, b"context"),
    Secrets: lambda: Secrets(KEY),
    IdentityHash: lambda: IdentityHash(KEY),
    HashedIds: lambda: HashedIds(KEY, ["id"], "record_id"),
    Randomizer: lambda: FACTORY(Secrets(KEY)),
    Seal: lambda: Seal(KEY),
    DeviceSecret: lambda: DeviceSecret(CANARY),
    SurveyKey: lambda: SurveyKey(CANARY),
    BlindKey: lambda: BlindKey(int.from_bytes(CANARY, "big"), 23),
    Device: lambda: Device(DeviceSecret(CANARY), Ledger(Path("ledger.json"))),
    BlockCipher: BlockCipher,
    Spill: Spill,
    PartGrouper: lambda: PartGrouper(NO_PART, KEY),
    RandomNumbers: lambda: RandomNumbers(KEY, "class_id", 9),
    _Router: lambda: _Router(RouteRows(NO_PART.shape, RandomParts(2)), KEY),
    _Chooser: lambda: _Chooser(ChooseRows(NO_RULE, NOBODY), KEY),
    _Mover: lambda: _Mover(MoveRows(pa.schema([]), ()), KEY),
    _Shower: lambda: _Shower(ShowRows((NUMBERS,), (), {}, {}, ()), KEY),
    _ValueShower: lambda: _ValueShower(ShowValues(NUMBERS, 0, "disease", 1), KEY),
    RunStore: lambda: RunStore(None, KEY.derive("comparison")),
}
"""How an object of each class with a secret is made."""

SECRET_WORDS = {"Key", "KeyedWords", "FreshWords", "Secrets", "CipherContext"}
"""Types by which a field is known to hold a secret."""


def classes() -> list[type]:
    """Every class that the package defines."""
    found: dict[str, type] = {}
    for module in pkgutil.walk_packages(ld.__path__, "ldiversity."):
        if module.name.startswith("ldiversity._kernels") or module.name.endswith("__main__"):
            continue
        for _, one in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if one.__module__.startswith("ldiversity"):
                found[f"{one.__module__}.{one.__qualname__}"] = one
    return list(found.values())


def fields_with_secrets(one: type) -> list[str]:
    """Fields that are declared to hold a secret, in annotations of the class or of what makes it."""
    declared: dict[str, object] = dict(vars(one).get("__annotations__", {}))
    if "__init__" in vars(one):
        declared |= vars(one)["__init__"].__annotations__
    declared.pop("return", None)
    return [name for name, kind in declared.items() if SECRET_WORDS & set(_words(kind))]


def _words(kind: object) -> list[str]:
    text = kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))
    return "".join(letter if letter.isalnum() or letter == "_" else " " for letter in text).split()


def secret_classes() -> list[type[Secret]]:
    return [one for one in classes() if issubclass(one, Secret) and one is not Secret]


@pytest.mark.parametrize("one", secret_classes(), ids=lambda one: one.__name__)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_what_holds_a_secret_is_not_pickled(one: type[Secret], protocol: int) -> None:
    made = MADE[one]()
    for held in (made, [made], {"inside": made}):
        with pytest.raises(ld.ParameterError, match="must not be pickled") as caught:
            pickle.dumps(held, protocol)
        assert one.__name__ in str(caught.value)


@pytest.mark.parametrize("one", secret_classes(), ids=lambda one: one.__name__)
def test_what_holds_a_secret_is_not_copied_and_shows_nothing(one: type[Secret]) -> None:
    made = MADE[one]()

    for act in (copy.copy, copy.deepcopy):
        with pytest.raises(ld.ParameterError):
            act(made)
    with pytest.raises(TypeError):
        vars(made)
    with pytest.raises(ld.ParameterError):
        made.__getstate__()
    assert repr(made) == str(made) == f"{made:}" == f"{one.__name__}(<secret>)"


def test_every_class_that_is_given_a_secret_is_one_of_them() -> None:
    """A class may hold a run's secrets in a field only when it refuses pickling, or all that is pickled refuses it."""
    found = {one.__name__ for one in classes() if fields_with_secrets(one) and not issubclass(one, Secret)}

    # They live for a run and hold an object that refuses by itself; the last ones only name arguments.
    for_a_run = {"AtRandom", "MappedRows", "PartitionedRows", "Sampled", "_Cutter", "_Run", "_Work"}
    assert found == for_a_run | {"Decisions", "RunOptions"}


def test_a_planted_class_with_a_key_is_found() -> None:
    class Careless:
        def __init__(self, key: Key | None, name: str) -> None:
            self.key, self.name = key, name

    assert fields_with_secrets(Careless) == ["key"]
    with pytest.raises(ld.ParameterError):
        pickle.dumps({"careless": vars(Careless(KEY, ""))})


def test_the_factory_of_draws_travels_and_holds_no_secret() -> None:
    text = pickle.dumps(FACTORY)
    again = pickle.loads(text)  # noqa: S301 - made above

    batch = NumberedBatch(TABLE.to_batches()[0], 0, 0)
    assert again(Secrets(KEY))(batch).equals(FACTORY(Secrets(KEY))(batch))
    assert CANARY not in text


def test_the_envelope_of_a_job_is_the_one_object_with_a_key_that_travels(tmp_path: Path) -> None:
    KEY.save(tmp_path / "holder.key")
    job = Secrets(KEY, job=Key(bytes(range(100, 132))), key_file=tmp_path / "holder.key")
    envelope = Envelope.of(job)

    text = pickle.dumps(envelope)
    opened = pickle.loads(text).open()  # noqa: S301 - made above

    assert opened.job.derive("draw") == job.job.derive("draw")
    assert opened.of_draws.derive("draw") == KEY.derive("draw")
    assert CANARY not in text  # the holder's key is read from its file
    assert repr(envelope) == str(envelope) == "Envelope(<secret>)"
    with pytest.raises(ld.UnsupportedError, match="path of its file"):
        Envelope.of(Secrets(KEY))


def test_a_worker_whose_key_file_holds_another_key_draws_nothing(tmp_path: Path) -> None:
    KEY.save(tmp_path / "holder.key")
    envelope = Envelope.of(Secrets(KEY, key_file=tmp_path / "holder.key"))
    (tmp_path / "holder.key").unlink()
    Key.new().save(tmp_path / "holder.key")

    with pytest.raises(ld.ParameterError, match="key must be the same on every worker"):
        pickle.loads(pickle.dumps(envelope)).open()  # noqa: S301 - made above


def test_the_key_of_a_job_is_a_secret_and_another_one_in_each_run() -> None:
    first, second = Secrets(), Secrets()

    for made in (first, first.job):
        with pytest.raises(ld.ParameterError, match="must not be pickled"):
            pickle.dumps(made)
    assert first.job.derive("draw") != second.job.derive("draw")
    assert first.of_draws is first.job
    assert Secrets(KEY).of_draws is KEY


def test_a_fault_of_a_keyed_run_shows_no_secret(tmp_path: Path) -> None:
    repeated = pa.concat_tables([TABLE, TABLE])
    with pytest.raises(ld.SchemaError) as caught:
        ld.anonymize(
            repeated,
            quasi="age",
            sensitive="disease",
            method=ld.RandomizedAddition(l=2),
            key=KEY,
            record_id="id",
            output=tmp_path / "release",
            engine=LocalEngine(workers=1, chunk_rows=2),
        )

    shown = []
    trace = caught.value.__traceback__
    while trace is not None:
        shown += [repr(value) for value in trace.tb_frame.f_locals.values()]
        trace = trace.tb_next
    secrets = [CANARY, KEY.derive("id")]
    forms = [form for secret in secrets for form in (repr(secret)[2:-1], secret.hex())]
    numbers = [str(word) for secret in secrets for word in np.frombuffer(secret, dtype="<u8").tolist()]
    assert not [form for form in [*forms, *numbers] if any(form in text for text in shown)]

"""Keys and cells that must be found nowhere, a program that works with them, and the search for them."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final
from unittest import mock

import ldiversity as ld
from ldiversity.base.randomness import Key
from ldiversity.engines import Secrets
from ldiversity.engines.spark import SparkEngine, _engine
from ldiversity.engines.spark._envelope import Envelope
from ldiversity.publish import Publication

CELLS: Final = {"name": b"Canary-of-a-name", "value": b"canary-of-a-disease"}
"""A cell that is published nowhere, and one that is a member of sets."""


def logged(base: Path) -> dict[str, str]:
    """Settings of a Spark that logs everything, and compresses nothing."""
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": made(base / "events").as_uri(),
        "spark.eventLog.compress": "false",
        **{f"spark.{one}.compress": "false" for one in ("shuffle", "shuffle.spill", "rdd", "broadcast")},
    }


def forms(secret: bytes) -> list[bytes]:
    """How the bytes of a secret look: raw, in hexadecimal digits, and in base 64 after 0, 1 or 2 other bytes."""
    shifted = [base64.b64encode(bytes(before) + secret)[4:-4] for before in range(3)]
    return [secret, secret.hex().encode(), secret.hex().upper().encode(), *shifted]


def found(folder: Path, secrets: dict[str, bytes]) -> set[str]:
    """Which secrets are in the files of a folder, in any form."""
    seen: set[str] = set()
    wanted = {name: forms(secret) for name, secret in secrets.items()}
    for file in [folder, *folder.rglob("*")]:
        try:
            content = file.read_bytes() if file.is_file() else b""
        except FileNotFoundError:  # Spark has just removed it
            continue
        seen |= {name for name, texts in wanted.items() if any(text in content for text in texts)}
    return seen


def use_canaries(spark: Any, base: Path, own: Path) -> tuple[bytes, SparkEngine]:
    """Publish, audit and estimate with and without the holder's key, and tell what must be found nowhere.

    Returns that key, and the engine, which removes what it has in its scratch folder when nobody holds it any more.
    """
    engine, job = SparkEngine(spark, scratch=made(base / "scratch"), file_rows=300), Key.new()
    holder = Key.load(own / "holder.key").travelling()
    keys = {"holder": holder, "job": job.travelling(), "engine": engine._own.job.travelling()}
    plans, said = made(base / "plans"), []
    travel, program, secrets_of, of = _engine.as_closure, engine.program, Publication._secrets, Envelope.of

    def traveling(made: Any) -> Any:
        function = travel(made)
        packed = next(cell.cell_contents for cell in function.__closure__ if isinstance(cell.cell_contents, bytes))
        keys[f"function {len(keys)}"] = packed[len(packed) // 2 :][:48]  # it is compressed, and hides keys
        return function

    def enveloped(secrets: Secrets) -> Envelope:
        if secrets.job.travelling() not in keys.values():
            keys[f"other job {len(keys)}"] = secrets.job.travelling()
        return of(secrets)

    def planned(_: SparkEngine, *words: Any, **others: Any) -> Any:
        frame = program(*words, **others)
        (plans / f"{len(list(plans.iterdir()))}.txt").write_text(str(frame._jdf.queryExecution().toString()))
        return frame

    def with_job(self: Publication, *words: Any) -> Secrets:
        made = secrets_of(self, *words)
        return Secrets(made.key, job=job, key_file=made.key_file)

    with (
        _watched(base / "local", lambda: CELLS | keys) as passing,
        mock.patch.object(_engine, "as_closure", traveling),
        mock.patch.object(Envelope, "of", enveloped),
        mock.patch.object(SparkEngine, "program", planned),
        mock.patch.object(Publication, "_secrets", with_job),
    ):
        for run in _runs(engine, str(own / "people.parquet"), str(own / "holder.key"), base / "releases"):
            try:
                run()
            except ld.LDiversityError as error:
                said.append(str(error))
    shown = {name: key.hex() for name, key in keys.items()}
    tell(own / "told.json", {"keys": shown, "said": said, "passing": sorted(passing)})
    return holder, engine


def _runs(engine: SparkEngine, table: str, key: str, releases: Path) -> Iterator[Callable[[], object]]:
    """What holders and users ask a cluster for: sets, classes, audits and estimates."""
    known: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "engine": engine}
    sets, keyed = known | {"method": "randomized-addition:l=3"}, {"key": key, "record_id": "name"}
    of_people = known | {"drop": "name", "person": "who"}
    frame = engine.session.read.parquet(table).filter("age >= 0")
    yield partial(ld.anonymize, table, **sets, drop=["name", "who"], output=releases / "sets")
    yield partial(ld.anonymize, frame, **sets, **keyed, drop="who", output=releases / "staged")
    refused = sets | keyed | {"record_id": "sex", "quasi": "age", "drop": ["name", "who"]}
    yield partial(ld.anonymize, table, **refused, output=releases / "refused")
    yield partial(ld.anonymize, table, **sets | of_people, key=key, output=releases / "people")
    yield partial(ld.anonymize, table, **of_people, method="bsgi:l=2", output=releases / "bsgi")
    yield partial(ld.anonymize, table, **known, drop=["name", "who"], method="anatomy:l=2", output=releases / "anatomy")
    yield partial(ld.audit, table, **known, person="who")
    for one in ("sets", "bsgi"):
        yield partial(ld.audit, releases / one, engine=engine)
        yield partial(ld.estimate, releases / one, by="sex", engine=engine)


@contextmanager
def _watched(folder: Path, secrets: Callable[[], dict[str, bytes]]) -> Iterator[set[str]]:
    """What is ever found in a folder; Spark removes much as soon as it can."""
    passing: set[str] = set()
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.02):
            passing.update(found(folder, secrets()))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield passing
    finally:
        done.set()
        thread.join()


def made(folder: Path) -> Path:
    """A new folder."""
    folder.mkdir()
    return folder


def tell(file: Path, content: object) -> None:
    """Write what a test reads."""
    file.write_text(json.dumps(content))

"""Keys and cells that must be found nowhere, a program that works with them, and the search for them."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest import mock

import ldiversity as ld
from ldiversity.base.randomness import Key
from ldiversity.engines import Secrets
from ldiversity.engines.spark import SparkEngine, _engine
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
    for file in [folder, *folder.rglob("*")]:
        try:
            content = file.read_bytes() if file.is_file() else b""
        except FileNotFoundError:  # Spark has just removed it
            continue
        seen |= {name for name, secret in secrets.items() if any(form in content for form in forms(secret))}
    return seen


def publish_canaries(spark: Any, base: Path, own: Path) -> bytes:
    """Publish with and without the holder's key, and tell what must be found nowhere; returns that key."""
    engine, job = SparkEngine(spark, scratch=made(base / "scratch"), file_rows=300), Key.new()
    holder = Key.load(own / "holder.key").travelling()
    keys = {"holder": holder, "job": job.travelling(), "engine": engine._own.job.travelling()}
    plans, said = made(base / "plans"), []
    travel, program, secrets_of = _engine.as_closure, engine.program, Publication._secrets

    def traveling(made: Any) -> Any:
        function = travel(made)
        packed = next(cell.cell_contents for cell in function.__closure__ if isinstance(cell.cell_contents, bytes))
        keys[f"function {len(keys)}"] = packed[len(packed) // 2 :][:48]  # it is compressed, and hides keys
        return function

    def planned(_: SparkEngine, *words: Any, **others: Any) -> Any:
        frame = program(*words, **others)
        (plans / f"{len(keys)}.txt").write_text(str(frame._jdf.queryExecution().toString()))
        return frame

    def with_job(self: Publication, *words: Any) -> Secrets:
        made = secrets_of(self, *words)
        return Secrets(made.key, job=job, key_file=made.key_file)

    known: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease", "engine": engine}
    known["method"] = "randomized-addition:l=3"
    keyed = {"key": str(own / "holder.key"), "record_id": "name"}
    table = str(own / "people.parquet")
    runs: list[tuple[Any, dict[str, Any]]] = [
        (table, {"drop": "name"}),
        (spark.read.parquet(table).filter("age >= 0"), keyed),  # which is staged
        (table, keyed | {"record_id": "sex", "quasi": "age", "drop": "name"}),  # which is refused
    ]
    with (
        _watched(base / "local", lambda: CELLS | keys) as passing,
        mock.patch.object(_engine, "as_closure", traveling),
        mock.patch.object(SparkEngine, "program", planned),
        mock.patch.object(Publication, "_secrets", with_job),
    ):
        for place, (data, more) in enumerate(runs):
            try:
                ld.anonymize(data, **known | more, output=base / "releases" / str(place))
            except ld.LDiversityError as error:
                said.append(str(error))
    shown = {name: key.hex() for name, key in keys.items()}
    tell(own / "told.json", {"keys": shown, "said": said, "passing": sorted(passing)})
    return holder


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

"""Signals that end a process: nothing staged is left, and nobody but this package says something about it."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from ldiversity.engines.spark import SparkEngine, _run
from tests.spark.drivers import QUICK_JAVA

STAGING = """
import sys, time
import ldiversity as ld
from ldiversity.engines.spark import SparkEngine
engine = SparkEngine(master="local[1]", scratch=sys.argv[1])

def slowly(batches):
    for batch in batches:
        time.sleep(0.5)
        yield batch

frame = engine.session.range(40, numPartitions=40).selectExpr("id % 5 as age", "id % 3 as disease")
frame = frame.mapInArrow(slowly, frame.schema)
ld.anonymize(frame, quasi="age", sensitive="disease", method="randomized-addition:l=2", engine=engine)
"""


@pytest.mark.usefixtures("engine")
def test_a_signal_to_end_leaves_no_staged_table(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_SUBMIT_ARGS": f"--driver-memory 600m --driver-java-options '{QUICK_JAVA}' pyspark-shell",
    }
    environment.pop("PYSPARK_GATEWAY_PORT", None)
    environment.pop("PYSPARK_GATEWAY_SECRET", None)
    with subprocess.Popen([sys.executable, "-W", "ignore", "-c", STAGING, str(tmp_path)], env=environment) as process:
        try:
            end = time.monotonic() + 120
            while not list(tmp_path.rglob("part-*")):
                assert process.poll() is None
                assert time.monotonic() < end
                time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)
        finally:
            process.kill()
    assert process.returncode == -signal.SIGTERM
    assert not list(tmp_path.iterdir())


def test_an_interrupt_while_java_is_asked_is_nothing_but_that(
    engine: SparkEngine, one_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[logging.LogRecord] = []
    handler = logging.Handler()
    monkeypatch.setattr(handler, "emit", heard.append)

    def interrupted(watch: _run._Classic) -> float:
        # Ctrl-C comes in the middle of one of these questions.
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        while True:
            watch._context.statusTracker().getActiveJobsIds()

    monkeypatch.setattr(_run._Classic, "share", interrupted)
    source = engine.open(one_file)
    logging.getLogger().addHandler(handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            engine.count(source, ["age"])
    finally:
        logging.getLogger().removeHandler(handler)

    assert "pyspark" not in getattr(signal.getsignal(signal.SIGINT), "__module__", "")
    assert not [record.getMessage() for record in heard if record.levelno >= logging.ERROR]
    monkeypatch.undo()
    assert engine.count(source, ["sex"]) is not None


def test_an_interrupted_job_has_ended_before_its_folders_are_removed(
    engine: SparkEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    canceled, ended = threading.Event(), []

    def work() -> None:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        assert canceled.wait(60)
        time.sleep(0.5)
        ended.append(True)

    monkeypatch.setattr(_run._Classic, "cancel", lambda _: canceled.set())

    with pytest.raises(KeyboardInterrupt):
        engine.run(work)
    assert ended


def test_an_interrupt_before_a_job_has_begun_ends_it_too(engine: SparkEngine) -> None:
    """What comes while Java still plans once let the job run to its end, which may take hours."""
    begun, ended = threading.Event(), []

    def slowly(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            time.sleep(0.5)
            yield batch

    def work() -> None:
        assert begun.wait(60)
        frame = engine.session.range(40, numPartitions=40)
        ended.append(frame.mapInArrow(slowly, frame.schema).count())

    def interrupt() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
        begun.set()

    threading.Timer(0.3, interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        engine.run(work)
    assert not ended

"""Programs that drive Spark in a process of their own, with slow tasks, so that tests can kill what works for them.

A test starts one with `start`. Workers import this module too, because slow tasks travel by their names.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final
from unittest import mock

import psutil
import pyarrow as pa

import ldiversity as ld
from ldiversity.base import ending
from ldiversity.base.randomness import Key
from ldiversity.engines import NumberedBatch, Secrets
from ldiversity.engines.spark import SparkEngine
from ldiversity.publish import _publish_sets
from ldiversity.publish._draw import DrawSets
from ldiversity.release import SetWriter, Written
from tests.spark.canaries import logged, made, tell, use_canaries

SEED: Final = 7
N_ROWS: Final = 3000
N_FILES: Final = 6
PAUSE: Final = 0.6
"""Seconds that slow tasks take; other processes must see them meanwhile."""
HOW: Final[dict[str, Any]] = {
    "quasi": ["age", "sex"],
    "plain": "row",
    "confirm": ["row"],
    "drop": ["name", "zip", "job"],
    "sensitive": "disease",
    "method": "randomized-addition:l=3",
}
QUICK_JAVA: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For a Java that lives for a minute: it compiles once, and little."""

_ROOT: Final = Path(__file__).parents[2]
_PACKAGE: Final = Path(ld.__file__).parents[1]
_QUIET: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.executor.extraJavaOptions": QUICK_JAVA,
    "spark.sql.shuffle.partitions": "2",
    "spark.executor.memory": "600m",
    "spark.sql.files.maxPartitionBytes": "16k",
    # An executor that was killed is not waited for.
    "spark.shuffle.io.maxRetries": "1",
    "spark.shuffle.io.retryWait": "100ms",
}
_SPECULATION: Final = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.3",
    "spark.speculation.minTaskRuntime": "3s",
}
"""A second attempt of a task that takes long begins beside the first one."""


def start(program: str, *words: str | Path, folder: Path) -> subprocess.Popen[bytes]:
    """Run a function of this module in a process of its own; what it and Spark say goes to ``driver.log``."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(_ROOT), str(_PACKAGE)]),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(made(folder / "local")),  # of executors too
        "SPARK_HOME": str(_spark_home(folder)),
    }
    environment["PYSPARK_SUBMIT_ARGS"] = f"--driver-memory 1g --driver-java-options '{QUICK_JAVA}' pyspark-shell"
    code = f"import sys; from tests.spark import drivers; drivers.{program}(*sys.argv[1:])"
    with (folder / "driver.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-c", code, *map(str, words)], cwd=folder, env=environment, stdout=log, stderr=log
        )


def _spark_home(folder: Path) -> Path:
    """The Spark of pyspark at another place: executors of a cluster work in a folder of it, which may be read-only."""
    import pyspark

    home = made(folder / "spark")
    for one in Path(pyspark.__file__).parent.iterdir():
        if one.name not in ("work", "conf"):
            (home / one.name).symlink_to(one)
    (made(home / "conf") / "log4j2.properties").write_text("""
rootLogger.level = info
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = info
""")
    return home


def wait_for(found: Callable[[], bool], process: subprocess.Popen[bytes], seconds: float = 900) -> None:
    """Wait until something is there, while a process runs."""
    end = time.monotonic() + seconds
    while not found():
        assert process.poll() is None, "the driver has ended too early"
        assert time.monotonic() < end, "the driver takes too long"
        time.sleep(0.05)


def session(master: str, settings: dict[str, str]) -> Any:
    """A session of this process alone."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("test")
    for name, value in (_QUIET | settings).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _two_workers() -> str:
    """Start a master and two workers of one core in this Java, as ``local-cluster`` does, and give its address.

    The workers have addresses of their own, because Spark begins a second attempt of a task on another machine only.
    """
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    jvm: Any = SparkContext._jvm
    deploy, settings = jvm.org.apache.spark.deploy, jvm.org.apache.spark.SparkConf()
    master = deploy.master.Master.startRpcEnvAndEndpoint("127.0.0.1", 0, 0, settings)._1()
    addresses: Any = SparkContext._gateway.new_array(jvm.java.lang.String, 1)  # type: ignore[union-attr]
    addresses[0] = f"spark://127.0.0.1:{master.address().port()}"
    for number, host in enumerate(("127.0.0.1", "127.0.0.2")):
        name, nothing = jvm.scala.Some(number), jvm.scala.Option.empty()
        deploy.worker.Worker.startRpcEnvAndEndpoint(host, 0, 0, 1, 1000, addresses, None, name, settings, nothing)
    return str(addresses[0])


@dataclass(frozen=True)
class SlowDraw(DrawSets):
    """Draws as always, after it has said which process draws, and has waited."""

    seconds: float = 0.0
    said: Path = Path()

    def __call__(self, secrets: Secrets) -> Any:
        function = super().__call__(secrets)

        def run(rows: NumberedBatch) -> pa.RecordBatch:
            (self.said / f"draws-{os.getpid()}").touch()
            time.sleep(self.seconds)
            return function(rows)

        return run


@dataclass(frozen=True)
class FreshDraw(SlowDraw):
    """Draws with other randomness each time that Spark does a task: what must never happen."""

    def __call__(self, secrets: Secrets) -> Any:
        return super().__call__(Secrets(secrets.key))


@dataclass(frozen=True)
class SlowWriter(SetWriter):
    """Writes a file as always, after it has waited.

    Where attempts of a task are `raced`, the first one of the first task says that it is there, and waits for another.
    """

    said: Path = Path()
    raced: bool = False

    def __call__(self, *words: Any, **others: Any) -> Written:
        from pyspark import TaskContext

        task = TaskContext.get()
        assert task is not None
        if self.raced and task.partitionId() == 0:
            (self.said / f"tries-{task.attemptNumber()}").touch()
            for _ in range(6000):  # an executor that was killed before may still be starting
                if (self.said / "tries-1").exists():
                    break
                time.sleep(0.05)
        else:
            time.sleep(PAUSE)
        return super().__call__(*words, **others)


@contextmanager
def slow(draw: type[SlowDraw], said: Path, *, seconds: float = 0.0, raced: bool = False) -> Iterator[None]:
    """Let the tasks of sets take their time, and keep a copy of what they wrote, whatever comes of it."""
    finish = _publish_sets.finish_release

    def keep(staging: Path, used: SetWriter, written: list[Written], **others: Any) -> Any:
        (said / "written").mkdir()
        for place, one in enumerate(written):
            shutil.copy(staging / one.file, said / "written" / f"{place:03}.parquet")
        return finish(staging, used, written, **others)

    with (
        mock.patch.object(_publish_sets, "DrawSets", partial(draw, seconds=seconds, said=said)),
        mock.patch.object(_publish_sets, "SetWriter", partial(SlowWriter, said=said, raced=raced)),
        mock.patch.object(_publish_sets, "finish_release", keep),
    ):
        yield


def prepared(engine: SparkEngine, table: str) -> Any:
    """What is published: read once, so that only drawing and writing are done several times."""
    return ld.Publication(**HOW)._prepared(table, engine)


def publish(preparation: Any, output: Path) -> None:
    """Publish sets under a key of the job that tests know."""
    _publish_sets.publish_sets(preparation, output, overwrite=False, secrets=Secrets(job=Key.from_insecure_seed(SEED)))


def n_begun(output: Path) -> int:
    """How many files of a release tasks have begun or finished."""
    return len(list(output.parent.glob(f".{output.name}*/scratch/*/data-*")))


def _kill_executor(output: Path, said: Path) -> bool:
    """Kill an executor whose workers drew, once there are files that may be made of what it drew."""
    # Two tasks at most write at once, so two of four files are finished.
    if n_begun(output) < 4:
        return False
    drew = _drawing(said)
    for child in psutil.Process().children(recursive=True):
        try:
            own = {worker.pid for worker in child.children(recursive=True)}
            if own & drew and "CoarseGrainedExecutorBackend" in " ".join(child.cmdline()):
                child.kill()
                return True
        except psutil.Error:
            continue
    return False


def _kill_worker(_: Path, said: Path) -> bool:
    ours = {child.pid for child in psutil.Process().children(recursive=True)} & _drawing(said)
    if not ours:
        return False
    os.kill(ours.pop(), signal.SIGKILL)
    return True


def _drawing(said: Path) -> set[int]:
    """The processes that draw, or have drawn."""
    return {int(file.name.partition("-")[2]) for file in said.glob("draws-*")}


def _see_two_attempts(_: Path, said: Path) -> bool:
    return (said / "tries-1").exists()


def _end_driver(output: Path, _: Path) -> bool:
    if n_begun(output) < 2:
        return False
    os.kill(os.getpid(), signal.SIGTERM)
    return True


def cluster(private: str, table: str, folder: str) -> None:
    """Do all that tests of a cluster look at, on one that is started once; then wait to be killed.

    First keys and cells travel, with a log of everything. Then executors and workers are killed, attempts of a task
    race, and a signal ends one job. At last a key is spread, and a release is begun, until somebody kills this process.
    """
    base = Path(folder)
    spark = session(_two_workers(), logged(base) | _SPECULATION)
    holder, used = use_canaries(spark, base, Path(private))
    question = prepared(SparkEngine(spark, file_rows=N_ROWS // N_FILES), table)
    runs: list[tuple[str, type[SlowDraw], Callable[[Path, Path], bool], dict[str, Any]]] = [
        ("worker", SlowDraw, _kill_worker, {"seconds": PAUSE}),
        ("executor", SlowDraw, _kill_executor, {}),
        ("speculation", SlowDraw, _see_two_attempts, {"raced": True}),
        ("fresh", FreshDraw, _kill_executor, {}),
        ("ended", SlowDraw, _end_driver, {}),
    ]
    for name, draw, fault, how in runs:
        said = made(base / name)
        watcher = _Watcher(partial(fault, said / "release", said))
        error = None
        with watcher, slow(draw, said, **how), _ends_the_job_only() as ends:
            try:
                publish(question, said / "release")
            except ld.LDiversityError as raised:
                error = str(raised)
        tell(base / f"{name}.json", {"happened": watcher.happened, "error": error, "signals": ends})
    (base / "ready").touch()
    while not (base / "spread").exists():
        time.sleep(0.05)
    del used  # what it had in its scratch folder has been searched
    spark.sparkContext.broadcast(holder)
    (base / "was spread").touch()
    with slow(SlowDraw, made(base / "driver")):
        publish(question, base / "driver" / "release")


@contextmanager
def _ends_the_job_only() -> Iterator[list[int]]:
    """Note the signals that would end this process now, instead of ending it."""
    ends: list[int] = []
    try:
        with mock.patch.object(signal, "raise_signal", ends.append):
            yield ends
    except BaseException:
        if not ends:
            raise
    finally:
        patched: Any = ending
        patched._request = None


class _Watcher:
    """Tries to make a fault happen, or to see it, until that has happened or the block ends."""

    def __init__(self, fault: Callable[[], bool]) -> None:
        self.happened, self._fault, self._done = False, fault, threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _work(self) -> None:
        while not self.happened and not self._done.wait(0.05):
            self.happened = self._fault()

"""The same on Spark Connect, which a client in another process talks to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa

CLIENT = """
import json, os, signal, sys, threading, time
from pathlib import Path
import pyarrow as pa
import ldiversity as ld
from ldiversity.base.randomness import Key
from ldiversity.engines import LocalEngine, Secrets
from ldiversity.engines.spark import SparkEngine
from ldiversity.engines.spark._session import is_connect
from ldiversity.tables import open_source
from tests.spark.test_faults import Failing
from tests.spark.test_sets import hiding_everything
import pyarrow.parquet as pq

folder, source, remote = Path(sys.argv[1]), *sys.argv[2:]
engine = SparkEngine(remote=remote)
said = {"connect": is_connect(engine.session)}
table, factory = hiding_everything(100)
pq.write_table(table, folder / "all.parquet")
Key(bytes(range(32))).save(folder / "holder.key")
secrets = Secrets(Key.load(folder / "holder.key"), key_file=folder / "holder.key")
frame = engine.session.read.parquet(str(folder / "all.parquet"))
expected = LocalEngine().map(factory, open_source(table), table.column_names, secrets=secrets)
wanted = pa.Table.from_batches(iter(expected)).sort_by("id").combine_chunks()
cut = {f"{n} staged": frame.repartition(n) for n in (1, 7, 64)}
for name, opened in [("in place", engine.open(frame)), *((name, engine.open(one)) for name, one in cut.items())]:
    drawn = engine.map(factory, opened, table.column_names, secrets=secrets)
    said[name] = pa.Table.from_batches(iter(drawn)).sort_by("id").combine_chunks().equals(wanted)
    said[f"{name} has files"] = opened.files is not None
(folder / "named" / "year=2020 [ä]").mkdir(parents=True)  # Java reads it
same = {"row_index": 0, "file_path": "a"}
named = pa.table({"row": range(50), "_metadata": [same] * 50})
pq.write_table(named, folder / "named" / "year=2020 [ä]" / "x.parquet")
opened = engine.open(folder / "named")
opened.check_unchanged()
seen = [one for rows in engine.rows(opened, ["row"]) for one in rows.identities[:, 0].tolist()]
said["identities"] = sorted(seen) == list(range(50)) and type(opened.files).__name__
try:
    list(engine.map(Failing("theirs"), engine.open(source), ["row", "name"], secrets=Secrets()))
except ld.LDiversityError as error:
    said["fault"] = str(error.message)
shares = []
release = ld.anonymize(
    engine.session.read.parquet(source), quasi=["age", "sex"], plain="row", confirm=["row"],
    drop=["name", "zip", "job"],
    sensitive="disease", method=ld.RandomizedAddition(l=3), output=folder / "release",
    progress=lambda share, word: shares.append(share),
)
said["rows"] = sorted(release.table["row"].to_pylist()) == list(range(3000))
said["shares"] = len(set(shares)) > 3

begun = folder / "begun"
begun.mkdir()

def slowly(batches):
    for batch in batches:
        (begun / str(batch.column(0)[0].as_py())).touch()
        time.sleep(0.5)
        yield batch

def interrupt():
    while not list(begun.iterdir()):
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)

slow = engine.session.range(100, numPartitions=100)
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=interrupt, daemon=True).start()
try:
    engine.open(slow.mapInArrow(slowly, slow.schema))
except KeyboardInterrupt:
    said["begun"] = len(list(begun.iterdir()))
time.sleep(1)
said["begun later"] = len(list(begun.iterdir()))
said["goes on"] = engine.count(engine.open(folder / "named"), ["row"]).num_rows
print(json.dumps(said))
engine.close()
engine.session.stop()
"""


def test_connect_draws_stages_publishes_fails_and_is_canceled_in_the_same_way(
    remote: str, one_file: Path, tmp_path: Path, table: pa.Table
) -> None:
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": paths}
    environment.pop("PYSPARK_SUBMIT_ARGS", None)
    environment.pop("PYSPARK_GATEWAY_PORT", None)
    environment.pop("PYSPARK_GATEWAY_SECRET", None)

    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CLIENT, str(tmp_path), str(one_file), remote],
        env=environment,
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )

    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    fault = said.pop("fault")
    assert fault.startswith("spark: a worker failed with ValueError in ")
    assert not [name for name in table["name"].to_pylist() if name in fault]
    # All 100 tasks would be done before the interrupt is heard if it canceled nothing.
    assert 0 < said.pop("begun") <= said.pop("begun later") < 50
    staged = {f"{n_partitions} staged": True for n_partitions in (1, 7, 64)}
    assert said == {
        "connect": True,
        "in place": True,
        "in place has files": True,
        **staged,
        **{f"{name} has files": False for name in staged},
        "goes on": 50,
        "identities": "InputFiles",
        "rows": True,
        "shares": True,
    }

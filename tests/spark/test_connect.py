"""The same on Spark Connect, which a client in another process talks to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa

CLIENT = """
import json, sys
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
for name, opened in (("in place", engine.open(frame)), ("staged", engine.open(frame.repartition(3)))):
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
print(json.dumps(said))
engine.close()
engine.session.stop()
"""


def test_connect_draws_stages_publishes_and_fails_in_the_same_way(
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
    assert said == {
        "connect": True,
        "in place": True,
        "in place has files": True,
        "staged": True,
        "staged has files": False,
        "identities": "InputFiles",
        "rows": True,
        "shares": True,
    }

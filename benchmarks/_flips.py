"""Read a release again and again, each time with one bit of a file flipped and its checksum mended.

Usage: python benchmarks/_flips.py FOLDER FILE WAY < numbers of bits, one a line

WAY is ``all`` (load, verify, show and audit the release), ``rows`` (read the columns of the file) or ``table`` (read
the file as the table of a data holder). One line is printed for each bit: its number, what became of it (``read``,
``refused``, or the name of an exception that nobody should see) and the seconds it took; at last, the peak memory in
bytes. A process that ends before that was ended by the file.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa

import ldiversity as ld
from ldiversity.release._parquet import parquet_batches
from ldiversity.release._parquet_footer import read_footer
from ldiversity.tables import open_source


def main() -> None:
    folder, name, way = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    content = (folder / name).read_bytes()
    with tempfile.TemporaryDirectory() as home:
        copy = Path(shutil.copytree(folder, Path(home) / "release"))
        for line in sys.stdin:
            began = time.perf_counter()
            _flip(copy, name, content, int(line), mend=way == "all")
            try:
                {"all": _read_all, "rows": _read_rows, "table": _read_table}[way](copy, name)
                outcome = "read"
            except ld.LDiversityError:
                outcome = "refused"
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
                outcome = type(error).__name__
            print(int(line), outcome, f"{time.perf_counter() - began:.3f}", flush=True)
    print("peak", _peak())


def _flip(folder: Path, name: str, content: bytes, bit: int, *, mend: bool) -> None:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    (folder / name).write_bytes(changed)
    if not mend:
        return  # only who loads the release compares the checksum
    file = folder / "release.json"
    manifest = json.loads(file.read_text(encoding="utf-8"))
    for entry in [manifest["data"], *(manifest.get("classes") or {}).get("tables", [])]:
        if entry["file"] == name:
            entry["sha256"] = hashlib.sha256(changed).hexdigest()
    file.write_text(json.dumps(manifest), encoding="utf-8")


def _read_all(folder: Path, _name: str) -> None:
    release = ld.load_release(folder)
    release.verify()
    _ = release.table
    ld.audit(release)


def _read_rows(folder: Path, name: str) -> None:
    manifest = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    entries = [manifest["data"], *(manifest.get("classes") or {}).get("tables", [])]
    rows = next(entry["rows"] for entry in entries if entry["file"] == name)
    try:
        with pa.OSFile(str(folder / name)) as file:
            names = list(read_footer(file).columns)
    except ValueError:
        names = []
    for batch in parquet_batches(folder / name, names, n_rows=rows, longest=8):
        batch.to_pylist()


def _read_table(folder: Path, name: str) -> None:
    source = open_source(folder / name)
    for batch in source.batches(source.columns):
        batch.take(pa.array(range(batch.num_rows)))  # touches every cell


def _peak() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024


if __name__ == "__main__":
    main()

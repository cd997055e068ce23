"""Make a release whose rows fill the memory of whoever believes what the file says of itself.

Usage: python benchmarks/_bomb.py FOLDER [BYTES] [honest|lying]

The release has 40 rows and three text columns, one text of 900 MB (or BYTES) in each; the file has less than 100 kB.
Its footer says that each column unfolds to 1,000 bytes. With ``lying`` the heads of the pages say so too.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

import ldiversity as ld
from ldiversity.release import _parquet_footer as footers
from ldiversity.release._thrift import CompactReader, Layout, compact

ROWS = 40
COLUMNS = ("name", "street", "town")
_BLOCK = 9_000_000
_ZSTD, _PLAIN, _RLE = 6, 0, 3
_LEVELS = bytes([2, 0, 0, 0, ROWS << 1, 1])  # a run of as many ones: no text is missing
_HEAD: Layout = {1: ("values", 5), 2: ("encoding", 5), 3: ("definition", 5), 4: ("repetition", 5)}
_PAGE: Layout = {1: ("type", 5), 2: ("unfolded", 5), 3: ("bytes", 5), 5: ("data", _HEAD)}


def make_bomb(folder: Path, n_bytes: int = 900_000_000, *, lying_pages: bool = False) -> int:
    """Write the release, and return the size of its rows."""
    table = pa.table({**{name: ["x"] * ROWS for name in COLUMNS}, "disease": ["flu", "cold", "gout", "rash"] * 10})
    ld.anonymize(table, quasi=COLUMNS, sensitive="disease", method=ld.RandomizedAddition(l=2), output=folder)
    file = folder / "data.parquet"
    content = _with_long_texts(file.read_bytes(), _page(n_bytes, lying=lying_pages))
    file.write_bytes(content)
    manifest = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    manifest["data"].update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
    (folder / "release.json").write_text(json.dumps(manifest), encoding="utf-8")
    return len(content)


def _page(n_bytes: int, *, lying: bool) -> bytes:
    """A page with one long text and short ones, compressed in frames, so that the text is never held."""
    zstd = pa.Codec("zstd", compression_level=9)
    rest = zstd.compress(b"x" * (n_bytes % _BLOCK) + bytes(4 * (ROWS - 1)), asbytes=True)
    frames = [zstd.compress(b"x" * _BLOCK, asbytes=True)] * (n_bytes // _BLOCK)
    packed = b"".join([zstd.compress(_LEVELS + n_bytes.to_bytes(4, "little"), asbytes=True), *frames, rest])
    unfolded = 1_000 if lying else len(_LEVELS) + 4 + n_bytes + 4 * (ROWS - 1)
    head = {"values": ROWS, "encoding": _PLAIN, "definition": _RLE, "repetition": _RLE}
    return compact({"type": 0, "unfolded": unfolded, "bytes": len(packed), "data": head}, _PAGE) + packed


def _with_long_texts(content: bytes, page: bytes) -> bytes:
    first = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    said = CompactReader(content[first:-8]).structure(footers._FILE_READ)  # noqa: SLF001 - to write what it reads
    (group,) = said["groups"]
    chunks: list[dict[str, Any]] = list(group["chunks"])
    pages = content[:first]
    for chunk in chunks:
        column = chunk["column"]
        if column["path"][0].decode() in COLUMNS:
            column.pop("dictionary", None)
            column.update(encodings=[_PLAIN, _RLE], codec=_ZSTD, unfolded=1_000, bytes=len(page), data=len(pages))
            pages += page
    written = {**group, "unfolded": 3_000, "chunks": chunks}
    footer = compact({**said, "elements": list(said["elements"]), "groups": [written]}, footers._FILE)  # noqa: SLF001
    return b"".join([pages, footer, len(footer).to_bytes(4, "little"), b"PAR1"])


if __name__ == "__main__":
    print(make_bomb(Path(sys.argv[1]), int([*sys.argv, "900000000"][2]), lying_pages="lying" in sys.argv[3:]))

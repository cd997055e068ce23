"""Run all benchmarks, print every figure with the limit it was promised to keep, and say whether all were kept.

Usage: python benchmarks/run.py [randomize] [files] [estimate] [start] [first_use] [audit] [anatomy] [bsgi] [parts]
                                [mondrian] [incognito] [grid] [extremes] [compare] [risks] [device] [live] [levels]
                                [collect] [regress]
       python benchmarks/run.py hostile     takes about ten minutes, and runs when it is named
       python benchmarks/run.py borrowing   takes about a minute, needs LDIVERSITY_DATA, and runs when it is named
       python benchmarks/run.py epsilon     takes seconds, needs LDIVERSITY_DATA, and runs when it is named
       python benchmarks/run.py errors      takes fifteen minutes, needs LDIVERSITY_DATA, and runs when it is named
       python benchmarks/run.py memory      takes about fifteen minutes, and runs when it is named
       python benchmarks/run.py estimate_memory   takes about five minutes, and runs when it is named
       python benchmarks/run.py grouped_memory   takes about an hour, and runs when it is named
       python benchmarks/run.py inference   takes about ten minutes, and runs when it is named
       python benchmarks/run.py survey_audit   takes three minutes, needs LDIVERSITY_DATA, and runs when it is named
       python benchmarks/run.py spark       takes about five minutes, needs Java, and runs when it is named
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from _measure import dump

from ldiversity.errors import UnsupportedError

ALL = (
    "randomize",
    "files",
    "estimate",
    "start",
    "first_use",
    "anatomy",
    "bsgi",
    "parts",
    "mondrian",
    "incognito",
    "grid",
    "screening",
    "extremes",
    "audit",
    "compare",
    "risks",
    "device",
    "live",
    "levels",
    "collect",
    "regress",
)


def main() -> int:
    chosen = sys.argv[1:] or ALL
    results = []
    for name in chosen:
        try:
            results += import_module(f"bench_{name}").run()
        except UnsupportedError as error:  # a public table, or a package, is not on this machine
            print(f"{name}: not measured. {error}", flush=True)
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    dump(results, str(folder / "latest.json"))
    broken = [result.name for result in results if not result.kept]
    print(f"{len(results) - len(broken)} of {len(results)} promises kept.")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

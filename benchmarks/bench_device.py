"""What a survey asks of a phone: the time of draws and checks in JavaScript, and the size of the module."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from _measure import Result

from ldiversity.collection.survey import EXAMPLE, SurveyKey, draft_survey

HERE = Path(__file__).parent
MODULE = HERE.parent / "src" / "ldiversity" / "collection" / "static" / "device"

WIDE = """
title = "Wide"
collector = "Department of Statistics"
contact = "survey@example.org"
purpose = "To measure how long a device takes."
consent = "I agree."

[[questions]]
name = "income"
ask = "What is your income?"
values = [{values}]
ordered = true
l = 5
d = 4
distance = "ordered"
"""


def run() -> list[Result]:
    modules = [path.read_bytes() for path in MODULE.glob("*.js") if not path.name.startswith("blind")]
    sent = sum(len(gzip.compress(content, 9)) for content in modules)
    size = Result("device module as it is sent", sent / 1000, 33, "kB", f"{sum(map(len, modules)) / 1000:.0f} kB plain")
    node = shutil.which("node")
    if node is None:
        print("Node is not installed: the speed of the device module is not measured.")
        return [size]
    with TemporaryDirectory() as folder:
        files = [
            _survey(Path(folder), "example", EXAMPLE),
            _survey(Path(folder), "wide", WIDE.format(values=_values(200))),
        ]
        command = [node, str(HERE / "_device.mjs"), *files]
        told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    draws = {"12 values": 50, "50 values": 50, "200 values": 200, "200 ordered values": 200}
    return [
        size,
        *(Result(f"one draw in Node, {name}", told[name] * 1e6, most, "us CPU") for name, most in draws.items()),
        Result("hide an answer with WebCrypto, 50 values", told["hide"] * 1000, 5, "ms CPU"),
        Result("check the example survey in Node", told[files[0]] * 1000, 10, "ms CPU"),
        Result("check 200 ordered values, l = 5, in Node", told[files[1]] * 1000, 100, "ms CPU"),
    ]


def _values(n: int) -> str:
    return ", ".join(f'"{code * 1000} to {code * 1000 + 999}"' for code in range(n))


def _survey(folder: Path, name: str, toml: str) -> str:
    """The path of a survey's canonical JSON."""
    source, file = folder / f"{name}.toml", folder / f"{name}.json"
    source.write_text(toml, encoding="utf-8")
    file.write_bytes(SurveyKey.new().sign(draft_survey(source)).raw)
    return str(file)

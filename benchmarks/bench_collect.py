"""What a stored report costs: processor time of the server, compared with an endpoint that does nothing.

The clock of the machine says little where others work too, so processor seconds of the server's process are counted,
its writer's among them. The database server has its own process, and is not counted.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from _measure import Result

from ldiversity.collection.survey import Question as Asked
from ldiversity.collection.survey import Ranges, Results, SignedSurvey, Survey, SurveyKey, UniformForm, write_report

ROOT = Path(__file__).parents[1]
REPORTS = 12_000
WARM_UP = 2_000
BATCHES = 40
IN_BATCH = 500
CONNECTIONS = 64

BARE = """
import socket, sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
async def nothing(request):
    return Response(status_code=204)
app = Starlette(routes=[Route("/v1/reports", nothing, methods=["POST"])])
door = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{door.getsockname()[1]}", flush=True)
quiet = {"access_log": False, "server_header": False, "date_header": False, "log_config": None}
uvicorn.Server(uvicorn.Config(app, http="httptools", **quiet)).run(sockets=[door])
"""
FULL = """
import sys
from ldiversity.collection.server import serve
from ldiversity.collection.store import Store
from ldiversity.collection.survey import SignedSurvey
from ldiversity.web import Rate
plenty = Rate(1e9, 1e9)
with Store.open(sys.argv[1]) as store:
    serve(store, SignedSurvey.load(sys.argv[2]), listen="127.0.0.1:0", each=plenty, all_together=plenty,
          on_start=lambda url: print(url, flush=True))
"""


@dataclass(frozen=True)
class _Bodies:
    """Files of prepared bodies."""

    warm_up: Path
    single: Path
    batches: Path


def run() -> list[Result]:
    signed = SurveyKey.new().sign(_survey())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        signed.save(folder / "survey.signed.json")
        bodies = _prepare(signed, folder)
        bare = max(_rate(BARE, [], bodies) for _ in range(2))
        results = []
        for database, url in _databases(folder):
            arguments = [url, str(folder / "survey.signed.json")]
            stored = _rate(FULL, arguments, bodies)
            bulk = _rate(FULL, arguments, bodies, bulk=True)
            told = f"{stored:,.0f} stored and {bare:,.0f} bare requests per CPU second"
            results += [
                Result(
                    f"collect: stored reports over bare, {database}",
                    stored / bare,
                    0.15,
                    "of bare",
                    told,
                    at_least=True,
                ),
                Result(f"collect: reports in batches, {database}", bulk, 20_000, "/s CPU", at_least=True),
            ]
    return results


def _survey() -> Survey:
    age = Ranges(kind="ranges", name="age", ask="How old are you?", low=18, cuts=[30, 45, 60], high=None)
    values = [f"disease {number}" for number in range(30)]
    form = UniformForm(kind="uniform", version=2, n_values=30, l=4)
    question = Asked(name="disease", ask="Which one?", values=values, ordered=False, mechanism=form)
    return Survey(
        format="ldiversity-survey",
        version=1,
        title="Health",
        collector="Office",
        contact="office@example.org",
        purpose="To measure.",
        consent="I agree.",
        language="en",
        closes=None,
        linked=True,
        tokens="device",
        results=Results(public=True, minimum=100, step=100, goal=0.02),
        quasi=[age],
        questions=[question],
    )


def _prepare(signed: SignedSurvey, folder: Path) -> _Bodies:
    def report() -> bytes:
        members = sorted(secrets.SystemRandom().sample(range(30), 4))
        quasi = {"age": secrets.randbelow(4)}
        return write_report(signed.survey, signed.id, secrets.token_urlsafe(16), quasi, {"disease": members})

    def batch() -> bytes:
        return b"[" + b",".join(report().rstrip() for _ in range(IN_BATCH)) + b"]"

    found = _Bodies(folder / "warm", folder / "single", folder / "batches")
    found.warm_up.write_text("\n".join(report().hex() for _ in range(WARM_UP)), encoding="ascii")
    found.single.write_text("\n".join(report().hex() for _ in range(REPORTS)), encoding="ascii")
    found.batches.write_text("\n".join(batch().hex() for _ in range(BATCHES)), encoding="ascii")
    return found


@contextmanager
def _server(program: str, arguments: list[str]) -> Iterator[tuple[str, psutil.Process]]:
    process = subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), psutil.Process(process.pid)
    finally:
        process.terminate()
        process.communicate(timeout=60)


def _rate(program: str, arguments: list[str], bodies: _Bodies, *, bulk: bool = False) -> float:
    """How many reports the server takes in a second of its processor time."""
    file, path = (bodies.batches, "/v1/reports/batch") if bulk else (bodies.single, "/v1/reports")
    with _server(program, arguments) as (url, process):
        _load(url, "/v1/reports", bodies.warm_up)
        before = process.cpu_times()
        answered = _load(url, path, file)
        after = process.cpu_times()
    assert answered == (BATCHES if bulk else REPORTS)
    spent = after.user + after.system - before.user - before.system
    return answered * (IN_BATCH if bulk else 1) / spent


def _load(url: str, path: str, file: Path) -> int:
    host, port = url.removeprefix("http://").split(":")
    command = [sys.executable, str(ROOT / "benchmarks/_load.py"), host, port, path, str(CONNECTIONS), str(file)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _databases(folder: Path) -> Iterator[tuple[str, str]]:
    yield "SQLite", f"sqlite:///{folder}/survey.db"
    sys.path.insert(0, str(ROOT))
    from tests.collection.postgresql import PostgreSQLServer, find_programs

    programs = find_programs()
    if programs is None:
        print("PostgreSQL is not installed, and was not measured.")
        return
    server = PostgreSQLServer(programs)
    try:
        yield "PostgreSQL", server.url(server.new_database())
    finally:
        server.stop()

"""Guards of a server: hosts, origins, rates, headers of every answer, and faults that tell nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ldiversity.web import (
    Guards,
    Policy,
    Rate,
    RateLimits,
    StaticFiles,
    no_content,
    read_json_body,
    refusal_handlers,
    security_headers,
)

OWN = "https://survey.example"
JSON = {"Content-Type": "application/json"}


async def take(request: Request) -> Response:
    await read_json_body(request.scope, request.receive, most=100, seconds=0.2)
    return no_content()


async def fail(_: Request) -> Response:
    raise RuntimeError("canary of the fault")


@pytest.fixture
def faults() -> list[Exception]:
    return []


@pytest.fixture
def ask(faults: list[Exception], tmp_path: Path) -> Callable[..., httpx.Response]:
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "a.js").write_text("export const a = 1;\n" * 50)
    (tmp_path / "secret.key").write_text("canary")
    policy = Policy(
        hosts=frozenset({b"survey.example"}),
        origins=frozenset({OWN.encode()}),
        headers=security_headers(https=True),
        rates=RateLimits(each=Rate(20, 0.001), all_together=Rate(1000, 1000)),
        open_paths=frozenset({"/open"}),
        any_host=frozenset({"/health"}),
        costs={"/dear": 15},
    )
    routes = [
        Route("/open", take, methods=["POST"]),
        Route("/own", take, methods=["POST"]),
        *(Route(path, lambda _: no_content()) for path in ("/health", "/dear")),
        Route("/fault", fail),
        Route("/static/{path:path}", StaticFiles(tmp_path).answer),
    ]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Guards, policy=policy, tell_fault=faults.append)],
        exception_handlers=dict(refusal_handlers()),
    )

    def send(method: str, path: str, *, base: str = OWN, **more: object) -> httpx.Response:
        async def go() -> httpx.Response:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=base) as client:
                return await client.request(method, path, **more)  # type: ignore[arg-type]

        return asyncio.run(go())

    return send


@pytest.mark.parametrize(
    ("method", "path", "more", "status"),
    [
        ("GET", "/health", {}, 204),
        ("GET", "/nothing", {}, 404),
        ("PUT", "/open", {}, 405),
        ("POST", "/open", {"content": b"{}", "headers": JSON}, 204),
        ("POST", "/open", {"content": b"{}"}, 415),
        ("POST", "/open", {"content": b"{}", "headers": {**JSON, "Content-Encoding": "gzip"}}, 415),
        ("POST", "/open", {"content": b" " * 101, "headers": JSON}, 413),
        ("GET", "/fault", {}, 500),
        ("GET", "/static/page/a.js", {}, 200),
        ("GET", "/static/secret.key", {}, 404),
        ("GET", "/static/%2e%2e/secret.key", {}, 404),
    ],
)
def test_every_answer_has_the_headers_and_errors_are_one_sentence(
    ask: Callable[..., httpx.Response], method: str, path: str, more: Mapping[str, object], status: int
) -> None:
    answer = ask(method, path, **more)

    assert answer.status_code == status
    assert [
        name for name, text in security_headers(https=True) if answer.headers.get(name.decode()) != text.decode()
    ] == []
    assert answer.headers["cache-control"] == ("no-cache" if status == 200 else "no-store")
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert "canary" not in answer.text
    if status >= 400:
        assert list(answer.json()) == ["error"]
        assert answer.json()["error"].endswith(".")


def test_a_fault_is_told_to_the_holder_alone(ask: Callable[..., httpx.Response], faults: list[Exception]) -> None:
    assert ask("GET", "/fault").json() == {"error": "The server has a fault. It has noted that."}
    assert [type(fault) for fault in faults] == [RuntimeError]


@pytest.mark.parametrize("host", ["other.example", "survey.example:8080", "127.0.0.1", ""])
def test_another_host_is_refused_but_asked_for_health(ask: Callable[..., httpx.Response], host: str) -> None:
    assert ask("GET", "/dear", headers={"Host": host}).status_code == 421
    assert ask("GET", "/health", headers={"Host": host}).status_code == 204


def test_two_hosts_are_refused(ask: Callable[..., httpx.Response]) -> None:
    assert ask("GET", "/dear", headers=[("Host", "survey.example"), ("Host", "survey.example")]).status_code == 421


@pytest.mark.parametrize(
    ("origin", "own"),
    [(None, 204), (OWN, 204), ("https://other.example", 403), ("null", 403), (f"{OWN}:1", 403)],
)
def test_only_open_paths_take_what_pages_of_other_origins_send(
    ask: Callable[..., httpx.Response], origin: str | None, own: int
) -> None:
    headers = JSON if origin is None else {**JSON, "Origin": origin}

    answers = {path: ask("POST", path, content=b"{}", headers=headers) for path in ("/own", "/open")}

    assert {path: answer.status_code for path, answer in answers.items()} == {"/own": own, "/open": 204}
    assert "access-control-allow-origin" not in answers["/own"].headers
    assert answers["/open"].headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answers["/open"].headers


def test_a_preflight_allows_open_paths_only_and_never_a_private_network(ask: Callable[..., httpx.Response]) -> None:
    asked = {
        "Origin": "https://other.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Private-Network": "true",
    }

    allowed, other = (ask("OPTIONS", path, headers=asked) for path in ("/open", "/own"))

    assert (allowed.status_code, other.status_code) == (204, 204)
    assert allowed.headers["allow"] == "OPTIONS, POST"
    assert allowed.headers["access-control-allow-headers"] == "Content-Type"
    assert "access-control-allow-private-network" not in allowed.headers
    assert not [name for name in other.headers if name.startswith("access-control")]


def test_too_many_requests_are_asked_to_wait(ask: Callable[..., httpx.Response]) -> None:
    first, second = (ask("GET", "/dear") for _ in range(2))

    assert (first.status_code, second.status_code) == (204, 429)
    assert int(second.headers["retry-after"]) > 1


def test_a_body_that_is_not_announced_is_measured_while_it_comes(ask: Callable[..., httpx.Response]) -> None:
    async def body() -> AsyncIterator[bytes]:
        for _ in range(50):
            yield b" " * 10

    assert ask("POST", "/own", content=body(), headers=JSON).status_code == 413


def test_a_slow_body_is_given_up() -> None:
    async def receive() -> dict[str, object]:
        await asyncio.sleep(0.05)
        return {"type": "http.request", "body": b" ", "more_body": True}

    scope = {"headers": [(b"content-type", b"application/json")]}
    with pytest.raises(Exception, match="too slowly"):
        asyncio.run(read_json_body(scope, receive, most=1000, seconds=0.2))  # type: ignore[arg-type]


def test_a_file_that_a_browser_has_is_not_sent_again(ask: Callable[..., httpx.Response]) -> None:
    first = ask("GET", "/static/page/a.js")
    again = ask("GET", "/static/page/a.js", headers={"If-None-Match": first.headers["etag"]})
    whole = ask("GET", "/static/page/a.js", headers={"Accept-Encoding": "identity"})

    assert (first.headers["content-encoding"], first.text) == ("gzip", whole.text)
    assert (again.status_code, again.content) == (304, b"")
    assert "content-encoding" not in whole.headers

"""The application of a collector: routes, guards, and a writer that lives as long as it does."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from ldiversity.collection.server._collector import Collector
from ldiversity.collection.server._options import ServerOptions
from ldiversity.collection.server._pages import Pages
from ldiversity.collection.store import Store, Writer
from ldiversity.collection.survey import SignedSurvey
from ldiversity.web import Guards, Policy, RateLimits, StaticFiles, refusal_handlers, security_headers

__all__ = ["LOG", "create_app"]

LOG: Final = logging.getLogger("ldiversity.collection.server")
"""Tells when the server started, stopped, and had a fault: never who asked, or what."""

_STATIC: Final = Path(__file__).parents[1] / "static"
_OPEN_PATHS: Final = frozenset({"/v1/survey", "/v1/reports", "/v1/tokens"})
"""What a device in a page of any origin needs."""

_WATCH_SECONDS: Final = 600.0
_COSTS: Final = {"/v1/reports/batch": 50.0, "/v1/tokens": 2.0, "/results": 1.0, "/v1/results": 1.0}


def create_app(store: Store, signed: SignedSurvey, options: ServerOptions) -> Starlette:
    """The server of one survey.

    Pages of any origin may read the survey, send reports, and have tokens signed, because a device may live in any
    page. Browsers send no cookies or passwords along, and the server has none: such a page can do nothing that a
    program without a browser could not. All other addresses take what the server's own pages send, or what no page
    sends.

    Parameters
    ----------
    store
        Where reports are kept. The survey is added to it.
    signed
        The survey.
    options
        How people reach the server, and its limits.
    """
    store.add_survey(signed)
    collector = Collector(store, signed, options, Pages(signed.survey, signed.id, signed.fingerprint))
    policy = Policy(
        hosts=options.hosts,
        origins=frozenset(origin.encode() for origin in options.origins),
        headers=security_headers(https=options.https),
        rates=RateLimits(each=options.each, all_together=options.all_together),
        open_paths=_OPEN_PATHS,
        any_host=frozenset({"/health"}),
        costs=_COSTS,
        forwarded=options.forwarded,
    )

    @asynccontextmanager
    async def with_writer(_app: Starlette) -> AsyncIterator[None]:
        async with collector.writer:
            watching = asyncio.create_task(_watch_tidying(collector.writer))
            yield
            watching.cancel()
        _tell_untidy(collector.writer)

    app = Starlette(
        routes=_routes(collector),
        middleware=[Middleware(Guards, policy=policy, tell_fault=_tell_fault)],
        exception_handlers=dict(refusal_handlers()),
        lifespan=with_writer,
    )
    app.router.redirect_slashes = False
    return app


def _routes(collector: Collector) -> list[Route]:
    return [
        Route("/v1/reports", collector.take_report, methods=["POST"]),
        Route("/v1/reports/batch", collector.take_batch, methods=["POST"]),
        Route("/v1/tokens", collector.sign_token, methods=["POST"]),
        Route("/v1/survey", collector.survey),
        Route("/v1/results", collector.results),
        Route("/health", collector.health),
        Route("/", collector.answer_page),
        Route("/results", collector.results_page),
        Route("/static/{path:path}", StaticFiles(_STATIC).answer),
    ]


async def _watch_tidying(writer: Writer) -> None:
    while True:
        await asyncio.sleep(_WATCH_SECONDS)
        _tell_untidy(writer)


def _tell_untidy(writer: Writer) -> None:
    """Until the database is tidied, its files can tell in which order reports came: the holder should know."""
    if writer.fault is not None:
        LOG.error("the database could not be tidied: %s", writer.fault.message)


def _tell_fault(error: Exception) -> None:
    """Name the kind of a fault and where it happened: its message could hold what was sent."""
    steps = traceback.extract_tb(error.__traceback__)
    where = f"{Path(steps[-1].filename).name}, line {steps[-1].lineno}" if steps else "an unknown place"
    LOG.error("fault: %s in %s", type(error).__name__, where)

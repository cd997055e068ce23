"""The endpoints of a collector."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from http import HTTPStatus
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from ldiversity.collection.server._live import LiveBoard, Shown
from ldiversity.collection.server._options import ServerOptions
from ldiversity.collection.server._pages import Pages
from ldiversity.collection.server._tokens import BlindSigner, token_rule
from ldiversity.collection.store import Store, Writer
from ldiversity.collection.survey import MOST_IN_BATCH, Kept, Report, Reports, SignedSurvey, TooManyReports
from ldiversity.errors import BusyError, LDiversityError, ParameterError, StorageError
from ldiversity.web import Refused, no_content, read_json_body

__all__ = ["Collector"]

_FRESH_SECONDS: Final = 1.0
"""How old what is known of the database may be."""

_LATER: Final = {"Retry-After": "5"}


class Collector:
    """Takes reports, and shows the survey and its results. An answer never depends on what was stored before."""

    def __init__(
        self, store: Store, signed: SignedSurvey, options: ServerOptions, pages: Pages, writer: Writer | None = None
    ) -> None:
        self._store, self._signed, self._survey, self._options, self._pages = (
            store,
            signed,
            signed.survey,
            options,
            pages,
        )
        self.writer = Writer(store) if writer is None else writer
        self._reports = Reports(self._survey, signed.id)
        self._rule = token_rule(store, signed)
        blind = self._survey.tokens == "blind"
        self._signer = BlindSigner(store, signed, options.blind_key) if blind else None
        self._most_batch = MOST_IN_BATCH * (self._survey.report_bytes + 1) + 1
        self._document = signed.to_json()
        self._closed = _Fresh(lambda: store.is_closed(signed.id))
        if self._survey.results.public and options.remembered is not None and options.remembered.exists():
            _ = self._board  # a file that cannot be used is told at the start, and not to those who ask for results

    @cached_property
    def _board(self) -> LiveBoard:
        return LiveBoard(self._store, self._signed, self._options.remembered)

    async def answer_page(self, _request: Request) -> Response:
        """The page to answer."""
        return Response(self._pages.answer(closed=await self._is_closed()), media_type="text/html")

    async def results_page(self, _request: Request) -> Response:
        """The page with the results so far."""
        shown, closed = await self._shown(), await self._is_closed()
        return Response(self._pages.results(shown.results, closed=closed), media_type="text/html")

    async def survey(self, _request: Request) -> Response:
        """The signed survey."""
        return Response(self._document, media_type="application/json")

    async def results(self, _request: Request) -> Response:
        """The results so far."""
        return Response((await self._shown()).document, media_type="application/json")

    async def take_report(self, request: Request) -> Response:
        """Store one report."""
        raw = await self._body(request, self._survey.report_bytes)
        return await self._store_reports(lambda: [self._reports.read(raw)])

    async def take_batch(self, request: Request) -> Response:
        """Store up to 1,000 reports; one that is refused refuses all."""
        raw = await self._body(request, self._most_batch)
        return await self._store_reports(lambda: self._reports.read_batch(raw))

    async def sign_token(self, request: Request) -> Response:
        """Sign a blinded token."""
        if self._signer is None:
            raise Refused(HTTPStatus.NOT_FOUND, "This survey has no tokens that are signed blindly.")
        raw = await self._body(request, self._signer.most_bytes)
        await self._refuse_closed()
        try:
            signature = await self._signer.sign(raw)
        except ParameterError as error:
            raise _unprocessable(error) from None
        except StorageError:
            raise _unavailable("The token could not be signed. Ask again later.") from None
        return Response(f'{{"signature":"{signature}"}}', media_type="application/json")

    async def health(self, _request: Request) -> Response:
        """Whether reports can be stored; nothing else is said."""
        try:
            # An empty list goes the way of every report: through the writer, and into the database.
            async with asyncio.timeout(5.0):
                if not await self._closed.value():
                    await self.writer.add(self._signed.id, ())
        except (LDiversityError, TimeoutError):
            raise _unavailable("Reports cannot be stored now.") from None
        return Response(b'{"status":"ok"}', media_type="application/json")

    async def _body(self, request: Request, most: int) -> bytes:
        return await read_json_body(request.scope, request.receive, most=most, seconds=self._options.body_seconds)

    async def _store_reports(self, read: Callable[[], Sequence[tuple[Kept, Report]]]) -> Response:
        await self._refuse_closed()
        try:
            found = read()
            await self._rule.check(found)
        except ParameterError as error:
            raise _unprocessable(error) from None
        except StorageError:
            raise _not_stored() from None
        try:
            await self.writer.add(self._signed.id, [kept for kept, _ in found])
        except ParameterError:  # it was closed a moment ago
            raise _closed() from None
        except BusyError:
            raise _unavailable("Too many reports are waiting. Send it again later.") from None
        except LDiversityError:
            raise _not_stored() from None
        return no_content()

    async def _is_closed(self) -> bool:
        if self._survey.is_over():
            return True
        try:
            return await self._closed.value()
        except StorageError:
            raise _unavailable("The database does not answer. Try again later.") from None

    async def _refuse_closed(self) -> None:
        if await self._is_closed():
            raise _closed()

    async def _shown(self) -> Shown:
        if not self._survey.results.public:
            raise Refused(HTTPStatus.FORBIDDEN, "The collector of this survey does not show its results here.")
        try:
            return await self._board.shown()
        except StorageError:
            raise _unavailable("The database does not answer. Try again later.") from None


class _Fresh:
    """What the database knows, asked again when it is older than a second. All who wait share one question."""

    def __init__(self, ask: Callable[[], bool]) -> None:
        self._ask, self._known, self._at = ask, False, float("-inf")
        self._asking: asyncio.Task[bool] | None = None

    async def value(self) -> bool:
        if time.monotonic() - self._at > _FRESH_SECONDS:
            if self._asking is None:
                self._asking = asyncio.create_task(asyncio.to_thread(self._ask))
                self._asking.add_done_callback(self._answered)
            return await asyncio.shield(self._asking)
        return self._known

    def _answered(self, asking: asyncio.Task[bool]) -> None:
        self._asking = None
        if not asking.cancelled() and asking.exception() is None:
            self._known, self._at = asking.result(), time.monotonic()


def _unprocessable(error: ParameterError) -> Refused:
    # The names of these two in the standard library depend on the version of Python.
    return Refused(413 if isinstance(error, TooManyReports) else 422, str(error.message))


def _closed() -> Refused:
    return Refused(HTTPStatus.GONE, "The survey is closed: it takes no more reports.")


def _not_stored() -> Refused:
    return _unavailable("The report could not be stored. Send it again later; it counts once.")


def _unavailable(sentence: str) -> Refused:
    return Refused(HTTPStatus.SERVICE_UNAVAILABLE, sentence, _LATER)

"""Scripts and styles of pages, read into memory when the server starts."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from ldiversity.web._refused import Refused

__all__ = ["StaticFiles"]

_KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""What is served; files of other kinds are not."""

_SMALL: Final = 512
"""Below so many bytes, nothing is compressed."""


@dataclass(frozen=True)
class _File:
    content: bytes
    packed: bytes | None
    headers: Mapping[str, str]


class StaticFiles:
    """The scripts, styles and drawings of a folder; an endpoint for a route with ``{path:path}``.

    A path is looked up among those found at the start: none leads out of the folder. What a browser has already is
    told by a hash of the content, which is the same for everybody.
    """

    def __init__(self, folder: Path) -> None:
        self._files = {
            path.relative_to(folder).as_posix(): _read(path)
            for path in sorted(folder.rglob("*"))
            if path.suffix in _KINDS and path.is_file()
        }

    @property
    def paths(self) -> tuple[str, ...]:
        """What is served."""
        return tuple(self._files)

    async def answer(self, request: Request) -> Response:
        """The file that the request's path names."""
        found = self._files.get(request.path_params["path"])
        if found is None:
            raise Refused(HTTPStatus.NOT_FOUND, "There is nothing at this address.")
        if request.headers.get("if-none-match") == found.headers["ETag"]:
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=found.headers)
        if found.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
            return Response(found.packed, headers={**found.headers, "Content-Encoding": "gzip"})
        return Response(found.content, headers=found.headers)


def _read(path: Path) -> _File:
    content = path.read_bytes()
    packed = gzip.compress(content, 9, mtime=0) if len(content) >= _SMALL else None
    headers = {
        "Content-Type": _KINDS[path.suffix],
        "Cache-Control": "no-cache",
        "ETag": f'"{hashlib.sha256(content).hexdigest()[:32]}"',
        "Vary": "Accept-Encoding",
    }
    return _File(content, packed, headers)

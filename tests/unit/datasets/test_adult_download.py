"""The download, against a server on this machine; nothing here leaves it."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest

from ldiversity.datasets import _adult_download, adult
from ldiversity.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ROW = (
    b"39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0,"
    b" 40, United-States, <=50K\n"
)
FILES = {"adult.data": ROW, "adult.test": b"|1x3 Cross validator\n" + ROW}


def zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], None]]:
    body = b""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    def set_body(content: bytes) -> None:
        nonlocal body
        body = content

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setattr(_adult_download, "URL", f"http://127.0.0.1:{server.server_port}/adult.zip")
    checksums = {name: hashlib.md5(content, usedforsecurity=False).hexdigest() for name, content in FILES.items()}
    monkeypatch.setattr(_adult_download, "CHECKSUMS", checksums)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("LDIVERSITY_DATA", raising=False)
    yield set_body
    server.shutdown()
    thread.join()
    server.server_close()


def cached(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in tmp_path.rglob("*") if path.is_file())


def test_good_archive_is_read_and_kept(serve: Callable[[bytes], None], tmp_path: Path) -> None:
    serve(zipped(FILES | {"adult.names": b"not asked for"}))

    assert adult("all", download=True).num_rows == 2
    assert cached(tmp_path) == ["adult.data", "adult.test"]


def test_kept_files_are_not_fetched_again(serve: Callable[[bytes], None]) -> None:
    serve(zipped(FILES))
    adult(download=True)
    serve(b"")

    assert adult(download=True).num_rows == 1


def test_nothing_is_fetched_unless_asked_for(serve: Callable[[bytes], None]) -> None:
    serve(zipped(FILES))

    with pytest.raises(UnsupportedError, match="not on this machine"):
        adult()


def test_wrong_checksum_is_refused_and_nothing_is_kept(serve: Callable[[bytes], None], tmp_path: Path) -> None:
    serve(zipped(FILES | {"adult.test": b"other"}))

    with pytest.raises(UnsupportedError, match=r"adult\.test does not have its known checksum"):
        adult(download=True)

    assert cached(tmp_path) == []


def test_answer_that_is_no_zip_is_refused(serve: Callable[[bytes], None]) -> None:
    serve(b"<html>we moved</html>")

    with pytest.raises(UnsupportedError, match="not a zip archive"):
        adult(download=True)


def test_damaged_zip_is_refused(serve: Callable[[bytes], None]) -> None:
    archive = bytearray(zipped(FILES))
    archive[45:60] = bytes(15)
    serve(bytes(archive))

    with pytest.raises(UnsupportedError, match="not a zip archive"):
        adult(download=True)


def test_missing_member_is_refused(serve: Callable[[bytes], None]) -> None:
    serve(zipped({"adult.data": ROW}))

    with pytest.raises(UnsupportedError, match="lacks a file"):
        adult(download=True)


def test_oversized_member_is_refused(serve: Callable[[bytes], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_adult_download, "MEMBER_LIMIT", 1000)
    serve(zipped(FILES | {"adult.test": bytes(100_000)}))

    with pytest.raises(UnsupportedError, match=r"adult\.test in the archive from UCI is too large"):
        adult(download=True)


def test_oversized_archive_is_refused(serve: Callable[[bytes], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_adult_download, "ARCHIVE_LIMIT", 10)
    serve(zipped(FILES))

    with pytest.raises(UnsupportedError, match="too large or too slow"):
        adult(download=True)


def test_server_error_is_one_sentence_with_a_hint(serve: Callable[[bytes], None]) -> None:
    serve(b"")

    with pytest.raises(UnsupportedError, match="UCI answered with HTTP status 404") as caught:
        adult(download=True)

    assert caught.value.hint is not None


def test_closed_port_is_one_sentence_with_a_hint(
    serve: Callable[[bytes], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_adult_download, "URL", "http://127.0.0.1:1/adult.zip")

    with pytest.raises(UnsupportedError, match=r"UCI could not be reached \(URLError\)"):
        adult(download=True)


def test_failed_write_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("pathlib.Path.replace", full)

    with pytest.raises(OSError):  # noqa: PT011 - the operating system's own
        _adult_download._write(tmp_path / "adult.data", b"content")

    assert cached(tmp_path) == []

"""Serves the pages of one run their files, and what is said to them: on this machine alone, to who knows the token."""

from __future__ import annotations

import queue
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".wasm": "application/wasm",
}
"""Of files; WebAssembly that comes as anything else is compiled late, and a module is not loaded at all."""


class Files:
    """Any file that this process can read, at ``base`` and its whole path."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Answer)
        self._server.daemon_threads = True
        self._server.token = secrets.token_urlsafe()  # type: ignore[attr-defined]
        self._server.ears = {}  # type: ignore[attr-defined]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def ear(self, page: str) -> Ear:
        """Return what says something to a page, which listens at ``base``, and ``/ear/`` and its name."""
        ears: dict[str, Ear] = self._server.ears  # type: ignore[attr-defined]
        return ears.setdefault(f"ear/{page}", Ear(forgotten=lambda: ears.pop(f"ear/{page}")))

    @property
    def base(self) -> str:
        """Return the address that a file's whole path, percent-encoded, is put behind."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{self._server.token}"  # type: ignore[attr-defined]


class Ear:
    """What is said to one page, in order, as server-sent events: of each call by a debugger half a KiB stays there."""

    def __init__(self, forgotten: Callable[[], object]) -> None:
        self._forgotten = forgotten
        self.waiting: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def say(self, text: str) -> None:
        """Say a line."""
        self.waiting.put(text)

    def close(self) -> None:
        """Say nothing more, once."""
        self._forgotten()
        self.waiting.put(None)


class _Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        _, _, asked = unquote(urlsplit(self.path).path).partition("/")
        token, _, path = asked.partition("/")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):  # type: ignore[attr-defined]
            self.send_error(HTTPStatus.FORBIDDEN)
            return
        ear = self.server.ears.get(path)  # type: ignore[attr-defined]
        if ear is not None:
            self._say(ear)
            return
        try:
            content = Path("/", path).read_bytes()
        except (OSError, ValueError) as error:  # ValueError: a path with a null in it
            self.send_error(HTTPStatus.NOT_FOUND, explain=str(error))
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", TYPES.get(Path(path).suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _say(self, ear: Ear) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        with suppress(ConnectionError):  # the page is gone
            while (text := ear.waiting.get()) is not None:
                self.wfile.write(f"data: {text}\n\n".encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing: who wants to know looks into the page's network."""

"""Serves files to the pages of one run: on this machine alone, and only to who knows the token."""

from __future__ import annotations

import secrets
import threading
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
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def base(self) -> str:
        """Return the address that a file's whole path, percent-encoded, is put behind."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{self._server.token}"  # type: ignore[attr-defined]


class _Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        _, _, asked = unquote(urlsplit(self.path).path).partition("/")
        token, _, path = asked.partition("/")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):  # type: ignore[attr-defined]
            self.send_error(HTTPStatus.FORBIDDEN)
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

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing: who wants to know looks into the page's network."""

"""Chromium's DevTools protocol over a socket: commands with their answers, and events as they come."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTime
from contextlib import suppress
from typing import Any

import msgspec

CHUNK = 2**20

Event = dict[str, Any]
Heard = Callable[[str, str, Event], None]
"""Is told of every event: the session, the method, the parameters. It must not wait for an answer."""


class DevToolsError(Exception):
    """The browser did not do what it was told to."""


class Refused(DevToolsError):
    """It answered with an error, such as that a page has gone."""


class Unanswered(DevToolsError):
    """It did not answer in time."""


class Gone(DevToolsError):
    """It has ended, or hung up."""


class DevTools:
    """One connection, with the sessions of all pages and workers in it."""

    def __init__(self, end: socket.socket, heard: Heard) -> None:
        self._socket = end
        self._heard = heard
        self._sending = threading.Lock()
        self._asked = 0
        self._waiting: dict[int, Future[Event]] = {}
        self._gone = False
        self._thread = threading.Thread(target=self._read, name="tensorledger-devtools", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        if self._thread.is_alive():
            self._thread.join(5)
        self._socket.close()

    def send(self, method: str, params: Event | None = None, session: str = "") -> Future[Event]:
        """Tell it something, and return its answer to come, which may be a DevToolsError."""
        answer: Future[Event] = Future()
        message: Event = {"method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        with self._sending:
            self._asked += 1
            message["id"] = self._asked
            self._waiting[self._asked] = answer
            try:
                self._socket.sendall(msgspec.json.encode(message) + b"\0")
            except OSError:
                self._gone = True
        if self._gone:
            self._hang_up()
        return answer

    def call(self, method: str, params: Event | None = None, session: str = "", *, limit: float) -> Event:
        """Tell it something, and return its answer within ``limit`` seconds. Raises DevToolsError."""
        return answered(self.send(method, params, session), limit, method)

    def _read(self) -> None:
        pending = bytearray()
        while True:
            try:
                chunk = self._socket.recv(CHUNK)
            except OSError:
                chunk = b""
            if not chunk:
                break
            start = len(pending)
            pending += chunk
            while (end := pending.find(b"\0", start)) >= 0:
                self._take(msgspec.json.decode(bytes(pending[:end])))
                del pending[: end + 1]
                start = 0
        self._gone = True
        self._hang_up()

    def _take(self, message: Event) -> None:
        if "id" not in message:
            self._heard(message.get("sessionId", ""), message["method"], message.get("params", {}))
            return
        answer = self._waiting.pop(message["id"], None)
        if answer is None:
            return
        if "error" in message:
            answer.set_exception(Refused(message["error"].get("message", "")))
        else:
            answer.set_result(message.get("result", {}))

    def _hang_up(self) -> None:
        for number in list(self._waiting):
            answer = self._waiting.pop(number, None)
            if answer is not None:
                answer.set_exception(Gone("the browser has ended"))


def answered(answer: Future[Event], limit: float, what: str) -> Event:
    """Return an answer within ``limit`` seconds. Raises DevToolsError."""
    try:
        return answer.result(max(limit, 0))
    except NotInTime:
        raise Unanswered(f"the browser did not answer {what} within {limit:g} s") from None

"""JSON-RPC 2.0 over a socket, one message a line: the same for the harness, the Python workers and their stem."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from tensorledger.protocol.messages import METHODS, Message

INVALID_PARAMS, UNKNOWN_METHOD, INTERNAL = -32602, -32601, -32603
"""JSON-RPC's own error codes."""

LACKING = -32001
"""And one of ours: this machine has not what the target needs."""

LONGEST_LINE = 64 * 2**20
"""Bytes after which a line is taken for garbage. A cycle is some kilobytes."""


class ChannelClosed(Exception):
    """The other side has gone."""


class ChannelTimeout(Exception):
    """Nothing came before the deadline."""


class ProtocolBroken(Exception):
    """What came is not what was agreed."""


class Breach(Exception):
    """For methods to raise: what is asked has the right form, and yet is not to be asked. It ends the whole call."""


class CallFailed(Exception):
    """The other side answered with an error; the text is its message."""

    def __init__(self, message: str, code: int = INTERNAL) -> None:
        super().__init__(message)
        self.code = code


class _Error(msgspec.Struct, frozen=True, kw_only=True):
    code: int
    message: str
    data: Any = None


class Envelope(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One message of JSON-RPC: a request, a notification (no ``id``) or an answer (no ``method``)."""

    jsonrpc: str
    id: int | str | None = None
    method: str | None = None
    params: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: _Error | None = None


Methods = Mapping[str, Callable[[Any], Message | None]]
"""What a side does when it is asked: from a method's parameters to its result (None: a notification)."""


class Channel:
    """One end of the line."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._pending = bytearray()
        self._asked = 0
        self._calling = threading.Lock()
        self.descriptors: list[int] = []
        """What the other side passed along, in order; whoever takes one out owns it."""

    def close(self) -> None:
        self._socket.close()

    def hang_up(self) -> None:
        """End the line while another thread may be waiting on it, which then raises ChannelClosed."""
        with suppress(OSError):  # it has gone already
            self._socket.shutdown(socket.SHUT_RDWR)

    def fileno(self) -> int:
        return self._socket.fileno()

    def is_quiet(self) -> bool:
        """Say whether the other side is there, and has said nothing that was not asked for."""
        if self._pending:
            return False
        looked_at = select.poll()  # a socket with a timeout would wait for it, whatever recv() is told
        looked_at.register(self._socket, select.POLLIN)
        return not looked_at.poll(0)

    def call(
        self,
        method: str,
        params: Message,
        *,
        deadline: float | None = None,
        answering: Methods | None = None,
        descriptors: Sequence[int] = (),
    ) -> Any:
        """Ask, answer what is asked back meanwhile, and return the result as METHODS types it. Threads take turns.

        ``deadline`` is a time of ``time.monotonic()``; what is spent in ``answering`` does not count. After
        it, and after what is not as agreed, the channel is of no use any more.
        Raises ChannelTimeout, ChannelClosed, ProtocolBroken, or CallFailed where the answer is an error.
        """
        if not self._calling.acquire(timeout=-1 if deadline is None else max(0.0, deadline - time.monotonic())):
            raise ChannelTimeout
        try:
            return self._call(method, params, deadline, answering, descriptors)
        finally:
            self._calling.release()

    def _call(
        self,
        method: str,
        params: Message,
        deadline: float | None,
        answering: Methods | None,
        descriptors: Sequence[int],
    ) -> Any:
        self._asked += 1
        asked = self._asked
        content = msgspec.Raw(msgspec.json.encode(params))
        self._send(Envelope(jsonrpc="2.0", id=asked, method=method, params=content), descriptors, deadline)
        while True:
            envelope = self._receive(deadline)
            if envelope is None:
                raise ChannelClosed
            if envelope.method is not None:
                deadline = self._answer(envelope, answering or {}, deadline)
            elif envelope.id != asked:
                raise ProtocolBroken(f"an answer to {envelope.id!r}, where {asked} was asked")
            elif envelope.error is not None:
                raise CallFailed(envelope.error.message, envelope.error.code)
            else:
                return _decode(method, "result", envelope.result)

    def serve(self, methods: Methods) -> None:
        """Answer requests until the other side hangs up."""
        while self.answer_one(methods):
            pass

    def answer_one(self, methods: Methods) -> bool:
        """Wait for a request and answer it; say whether there was one, or the other side has hung up."""
        envelope = self._receive(None)
        if envelope is not None:
            self._answer(envelope, methods)
        return envelope is not None

    def notify(self, method: str, params: Message) -> None:
        """Tell, and expect no answer."""
        self._send(Envelope(jsonrpc="2.0", method=method, params=msgspec.Raw(msgspec.json.encode(params))))

    def _answer(self, envelope: Envelope, methods: Methods, deadline: float | None = None) -> float | None:
        """Answer a request; return the deadline, put off by what the method took."""
        assert envelope.method is not None
        started = time.monotonic()
        try:
            if envelope.method not in methods or envelope.method not in METHODS:
                answer = {"error": _Error(code=UNKNOWN_METHOD, message=f"no method {envelope.method!r} here")}
            else:
                result = methods[envelope.method](_decode(envelope.method, "params", envelope.params))
                answer = {"result": msgspec.Raw(msgspec.json.encode(result))}  # type: ignore[dict-item]
        except Breach as breach:
            raise ProtocolBroken(str(breach)) from breach
        except ProtocolBroken as broken:
            answer = {"error": _Error(code=INVALID_PARAMS, message=str(broken))}
        except Exception as error:
            answer = {"error": _Error(code=INTERNAL, message=f"{type(error).__name__}: {error}")}
        if deadline is not None:
            deadline += time.monotonic() - started
        if envelope.id is not None:
            self._send(Envelope(jsonrpc="2.0", id=envelope.id, **answer), deadline=deadline)  # type: ignore[arg-type]
        elif "error" in answer:
            raise ProtocolBroken(f"{envelope.method}: {answer['error'].message}")
        return deadline

    def _send(self, envelope: Envelope, descriptors: Sequence[int] = (), deadline: float | None = None) -> None:
        """Send a message; who does not read it by the deadline is given up: their buffer is full."""
        line = msgspec.json.encode(envelope) + b"\n"
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise ChannelTimeout
        try:
            self._socket.settimeout(left)
            sent = socket.send_fds(self._socket, [line], descriptors) if descriptors else 0
            self._socket.sendall(line[sent:])
        except TimeoutError:
            raise ChannelTimeout from None
        except OSError as error:
            raise ChannelClosed from error

    def _receive(self, deadline: float | None) -> Envelope | None:
        """Return the next message, or None when the other side has hung up."""
        while (end := self._pending.find(b"\n")) < 0:
            if len(self._pending) > LONGEST_LINE:
                raise ProtocolBroken(f"a line of more than {LONGEST_LINE} bytes")
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise ChannelTimeout
            self._socket.settimeout(left)
            try:
                chunk, descriptors, _, _ = socket.recv_fds(self._socket, 2**16, 8)
            except TimeoutError:
                raise ChannelTimeout from None
            except OSError:
                return None
            if not chunk:
                return None
            self._pending += chunk
            self.descriptors += descriptors
        line = bytes(self._pending[:end])
        del self._pending[: end + 1]
        try:
            envelope = msgspec.json.decode(line, type=Envelope)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ProtocolBroken(f"not a message ({error}): {line[:200]!r}") from error
        if envelope.jsonrpc != "2.0":
            raise ProtocolBroken(f"not JSON-RPC 2.0: {line[:200]!r}")
        return envelope


def _decode(method: str, side: str, raw: msgspec.Raw | msgspec.UnsetType) -> Message:
    if method not in METHODS:
        raise ProtocolBroken(f"there is no method {method!r}")
    expected = METHODS[method][0 if side == "params" else 1]
    try:
        return msgspec.json.decode(b"null" if raw is msgspec.UNSET else raw, type=expected)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ProtocolBroken(f"the {side} of {method!r} are not as agreed: {error}") from error

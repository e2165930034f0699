"""What a worker prints: read as it comes, the end of it kept."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import termios
import threading
import time
from collections.abc import Callable

KEPT = 64 * 2**10
"""Bytes of the end that are kept."""

FLOOD = 64 * 2**20
"""Bytes after which a worker is stopped. A megabyte is a scenario's good right."""


class Log:
    """The reading end of a worker's output; the writing end is for the worker."""

    def __init__(self, on_flood: Callable[[], None], *, flood: int = FLOOD) -> None:
        reading, self.writing = os.pipe()
        self._pipe = os.fdopen(reading, "rb", buffering=0)
        self._on_flood = on_flood
        self._flood = flood
        self._end = bytearray()
        self._count = 0
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._read, name="tensorledger-log", daemon=True)

    @property
    def flooded(self) -> bool:
        """Whether the worker was stopped for printing too much."""
        return self._count > self._flood

    def start(self) -> None:
        """Close the writing end here, now that the worker has it, and read."""
        os.close(self.writing)
        self._thread.start()

    @property
    def count(self) -> int:
        """Bytes that were printed so far, those included that still wait to be read."""
        with self._lock:
            return self._count + self._waiting()

    def text(self, wait: float = 0.0, since: int = 0) -> str:
        """Return the end of what was printed after the first ``since`` bytes.

        ``wait``: seconds that the reader is given to catch up with a dead worker.
        """
        self._thread.join(wait)
        with self._lock:
            printed = max(0, self._count - since)
            return bytes(self._end[-printed:] if printed else b"").decode(errors="replace")

    def settled(self, since: int) -> str:
        """Return the same of a worker that lives, once what it has printed so far is read."""
        printed = self.count
        for _ in range(100):
            if self._count >= printed:
                break
            time.sleep(0.002)
        return self.text(since=since)

    def _waiting(self) -> int:
        if self._pipe.closed:
            return 0
        (waiting,) = struct.unpack("i", fcntl.ioctl(self._pipe, termios.FIONREAD, bytes(4)))
        return int(waiting)

    def _read(self) -> None:
        readable = select.poll()
        readable.register(self._pipe)
        while not self._pipe.closed:
            readable.poll()
            with self._lock:
                chunk = self._pipe.read(2**16)
                before = self._count
                self._count += len(chunk)
                self._end += chunk
                del self._end[:-KEPT]
                if not chunk:
                    self._pipe.close()
            if before <= self._flood < self._count:
                self._on_flood()

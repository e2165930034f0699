"""What some work takes: the time that passes, and the processor time of this process and of others."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

AFTERWARDS = 0.03
"""Seconds in which V8's helper threads sweep what the last collection left; that is the cell's processor time too."""


class Spent(msgspec.Struct, frozen=True):
    """Seconds: those that passed, and those of all processors together."""

    wall: float
    cpu: float


class Clocks:
    """Run from when they are made."""

    def __init__(self, pids: Iterable[int] = ()) -> None:
        self._pids = list(pids)
        self._wall = time.perf_counter()
        self._cpu = self._processors()

    def spent(self) -> Spent:
        """Return what has been spent, when what goes on in the background has ended too."""
        wall = time.perf_counter() - self._wall
        time.sleep(AFTERWARDS)
        return Spent(wall, self._processors() - self._cpu)

    def _processors(self) -> float:
        return time.process_time() + sum(map(processor_seconds, self._pids))


def processor_seconds(pid: int) -> float:
    """Return the processor seconds of another process, exactly; as clock_getcpuclockid(3) has it on Linux."""
    return time.clock_gettime((~pid << 3) | 2)


class Ran(Spent, frozen=True):
    """What a command took until its end, with all processes that it waited for."""

    resident: int
    """Bytes of the largest of these processes at most."""


def timed(command: Sequence[str | Path], cwd: Path | None = None) -> Ran:
    """Run a command to its end. Raises CalledProcessError."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=cwd)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, [*map(str, command)])
    return Ran(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)

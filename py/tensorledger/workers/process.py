"""A worker's process: started from here, or forked from a stem."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from tensorledger.protocol.channel import CallFailed, Channel, ChannelClosed, ChannelTimeout, ProtocolBroken
from tensorledger.protocol.messages import ClosePage, Fork, OpenPage, Wait
from tensorledger.workers.errors import ending
from tensorledger.workers.log import FLOOD, Log

LAUNCH = Path(__file__).with_name("launch.py")
GRACE = 5.0
"""Seconds that a worker has to end by itself once its channel is closed."""


class Process(Protocol):
    """What the harness needs of a worker's process."""

    channel: Channel
    log: Log

    def ended(self, wait: float) -> str:
        """Say how it ended, and wait for that so many seconds."""

    def kill(self) -> None:
        """End it and what it started, now."""


class Started:
    """A process of its own."""

    def __init__(
        self,
        command: Sequence[str | Path],
        environment: Mapping[str, str],
        *,
        flood: int = FLOOD,
        alone: bool = False,
    ) -> None:
        """``alone``: killing it spares what it started, which ends by itself then, and cleans up."""
        self._alone = alone
        mine, theirs = socket.socketpair()
        self.log = Log(self.kill, flood=flood)
        self.channel = Channel(mine)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", LAUNCH, str(theirs.fileno()), str(os.getpid()), *command],
                stdin=subprocess.DEVNULL,
                stdout=self.log.writing,
                stderr=self.log.writing,
                pass_fds=[theirs.fileno()],
                env=dict(environment),
            )
        self.log.start()

    def status(self, wait: float) -> int | None:
        """Return the exit status, minus the signal's number if one ended it, or None if it lives."""
        try:
            return self._process.wait(wait)
        except subprocess.TimeoutExpired:
            return None

    def ended(self, wait: float) -> str:
        return ending(self.status(wait))

    def kill(self) -> None:
        if self._alone:
            self._process.kill()
        else:
            _kill_session(self._process.pid)


class Forked:
    """A process forked from a stem, which alone can say how it ended."""

    def __init__(self, stem: Channel) -> None:
        self._stem = stem
        mine, theirs = socket.socketpair()
        self.log = Log(self.kill)
        self.channel = Channel(mine)
        with theirs:
            answer = stem.call("fork", Fork(), descriptors=[theirs.fileno(), self.log.writing], deadline=_soon())
        self._pid: int = answer.pid
        self._status: int | None = None
        self.log.start()

    def status(self, wait: float) -> int | None:
        """Return the exit status, minus the signal's number if one ended it, or None if that cannot be known."""
        if self._status is None:
            with suppress(ChannelClosed, ChannelTimeout, CallFailed, ProtocolBroken):
                self._status = self._stem.call("wait", Wait(pid=self._pid, seconds=wait), deadline=_soon(wait)).status
        return self._status

    def ended(self, wait: float) -> str:
        return ending(self.status(wait))

    def kill(self) -> None:
        _kill_session(self._pid)


class Opened:
    """A page in the browser that a process has (browser/stem.py), which alone can say how it ended."""

    def __init__(self, browser: Channel, modules: Path) -> None:
        """Raises what ``Channel.call`` does."""
        self._browser = browser
        mine, theirs = socket.socketpair()
        self.log = Log(self.kill)
        self.channel = Channel(mine)
        with theirs:
            answer = browser.call(
                "open_page",
                OpenPage(modules=str(modules)),
                descriptors=[theirs.fileno(), self.log.writing],
                deadline=_soon(),
            )
        self._page: int = answer.page
        self._how: str | None = None
        self.log.start()

    def ended(self, wait: float) -> str:
        if self._how is None:
            try:
                asked = ClosePage(page=self._page, seconds=wait)
                self._how = self._browser.call("close_page", asked, deadline=_soon(wait)).how
            except (ChannelClosed, ChannelTimeout, CallFailed, ProtocolBroken):
                self._how = "its browser is gone"
        return self._how

    def kill(self) -> None:
        self.channel.hang_up()


def stop(process: Process) -> None:
    """Hang up; kill what does not end by itself, and what a scenario started and left behind."""
    process.channel.hang_up()  # closing alone says nothing to the other side while a thread waits on the channel
    process.channel.close()
    process.ended(GRACE)
    process.kill()
    process.ended(GRACE)


def _kill_session(leader: int) -> None:
    # Also when the leader has ended: its number is not given out again while anything lives in its session.
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _soon(wait: float = 0.0) -> float:
    return time.monotonic() + wait + 30

"""What can go wrong with a worker. Each says what happened, with how far it came and the end of its log."""

from __future__ import annotations

import re
import signal

NATIVE = re.compile(r"\s*\d+: 0x[0-9a-f]+ ")
"""A line of the native stack under Node.js's "FATAL ERROR: …": 20 of them would hide what it says."""


class WorkerFailed(Exception):
    """A worker did not do what it was asked to. ``type(error).__name__`` is the ``type`` in results."""

    def __init__(self, message: str, log: str = "", checkpoint: str | None = None) -> None:
        self.message = message
        self.log = log
        self.checkpoint = checkpoint
        ending = [line for line in log.strip().splitlines() if not NATIVE.match(line)][-12:]
        super().__init__("\n".join([message, *(["it printed last:"] if ending else []), *ending]))


class WorkerNotStarted(WorkerFailed):
    """It did not come as far as the handshake."""


class TargetLacking(WorkerFailed):
    """It found that this machine has not what its target needs, which only it could find out; the message says what."""


class WorkerDied(WorkerFailed):
    """Its process ended in the middle of a scenario."""


class WorkerHung(WorkerFailed):
    """It did not answer within the time limit, and was killed."""


class WorkerFlooded(WorkerFailed):
    """It printed without end, and was killed."""


class WorkerBroken(WorkerFailed):
    """It said something that is not the protocol's, or answered with an error of its own."""


def ending(status: int | None) -> str:
    """Say in words how a process ended."""
    if status is None:
        return "it ended, nobody knows how"
    if status < 0:
        try:
            return f"it was ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"it was ended by signal {-status}"
    return f"it exited with status {status}"

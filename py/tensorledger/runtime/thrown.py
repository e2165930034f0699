"""What was thrown, in the protocol's words: type, message, and the stack from the user's innermost frame on."""

from __future__ import annotations

import sys
import traceback

from tensorledger.ledger.frames import frame, from_one, from_user
from tensorledger.protocol.messages import Thrown


def describe(error: BaseException, checkpoint: str | None) -> Thrown:
    """Return what a scenario threw after ``checkpoint``."""
    frames = [frame(line.name, line.filename, line.lineno, _column(line)) for line in _stack(error)]
    if isinstance(error, SyntaxError) and error.filename:
        frames.insert(0, frame("", error.filename, error.lineno, error.offset))
    # What is half a character can be in a string, and not in a message.
    message = str(error).encode("utf-8", "replace").decode("utf-8")
    return Thrown(type=type(error).__name__, message=message, checkpoint=checkpoint, stack=from_user(frames))


def _column(line: traceback.FrameSummary) -> int | None:
    if sys.version_info < (3, 11):  # a traceback has lines only
        return None
    return from_one(line.colno)


def _stack(error: BaseException) -> list[traceback.FrameSummary]:
    return list(reversed(traceback.extract_tb(error.__traceback__)))

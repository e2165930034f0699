"""Something done in a process of its own first, for what is in C, and may crash or come to no end."""

from __future__ import annotations

import faulthandler
import os
import resource
import select
import signal
import warnings
from collections.abc import Callable
from typing import NoReturn

SECONDS = 20.0
"""That it may take. A forked process has all that it needs, and what is done in it takes milliseconds."""


def breakdown(act: Callable[[], object]) -> str:
    """Do it in a forked process; return how that broke, in words. Nothing where it ended, whatever it raised."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of other threads: none is needed there
        child = os.fork()
    if child == 0:
        _do(act)
    os.close(writing)
    ended, status = False, 0
    try:
        # Nothing is ever written: that it can be read is the end of who could have.
        ended = bool(select.select([reading], [], [], SECONDS)[0])
    finally:
        os.close(reading)
        if not ended:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if not ended:
        return f"comes to no end within {SECONDS:g} s"
    return "crashes" if os.WIFSIGNALED(status) else ""


def _do(act: Callable[[], object]) -> NoReturn:
    """Do it, quietly, and end this process."""
    try:
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (1, 2):
            os.dup2(nowhere, descriptor)
        act()
    except BaseException:
        os._exit(1)
    os._exit(0)

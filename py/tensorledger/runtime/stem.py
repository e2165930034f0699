"""The process that Python workers are forked from: it has imported TensorFlow and one Keras, and run nothing.

python -m tensorledger.runtime.stem keras|tf-keras ALLOCATOR        with the harness on descriptor 3
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import signal
import socket
import sys
import time
import traceback
import warnings
from typing import Any, NoReturn

from tensorledger.models.zoo import KERASES
from tensorledger.protocol.channel import Channel
from tensorledger.protocol.messages import Fork, Forked, Wait, Waited

PR_SET_PDEATHSIG = 1
DESCRIPTOR = 3


class Stem:
    """Forks workers, and tells how they ended."""

    def __init__(self, channel: Channel, keras: Any) -> None:
        self._channel = channel
        self._keras = keras

    def fork(self, _: Fork) -> Forked:
        end, log = self._channel.descriptors[:2]
        del self._channel.descriptors[:2]
        with warnings.catch_warnings():
            # Python 3.12 warns that TensorFlow's threads are not forked along; none of them holds anything yet.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            self._become_worker(end, log)
        os.close(end)
        os.close(log)
        return Forked(pid=pid)

    def _become_worker(self, end: int, log: int) -> NoReturn:
        status = 1
        try:
            os.setsid()
            if sys.platform == "linux":
                ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            self._channel.close()
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.dup2(end, DESCRIPTOR)
            os.closerange(DESCRIPTOR + 1, max(end, log) + 1)
            from tensorledger.runtime.serve import serve

            serve(Channel(socket.socket(fileno=DESCRIPTOR)), self._keras)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            # Not sys.exit: the stem's own clean-up is the stem's.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def wait(self, wait: Wait) -> Waited:
        deadline = time.monotonic() + wait.seconds
        while True:
            pid, status = os.waitpid(wait.pid, os.WNOHANG)
            if pid:
                return Waited(status=os.waitstatus_to_exitcode(status))
            if time.monotonic() >= deadline:
                return Waited(status=None)
            time.sleep(0.005)


def _allow_growth() -> None:
    """Have the runtime started with ``gpu_options.allow_growth = True``, whether there is a GPU or not.

    TensorFlow 2 has no public way to say so: eager execution is on by then, so ``tf.compat.v1.enable_eager_execution``
    does not look at the ConfigProto it is given, and ``set_memory_growth`` refuses the CPU. So it is put where the
    context takes the options from (private). Raises AttributeError where there is no such place.
    """
    context = importlib.import_module("tensorflow.python.eager.context").context()
    usual = context._compute_gpu_options

    def options() -> Any:
        found = usual()
        found.allow_growth = True
        return found

    context._compute_gpu_options = options


def main(name: str, allocator: str) -> None:
    """Import, set, freeze what was imported, and wait for the harness."""
    channel = Channel(socket.socket(fileno=DESCRIPTOR))
    importlib.import_module("tensorflow")
    if allocator == "allow-growth":
        _allow_growth()
    keras = importlib.import_module(KERASES[name])
    importlib.import_module("tensorledger.runtime.serve")
    # What the import made is nobody's leak; frozen, it is neither collected nor copied into the workers.
    gc.collect()
    gc.freeze()
    stem = Stem(channel, keras)
    channel.serve({"fork": stem.fork, "wait": stem.wait})


if __name__ == "__main__":
    main(*sys.argv[1:])

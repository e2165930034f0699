"""Starts the right kind of worker for a target."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from tensorledger.environment.cache import cache_folder
from tensorledger.environment.node import node
from tensorledger.environment.packages import modules
from tensorledger.environment.tree import tree
from tensorledger.protocol.channel import CallFailed, ChannelClosed, ChannelTimeout, ProtocolBroken
from tensorledger.protocol.messages import PROTOCOL, Hello
from tensorledger.targets.catalogue import ALIAS
from tensorledger.targets.target import Target
from tensorledger.workers.errors import WorkerNotStarted
from tensorledger.workers.process import Forked, Started, stop
from tensorledger.workers.worker import Worker

QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow", "CUDA_VISIBLE_DEVICES": "-1"}
"""The environment of Python workers: a log without TensorFlow's greetings, and the CPU."""

LEGACY = "TF_USE_LEGACY_KERAS"
"""Decides which Keras ``tf.keras`` is; the target decides it, not the user's shell."""


class Starter:
    """Starts workers, and keeps the stems that Python workers are forked from."""

    def __init__(self) -> None:
        self._stems: dict[str, Started] = {}

    def prepare(self, target: Target) -> None:
        """Start what takes long, without waiting for it."""
        if target.language == "py" and target.name not in self._stems:
            self._stems[target.name] = _stem(target.name)

    def start(self, target: Target) -> Worker:
        """Start a worker. Raises WorkerFailed, NodeMissing or PackagesMissing."""
        if target.language == "js":
            # The package is named by its alias, so that two releases lie side by side.
            package = modules() / f"{ALIAS}{target.version}"
            command = [str(node()), "--expose-gc", str(tree() / "js" / "worker" / "node.mjs"), str(modules())]
            return Worker(Started(command, os.environ), _hello(target, str(package)))
        self.prepare(target)
        stem = self._stems[target.name]
        try:
            process = Forked(stem.channel)
        except (ChannelClosed, ChannelTimeout, CallFailed, ProtocolBroken) as error:
            del self._stems[target.name]
            stem.kill()
            status = stem.status(1)
            log = stem.log.text(wait=1.0)
            reason = f"importing TensorFlow and {target.name} failed ({type(error).__name__}, exit status {status})"
            raise WorkerNotStarted(reason, log) from error
        return Worker(process, _hello(target, None))

    def stop(self) -> None:
        """End the stems."""
        for stem in self._stems.values():
            with suppress(OSError):
                stop(stem)
        self._stems.clear()


def _stem(name: str) -> Started:
    environment = {**os.environ, **QUIET, LEGACY: "1" if name == "tf-keras" else "0"}
    environment.setdefault("KERAS_HOME", str(cache_folder() / "keras"))
    # -P: the folder that the user is in may have a numpy.py.
    return Started([sys.executable, "-P", "-m", "tensorledger.runtime.stem", name], environment)


def _hello(target: Target, package: str | None) -> Hello:
    return Hello(protocol=PROTOCOL, name=target.name, version=target.version, backend=target.backend, package=package)

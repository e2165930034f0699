"""Starts the right kind of worker for a target."""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO

from tensorledger.browser.chromium import chromium
from tensorledger.environment import addon
from tensorledger.environment.cache import cache_folder
from tensorledger.environment.node import node, node_version
from tensorledger.environment.packages import modules
from tensorledger.environment.releases import Packages, in_use, packages
from tensorledger.environment.tree import tree
from tensorledger.protocol.channel import CallFailed, ChannelClosed, ChannelTimeout, ProtocolBroken
from tensorledger.protocol.messages import PROTOCOL, Hello
from tensorledger.targets.target import Target
from tensorledger.workers.allocators import DEFAULT, environment
from tensorledger.workers.errors import TargetLacking, WorkerNotStarted
from tensorledger.workers.process import Forked, Opened, Process, Started, stop
from tensorledger.workers.worker import Worker

QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow", "CUDA_VISIBLE_DEVICES": "-1"}
"""The environment of Python workers: a log without TensorFlow's greetings, and the CPU."""

NODE = ("--expose-gc", "--no-flush-bytecode", "--single-threaded")
"""Options of JavaScript workers. With the last two the size of the heap after a collection varies less than half as
much: V8 throws no code away to compile it again, and does nothing beside the program."""

ENDING = 2.0
"""Seconds that a stem has to clean up before it is killed."""

LEGACY = "TF_USE_LEGACY_KERAS"
"""Decides which Keras ``tf.keras`` is; the target decides it, not the user's shell."""


class Starter:
    """Starts workers, and keeps the stems: those that Python workers are forked from, and the one with the browser."""

    def __init__(self, *, counts_only: bool = False) -> None:
        """``counts_only``: as of ``Hello``."""
        self._stems: dict[tuple[str, str], Started] = {}
        """By the Keras and the allocator's setting; the browser has neither."""
        self._counts_only = counts_only
        self._used: dict[Target, IO[str] | None] = {}
        self._starting = threading.Lock()
        self._over = False

    def prepare(self, target: Target, allocator: str = DEFAULT) -> None:
        """Start what takes long, without waiting for it.

        Raises UnknownAllocator, ChromiumMissing, or WorkerNotStarted after ``stop``.
        """
        own = _stem_of(target, allocator)
        if own is None:
            return
        with self._starting:  # several targets have one browser, and may run in several threads
            if self._over:
                raise WorkerNotStarted("the run is over")
            if own not in self._stems:
                self._stems[own] = _browser() if target.browser else _stem(*own)

    def start(self, target: Target, allocator: str = DEFAULT) -> Worker:
        """Start a worker. Raises WorkerFailed, NodeMissing, ChromiumMissing, PackagesMissing or UnknownAllocator.

        JavaScript workers have no allocator to set.
        """
        if target.language == "js":
            assert target.version is not None and target.backend is not None
            if target not in self._used:
                self._used[target] = in_use(target.version, target.backend)
            found = packages(target.version, target.backend)
            try:
                return Worker(self._process(target), _hello(target, found, counts_only=self._counts_only))
            except TargetLacking:
                raise
            except WorkerNotStarted as error:
                raise WorkerNotStarted(f"{error.message}{_copies(found.library)}", error.log) from error
        return Worker(self._from_stem(target, allocator), _hello(target, counts_only=self._counts_only))

    def _process(self, target: Target) -> Process:
        if target.browser:
            return self._from_stem(target, DEFAULT)
        command = [str(node()), *NODE, str(tree() / "js" / "worker" / "node.mjs"), str(modules())]
        if self._counts_only:
            command.append(str(_compiled(target)))
        return Started(command, {**os.environ, **(addon.QUIET if target.backend == "node" else {})})

    def _from_stem(self, target: Target, allocator: str) -> Process:
        used = _stem_of(target, allocator) in self._stems
        try:
            return self._another(target, allocator)
        except WorkerNotStarted:
            if not used:
                raise
            return self._another(target, allocator)  # a scenario before it may have ended the stem; a new one will do

    def _another(self, target: Target, allocator: str) -> Process:
        self.prepare(target, allocator)
        own = _stem_of(target, allocator)
        assert own is not None, "what needs no stem is not asked of one"
        stem = self._stems[own]
        try:
            return Opened(stem.channel, modules()) if target.browser else Forked(stem.channel)
        except (ChannelClosed, ChannelTimeout, CallFailed, ProtocolBroken) as error:
            if self._stems.get(own) is stem:
                del self._stems[own]
            with suppress(OSError):
                stem.channel.hang_up()
            stem.status(ENDING)
            stem.kill()
            status = stem.status(1)
            log = stem.log.text(wait=1.0)
            what = f"opening a page in {chromium()}" if target.browser else f"importing TensorFlow and {target.name}"
            reason = f"{what} failed ({type(error).__name__}, exit status {status})"
            raise WorkerNotStarted(reason, log) from error

    def stop(self) -> None:
        """End the stems, and start no more; the releases are used no more."""
        for used in self._used.values():
            if used is not None:
                used.close()
        self._used.clear()
        with self._starting:
            self._over = True
            stems = list(self._stems.values())
            self._stems.clear()
        for stem in stems:
            with suppress(OSError):
                stop(stem)


def _compiled(target: Target) -> Path:
    """Return the file in which what V8 compiles of a release is kept for the next worker."""
    folder = cache_folder() / "compiled"
    folder.mkdir(exist_ok=True)
    return folder / f"{target.version}+{target.backend}-node-{node_version(node())}.v8"


def _stem_of(target: Target, allocator: str) -> tuple[str, str] | None:
    """Return what the stem is kept under that a target's workers come from; None where they come from none."""
    if target.browser:
        return "chromium", DEFAULT
    return (target.name, allocator) if target.language == "py" else None


def _browser() -> Started:
    command = [sys.executable, "-P", "-m", "tensorledger.browser.stem", str(chromium())]
    # Playwright's driver ends the browser and deletes its profile when who started it is gone.
    return Started(command, os.environ, alone=True)


def _stem(name: str, allocator: str) -> Started:
    own = {**os.environ, **QUIET, LEGACY: "1" if name == "tf-keras" else "0", **environment(allocator)}
    variables = {key: value for key, value in own.items() if value is not None}
    variables.setdefault("KERAS_HOME", str(cache_folder() / "keras"))
    # -P: the folder that the user is in may have a numpy.py.
    return Started([sys.executable, "-P", "-m", "tensorledger.runtime.stem", name, allocator], variables)


def _hello(target: Target, found: Packages | None = None, *, counts_only: bool = False) -> Hello:
    return Hello(
        protocol=PROTOCOL,
        name=target.name,
        version=target.version,
        backend=target.backend,
        package=str(found.library) if found else None,
        backend_package=str(found.backend) if found and found.backend else None,
        counts_only=counts_only,
    )


def _copies(library: Path) -> str:
    """Say so where a release brings several copies of its core, which then get in each other's way."""
    if library.parent.name != "@tensorflow":
        return ""  # an alias, beside other releases
    cores = library.parents[2].glob("**/@tensorflow/tfjs-core/package.json")
    versions = sorted({str(json.loads(core.read_text(encoding="utf-8"))["version"]) for core in cores})
    if len(versions) < 2:
        return ""
    return f" (the packages of this release do not fit together: they bring tfjs-core {' and '.join(versions)})"

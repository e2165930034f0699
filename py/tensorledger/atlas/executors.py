"""Where cells are run: processes of this machine, or a dask.distributed cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager, suppress

from tensorledger.atlas.measure import let_go

PATIENCE = 10
"""Seconds that a scheduler has to answer."""


class NoCluster(Exception):
    """The cluster cannot be used; the message says why and what to do."""


@contextmanager
def local(jobs: int) -> Iterator[Executor]:
    """Yield an executor of so many processes; an exception in the block ends them in the middle of what they do."""
    before = set(multiprocessing.active_children())
    # Spawned: a fork of a process that has threads may hang.
    executor = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_as_asked)
    try:
        yield executor
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - before:
            child.kill()
        raise
    executor.shutdown()


def _as_asked() -> None:
    """Leave Ctrl-C, which a terminal sends to all, to the process that asked; end when that has gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_it, daemon=True).start()


def _end_with_it() -> None:
    asked = multiprocessing.parent_process()
    assert asked is not None
    asked.join()
    os._exit(1)


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """Yield an executor of the dask.distributed cluster whose scheduler is at an address, and how many cells it runs
    at once. Raises NoCluster."""
    try:
        from distributed import Client
    except ImportError as error:
        raise NoCluster("a cluster needs dask.distributed: pip install 'tensorledger[dask]'") from error
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise NoCluster(f"no scheduler answers at {address}: {error}") from error
    with client:
        threads = client.nthreads()
        if not threads:
            raise NoCluster(f"the scheduler at {address} has no workers: dask worker {address}")
        try:
            yield client.get_executor(pure=False), sum(threads.values())
        finally:
            with suppress(Exception):  # a worker that has gone has let go of everything
                client.run(let_go)

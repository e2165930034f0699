"""The workers of a run: one for each target and allocator's setting while clean, a fresh one after what was not."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, TypeVar

from tensorledger.protocol.messages import Cycle, Outcome, Reading, RunScenario
from tensorledger.targets.target import Target
from tensorledger.workers.allocators import DEFAULT
from tensorledger.workers.start import Starter
from tensorledger.workers.worker import Watch, Worker

W = TypeVar("W", bound="Workers")


class Starts(Protocol):
    """Where workers come from."""

    def prepare(self, target: Target, allocator: str) -> None: ...

    def start(self, target: Target, allocator: str) -> Worker: ...

    def stop(self) -> None: ...


class Workers:
    """Runs scenarios on targets. Use it as a context manager: leaving it ends every worker.

    Several threads may run scenarios, each on targets of its own.
    """

    def __init__(self, starter: Starts | None = None) -> None:
        self._starter: Starts = starter or Starter()
        self._clean: dict[tuple[Target, str], Worker] = {}
        self._busy: dict[tuple[Target, str], Worker] = {}
        self.versions: dict[Target, dict[str, str]] = {}
        """What each target's worker said it is."""

    def __enter__(self: W) -> W:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def prepare(self, target: Target, allocator: str = DEFAULT) -> None:
        """Begin to start what takes long for a target. Raises UnknownAllocator."""
        self._starter.prepare(target, allocator)

    def run(
        self,
        target: Target,
        scenario: RunScenario,
        watch: Watch,
        limit: float,
        *,
        keep: bool = True,
        fresh: bool = False,
        allocator: str = DEFAULT,
    ) -> tuple[Outcome, str]:
        """Run a scenario in a clean worker; return what it measured, and the end of what it printed.

        ``keep``: whether the worker may run another one, if it is clean. ``fresh``: take a new one.
        ``allocator``: one of workers/allocators.py. Raises WorkerFailed, NodeMissing, PackagesMissing, ReleaseMissing
        or UnknownAllocator.
        """
        own = target, allocator
        if fresh and own in self._clean:
            self._clean.pop(own).stop()
        worker = self._clean.pop(own, None)
        if worker is not None and not worker.is_quiet():  # it ended, or what was left in it goes on talking
            worker.stop()
            worker = None
        worker = worker or self._start(target, allocator)
        self._busy[own] = worker
        try:
            outcome = worker.run(scenario, watch, limit)
        finally:
            del self._busy[own]
        log = worker.printed()
        if keep and not target.browser and is_clean(outcome):  # in a browser each scenario has a page of its own
            self._clean[own] = worker
        else:
            worker.stop()
        return outcome, log

    def let_go(self, target: Target) -> None:
        """End the worker that is kept for a target, for who goes on to another."""
        for own in [own for own in list(self._clean) if own[0] == target]:
            self._clean.pop(own).stop()

    def stop(self) -> None:
        """End every worker, those that run something too."""
        for worker in list(self._busy.values()):
            worker.kill()
        for worker in self._clean.values():
            worker.stop()
        self._clean.clear()
        self._starter.stop()

    def _start(self, target: Target, allocator: str) -> Worker:
        worker = self._starter.start(target, allocator)
        self.versions[target] = worker.versions
        return worker


def is_clean(outcome: Outcome) -> bool:
    """Say whether a worker may run another scenario: nothing thrown, left, taken away, grown or still running.

    The warm-up counts too: what it left, or took, would be there for the next scenario.
    """
    if outcome.error is not None or outcome.running or any(cycle.thrown for cycle in outcome.cycles):
        return False
    moments = [
        moment
        for cycle in (outcome.cycles[:1] + outcome.cycles[-1:])
        for moment in (cycle.baseline, cycle.checkpoints[-1].reading)
    ]
    level = all(_exact(moment) == _exact(moments[0]) for moment in moments)
    # A warm-up that went otherwise found, or made, what is there only once in a process: the next one's would differ.
    return level and [_walk(cycle) for cycle in outcome.cycles[:1]] == [_walk(cycle) for cycle in outcome.cycles[-1:]]


def _exact(moment: Reading) -> tuple[int | None, ...]:
    return moment.tensors, moment.bytes, moment.buffers


def _walk(cycle: Cycle) -> list[tuple[int | None, ...]]:
    """Return what a cycle's checkpoints read. Of a clean worker every baseline is the same."""
    return [_exact(checkpoint.reading) for checkpoint in cycle.checkpoints]

"""One worker: a process that runs scenarios for one target."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import msgspec.structs

from tensorledger.protocol.channel import LACKING, CallFailed, ChannelClosed, ChannelTimeout, ProtocolBroken
from tensorledger.protocol.messages import (
    Cycle,
    Ended,
    GoOn,
    Hello,
    Message,
    Outcome,
    Reached,
    RunScenario,
    SavedModel,
    SavedModelRequest,
    Welcome,
)
from tensorledger.workers.errors import (
    TargetLacking,
    WorkerBroken,
    WorkerDied,
    WorkerFailed,
    WorkerFlooded,
    WorkerHung,
    WorkerNotStarted,
)
from tensorledger.workers.process import GRACE, Process, stop
from tensorledger.workers.told import Told

HANDSHAKE = 60.0
"""Seconds that a worker has to load its library and answer."""


@dataclass(frozen=True)
class Watch:
    """Who is told and asked while a scenario runs."""

    reached: Callable[[int, str], None]
    saved_model: Callable[[str, str, str | None], SavedModel]
    enough: Callable[[Sequence[Cycle]], bool] = lambda cycles: False
    """Says of the cycles so far whether no more are needed."""


class Worker:
    """A worker that has shaken hands."""

    def __init__(self, process: Process, hello: Hello) -> None:
        """Shake hands. Raises WorkerFailed, with the process ended."""
        self._process = process
        self._last: str | None = None
        self._printed = 0
        """Bytes of the log that are not the present scenario's."""
        welcome = self._call("hello", hello, HANDSHAKE, WorkerNotStarted)
        assert isinstance(welcome, Welcome)
        if welcome.protocol != hello.protocol:
            self._fail(WorkerNotStarted, f"it speaks protocol {welcome.protocol}, the harness {hello.protocol}")
        self.versions = welcome.versions

    def run(self, scenario: RunScenario, watch: Watch, limit: float) -> Outcome:
        """Run one scenario within ``limit`` seconds. Raises WorkerFailed, with the process ended."""
        self._last = None
        self._printed = self._process.log.count

        def reached(told: Reached) -> None:
            self._last = told.name
            watch.reached(told.cycle, told.name)

        def saved_model(asked: SavedModelRequest) -> SavedModel:
            return watch.saved_model(asked.model, asked.source, asked.release)

        told_of = Told(scenario)

        def ended(told: Ended) -> GoOn:
            told_of.take(told)
            told_of.is_enough = watch.enough(told_of.cycles)
            return GoOn(go_on=not told_of.is_enough)

        answering: dict[str, Callable[..., Message | None]] = {
            "reached": reached,
            "ended": ended,
            "saved_model": saved_model,
        }
        outcome = self._call("run", scenario, limit, WorkerDied, answering)
        assert isinstance(outcome, Outcome)
        if (breach := told_of.breach(outcome)) is not None:
            self._fail(WorkerBroken, breach)
        return msgspec.structs.replace(outcome, cycles=told_of.cycles)

    def is_quiet(self) -> bool:
        """Say whether it is alive and has said nothing since it answered: whether it may be asked again."""
        return self._process.channel.is_quiet()

    def printed(self) -> str:
        """Return the end of what the last scenario printed."""
        return self._process.log.settled(since=self._printed)

    def kill(self) -> None:
        """End the process while ``run`` waits for it, which then fails."""
        self._process.kill()

    def stop(self) -> None:
        """End the process, by fair means first."""
        stop(self._process)

    def _call(
        self,
        method: str,
        params: Message,
        limit: float,
        died: type[WorkerFailed],
        answering: dict[str, Callable[..., Message | None]] | None = None,
    ) -> Message:
        deadline = time.monotonic() + limit
        try:
            answer: Message = self._process.channel.call(method, params, deadline=deadline, answering=answering)
            return answer
        except ChannelTimeout:
            self._fail(WorkerHung, f"no answer within {limit:g} s")
        except ChannelClosed:
            how = self._process.ended(GRACE)
            if self._process.log.flooded:
                self._fail(WorkerFlooded, "it printed without end and was stopped")
            self._fail(died, f"the worker is gone: {how}")
        except CallFailed as error:
            said = str(error).strip() or f"it answered with the error {error.code}, and without words"
            if error.code == LACKING and method == "hello":
                self._fail(TargetLacking, said)
            self._fail(WorkerNotStarted if method == "hello" else WorkerBroken, said)
        except ProtocolBroken as error:
            self._fail(WorkerBroken, str(error))
        except BaseException:
            # What is asked back may fail, or the user interrupt: the worker is in the middle of something.
            self._process.kill()
            stop(self._process)
            raise

    def _fail(self, failure: type[WorkerFailed], message: str) -> NoReturn:
        self._process.kill()
        stop(self._process)
        after = f" after checkpoint {self._last!r}" if self._last else ""
        raise failure(message + after, self._process.log.text(wait=1.0, since=self._printed), self._last)

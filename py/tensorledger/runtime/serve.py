"""The Python worker: answers the harness's requests until the harness hangs up."""

from __future__ import annotations

import inspect
import platform
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import tensorflow as tf
from msgspec.structs import replace

from tensorledger.data import samples
from tensorledger.protocol.channel import Channel
from tensorledger.protocol.messages import (
    PROTOCOL,
    Cycle,
    Ended,
    GoOn,
    Hello,
    Outcome,
    Reached,
    RunScenario,
    SavedModel,
    SavedModelRequest,
    Welcome,
)
from tensorledger.runtime.context import Context, Data, Samples, Target
from tensorledger.runtime.cycles import Course, cycles
from tensorledger.runtime.files import load_file
from tensorledger.runtime.recipes import DEFAULT, RECIPES, why_not
from tensorledger.runtime.thrown import describe
from tensorledger.runtime.zoo import Zoo

SHAPES = {"classifier": (784, 10), "extractor": (64, 1)}
"""Features and outputs of each model of the zoo."""


class Worker:
    """What one worker knows; its methods are the protocol's."""

    def __init__(self, channel: Channel, keras: Any) -> None:
        self._channel = channel
        self._keras = keras
        self._target: Target | None = None
        self._samples: dict[str, Samples] = {}
        self._counts_only = False

    def hello(self, hello: Hello) -> Welcome:
        if hello.protocol != PROTOCOL:
            raise ValueError(f"this worker speaks protocol {PROTOCOL}, the harness {hello.protocol}")
        self._counts_only = hello.counts_only
        self._target = Target(hello.name, self._keras.__version__, hello.backend)
        self._samples = {
            model: Samples(tf.constant(samples.inputs(features)), tf.constant(samples.labels(outputs)))
            for model, (features, outputs) in SHAPES.items()
        }
        versions = {"python": platform.python_version(), "tensorflow": tf.__version__, "keras": self._keras.__version__}
        return Welcome(protocol=PROTOCOL, versions=versions)

    def run(self, run: RunScenario) -> Outcome:
        assert self._target is not None, "run before hello"
        chosen = run.recipe or DEFAULT
        outcome = Outcome(recipe=chosen, cycles=[], agreements=[], not_applicable=None, running=[], error=None)
        try:
            module = load(Path(run.scenario))
            scenario = module.scenario
        except (Exception, SystemExit) as error:
            return replace(outcome, error=describe(error, None))
        reason = why_not(chosen, scenario)
        if reason is not None:
            return replace(outcome, not_applicable=reason)

        held: list[Any] = []
        models = Zoo(self._keras, held, self._target.name, self._saved_model)
        own = self._samples.get(run.model, self._samples["classifier"])
        data = Data(own.x, own.y, **self._samples)
        context = Context(tf, self._keras, models, data, self._target, run.params, held)

        recipe = RECIPES[chosen]

        def release() -> None:
            recipe.release(context)
            held.clear()

        context.release = release
        before = set(threading.enumerate())
        try:
            prepare(module, context)
        except (Exception, SystemExit) as error:
            return replace(outcome, error=describe(error, None))
        held.clear()
        course = Course(scenario, context, recipe, held)
        cycles(
            course,
            run.cycles,
            go_on=run.throws,
            counts_only=self._counts_only,
            reached=self._reached,
            ended=self._ended,
        )
        running = [f"thread {thread.name}" for thread in threading.enumerate() if thread not in before]
        return replace(outcome, agreements=list(models.agreements.values()), running=running)

    def _reached(self, cycle: int, name: str) -> None:
        self._channel.notify("reached", Reached(cycle=cycle, name=name))

    def _ended(self, number: int, cycle: Cycle) -> bool:
        answer: GoOn = self._channel.call("ended", Ended(number=number, cycle=cycle))
        return answer.go_on

    def _saved_model(self, model: str, source: str) -> SavedModel:
        request = SavedModelRequest(model=model, source=source, release=None)
        answer: SavedModel = self._channel.call("saved_model", request)
        return answer


def load(path: Path) -> ModuleType:
    """Return a file as a module with a function ``scenario``. Raises what the file raises; TypeError: it has none."""
    module = load_file(path, "scenario")
    if not callable(getattr(module, "scenario", None)):
        raise TypeError(f"{path.name} defines no function named scenario")
    return module


def prepare(module: ModuleType, context: Context) -> None:
    """Call a file's ``prepare(context)``, if it has one. Raises what that raises; TypeError: no plain function."""
    hook = getattr(module, "prepare", None)
    if hook is None:
        return
    if not callable(hook) or inspect.isgeneratorfunction(hook) or inspect.iscoroutinefunction(hook):
        raise TypeError("prepare is to be a plain function, which takes the context")
    hook(context)


def serve(channel: Channel, keras: Any) -> None:
    """Serve until the harness hangs up."""
    worker = Worker(channel, keras)
    channel.serve({"hello": worker.hello, "run": worker.run})

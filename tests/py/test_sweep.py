"""A sweep of recipes: its rows are in order however they are measured, and an interrupted one starts nothing more."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from test_python_rows import outcome

from tensorledger.recipes import python, sweep
from tensorledger.recipes.python import Crossing, row_of
from tensorledger.recipes.row import Row
from tensorledger.recipes.sweep import Choice
from tensorledger.targets.target import Target

KERASES = [Target("keras"), Target("tf-keras")]
CHOICE = Choice(models=("classifier", "extractor"), recipes=("del", "complete"))


def row(model: str, target: Target, usage: str, recipe: str) -> Row:
    return row_of(Crossing(model, target, usage, recipe, "default"), outcome(not_applicable="nothing is run"), 2)


class Idle:
    """Workers that run nothing."""

    def __init__(self) -> None:
        self.stopped = threading.Event()

    def stop(self) -> None:
        self.stopped.set()
        time.sleep(0.3)  # what a thread would begin meanwhile, it begins


def test_rows_are_in_the_order_of_targets_models_usages_and_recipes(monkeypatch: pytest.MonkeyPatch) -> None:
    def rows(model: str, target: Target, recipes: Any, usages: Any, *rest: Any) -> Iterator[Row]:
        for usage in usages:
            for recipe in recipes:
                yield row(model, target, usage, recipe)

    monkeypatch.setattr(sweep, "counting", Idle)
    monkeypatch.setattr(python, "rows", rows)
    told: list[Row] = []
    found = sweep.sweep(CHOICE, KERASES, 2, told.append)
    assert [(one.target, one.model, one.usage, one.recipe) for one in found] == [
        (str(target), model, usage, recipe)
        for target in KERASES
        for model in CHOICE.models
        for usage in python.USAGES
        for recipe in ("del", "complete")
    ]
    assert len(told) == len(found) == sum(CHOICE.size(target) for target in KERASES)


def test_an_interrupted_sweep_starts_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    workers = Idle()

    def rows(model: str, target: Target, recipes: Any, usages: Any, *rest: Any) -> Iterator[Row]:
        started.extend(usages)
        time.sleep(0.1)  # until all parts wait for their turn
        if started == ["fit"]:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        assert workers.stopped.wait(5), "the sweep ends its workers"
        yield row(model, target, usages[0], recipes[0])

    monkeypatch.setattr(sweep, "counting", lambda: workers)
    monkeypatch.setattr(python, "rows", rows)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # who started the tests may ignore it
    with pytest.raises(KeyboardInterrupt):
        sweep.sweep(CHOICE, KERASES, 1, lambda row: None)
    signal.signal(signal.SIGINT, before)
    time.sleep(0.3)
    assert started == ["fit"]

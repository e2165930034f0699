"""Runs one cell. Whatever breaks in it becomes its verdict; the run goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec.structs

from tensorledger.browser.chromium import ChromiumMissing
from tensorledger.environment.cache import CacheUnusable
from tensorledger.environment.node import NodeMissing
from tensorledger.environment.packages import PackagesMissing
from tensorledger.environment.releases import ReleaseMissing
from tensorledger.environment.tree import shown, tree
from tensorledger.expectations.deviation import Deviation, Deviations, deviations_for
from tensorledger.expectations.expectation import Expectation, expectation_for
from tensorledger.expectations.toml import BadDefinition
from tensorledger.models.saved import saved_model
from tensorledger.protocol.messages import Outcome, RunScenario, SavedModel
from tensorledger.results.build import judged, unjudged
from tensorledger.results.result import Failure, Result
from tensorledger.scenarios.catalogue import Scenario
from tensorledger.targets.catalogue import lacking
from tensorledger.targets.target import Target
from tensorledger.verdicts.growth import Grown, Settling, longest, suspicions
from tensorledger.verdicts.judge import Judgement, judge, not_caught, with_growth
from tensorledger.verdicts.levels import tensors_made
from tensorledger.verdicts.verdict import Verdict
from tensorledger.workers.allocators import DEFAULT, environment
from tensorledger.workers.errors import TargetLacking, WorkerBroken, WorkerFailed
from tensorledger.workers.pool import Workers
from tensorledger.workers.worker import Watch

LIMIT = 120.0
"""Seconds that a cell may take, unless told otherwise."""


def _tell_nobody(cycle: int, checkpoint: str) -> None:
    pass


@dataclass(frozen=True)
class Settings:
    """How cells are run."""

    cycles: int = 10
    recipe: str = ""
    """Empty: the target's default."""
    allocator: str = DEFAULT
    """A setting of workers/allocators.py, for Python targets. Raises UnknownAllocator where there is none such."""
    limit: float = LIMIT
    params: dict[str, Any] = field(default_factory=dict)
    full_stacks: bool = False
    expectation: Expectation | None = None
    """What is expected of every cell, instead of what its scenario's file says."""
    reached: Callable[[int, str], None] = _tell_nobody
    saved_model: Callable[[str, str, str | None], SavedModel] = saved_model

    def __post_init__(self) -> None:
        environment(self.allocator)


@dataclass(frozen=True)
class Cell:
    """One scenario on one target."""

    scenario: Scenario
    target: Target

    def __str__(self) -> str:
        return f"{self.scenario.name}[{self.target}]"


@dataclass(frozen=True)
class Ran:
    """A cell that was run: the result, and what it was judged from."""

    cell: Cell
    result: Result
    outcome: Outcome | None = None
    expectation: Expectation = field(default_factory=Expectation)
    """As the file says it, without a deviation."""
    uncaught: tuple[str, ...] = ()
    """Of a scenario that leaks on purpose: in what it was not caught."""


def cells(scenarios: list[Scenario], targets: list[Target]) -> list[Cell]:
    """Return the cells there are, target by target, so that a worker's start is paid once."""
    return [Cell(scenario, target) for target in targets for scenario in scenarios if scenario.file(target)]


def prepare(targets: Iterable[Target], workers: Workers, allocator: str = DEFAULT) -> None:
    """Begin to start what takes long for these targets, without waiting for it; what is in the way, its cells tell."""
    for target in targets:
        if lacking(target) is None:
            with suppress(CacheUnusable):
                workers.prepare(target, allocator)


def run_cell(cell: Cell, workers: Workers, settings: Settings) -> Ran:
    """Run and judge one cell. Raises nothing but what ends the whole run, such as KeyboardInterrupt."""
    started = time.monotonic()

    def broken(verdict: Verdict, error: Exception, checkpoint: str | None = None) -> Ran:
        failure = Failure(type=type(error).__name__, message=str(error), checkpoint=checkpoint, stack=[])
        return unrun(verdict, str(error), failure if verdict == "error" else None)

    def unrun(verdict: Verdict, reason: str, failure: Failure | None = None) -> Ran:
        seconds = time.monotonic() - started
        return Ran(cell, unjudged(cell.scenario.name, cell.target, seconds, verdict, reason, failure))

    lacks = lacking(cell.target)
    if lacks is None and settings.allocator != DEFAULT and cell.target.language != "py":
        lacks = f"there is no allocator to set to {settings.allocator!r} in JavaScript"
    if lacks is not None:
        return unrun("skip", lacks)
    file = cell.scenario.file(cell.target)
    assert file is not None, "cells() makes no cell without a file"
    try:
        expectation = settings.expectation or expectation_for(cell.scenario.name, file)
        deviations = deviations_for(cell.scenario.name, expectation)
        request = _request(file, expectation, deviations.of(cell.target), settings)
        watch = Watch(reached=settings.reached, saved_model=settings.saved_model)
        outcome, log = workers.run(
            cell.target, request, watch, settings.limit, keep=_keeps(cell, file), allocator=settings.allocator
        )
        judgement = judge(outcome, expectation, deviations, cell.target)
        grown, retained = _growth(cell, outcome, judgement, request, workers, watch, settings)
        where = shown(deviations.path) if deviations.path else ""
        judgement = with_growth(judgement, {name: found.said for name, found in grown.items()}, retained, where)
        uncaught = _uncaught(cell, outcome, expectation, deviations, judgement, grown)
    except (BadDefinition, ReleaseMissing, PackagesMissing, CacheUnusable) as error:
        return broken("error", error)
    except (NodeMissing, ChromiumMissing, TargetLacking) as error:
        return broken("skip", error)
    except WorkerFailed as error:
        return broken("error", error, error.checkpoint)
    seconds = time.monotonic() - started
    judged_at_all = judgement.verdict in ("pass", "fail")
    caught = None if expectation.caught is None or not judged_at_all else not uncaught
    result = judged(cell.scenario.name, cell.target, seconds, outcome, judgement, caught, log)
    result = msgspec.structs.replace(
        result, confidence={name: round(found.confidence, 6) for name, found in grown.items()}, retained=retained
    )
    return Ran(cell, result, outcome, expectation, uncaught)


def _growth(
    cell: Cell,
    outcome: Outcome,
    judgement: Judgement,
    request: RunScenario,
    workers: Workers,
    watch: Watch,
    settings: Settings,
) -> tuple[dict[str, Grown], dict[str, str]]:
    """Look for growth that no exact count sees; return what grows, and what seemed to and only fills up, by name."""
    judged_by_counts = judgement.verdict in ("pass", "deviates")
    suspected = suspicions(outcome, cell.target.language) if judged_by_counts else []
    if not suspected:
        return {}, {}
    settling = Settling(suspected, settings.limit)
    again = msgspec.structs.replace(request, cycles=longest(tensors_made(outcome.cycles)))
    watched = replace(watch, enough=settling.enough)
    second, _ = workers.run(
        cell.target, again, watched, 2 * settings.limit, keep=False, fresh=True, allocator=settings.allocator
    )
    thrown = second.error or next((cycle.thrown for cycle in second.cycles if cycle.thrown), None)
    if thrown is not None and not request.throws:
        said = f"a fresh worker, in which growth was to be settled, threw in cycle {len(second.cycles) - 1}"
        raise WorkerBroken(f"{said}: {thrown.type}: {thrown.message}", checkpoint=thrown.checkpoint)
    if len(second.cycles) < 2:
        raise WorkerBroken("a fresh worker, in which growth was to be settled, ran no cycle after the warm-up")
    grown = settling.found()
    return grown, settling.retained(second.cycles, grown)


def _uncaught(
    cell: Cell,
    outcome: Outcome,
    expectation: Expectation,
    deviations: Deviations,
    judgement: Judgement,
    grown: Collection[str],
) -> tuple[str, ...]:
    """Say in what a leak on purpose was not caught, as the expectation or its deviation for this target says."""
    plain = not_caught(outcome, expectation, cell.target, judgement.verdict, grown)
    deviation = deviations.of(cell.target)
    if expectation.caught is None or deviation is None or deviations.path is None:
        return plain
    where = shown(deviations.path)
    if not plain:
        said = f"no longer deviates as {deviation.id} says: it is caught with what {expectation.source} says"
        return (f"{where}: {cell.target} {said}",)
    documented = not_caught(outcome, deviation.instead_of(expectation), cell.target, judgement.verdict, grown)
    return tuple(f"{where}: {deviation.id}: {problem}" for problem in documented)


def _keeps(cell: Cell, file: Path) -> bool:
    """Say whether a worker may go on after a cell. What a Python file imports stays, so a user's gets its own fork."""
    return cell.target.language == "js" or file.is_relative_to(tree())


def _request(file: Path, expectation: Expectation, deviation: Deviation | None, settings: Settings) -> RunScenario:
    return RunScenario(
        scenario=str(file),
        model=expectation.model,
        recipe=settings.recipe,
        cycles=settings.cycles,
        throws=expectation.throws is not None or bool(deviation and deviation.throws),
        params=settings.params,
        full_stacks=settings.full_stacks,
    )

"""Rows of the recipes table in Python: a model, by usage, recipe and allocator's setting, each in a fresh worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import linear_regression

import msgspec.structs

from tensorledger.environment.cache import CacheUnusable
from tensorledger.models.saved import saved_model
from tensorledger.models.zoo import ZOO
from tensorledger.protocol.messages import Cycle, Outcome, Reading, RunScenario, Thrown
from tensorledger.recipes.lever import levers
from tensorledger.recipes.row import HARMED, KEPT, Left, Resident, Rise, Row
from tensorledger.results.result import Failure
from tensorledger.targets.target import Target
from tensorledger.verdicts.relative import relative
from tensorledger.workers import allocators as settings
from tensorledger.workers.errors import WorkerFailed
from tensorledger.workers.pool import Workers
from tensorledger.workers.worker import Watch

USAGES = ("eager", "shared-traced", "traced-per-model", "traced-do-not-convert", "predict", "predict-on-batch", "fit")
"""The ways to use a model, each once in a cycle; what each does is in recipes/used.py.

``fit`` thaws all layers and compiles the model first, with Adam and its optimizer's slots made, unless its file has
compiled it: the extractor is frozen, and would have nothing to train.
"""
MODELS = tuple(ZOO)
"""The zoo's models in Python."""
SUFFIXES = (".keras", ".h5", ".py")
ALLOCATORS = tuple(settings.ALLOCATORS)
"""The settings of TensorFlow's allocator, the default first."""
CYCLES = 16
LIMIT = 900.0
"""Seconds that one crossing may take: 19 cycles of Keras tracing a training step."""
SCENARIO = Path(__file__).with_name("used.py")
UNUSABLE = "Unusable"
NOT_MADE = "prepare"
"""Where an error is said to be that came before the first cycle: the model could not be made."""


@dataclass(frozen=True)
class Crossing:
    """What one row is about. ``model`` is a name of the zoo, or the path of a .keras, .h5 or .py file."""

    model: str
    target: Target
    usage: str
    recipe: str
    allocator: str


def takes(model: str) -> bool:
    """Say whether a model is one of the zoo's here, or a file that can be one."""
    path = Path(model)
    return model in MODELS or (path.suffix in SUFFIXES and path.is_file())


def rows(
    model: str,
    target: Target,
    recipes: Sequence[str],
    usages: Sequence[str],
    allocators: Sequence[str],
    workers: Workers,
    cycles: int = CYCLES,
) -> Iterator[Row]:
    """Yield a row for each crossing of a model on a target, those that differ only by the allocator together.

    ``model`` is one that the module ``takes``. ``cycles``: after the warm-up, at least 2. Whatever breaks is a row's
    ``error``. A model that cannot be made is not tried again. Raises ValueError for an unknown usage or setting.
    """
    for usage in usages:
        if usage not in USAGES:
            raise ValueError(f"no usage {usage!r} in Python; there are {', '.join(USAGES)}")
    for allocator in allocators:
        settings.environment(allocator)
    unmade: Failure | None = None
    for usage in usages:
        for recipe in recipes:
            found: list[Row] = []
            for allocator in allocators:
                crossing = Crossing(model, target, usage, recipe, allocator)
                found.append(_failed(crossing, unmade) if unmade else measured(crossing, workers, cycles))
                error = found[-1].error
                if error is not None and error.checkpoint == NOT_MADE:
                    unmade = error
            yield from levers(found)


def measured(crossing: Crossing, workers: Workers, cycles: int = CYCLES) -> Row:
    """Measure one crossing in a fresh worker; ``lever`` is null, since it needs the rows of other settings too."""
    model = crossing.model if crossing.model in MODELS else str(Path(crossing.model).absolute())
    request = RunScenario(
        scenario=str(SCENARIO),
        model="classifier",
        recipe=crossing.recipe,
        cycles=cycles + 2,
        throws=True,
        params={"model": model, "usage": crossing.usage, "cycles": cycles},
    )
    watch = Watch(reached=lambda cycle, checkpoint: None, saved_model=saved_model, enough=_broke)
    started = time.monotonic()
    try:
        outcome, _ = workers.run(
            crossing.target, request, watch, LIMIT, keep=False, fresh=True, allocator=crossing.allocator
        )
    except (WorkerFailed, CacheUnusable) as error:
        return _failed(crossing, Failure(type=type(error).__name__, message=str(error), checkpoint=None, stack=[]))
    return row_of(crossing, outcome, cycles, time.monotonic() - started)


def row_of(crossing: Crossing, outcome: Outcome, cycles: int, seconds: float = 0.0) -> Row:
    """Return the row of what was measured: the warm-up, ``cycles`` cycles, one that trims, and the bystander's."""
    if outcome.not_applicable is not None:
        return _row(crossing, applies=False, reason=outcome.not_applicable)
    if outcome.error is not None:
        return _failed(crossing, msgspec.structs.replace(_failure(outcome.error), checkpoint=NOT_MADE))
    thrown = [cycle.thrown for cycle in outcome.cycles if cycle.thrown is not None]
    for found in thrown:
        if found.type == UNUSABLE:
            return _row(crossing, applies=False, reason=found.message)
        if found.type != HARMED:
            return _failed(crossing, _failure(found), cycles=len(outcome.cycles) - 1)
    *lived, trimmed, _ = outcome.cycles
    assert len(lived) == cycles + 1, "nothing was thrown"
    ends = [_end(cycle) for cycle in lived]
    return _row(
        crossing,
        left=Left.most(relative(_end(cycle), cycle.baseline) for cycle in lived[1:]),
        bystander=thrown[0].message if thrown else KEPT,
        cycles=cycles,
        growth=_growth(ends[1:]),
        resident=_resident(lived[0].baseline, ends[-1], _end(trimmed)),
        seconds=seconds,
    )


def _broke(cycles: Sequence[Cycle]) -> bool:
    """Say whether what was thrown leaves nothing to measure: anything but harm to the bystander."""
    thrown = cycles[-1].thrown
    return thrown is not None and thrown.type != HARMED


def _end(cycle: Cycle) -> Reading:
    return cycle.checkpoints[-1].reading


def _growth(ends: Sequence[Reading]) -> Rise:
    """Return what each cycle adds, as the least-squares slope through the ends of the cycles after the warm-up."""

    def slope(level: Callable[[Reading], float | None]) -> float | None:
        values = [value for value in map(level, ends) if value is not None]
        return linear_regression(range(len(values)), values).slope if len(values) == len(ends) else None

    native = [slope(lambda end: end.process["in_use"]), slope(lambda end: end.backend["allocator"])]
    return Rise(
        tensors=slope(lambda end: end.tensors),
        bytes=slope(lambda end: end.bytes),
        native=max((rate for rate in native if rate is not None), default=None),
        resident=slope(lambda end: end.process["resident"]),
    )


def _resident(first: Reading, last: Reading, trimmed: Reading) -> Resident | None:
    sizes = [reading.process["resident"] for reading in (first, last, trimmed)]
    if None in sizes:
        return None
    start, end, after = (int(size) for size in sizes if size is not None)
    return Resident(start=start, end=end, trimmed=after)


def _failed(crossing: Crossing, failure: Failure, cycles: int = 0) -> Row:
    return _row(crossing, error=failure, cycles=cycles)


def _failure(thrown: Thrown) -> Failure:
    return Failure(type=thrown.type, message=thrown.message, checkpoint=thrown.checkpoint, stack=thrown.stack)


def _row(
    crossing: Crossing,
    *,
    applies: bool = True,
    reason: str = "",
    left: Left | None = None,
    error: Failure | None = None,
    bystander: str | None = None,
    cycles: int = 0,
    growth: Rise | None = None,
    resident: Resident | None = None,
    seconds: float = 0.0,
) -> Row:
    return Row(
        model=crossing.model,
        language="py",
        target=str(crossing.target),
        recipe=crossing.recipe,
        applies=applies,
        left=left,
        error=error,
        usage=crossing.usage,
        allocator=crossing.allocator,
        reason=reason,
        bystander=bystander,
        cycles=cycles,
        growth=growth,
        resident=resident,
        seconds=round(seconds, 3),
    )

"""The rows of Python targets: a model, by usage, by recipe, by the allocator's setting, each in a fresh worker."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from statistics import linear_regression

from tensorledger.models import zoo
from tensorledger.models.saved import saved_model
from tensorledger.protocol.messages import RECIPES, Cycle, Outcome, Reading, RunScenario, Thrown
from tensorledger.recipes.row import Left, Resident, Rise, Row
from tensorledger.results.result import Failure
from tensorledger.targets.target import Target
from tensorledger.verdicts.relative import relative
from tensorledger.workers.allocators import DEFAULT, environment
from tensorledger.workers.errors import WorkerFailed
from tensorledger.workers.pool import Workers
from tensorledger.workers.worker import Watch

USAGES = ("eager", "shared-traced", "traced-per-model", "traced-do-not-convert", "predict", "predict-on-batch", "fit")
"""The ways to use a model, each once in a cycle; what each does is in recipes/used.py.

``fit`` thaws all layers and compiles the model first, with Adam and its optimizer's slots made, unless its file has
compiled it: the extractor is frozen, and would have nothing to train.
"""
MODELS = tuple(zoo.MODELS)
"""The zoo's models in Python."""
SUFFIXES = (".py", ".keras", ".h5")
CYCLES = 16
LIMIT = 900.0
"""Seconds that one crossing may take: 19 cycles of Keras tracing a training step."""
SCENARIO = Path(__file__).with_name("used.py")
HARMED = "BystanderHarmed"
UNUSABLE = "Unusable"
KEPT = "kept"


def takes(model: str) -> bool:
    """Say whether a model is one of the zoo's here, or a file that can be one."""
    return model in MODELS or (Path(model).suffix in SUFFIXES and Path(model).is_file())


@dataclass(frozen=True)
class Crossing:
    """One row to be measured. ``model`` is a name of the zoo, or the path of a .keras, .h5 or .py file."""

    model: str
    target: Target
    usage: str
    recipe: str
    allocator: str = DEFAULT


def crossings(
    model: str,
    target: Target,
    usages: Sequence[str] = USAGES,
    recipes: Sequence[str] = RECIPES["py"],
    allocators: Sequence[str] = (DEFAULT,),
) -> list[Crossing]:
    """Return every crossing on a target. Raises ValueError for a target, usage, recipe or setting there is none of."""
    if target.language != "py":
        raise ValueError(f"{target} is no Python target")
    for what, names, known in (("usage", usages, USAGES), ("recipe", recipes, RECIPES["py"])):
        for name in names:
            if name not in known:
                raise ValueError(f"no {what} {name!r} in Python; there are {', '.join(known)}")
    for allocator in allocators:
        environment(allocator)
    return [
        Crossing(model, target, usage, recipe, allocator)
        for allocator in allocators
        for usage in usages
        for recipe in recipes
    ]


def rows(wanted: Sequence[Crossing], workers: Workers, *, cycles: int = CYCLES, limit: float = LIMIT) -> Iterator[Row]:
    """Measure crossings one after the other and yield each one's row; whatever breaks is its ``error``.

    ``cycles``: after the warm-up, at least 2. A model that cannot be made is not tried again in its other rows.
    ``lever`` is null: it needs the rows together (``lever.levers``).
    """
    unmade: dict[tuple[str, Target], Failure] = {}
    for crossing in wanted:
        own = crossing.model, crossing.target
        row = _failed(crossing, unmade[own]) if own in unmade else measured(crossing, workers, cycles, limit)
        if row.error is not None and row.cycles == 0 and row.error.type not in _OF_WORKERS:
            unmade[own] = row.error
        yield row


def rows_at_once(
    wanted: Sequence[Crossing], workers: Workers, *, jobs: int, cycles: int = CYCLES, limit: float = LIMIT
) -> Iterator[Row]:
    """Measure as ``rows`` does, with as many targets at once as ``jobs``; yield rows as they come."""
    targets = list(dict.fromkeys(crossing.target for crossing in wanted))
    done: SimpleQueue[Row | BaseException] = SimpleQueue()
    over = threading.Event()
    waiting: SimpleQueue[Target] = SimpleQueue()
    for target in targets:
        waiting.put(target)

    def work() -> None:
        try:
            while not waiting.empty() and not over.is_set():
                target = waiting.get()
                of_target = [crossing for crossing in wanted if crossing.target == target]
                for row in rows(of_target, workers, cycles=cycles, limit=limit):
                    done.put(row)
                    if over.is_set():
                        return
        except BaseException as error:
            done.put(error)
        # On Linux a process ends with the thread that started it: the last stems may be asked for more.
        over.wait()

    for _ in range(min(jobs, len(targets))):
        threading.Thread(target=work, daemon=True).start()
    try:
        for _ in wanted:
            row = done.get()
            if isinstance(row, BaseException):
                raise row
            yield row
    finally:
        over.set()


def measured(crossing: Crossing, workers: Workers, cycles: int, limit: float) -> Row:
    """Measure one crossing in a fresh worker."""
    request = RunScenario(
        scenario=str(SCENARIO),
        model="classifier",
        recipe=crossing.recipe,
        cycles=cycles + 2,
        throws=True,
        params={"model": crossing.model, "usage": crossing.usage, "cycles": cycles},
    )
    watch = Watch(reached=lambda cycle, checkpoint: None, saved_model=saved_model, enough=_broke)
    started = time.monotonic()
    try:
        outcome, _ = workers.run(
            crossing.target, request, watch, limit, keep=False, fresh=True, allocator=crossing.allocator
        )
    except WorkerFailed as error:
        return _failed(crossing, Failure(type=type(error).__name__, message=str(error), checkpoint=None, stack=[]))
    return row_of(crossing, outcome, cycles, time.monotonic() - started)


def row_of(crossing: Crossing, outcome: Outcome, cycles: int, seconds: float = 0.0) -> Row:
    """Return the row of what was measured: the warm-up, ``cycles`` cycles, one that trims, and the bystander's."""
    if outcome.not_applicable is not None:
        return _row(crossing, applies=False, reason=outcome.not_applicable)
    if outcome.error is not None:
        return _failed(crossing, _failure(outcome.error))
    thrown = [cycle.thrown for cycle in outcome.cycles if cycle.thrown is not None]
    for found in thrown:
        if found.type == UNUSABLE:
            return _row(crossing, applies=False, reason=found.message)
        if found.type != HARMED:
            return _failed(crossing, _failure(found), cycles=len(outcome.cycles) - 1)
    *lived, trimmed, _ = outcome.cycles
    assert len(lived) == cycles + 1, "nothing was thrown"
    ends = [_end(cycle) for cycle in lived]
    last = relative(ends[-1], lived[-1].baseline)
    return _row(
        crossing,
        left=Left(tensors=last.tensors, bytes=last.bytes, buffers=last.buffers),
        bystander=thrown[0].message if thrown else KEPT,
        cycles=cycles,
        growth=_growth(ends[1:]),
        resident=_resident(lived[0].baseline, ends[-1], _end(trimmed)),
        seconds=seconds,
    )


_OF_WORKERS = ("WorkerDied", "WorkerHung", "WorkerFlooded", "WorkerBroken", "WorkerNotStarted")


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

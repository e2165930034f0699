"""Runs a scenario for some cycles and reads memory at its checkpoints. It judges nothing."""

from __future__ import annotations

import gc
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tensorledger.ledger.collect import collect
from tensorledger.ledger.hook import HOOK
from tensorledger.ledger.live import Ledger, groups
from tensorledger.ledger.track import track
from tensorledger.protocol.messages import CheckpointReading, Cycle, LiveTensor, Reading, Thrown
from tensorledger.runtime.census import Census
from tensorledger.runtime.context import Context
from tensorledger.runtime.recipes import Recipe
from tensorledger.runtime.thrown import describe
from tensorledger.runtime.turned import turned

END = "end"
_OLD: list[None] = []
"""As old as the module: frozen where what was imported is."""
HELD = 3.0
"""Seconds that may go into finding what holds that which the last cycle left."""


class Disagreement(Exception):
    """The ledger and the census do not know the same tensors: one of them is wrong, and no reading can be trusted."""


@dataclass(frozen=True)
class Course:
    """What is run: a scenario, what it is given, and the way it releases."""

    scenario: Callable[[Context], Any]
    context: Context
    recipe: Recipe
    held: list[Any]
    """The models that the zoo made; ``context.held`` too, unless the scenario has put something else there."""


def cycles(
    course: Course,
    count: int,
    *,
    go_on: bool,
    counts_only: bool,
    reached: Callable[[int, str], None],
    ended: Callable[[int, Cycle], bool],
) -> None:
    """Run the warm-up and then ``count`` cycles; fewer where one throws and ``go_on`` is false.

    ``counts_only``: as of ``Hello``. ``reached`` is told each checkpoint's cycle and name before it is read. ``ended``
    is handed each cycle, which is kept nowhere here, and says whether to go on.
    """
    gc.disable()
    try:
        with HOOK.held():
            collect()
            freezing = _Freezing()
            for number in range(count + 1):
                held = None if counts_only else HELD if number == count else 0
                cycle = _one(course, number, freezing, reached, held)
                wanted, thrown = ended(number, cycle), cycle.thrown is not None
                del cycle
                if not wanted or (thrown and not go_on):
                    break
    finally:
        gc.enable()


class _Freezing:
    """Notices, by two objects, that somebody froze or thawed what the collector knows.

    ``gc.get_freeze_count`` takes some 40 ms.
    """

    def __init__(self) -> None:
        self._young: list[None] = []
        self._frozen = not self._knows(_OLD)

    def noticed(self) -> bool:
        return not self._knows(self._young) or (self._frozen and self._knows(_OLD))

    @staticmethod
    def _knows(one: list[None]) -> bool:
        return any(found is one for found in gc.get_objects())


def _one(
    course: Course, number: int, freezing: _Freezing, reached: Callable[[int, str], None], held: float | None
) -> Cycle:
    """``held``: seconds that may go into finding what holds that which is left; None: it is counted and no more."""
    before = Census()
    baseline, known = before.reading(), before.identities()
    del before
    checkpoints: list[CheckpointReading] = []

    # In functions of their own: nothing of the scenario may stay in a variable here.
    with track(frames="none" if held is None else "all") as ledger:

        def checkpoint(name: str) -> None:
            reached(number, name)
            checkpoints.append(CheckpointReading(name=name, reading=_read(ledger, known)))

        with _strays() as strays:
            thrown = _walk(course, checkpoint, strays)
            course.held.clear()
            collect()
        if freezing.noticed():
            strays.append(
                RuntimeError("the scenario called gc.freeze or gc.unfreeze: what is alive cannot be counted then")
            )
        last = checkpoints[-1].name if checkpoints else None
        if thrown is None and strays:
            thrown = describe(strays[0], last)
        strays.clear()
        try:
            checkpoint(END)
        except Disagreement as error:
            thrown = describe(error, last)
            error.__traceback__ = None
            checkpoints.append(CheckpointReading(name=END, reading=Census().reading()))
    leaks = [] if held is None else _left(ledger, known, held)
    return Cycle(baseline=baseline, checkpoints=checkpoints, thrown=thrown, leaks=leaks)


def _read(ledger: Ledger, known: set[int | str]) -> Reading:
    """Return the reading of this moment. Raises Disagreement where the ledger does not know the same tensors."""
    census = Census()
    counted, kept = census.identities() - known, ledger.identities() - known
    if counted != kept:
        # A thread may have made or dropped some in between. What the census holds cannot have been dropped.
        missing = counted - kept - ledger.identities()
        extra = (kept - counted) & ledger.identities() - Census().identities()
        if missing or extra:
            raise Disagreement(
                f"the ledger and the census disagree: of {len(counted)} tensors the ledger lacks {len(missing)}, "
                f"and it has {len(extra)} that the census lacks ({', '.join(map(str, [*missing, *extra][:3]))})"
            )
    return census.reading()


def _left(ledger: Ledger, known: set[int | str], held: float) -> list[LiveTensor]:
    """Return what was made in this cycle and is alive."""
    alive = ledger.alive()
    for old in known.intersection(alive.handles):
        del alive.handles[str(old)]
    return groups(alive, held, thaw=True)


def _walk(course: Course, checkpoint: Callable[[str], None], strays: list[BaseException]) -> Thrown | None:
    """Run the scenario once; return what it threw, or None."""
    names: list[str] = []
    try:
        course.recipe.before(course.context)
        for name in _steps(course, strays):
            if not isinstance(name, str) or not name:
                raise TypeError(f"a scenario yields names of checkpoints, not {name!r}")
            name.encode("utf-8")  # raises UnicodeEncodeError for half a character, which no message can hold
            if name == END:
                raise ValueError('"end" is read by itself, after the scenario; yield another name')
            if name in names:
                raise ValueError(f'the checkpoint "{name}" is yielded twice')
            names.append(name)
            checkpoint(name)
    except BaseException as error:
        thrown = describe(error, names[-1] if names else None)
        # The traceback's frames keep the scenario's locals alive.
        error.__traceback__ = None
        return thrown
    return None


@contextmanager
def _strays() -> Iterator[list[BaseException]]:
    """Collect what threads throw: errors that would only be printed otherwise."""
    strays: list[BaseException] = []
    usual = threading.excepthook
    threading.excepthook = lambda told: strays.append(told.exc_value or told.exc_type())
    try:
        yield strays
    finally:
        threading.excepthook = usual


def _steps(course: Course, strays: list[BaseException]) -> Iterator[str]:
    scenario, context, recipe = course.scenario, course.context, course.recipe
    walked = recipe.around(context, lambda: scenario(context)) if recipe.around else scenario(context)
    if inspect.isgenerator(walked):
        yield from walked
    elif inspect.isasyncgen(walked) or inspect.iscoroutine(walked):
        yield from turned(walked, strays)

"""Makes a result of what was measured and how it was judged."""

from __future__ import annotations

from typing import Any

from tensorledger.expectations.amount import amount
from tensorledger.protocol.messages import Cycle, Outcome, Reading, Thrown
from tensorledger.results.result import Checkpoint, CycleEnd, Failure, Growth, Result
from tensorledger.targets.target import Target
from tensorledger.verdicts.judge import Judgement
from tensorledger.verdicts.levels import level
from tensorledger.verdicts.relative import grown, readings, relative
from tensorledger.verdicts.verdict import Verdict


def judged(
    scenario: str, target: Target, seconds: float, outcome: Outcome, judgement: Judgement, caught: bool | None, log: str
) -> Result:
    """Return the result of a cell that a worker has run."""
    ran = outcome.cycles[1:]
    thrown = outcome.error or next((cycle.thrown for cycle in outcome.cycles if cycle.thrown), None)
    return Result(
        scenario=scenario,
        language=target.language,
        target=str(target),
        recipe=outcome.recipe,
        verdict=judgement.verdict,
        reason=judgement.reason,
        deviation=judgement.deviation.id if judgement.deviation else None,
        seconds=round(seconds, 3),
        cycles=len(ran),
        checkpoints=_checkpoints(outcome.cycles[-1], judgement, target) if outcome.cycles else [],
        first=_checkpoints(outcome.cycles[0], None, target) if outcome.cycles else [],
        series=[_end(number, cycle, outcome.cycles[0], target.language) for number, cycle in enumerate(ran, start=1)],
        growth=_growth(outcome, target.language),
        confidence={},
        error=_failure(thrown) if judgement.verdict == "error" and thrown else None,
        leaks=outcome.cycles[-1].leaks if outcome.cycles else [],
        problems=list(judgement.problems),
        parity=outcome.agreements,
        thrown=_failure(thrown) if judgement.verdict != "error" and thrown else None,
        caught=caught,
        log=log,
    )


def unjudged(
    scenario: str, target: Target, seconds: float, verdict: Verdict, reason: str, error: Failure | None = None
) -> Result:
    """Return the result of a cell that could not be run, or broke."""
    return Result(
        scenario=scenario,
        language=target.language,
        target=str(target),
        recipe="",
        verdict=verdict,
        reason=reason,
        deviation=None,
        seconds=round(seconds, 3),
        cycles=0,
        checkpoints=[],
        first=[],
        series=[],
        growth=None,
        confidence={},
        error=error,
        leaks=[],
        problems=[],
        parity=[],
    )


def _checkpoints(cycle: Cycle, judgement: Judgement | None, target: Target) -> list[Checkpoint]:
    return [
        Checkpoint(
            name=name,
            tensors=reading.tensors,
            bytes=reading.bytes,
            buffers=reading.buffers,
            buffer_bytes=reading.buffer_bytes,
            backend=reading.backend,
            heap=reading.heap,
            process=reading.process,
            expected=_expected(name, judgement, target) if judgement else {},
        )
        for name, reading in readings(cycle).items()
    ]


def _expected(name: str, judgement: Judgement, target: Target) -> dict[str, int]:
    expectation = judgement.expectation
    counts = expectation.checkpoints.get(name)
    if counts is None:
        return {}
    return {
        quantity: amount(written, quantity, expectation.description, str(target)).value
        for quantity, written in counts.stated()
    }


def _end(number: int, cycle: Cycle, warm_up: Cycle, language: str) -> CycleEnd:
    end, before = cycle.checkpoints[-1].reading, warm_up.checkpoints[-1].reading
    return CycleEnd(
        cycle=number, **_levels(relative(end, cycle.baseline), language), above=_levels(relative(end, before), language)
    )


def _levels(reading: Reading, language: str) -> dict[str, Any]:
    """Return what growth is told of: the exact counts, and the levels of the heap and of memory outside it."""
    statistics = {name: level(name, language).read(reading) for name in ("heap", "native")}
    return {"tensors": reading.tensors, "bytes": reading.bytes, "buffers": reading.buffers, **statistics}


def _growth(outcome: Outcome, language: str) -> Growth | None:
    total = grown(outcome)
    if total is None:
        return None
    count = len(outcome.cycles) - 1

    def each(value: float | None) -> float | None:
        if value is None:
            return None
        return value // count if value % count == 0 else value / count

    return Growth(**{name: each(value) for name, value in _levels(total, language).items()})


def _failure(thrown: Thrown) -> Failure:
    return Failure(type=thrown.type, message=thrown.message, checkpoint=thrown.checkpoint, stack=thrown.stack)

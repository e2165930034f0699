"""Judges what a worker measured: pass, fail, deviates, error or skip."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tensorledger.environment.tree import shown
from tensorledger.expectations.amount import Counts, amount
from tensorledger.expectations.description import QUANTITIES
from tensorledger.expectations.deviation import Deviation, Deviations
from tensorledger.expectations.expectation import END, Expectation
from tensorledger.protocol.messages import Agreement, Cycle, Outcome, Reading
from tensorledger.targets.target import Target
from tensorledger.verdicts.growth import FEWEST
from tensorledger.verdicts.relative import grown, readings
from tensorledger.verdicts.verdict import Verdict


@dataclass(frozen=True)
class Judgement:
    """A verdict, with the reason in one line, everything that was not met, and the numbers that were expected."""

    verdict: Verdict
    reason: str
    problems: tuple[str, ...] = ()
    deviation: Deviation | None = None
    expectation: Expectation = field(default_factory=Expectation)
    """What was judged by in the end: with the deviation's numbers, where there is one."""


@dataclass(frozen=True)
class Findings:
    """What holding an outcome against an expectation brought up."""

    problems: tuple[str, ...]
    unread: tuple[str, ...]
    """Expectations about what this target cannot read."""


def judge(outcome: Outcome, expectation: Expectation, deviations: Deviations, target: Target) -> Judgement:
    """Judge one cell. Raises BadDefinition where the definitions cannot be used on this target."""
    if outcome.not_applicable is not None:
        return Judgement("skip", f"the recipe {outcome.recipe} does not apply: {outcome.not_applicable}")
    if outcome.error is not None:
        return Judgement("error", f"{outcome.error.type}: {outcome.error.message}", expectation=expectation)
    deviation = deviations.of(target)
    documented = deviation.instead_of(expectation) if deviation else expectation
    plain = hold(outcome, expectation, target)
    thrown = next((cycle.thrown for cycle in outcome.cycles if cycle.thrown), None)
    if thrown is not None and documented.throws is None:
        return Judgement("error", f"{thrown.type}: {thrown.message}", plain.problems, deviation, documented)
    if len(outcome.cycles) < 2:
        return Judgement("error", "no cycle ran after the warm-up: nothing to judge", expectation=documented)
    grows = [*(deviation.grows if deviation else ()), *(expectation.caught.grows if expectation.caught else ())]
    if grows and len(outcome.cycles) <= FEWEST:
        return Judgement(
            "skip", f"growth is looked at from {FEWEST} cycles on, and there were {len(outcome.cycles) - 1}"
        )
    if expectation.caught is not None:
        # A leak on purpose is to fail everywhere; what it is caught with is looked at apart.
        plain = hold(outcome, documented, target)
    elif deviation is not None:
        otherwise = hold(outcome, documented, target)
        return _strictly(deviation, shown(deviations.path or "?"), plain, otherwise, expectation, target)
    if plain.problems:
        return Judgement("fail", plain.problems[0], plain.problems, expectation=documented)
    if plain.unread:
        return Judgement("skip", f"not read here: {', '.join(plain.unread)}", expectation=expectation)
    return Judgement("pass", _left_by_the_warm_up(outcome), expectation=expectation)


def _strictly(
    deviation: Deviation, where: str, plain: Findings, otherwise: Findings, expectation: Expectation, target: Target
) -> Judgement:
    """Judge by a deviation: met exactly, or the cell fails."""
    documented = deviation.instead_of(expectation)
    same = _same(deviation, expectation)
    if otherwise.unread and not otherwise.problems and not same:
        return Judgement("skip", f"not read here: {', '.join(otherwise.unread)}", (), deviation, documented)
    if not plain.problems and not deviation.grows:
        problems = [f"{target} no longer deviates as {deviation.id} says: it does what is expected"]
    elif same:
        problems = [f"{deviation.id}: {place} is what the expectation says too" for place in same]
    elif not otherwise.problems:
        return Judgement("deviates", deviation.why, (), deviation, documented)
    else:
        problems = [f"{deviation.id}: {problem}" for problem in otherwise.problems]
    said = tuple(f"{where}: {problem}" for problem in problems)
    return Judgement("fail", said[0], said, deviation, documented)


def hold(outcome: Outcome, expectation: Expectation, target: Target) -> Findings:
    """Hold an outcome against an expectation."""
    problems: list[str] = []
    unread: dict[str, None] = {}

    def compare(place: str, counts: Counts, measured: Reading, times: int = 1) -> None:
        for quantity, written in counts.stated():
            expected = amount(written, quantity, expectation.description, str(target))
            value = getattr(measured, quantity) if quantity in QUANTITIES else measured.backend.get(quantity)
            if value is None:
                unread[f"{place} {quantity}"] = None
            elif value != expected.value * times:
                each = f"{int(value) // times}" if value % times == 0 else f"{value / times:.10g}"
                whole = f" ({int(value)} in {times} cycles)" if value % times else ""
                problems.append(
                    f"{expectation.source}: {place} {quantity}: expected {expected}, measured {each}{whole}"
                )

    for number, cycle in enumerate(outcome.cycles):
        if number or expectation.throws is None:
            problems += _throws(expectation, cycle, number)
        found = readings(cycle)
        if number == 0:
            wanted, called = expectation.first, "the warm-up's "
            problems += _taken(expectation, found[END])
        else:
            wanted, called = expectation.checkpoints, ""
            problems += [
                f'{expectation.source}: the scenario yields "{name}", which is not in [checkpoints]'
                for name in found
                if expectation.path is not None and name not in wanted
            ]
        for name, counts in wanted.items():
            if name in found:
                compare(f"{called}{name}", counts, found[name])
            else:
                problems.append(f'{expectation.source}: {called}checkpoint "{name}" was never reached')
        if problems:
            problems = [f"{problem} (cycle {number})" if number > 1 else problem for problem in problems]
            break
    total = grown(outcome)
    if total is not None:
        compare("growth per cycle,", expectation.growth, total, len(outcome.cycles) - 1)
    compared = {agreement.model for agreement in outcome.agreements}
    problems += [
        f"{expectation.source}: no prediction of {model} was compared with Keras's"
        for model in expectation.compares
        if model not in compared and not any(cycle.thrown for cycle in outcome.cycles)
    ]
    problems += [_differs(agreement) for agreement in outcome.agreements if not agrees(agreement)]
    return Findings(tuple(problems), tuple(unread))


def _taken(expectation: Expectation, end: Reading) -> Iterator[str]:
    """Say so where the warm-up, whose numbers are not judged otherwise, released what was there before it."""
    for quantity in ("tensors", "bytes", "buffers"):
        left = getattr(end, quantity)
        if left is not None and left < 0:
            yield (
                f"{expectation.source}: the warm-up's end {quantity}: {left}: "
                "it released what is not its own, such as the data that the harness made"
            )


def _left_by_the_warm_up(outcome: Outcome) -> str:
    end = readings(outcome.cycles[0])[END]
    return f"the warm-up left {end.tensors} tensors, {end.bytes} bytes" if end.tensors or end.bytes else ""


def _throws(expectation: Expectation, cycle: Cycle, number: int) -> Iterator[str]:
    throws, thrown = expectation.throws, cycle.thrown
    if throws is None:
        if thrown is not None:
            yield f"{expectation.source}: {thrown.type} was thrown, which is not expected: {thrown.message}"
        return
    after = f'after "{throws.after}"' if throws.after else "before the first checkpoint"
    if thrown is None:
        yield f"{expectation.source}: expected a throw {after}, nothing was thrown"
    elif thrown.checkpoint != throws.after:
        yield f'{expectation.source}: expected a throw {after}, it came after "{thrown.checkpoint}": {thrown.message}'
    elif not re.search(throws.matches, thrown.message):
        yield f"{expectation.source}: expected a throw matching {throws.matches!r}, its message is: {thrown.message}"


def agrees(agreement: Agreement) -> bool:
    """Say whether predictions are within what rounding explains."""
    return agreement.max_abs is not None and agreement.max_abs <= agreement.bound


def _differs(agreement: Agreement) -> str:
    made = f"{agreement.model} made by {agreement.source}"
    if agreement.max_abs is None:
        return f"predictions of {made} are not all finite numbers"
    return f"predictions of {made} are off by {agreement.max_abs:.2g}; rounding explains {agreement.bound:.2g}"


def _same(deviation: Deviation, expectation: Expectation) -> list[str]:
    """Return the places where a deviation says what the expectation says."""
    pairs: Sequence[tuple[str, Counts, Counts]] = [
        *((name, mine, expectation.checkpoints.get(name, Counts())) for name, mine in deviation.checkpoints.items()),
        *((f"first {name}", mine, expectation.first.get(name, Counts())) for name, mine in deviation.first.items()),
        ("growth", deviation.growth, expectation.growth),
    ]
    return [
        f"{place} {quantity}"
        for place, mine, theirs in pairs
        for quantity, written in mine.stated()
        if dict(theirs.stated()).get(quantity) == written
    ]


def with_growth(
    judgement: Judgement, grown: Mapping[str, str], retained: Mapping[str, str], where: str = ""
) -> Judgement:
    """Return the judgement of a cell in which a level was found to grow that no exact count sees, or seemed to.

    What only fills up, or warms up, is no failure; it is said. A deviation may have that levels grow, which then have
    to; ``where`` is its file.
    """
    deviation = judgement.deviation if judgement.verdict == "deviates" else None
    documented = deviation.grows if deviation else []
    source = judgement.expectation.source
    found = [f"{source}: {said}, in a fresh worker" for name, said in grown.items() if name not in documented]
    if deviation:
        found += [
            f"{where}: no longer deviates as {deviation.id} says: {name} does not grow"
            for name in documented
            if name not in grown
        ]
    if found:
        problems = (*judgement.problems, *found)
        return replace(judgement, verdict="fail", reason=problems[0], problems=problems)
    said = (judgement.reason, *grown.values(), *retained.values())
    return replace(judgement, reason="; ".join(filter(None, said)))


def not_caught(
    outcome: Outcome, expectation: Expectation, target: Target, verdict: Verdict, grown: Collection[str] = ()
) -> tuple[str, ...]:
    """Say in what a scenario that leaks on purpose was not caught: it must fail, with exactly what it is to leave.

    Empty where all is as it must be, and for every other scenario.
    """
    if expectation.caught is None or verdict not in ("pass", "fail"):
        return ()
    if verdict == "pass":
        return (f"{expectation.source}: the leak on purpose was not caught: nothing was left",)
    wanted = replace(
        expectation,
        checkpoints={**expectation.checkpoints, END: expectation.caught.end},
        growth=expectation.caught.growth,
    )
    problems = list(hold(outcome, wanted, target).problems)
    if set(grown) != set(expectation.caught.grows):
        wants = ", ".join(expectation.caught.grows) or "nothing"
        problems.append(f"{expectation.source}: caught.grows: expected {wants}, found {', '.join(grown) or 'nothing'}")
    return tuple(f"it is caught, but not with what it is to leave: {problem}" for problem in problems)

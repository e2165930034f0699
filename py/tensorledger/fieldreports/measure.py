"""Asks whether a report reproduces: on the default targets, and along the releases of TensorFlow.js."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

from tensorledger.atlas.data import Atlas
from tensorledger.atlas.measure import How, measure_with
from tensorledger.atlas.shows import Shows, lasting
from tensorledger.bisection.search import Search
from tensorledger.cells.cell import Cell, Settings, run_cell
from tensorledger.environment.tree import tree
from tensorledger.fieldreports.found import Asked, Found, Line, Span
from tensorledger.fieldreports.report import Report, Symptom
from tensorledger.protocol.messages import LiveTensor
from tensorledger.results.result import Result
from tensorledger.scenarios.catalogue import Scenario
from tensorledger.targets.target import Target
from tensorledger.verdicts.growth import LOOKS, warm_up
from tensorledger.workers.pool import Workers

AT_ONCE = 2
"""Targets that are asked at the same time."""
CYCLES = 3
MANY = warm_up(1) + LOOKS[0] + 1
"""Cycles where growth that no exact count sees would show: after fewer, a first look asks for more than a leak is."""


@dataclass(frozen=True)
class Seen:
    """What a scenario showed, whichever way it was run."""

    points: Mapping[str, tuple[int | None, int | None]]
    """Tensors and bytes at each checkpoint of the last cycle."""
    threw: str = ""
    after: str | None = None
    """The checkpoint after which it threw."""
    broke: bool = False
    """It could not be run at all."""
    grows: tuple[str, ...] = ()

    @property
    def left(self) -> tuple[int | None, int | None]:
        """Return the tensors and the bytes that were left."""
        return self.points.get("end", (None, None))


def seen_in(result: Result) -> Seen:
    """Return what a result shows."""
    failure = result.thrown or result.error
    return Seen(
        points={point.name: (point.tensors, point.bytes) for point in result.checkpoints},
        threw=lasting(f"{failure.type}: {failure.message}") if failure else "",
        after=failure.checkpoint if failure else None,
        broke=result.verdict == "skip" or not result.checkpoints,
        grows=tuple(sorted(result.confidence)),
    )


def seen_of(shows: Shows) -> Seen:
    """Return what exact counts show."""
    points = shows.cycle.points if shows.cycle else ()
    return Seen(
        points={point.name: (point.tensors, point.bytes) for point in points},
        threw=f"{shows.threw.type}: {shows.threw.message}" if shows.threw else "",
        after=shows.threw.after if shows.threw else None,
        broke=shows.cycle is None,
    )


def reproduces(symptom: Symptom, seen: Seen, twin: Seen | None = None) -> bool | None:
    """Say whether what is reported shows. None: the scenario threw something else, or could not be run."""
    if twin is not None and (twin.broke or twin.threw):
        return None
    if symptom.throws and re.search(symptom.throws, seen.threw) and symptom.after in (None, seen.after):
        return True
    if seen.broke or seen.threw:
        return None
    counts = seen.left
    if symptom.left and twin is None and any(counts):
        return True
    if symptom.left and twin is not None and (counts[0] or 0) > (twin.left[0] or 0):
        return True
    if symptom.at is not None:
        there = seen.points.get(symptom.at.checkpoint)
        wanted = (symptom.at.tensors, symptom.at.bytes)
        if there is not None and all(want in (None, is_) for want, is_ in zip(wanted, there, strict=True)):
            return True
    return bool(set(symptom.grows) & set(seen.grows))


def asked(report: Report, target: Target, workers: Workers, cycles: int) -> Asked:
    """Ask a target."""
    settings = Settings(cycles=cycles)
    result = run_cell(Cell(report.scenario, target), workers, settings).result
    twin = report.twin
    beside = seen_in(run_cell(Cell(twin, target), workers, settings).result) if twin and twin.file(target) else None
    seen = seen_in(result)
    return Asked(
        target=str(target),
        shows=reproduces(report.symptom, seen, beside),
        verdict="caught" if result.caught else result.verdict,
        tensors=seen.left[0],
        bytes=seen.left[1],
        twin=beside.left[0] if beside else None,
        grows=list(seen.grows),
        threw=seen.threw,
        line=line(result.leaks) if any(seen.left) else None,
    )


def line(leaks: Sequence[LiveTensor]) -> Line | None:
    """Return the user's line that made the most of what is left."""
    for tensors in sorted(leaks, key=lambda found: -found.count * (found.bytes or 0)):
        for frame in tensors.stack:
            if frame.of == "user":
                return Line(f"{frame.file}:{frame.line}", _source(frame.file, frame.line))
    return None


def _source(file: str, number: int | None) -> str:
    path = Path(file) if Path(file).is_absolute() else tree() / file
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return lines[number - 1].strip() if number and number <= len(lines) else ""


def cycles_for(report: Report) -> int:
    """Return how many cycles it takes to see what is reported."""
    return report.symptom.cycles or (MANY if report.symptom.grows else CYCLES)


def measured(report: Report, targets: Sequence[Target]) -> Found:
    """Ask all targets that the scenario is written for."""
    there, cycles = [target for target in targets if report.scenario.file(target)], cycles_for(report)

    def ask(target: Target) -> Asked:
        with Workers() as workers:
            return asked(report, target, workers, cycles)

    with ThreadPoolExecutor(AT_ONCE) as executor:
        found = list(executor.map(ask, there))
    return Found(report=report.name, scenario=report.scenario.name, cycles=cycles, asked=found)


# --- along the releases


def spans(report: Report, releases: Sequence[str], atlases: Sequence[Atlas], workers: Workers) -> list[Span]:
    """Return in which releases it shows: as atlases say that know the scenario, and where they do not know all of the
    releases, the borders by bisection; where none knows it, as a bisection finds out."""
    symptom = report.symptom
    if "js" not in report.scenario.files or not (symptom.left or symptom.at or symptom.throws):
        return []
    looked: dict[str, tuple[bool | None, str]] = {}

    def look(release: str) -> str | None:
        seen = seen_on(report.scenario.name, release)
        if seen is None:
            return None
        twin = seen_on(symptom.beside, release) if symptom.beside else None
        shows = reproduces(symptom, seen, twin)
        looked[release] = shows, seen.threw if shows is None else ""
        return str(shows)

    def seen_on(scenario: str, release: str) -> Seen | None:
        known = next((shows for atlas in atlases if (shows := atlas.shows(scenario, release))), None)
        if known is None:
            known = measure_with(workers, _scenario(report, scenario), Target("tfjs", release, "cpu"), How()).shows
        return seen_of(known) if known is not None else None

    known = {release for atlas in atlases if report.scenario.name in atlas.scenarios for release in atlas.releases}
    for release in releases:
        if release in known:
            look(release)
    if known:
        for low, high in pairwise([release for release in releases if release in looked]):
            while str(looked[low][0]) != str(looked[high][0]):
                between = releases[releases.index(low) + 1 : releases.index(high)]
                middle = next((release for release in _from_the_middle(between) if look(release) is not None), None)
                if middle is None:
                    break
                low, high = (middle, high) if looked[middle][0] == looked[low][0] else (low, middle)
    else:
        Search(releases, look).changes()
    order = [(release, looked[release]) for release in releases if release in looked]
    found = []
    for (shows, threw), group in groupby(order, key=lambda each: each[1]):
        members = [release for release, _ in group]
        found.append(Span(first=members[0], last=members[-1], looked=len(members), shows=shows, threw=threw))
    return found


def _from_the_middle(releases: Sequence[str]) -> list[str]:
    """Return releases in the order of how near they are to the middle one."""
    return [releases[n] for n in sorted(range(len(releases)), key=lambda n: abs(n - len(releases) // 2))]


def _scenario(report: Report, name: str) -> Scenario:
    twin = report.twin
    return twin if twin is not None and twin.name == name else report.scenario

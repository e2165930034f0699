"""What growth is detected, how soon, and how often in vain: planted leaks and their leak-free twins. See README.md.

.venv/bin/python benchmarks/detection.py --brief --minutes 6
.venv/bin/python benchmarks/detection.py [--repeats N] [--leak-free N] [--only KIND]… [--peers PYTHON] [--json FILE]
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain, cycle, islice
from math import comb
from pathlib import Path
from typing import Any

import click
import peer_answers
from findings import Aim, Findings, Table, hand_over, json_option, write
from peer_answers import NoAnswer
from spread import spread

from tensorledger.cells.cell import Cell, Settings, run_cell
from tensorledger.expectations.expectation import END
from tensorledger.scenarios.catalogue import Scenario
from tensorledger.targets.catalogue import resolve
from tensorledger.targets.target import Target
from tensorledger.workers.pool import Workers

HERE = Path(__file__).resolve().parent
PLANTED = HERE / "planted"
OWN = "tensorledger"
LIMIT = 900.0
"""Seconds that a cell may take: a thousand cycles of Python take minutes."""
SURE = 0.95
BRIEF = (1, 4, 512, 4096, 65536)
"""The sizes of a brief run, of the kinds that take seconds."""


@dataclass(frozen=True)
class Kind:
    """A kind of leak: a scenario with a size, which is leak-free where that is 0."""

    name: str
    file: str
    target: str
    sizes: tuple[int, ...]
    cycles: int = 50
    """Of the first look."""
    every: int = 1
    peers: bool = False
    """Whether it runs without TensorFlow, so that the peers can be given it."""
    twins: int = 0
    """How often its leak-free twin is run in a round."""
    turn: bool = False
    """Whether its twin, which takes long, is run in turn with the others' that do: one of them in a round."""

    @property
    def long(self) -> bool:
        """Whether a run of it takes minutes rather than seconds."""
        return self.turn or self.every > 1

    @property
    def path(self) -> Path:
        return PLANTED / self.file


BYTES = (256, 512, 1024, 4096, 16384, 65536, 1048576)
JS, PY = "tfjs@4.22.0/cpu", "keras"
KINDS = (
    Kind("heap", "heap.mjs", JS, BYTES, twins=6),
    Kind("closures", "closures.mjs", JS, BYTES[:-1], twins=5),
    Kind("outside the heap", "outside.mjs", JS, BYTES, twins=5),
    Kind("heap, in a model scenario", "model.mjs", JS, (4096, 16384, 65536), cycles=60, turn=True),
    Kind("a model loaded again", "reload.mjs", "tfjs@1.7.4/cpu", (1,), cycles=60, twins=1),
    Kind("one tensor", "tensor.mjs", JS, (4,), cycles=10),
    Kind("one tensor in 1,000 cycles", "tensor.mjs", JS, (4,), cycles=1000, every=1000),
    Kind("heap", "heap.py", PY, BYTES, peers=True, twins=1),
    Kind("native", "native.py", PY, BYTES, peers=True, twins=1),
    Kind("native, in a model scenario", "model.py", PY, (4096, 16384, 65536), cycles=60, turn=True),
    Kind("a traced function", "traced.py", PY, (1,), turn=True),
    Kind("a kernel under a new name", "kernels.py", PY, (1,), turn=True),
    Kind("one tensor", "tensor.py", PY, (4,), cycles=10),
    Kind("one tensor in 1,000 cycles", "tensor.py", PY, (4,), cycles=1000, every=1000),
)


@dataclass(frozen=True)
class Run:
    """One cell."""

    kind: str
    target: str
    size: int
    verdict: str
    reason: str
    confidence: dict[str, float]
    settled: bool
    """Whether a suspicion was raised."""
    cycles: int
    """That it was sure after: those of the first look, or of the fresh worker, where there was one."""
    seconds: float
    tool: str = OWN

    @property
    def caught(self) -> bool:
        return self.verdict == "fail"

    @property
    def answered(self) -> bool:
        return self.verdict in ("pass", "fail")

    def __str__(self) -> str:
        what = f"{self.tool}: {self.kind} on {self.target}, size {self.size:,}"
        return f"{self.verdict} {what}, {self.seconds} s {self.reason}"


def run(kind: Kind, size: int, workers: Workers) -> Run:
    (target,) = resolve([kind.target])
    counts: list[int] = []
    """Of each worker, cycles after the warm-up."""

    def reached(number: int, checkpoint: str) -> None:
        if checkpoint != END:
            return
        if number == 0:
            counts.append(0)
        counts[-1] = number

    params: dict[str, Any] = {"size": size, "every": kind.every}
    settings = Settings(cycles=kind.cycles, limit=LIMIT, params=params, reached=reached)
    started = time.perf_counter()
    result = run_cell(_cell(kind, target), workers, settings).result
    return Run(
        kind=kind.name,
        target=kind.target,
        size=size,
        verdict=result.verdict,
        reason=result.reason,
        confidence=result.confidence,
        settled=len(counts) > 1,
        cycles=counts[-1] if counts else 0,
        seconds=round(time.perf_counter() - started, 2),
    )


def _cell(kind: Kind, target: Target) -> Cell:
    return Cell(Scenario(str(kind.path.relative_to(HERE)), {target.language: kind.path}), target)


# --- the peers


def peer_runs(python: str, kind: Kind, size: int, path: str = "") -> Iterator[Run]:
    """Run psleak and pytest-memray on the same planted leak, with as many cycles.

    ``path``: where that Python looks for modules first.
    """
    cycles = str(kind.cycles)
    probe = str(HERE / "peers" / "memray_probe.py")
    probes = {
        "psleak": [str(HERE / "peers" / "psleak_probe.py"), str(kind.path), str(size), cycles],
        "pytest-memray": ["-m", "pytest", "-rA", "-p", "no:cacheprovider", "-p", "no:tensorledger", "--memray", probe],
    }
    readers = {"psleak": peer_answers.psleak, "pytest-memray": peer_answers.pytest_memray}
    environment = {**os.environ, "PLANTED": str(kind.path), "SIZE": str(size), "CYCLES": cycles, "PYTHONPATH": path}
    environment |= {"PYTHONMALLOC": "malloc", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    for tool, command in probes.items():
        started = time.perf_counter()
        done = subprocess.run(
            [python, *command], capture_output=True, text=True, env=environment, cwd=HERE / "peers", check=False
        )
        seconds = round(time.perf_counter() - started, 2)
        try:
            answer = readers[tool](done.stdout)
        except NoAnswer as error:
            verdict, reason = "error", f"no answer, exit status {done.returncode}: {error} {done.stderr[-300:]}"
        else:
            verdict, reason, tool = "fail" if answer.leaks else "pass", answer.said, f"{tool} {answer.version}"
        yield Run(kind.name, kind.target, size, verdict, reason, {}, False, kind.cycles, seconds, tool)


def lacking(python: str) -> str | None:
    """Return why the peers cannot run."""
    done = subprocess.run([python, "-c", "import psleak, pytest_memray"], capture_output=True, text=True, check=False)
    return done.stderr.strip().splitlines()[-1] if done.returncode else None


# --- figures


def upper_bound(alarms: int, runs: int) -> float:
    """Return Clopper and Pearson's upper bound on the rate, one-sided, at SURE."""
    if alarms >= runs:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        rate = (low + high) / 2
        chance = sum(comb(runs, k) * rate**k * (1 - rate) ** (runs - k) for k in range(alarms + 1))
        low, high = (rate, high) if chance > 1 - SURE else (low, rate)
    return high


def detection_table(runs: list[Run]) -> Table:
    groups: dict[tuple[str, str, str, int], list[Run]] = {}
    for one in runs:
        groups.setdefault((one.tool, one.target, one.kind, one.size), []).append(one)
    rows = []
    for (tool, target, kind, size), found in groups.items():
        caught, answered = [one for one in found if one.caught], [one for one in found if one.answered]
        sure = [value for one in caught for value in one.confidence.values()]
        rows.append([
            *(tool, target, kind, f"{size:,}", f"{len(caught)} of {len(answered)}" if answered else "no answer"),
            _range([one.cycles for one in caught or found]),
            _range([round(one.seconds) for one in found]),
            f"≥ {min(sure):.4f}" if sure else ("exact" if caught and tool == OWN else ""),
        ])  # fmt: skip
    columns = ["tool", "target", "kind", "size", "caught", "cycles", "seconds", "confidence"]
    return Table("planted leaks", columns, rows)


def alarms_table(runs: list[Run]) -> Table:
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for one in runs:
        groups.setdefault((one.tool, one.target, one.kind), []).append(one)
        groups.setdefault((one.tool, "all", ""), []).append(one)
    rows = []
    for (tool, target, kind), found in sorted(groups.items(), key=lambda group: (group[0][0], group[0][1] == "all")):
        answered = [one for one in found if one.answered]
        alarms = sum(one.caught for one in answered)
        bound = f"{upper_bound(alarms, len(answered)):.2%}" if answered else "no answer"
        suspected = sum(one.settled for one in found) if tool == OWN else ""
        seconds = _range([round(one.seconds) for one in found])
        rows.append([tool, target, kind, f"{len(answered)}", f"{suspected}", f"{alarms}", bound, seconds])
    headings = ["runs", "suspected", "false alarms", f"rate at most ({SURE:.0%})", "seconds"]
    note = (
        "Rate at most: Clopper and Pearson's one-sided upper bound for that many runs, and no more than these show: "
        f"{upper_bound(0, 20):.0%} after 20 runs without an alarm, {upper_bound(0, 300):.0%} after 300."
    )
    return Table("leak-free twins", ["tool", "target", "kind", *headings], rows, note)


def _range(values: list[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} – {high:,}"


def findings(planted: list[Run], free: list[Run], wrong: list[str]) -> Findings:
    tables = [make(runs) for make, runs in ((detection_table, planted), (alarms_table, free)) if runs]
    alarms = sum(one.caught for one in free if one.tool == OWN)
    aims = [Aim(f"false alarms in {sum(one.tool == OWN for one in free)} runs", 0, spread([alarms]))] if free else []
    errors = [str(one) for one in [*planted, *free] if not one.answered]
    figures = {"planted": [asdict(one) for one in planted], "leak_free": [asdict(one) for one in free]}
    return Findings(tables, aims, [*wrong, *errors], figures)


@click.command()
@click.option("--repeats", default=3, show_default=True, type=click.IntRange(min=0), help="Runs of each size.")
@click.option("--leak-free", default=200, show_default=True, type=click.IntRange(min=0), help="Runs of the twins.")
@click.option("--brief", is_flag=True, help=f"Once each, the sizes {BRIEF}, without what takes minutes.")
@click.option("--minutes", type=float, help="Begin no run after so many; those of the twins come last.")
@click.option("--only", multiple=True, help="A kind's file, such as heap.mjs. Again for more. Default: all.")
@click.option("--size", "sizes", type=int, multiple=True, help="Only these sizes. Again for more.")
@click.option("--peers", default=sys.executable, help="The Python that psleak and pytest-memray are installed for.")
@json_option
def main(
    repeats: int,
    leak_free: int,
    brief: bool,
    minutes: float | None,
    only: tuple[str, ...],
    sizes: tuple[int, ...],
    peers: str,
    json_file: Path | None,
) -> None:
    """Measure what is detected."""
    kinds = [kind for kind in KINDS if (not only or kind.file in only) and not (brief and kind.long)]
    repeats, sizes = (min(repeats, 1), sizes or BRIEF) if brief else (repeats, sizes)
    lacks = lacking(peers)
    wrong = [f"without psleak and pytest-memray: {lacks} (pip install 'tensorledger[bench]')"] if lacks else []
    runs: dict[bool, list[Run]] = {True: [], False: []}
    """By whether something is planted."""
    ends = time.monotonic() + 60 * minutes if minutes is not None else None
    left: list[str] = []
    plan = [
        (kind, size)
        for kind in kinds
        for size in (kind.sizes if repeats else ())
        if not sizes or size in sizes
        for _ in range(repeats)
    ]
    asked: set[tuple[Kind, int]] = set()
    with Workers() as workers:
        for kind, size in chain(plan, ((kind, 0) for kind in islice(_twins(kinds), leak_free))):
            if ends is not None and time.monotonic() > ends:
                left = [
                    f"{kind.name} on {kind.target}, {size:,}"
                    for kind, size in dict.fromkeys(plan)
                    if (kind, size) not in asked
                ]
                break
            runs[size > 0].append(run(kind, size, workers))
            click.echo(runs[size > 0][-1])
            if kind.peers and not lacks and (not size or (kind, size) not in asked):
                for one in peer_runs(peers, kind, size):
                    runs[size > 0].append(one)
                    click.echo(one)
            if size:
                asked.add((kind, size))
            if json_file is not None:  # each at once: all of it takes long
                write(json_file, findings(runs[True], runs[False], wrong))
    wrong += [f"not run, as time was over: {', '.join(left)}"] if left else []
    hand_over(findings(runs[True], runs[False], wrong), json_file)


def _twins(kinds: list[Kind]) -> Iterator[Kind]:
    """Yield the kinds whose twins are to run, round after round."""
    turns = cycle([kind for kind in kinds if kind.turn] or [None])
    while any(kind.twins or kind.turn for kind in kinds):
        yield from (kind for kind in kinds for _ in range(kind.twins))
        turn = next(turns)
        if turn is not None:
            yield turn


if __name__ == "__main__":
    main()

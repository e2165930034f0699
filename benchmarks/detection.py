"""What growth is detected, how soon, and how often in vain: planted leaks and their leak-free twins. See README.md.

.venv/bin/python benchmarks/detection.py [--repeats N] [--leak-free N] [--only KIND]… [--peers PYTHON] [--json FILE]
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from math import comb
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from tensorledger.cells.cell import Cell, Settings, run_cell
from tensorledger.expectations.expectation import END
from tensorledger.scenarios.catalogue import Scenario
from tensorledger.targets.catalogue import resolve
from tensorledger.targets.target import Target
from tensorledger.workers.pool import Workers

HERE = Path(__file__).resolve().parent
PLANTED = HERE / "planted"
LIMIT = 900.0
"""Seconds that a cell may take: a thousand cycles of Python take minutes."""
SURE = 0.95
QUIETLY = ("pytest", "-q", "-p", "no:cacheprovider")


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
    tool: str = "tensorledger"

    @property
    def caught(self) -> bool:
        return self.verdict == "fail"


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


def peer_runs(python: str, kind: Kind, size: int) -> Iterator[Run]:
    """Run psleak and pytest-memray on the same planted leak, with as many cycles."""
    cycles = str(kind.cycles)
    probes = {
        "psleak": [str(HERE / "peers" / "psleak_probe.py"), str(kind.path), str(size), cycles],
        "pytest-memray": [
            *["-m", "pytest", "-q", "-p", "no:cacheprovider", "--memray"],
            str(HERE / "peers" / "memray_probe.py"),
        ],
    }
    environment = {**os.environ, "PLANTED": str(kind.path), "SIZE": str(size), "CYCLES": cycles}
    environment |= {"PYTHONMALLOC": "malloc", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTHONPATH", None)
    for tool, command in probes.items():
        started = time.perf_counter()
        done = subprocess.run(
            [python, *command], capture_output=True, text=True, env=environment, cwd=HERE / "peers", check=False
        )
        seconds = time.perf_counter() - started
        said = json.loads(done.stdout.splitlines()[-1]) if tool == "psleak" and done.returncode == 0 else None
        caught = said["caught"] if said else done.returncode == 1
        broke = done.returncode not in (0, 1) or (tool == "psleak" and said is None)
        verdict = "error" if broke else "fail" if caught else "pass"
        reason = done.stderr[-300:] if broke else said["said"] if said else ""
        yield Run(kind.name, kind.target, size, verdict, reason, {}, False, kind.cycles, round(seconds, 2), tool)


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
    table = Table(title="planted leaks")
    for heading in ("tool", "target", "kind"):
        table.add_column(heading)
    for heading in ("size", "caught", "cycles", "seconds", "confidence"):
        table.add_column(heading, justify="right")
    groups: dict[tuple[str, str, str, int], list[Run]] = {}
    for one in runs:
        groups.setdefault((one.tool, one.target, one.kind, one.size), []).append(one)
    for (tool, target, kind, size), found in groups.items():
        caught = [one for one in found if one.caught]
        sure = [value for one in caught for value in one.confidence.values()]
        table.add_row(
            *(tool, target, kind, f"{size:,}", f"{len(caught)} of {len(found)}"),
            _range([one.cycles for one in caught or found]),
            _range([round(one.seconds) for one in found]),
            f"≥ {min(sure):.4f}" if sure else ("exact" if caught and tool == "tensorledger" else ""),
        )
    return table


def alarms_table(runs: list[Run]) -> Table:
    table = Table(title="leak-free twins")
    for heading in ("tool", "target", "kind"):
        table.add_column(heading)
    for heading in ("runs", "suspected", "false alarms", f"rate at most ({SURE:.0%})", "seconds"):
        table.add_column(heading, justify="right")
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for one in runs:
        groups.setdefault((one.tool, one.target, one.kind), []).append(one)
        groups.setdefault((one.tool, "all", ""), []).append(one)
    for (tool, target, kind), found in sorted(groups.items(), key=lambda group: (group[0][0], group[0][1] == "all")):
        alarms = sum(one.caught for one in found)
        table.add_row(
            *(tool, target, kind, f"{len(found)}", f"{sum(one.settled for one in found)}", f"{alarms}"),
            f"{upper_bound(alarms, len(found)):.2%}",
            _range([round(one.seconds) for one in found]),
        )
    return table


def _range(values: list[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} – {high:,}"


@click.command()
@click.option("--repeats", default=3, show_default=True, type=click.IntRange(min=0), help="Runs of each size.")
@click.option("--leak-free", default=200, show_default=True, type=click.IntRange(min=0), help="Runs of the twins.")
@click.option("--only", multiple=True, help="A kind's file, such as heap.mjs. Again for more. Default: all.")
@click.option("--size", "sizes", type=int, multiple=True, help="Only these sizes. Again for more.")
@click.option("--peers", default=sys.executable, help="The Python that psleak and pytest-memray are installed for.")
@click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Write every run here.")
def main(
    repeats: int, leak_free: int, only: tuple[str, ...], sizes: tuple[int, ...], peers: str, json_file: Path | None
) -> None:
    """Measure what is detected. It judges nothing: exit status 0."""
    console = Console(width=None if sys.stdout.isatty() else 150)
    kinds = [kind for kind in KINDS if not only or kind.file in only]
    lacks = lacking(peers)
    if lacks:
        console.print(f"without psleak and pytest-memray: {lacks} (pip install 'tensorledger\\[bench]')")
    planted: list[Run] = []
    free: list[Run] = []

    def keep(runs: list[Run], one: Run) -> None:
        runs.append(one)
        what = f"{one.tool}: {one.kind} on {one.target}, size {one.size:,}"
        console.print(f"{one.verdict} {what}, {one.seconds} s {one.reason}", style="dim", soft_wrap=True)
        if json_file is not None:
            _write(json_file, planted, free)

    with Workers() as workers:
        for kind in kinds:
            for size in kind.sizes if repeats else ():
                if sizes and size not in sizes:
                    continue
                for _ in range(repeats):
                    keep(planted, run(kind, size, workers))
                if kind.peers and not lacks:
                    for one in peer_runs(peers, kind, size):
                        keep(planted, one)
        for kind in islice(_twins(kinds), leak_free):
            keep(free, run(kind, 0, workers))
            if kind.peers and not lacks:
                for one in peer_runs(peers, kind, 0):
                    keep(free, one)
    if planted:
        console.print(detection_table(planted))
    if free:
        console.print(alarms_table(free))


def _twins(kinds: list[Kind]) -> Iterator[Kind]:
    """Yield the kinds whose twins are to run, round after round."""
    turns = cycle([kind for kind in kinds if kind.turn] or [None])
    while any(kind.twins or kind.turn for kind in kinds):
        yield from (kind for kind in kinds for _ in range(kind.twins))
        turn = next(turns)
        if turn is not None:
            yield turn


def _write(path: Path, planted: list[Run], free: list[Run]) -> None:
    document = {
        "schema": "tensorledger/benchmark-detection/1",
        "machine": {"platform": platform.platform(), "processors": os.cpu_count(), "load": os.getloadavg()},
        "planted": [asdict(one) for one in planted],
        "leak_free": [asdict(one) for one in free],
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

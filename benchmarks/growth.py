"""How the cost of a run grows: with its cycles, the tensors alive in it, its targets, and with cores. See README.md.

.venv/bin/python benchmarks/growth.py [--most-cycles N] [--most-tensors N] [--repeats N] [--json FILE]
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path

import click
import msgspec
from clocks import Ran, timed
from findings import Aim, Findings, Table, hand_over, json_option, number
from one_cell import Took
from spread import LINEAR, each, exponent, ratios, spread
from turns import in_turn

from tensorledger.environment.tree import tree
from tensorledger.targets.catalogue import default

HERE = Path(__file__).resolve().parent
RUNTIMES = {"JavaScript": ("tfjs", ".mjs"), "Python": ("keras", ".py")}
FLAT = 0.05
"""What part of a cost has to come with a larger number, for it to be said to grow."""
LEAST = 0.02
"""Seconds, or MiB, that are too few to be told from noise."""
TARGETS = (1, 2, 4, 8)
"""How many at once."""
SUITE = ("-m", "pytest", "harness", "-q", "-p", "no:cacheprovider", "-k", "create-dispose or predict-dispose")
WAYS = {"one at a time": ["--jobs", "1"], "--jobs 2": ["--jobs", "2"], "pytest-xdist, -n 2": ["-n", "2"]}

Costs = dict[str, dict[int, float]]
"""Of each thing that costs: by the number of what it may grow with."""


def tens(most: int) -> list[int]:
    """Return 10, 100, 1,000 and so on up to a number."""
    return [10**power for power in range(1, len(str(most)))]


def cell(runtime: str, scenario: str, cycles: int, params: Mapping[str, int]) -> Took:
    """Run one cell in a process of its own. Raises ClickException where it was not judged."""
    target, ending = RUNTIMES[runtime]
    file = HERE / f"{scenario}{ending}"
    command = [sys.executable, str(HERE / "one_cell.py"), str(file), target, str(cycles), json.dumps(params)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    took = msgspec.json.decode(done.stdout, type=Took)
    if took.verdict not in ("pass", "fail"):
        raise click.ClickException(f"{runtime}, {cycles} cycles, {params}: {took.verdict}")
    click.echo(f"{runtime}, {scenario}, {cycles:,} cycles, {params}: {took.seconds:.2f} s, {took.verdict}")
    return took


def cycles(runtime: str, most: int) -> dict[int, Took]:
    return {count: cell(runtime, "planted/tensor", count, {"size": 0}) for count in tens(most)}


def alive(runtime: str, most: int) -> dict[int, Took]:
    return {count: cell(runtime, "growing/alive", 1, {"count": count}) for count in tens(most)}


def costs(found: Mapping[str, Mapping[int, Took]]) -> Costs:
    """Return what each process took, by runtime."""
    parts = {
        "worker, processor seconds": "workers",
        "harness, processor seconds": "harness",
        "worker, MiB": "worker_memory",
        "harness, MiB": "harness_memory",
    }
    return {
        f"{runtime}: {said}": {count: getattr(took, part) for count, took in by_count.items()}
        for runtime, by_count in found.items()
        for said, part in parts.items()
    }


def suite(targets: Sequence[str], options: Sequence[str]) -> Ran:
    """Run the harness's suite on some targets. Raises CalledProcessError."""
    wanted = [word for target in targets for word in ("--target", target)]
    return timed([sys.executable, *SUITE, *options, *wanted], cwd=tree())


def power_of(by_count: Mapping[int, float]) -> float | None:
    """Return the power of the number that a cost grows with; None where a step is too small to tell it."""
    costs = [by_count[count] for count in sorted(by_count)[-3:]]
    small = any(later - earlier < max(FLAT * later, LEAST) for earlier, later in pairwise(costs))
    return None if small or len(costs) < 3 else exponent(by_count)


def grows(by_count: Mapping[int, float]) -> str:
    """Say how a cost grows with a number."""
    power, most = power_of(by_count), by_count[max(by_count)]
    if power is None:
        return "does not grow" if most - by_count[min(by_count)] < FLAT * most else "too little to tell"
    return (
        "linearly" if 2 - LINEAR <= power <= LINEAR else ("more than" if power > LINEAR else "less than") + " linearly"
    )


def growth_table(title: str, found: Costs) -> Table:
    rows = []
    for name, by_count in found.items():
        power = power_of(by_count)
        more = "" if power is None else f"{each(by_count):.2g}"
        figures = [number(cost) for cost in by_count.values()]
        rows.append([name, *figures, more, "" if power is None else f"{power:.2f}", grows(by_count)])
    counts = [f"{count:,}" for count in next(iter(found.values()))]
    return Table(title, ["", *counts, "one more", "power", "grows"], rows)


def aims(what: str, found: Costs) -> list[Aim]:
    powers = {name: power_of(by_count) for name, by_count in found.items()}
    return [
        Aim(f"{name}: power of the number of {what}", LINEAR, spread([power]))
        for name, power in powers.items()
        if power is not None
    ]


def targets_table(alone: Mapping[str, Ran], together: Mapping[int, Ran]) -> Table:
    """Return what some targets take together, beside what each takes in a run of its own: they are not alike."""
    rows = [
        [f"{count}", f"{ran.cpu:.1f}", f"{apart:.1f}", f"{ran.cpu / apart:.2f}", f"{ran.resident / 2**20:.0f}"]
        for count, ran in together.items()
        for apart in [sum_of(alone, count)]
    ]
    columns = ["targets", "processor seconds", "in runs of their own", "ratio", "the largest process, MiB"]
    return Table("targets: releases of TensorFlow.js, one after another", columns, rows)


def sum_of(alone: Mapping[str, Ran], count: int) -> float:
    return sum(ran.cpu for ran in list(alone.values())[:count])


def cores_table(turns: Mapping[str, list[Ran]], targets: int) -> Table:
    rows = []
    base = [one.wall for one in turns[next(iter(WAYS))]]
    for way, found in turns.items():
        wall, times = spread(one.wall for one in found), spread(ratios(base, [one.wall for one in found]))
        rows.append([
            way,
            f"{wall.median:.1f}",
            f"{times.median:.2f}",
            f"{times.low:.2f} – {times.high:.2f}",
            f"{spread(one.cpu for one in found).median:.1f}",
            str(len(found)),
        ])  # fmt: skip
    columns = ["", "seconds", "times faster", "quartiles", "of processor time", "turns"]
    return Table(f"cores: two scenarios on {targets} targets", columns, rows)


@click.command()
@click.option("--most-cycles", default=10_000, show_default=True, type=click.IntRange(min=1000))
@click.option("--most-tensors", default=100_000, show_default=True, type=click.IntRange(min=1000))
@click.option(
    "--repeats", default=3, show_default=True, type=click.IntRange(min=1), help="Turns with one and two cores."
)
@json_option
def main(most_cycles: int, most_tensors: int, repeats: int, json_file: Path | None) -> None:
    """Measure how cost grows; of both runtimes at once, each on a core, by processor time and memory."""
    with ThreadPoolExecutor(len(RUNTIMES)) as executor:
        by_cycles = costs(
            dict(zip(RUNTIMES, executor.map(lambda name: cycles(name, most_cycles), RUNTIMES), strict=True))
        )
        by_alive = costs(
            dict(zip(RUNTIMES, executor.map(lambda name: alive(name, most_tensors), RUNTIMES), strict=True))
        )
    names = [str(target) for target in reversed(default()) if target.language == "js" and target.backend == "cpu"]
    alone = {name: suite([name], WAYS["one at a time"]) for name in names}
    together = {count: suite(names[:count], WAYS["one at a time"]) for count in TARGETS if count <= len(names)}
    turns = in_turn({way: partial(suite, names, WAYS[way]) for way in WAYS}, repeats, warm_up=0)
    tables = [
        growth_table("cycles", by_cycles),
        growth_table("tensors alive, for two cycles", by_alive),
        targets_table(alone, together),
        cores_table(turns, len(names)),
    ]
    most = max(together)
    times = spread([together[most].cpu / sum_of(alone, most)])
    additive = Aim(f"{most} targets: processor time of that in runs of their own", LINEAR, times)
    judged = [*aims("cycles", by_cycles), *aims("tensors alive", by_alive), additive]
    figures = {
        "cycles": by_cycles,
        "alive": by_alive,
        "targets": msgspec.to_builtins({"alone": alone, "together": together}),
        "cores": msgspec.to_builtins(turns),
    }
    hand_over(Findings(tables, judged, [], figures), json_file)


if __name__ == "__main__":
    main()

"""What `tensorledger.track()` costs: an eager loop with and without it, and what it takes for each live tensor.

.venv/bin/python benchmarks/python_ledger.py [--repeats N] [--steps N] [--keras keras|tf-keras] [--json FILE]
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import platform
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

import tensorledger
from tensorledger.data import samples
from tensorledger.models import zoo
from tensorledger.workers.start import QUIET

WAYS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "off": nullcontext,
    "live set": lambda: tensorledger.track(frames="none"),
    "user frames": lambda: tensorledger.track(frames="user"),
    "all frames": lambda: tensorledger.track(frames="all"),
    "off again": nullcontext,
}
"""The last is like the first: how far apart two are that are the same."""
AIMS = {"live set": 1.05, "user frames": 1.15}
ALIVE = (1_000, 10_000, 100_000)
BYTES = 1024
"""That the ledger may take for each live tensor."""


def loop(step: Callable[[], object], steps: int, repeats: int) -> dict[str, list[float]]:
    """Return the processor seconds of ``steps`` steps each way, turn by turn, in an order that turns too."""
    spent: dict[str, list[float]] = {name: [] for name in WAYS}
    names = list(WAYS)
    for turn in range(-2, repeats):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            with WAYS[name]():
                started = time.process_time()
                for _ in range(steps):
                    step()
                seconds = time.process_time() - started
            if turn >= 0:
                spent[name].append(seconds)
        gc.collect()
    return spent


def ratios(spent: dict[str, list[float]]) -> dict[str, float]:
    """Return the median, of all turns, of each way's seconds beside those of "off" in the same turn."""
    return {
        name: statistics.median(way / off for way, off in zip(seconds, spent["off"], strict=True))
        for name, seconds in spent.items()
    }


def alive(tf: Any) -> Iterator[dict[str, Any]]:
    """Yield what many live tensors cost: seconds to make and to list them, and the ledger's bytes for each."""
    value = tf.constant(1.0)
    for name in ("off", "live set", "user frames", "all frames"):
        for count in ALIVE:
            with WAYS[name]() as ledger:
                started = time.process_time()
                kept = [tf.identity(value) for _ in range(count)]
                made = time.process_time() - started
                started = time.process_time()
                if ledger is not None:
                    assert ledger.live(collect=False)[0].count == count
                listed = time.process_time() - started
            del kept, ledger
            yield {"way": name, "alive": count, "made": made / count, "listed": listed / count, "bytes": None}
    for name in ("live set", "user frames", "all frames"):
        count = ALIVE[-1]
        tracemalloc.start()
        with WAYS[name]() as ledger:
            kept = [tf.identity(value) for _ in range(count)]
            ours = tracemalloc.take_snapshot().filter_traces(
                [tracemalloc.Filter(True, str(Path(tensorledger.__file__).parent / "ledger" / "*"))]
            )
        tracemalloc.stop()
        size = sum(line.size for line in ours.statistics("filename"))
        del kept, ledger
        yield {"way": name, "alive": count, "made": None, "listed": None, "bytes": size / count}


@click.command()
@click.option("--repeats", default=15, show_default=True, type=click.IntRange(min=3), help="Counted turns.")
@click.option("--steps", default=60, show_default=True, type=click.IntRange(min=1), help="Predictions in a turn.")
@click.option("--keras", "source", default="keras", show_default=True, type=click.Choice(list(zoo.KERASES)))
@click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Write the figures here.")
def main(repeats: int, steps: int, source: str, json_file: Path | None) -> None:
    """Measure what a ledger costs. It judges nothing: exit status 0."""
    os.environ.update(QUIET)
    import tensorflow as tf

    keras = importlib.import_module(zoo.KERASES[source])
    model, x = zoo.extractor(keras), tf.constant(samples.inputs(64))
    gc.collect()
    gc.freeze()
    console = Console(width=120)
    spent = loop(lambda: model(x, training=False), steps, repeats)
    table = Table(title=f"an eager loop of {steps} predictions of the extractor, {source}: processor time, medians")
    for heading in ("way", "ms a prediction", "ratio", "aim"):
        table.add_column(heading, justify="left" if heading == "way" else "right")
    for name, ratio in ratios(spent).items():
        each = 1000 * statistics.median(spent[name]) / steps
        table.add_row(name, f"{each:.3f}", f"{ratio:.3f}", f"≤ {AIMS[name]:.2f}" if name in AIMS else "")
    console.print(table)
    costs = list(alive(tf))
    table = Table(title=f"live tensors: microseconds for each to make and to list; the ledger's bytes, aim ≤ {BYTES}")
    for heading in ("way", "alive", "made", "listed", "bytes"):
        table.add_column(heading, justify="left" if heading == "way" else "right")
    for cost in costs:
        made, listed = ("" if cost[key] is None else f"{1e6 * cost[key]:.2f}" for key in ("made", "listed"))
        size = "" if cost["bytes"] is None else f"{cost['bytes']:.0f}"
        table.add_row(cost["way"], f"{cost['alive']:,}", made, listed, size)
    console.print(table)
    if json_file is not None:
        document = {
            "schema": "tensorledger/benchmark-python-ledger/1",
            "machine": {"platform": platform.platform(), "processors": os.cpu_count(), "load": os.getloadavg()},
            "keras": source,
            "steps": steps,
            "seconds": spent,
            "ratios": ratios(spent),
            "alive": costs,
        }
        json_file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

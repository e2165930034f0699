"""What `tensorledger.track()` costs: an eager loop with and without it, and what it takes for each live tensor.

.venv/bin/python benchmarks/python_ledger.py [--repeats N] [--steps N] [--keras keras|tf-keras] [--json FILE]
"""

from __future__ import annotations

import gc
import importlib
import os
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import click
from findings import Aim, Findings, Table, hand_over, json_option
from spread import LINEAR, Spread, exponent, ratios, spread
from turns import in_turn

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
    """Return the processor seconds of ``steps`` steps each way, turn by turn."""

    def spent(way: Callable[[], AbstractContextManager[Any]]) -> float:
        gc.collect()
        with way():
            started = time.process_time()
            for _ in range(steps):
                step()
            return time.process_time() - started

    return in_turn({name: partial(spent, way) for name, way in WAYS.items()}, repeats, warm_up=2)


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


def loop_table(spent: dict[str, list[float]], shares: dict[str, Spread], steps: int, source: str) -> Table:
    rows = []
    for name, share in shares.items():
        each = 1000 * spread(spent[name]).median / steps
        rows.append([name, f"{each:.3f}", f"{share.median:.3f}", f"{share.low:.3f} – {share.high:.3f}"])
    title = f"an eager loop of {steps} predictions of the extractor, {source}: processor time"
    return Table(title, ["way", "ms a prediction", "ratio", "quartiles"], rows)


def alive_table(costs: list[dict[str, Any]]) -> Table:
    rows = []
    for cost in costs:
        made, listed = ("" if cost[key] is None else f"{1e6 * cost[key]:.2f}" for key in ("made", "listed"))
        size = "" if cost["bytes"] is None else f"{cost['bytes']:.0f}"
        rows.append([cost["way"], f"{cost['alive']:,}", made, listed, size])
    title = "live tensors: microseconds for each to make and to list; the ledger's bytes for each"
    return Table(title, ["way", "alive", "made", "listed", "bytes"], rows)


def aims(shares: dict[str, Spread], costs: list[dict[str, Any]]) -> list[Aim]:
    twin = shares["off again"]
    found = [Aim(f"a loop of predictions, {name}", AIMS[name], shares[name], twin=twin) for name in AIMS]
    for name in AIMS:
        mine = [cost for cost in costs if cost["way"] == name]
        (size,) = [cost["bytes"] for cost in mine if cost["bytes"] is not None]
        found.append(Aim(f"bytes for each live tensor, {name}", BYTES, spread([size])))
        for what in ("made", "listed"):
            power = exponent({c["alive"]: c["alive"] * c[what] for c in mine if c[what] is not None})
            if power is not None:
                found.append(Aim(f"all are {what}, {name}: power of their number", LINEAR, spread([power])))
    return found


@click.command()
@click.option("--repeats", default=15, show_default=True, type=click.IntRange(min=3), help="Counted turns.")
@click.option("--steps", default=60, show_default=True, type=click.IntRange(min=1), help="Predictions in a turn.")
@click.option("--keras", "source", default="keras", show_default=True, type=click.Choice(list(zoo.KERASES)))
@json_option
def main(repeats: int, steps: int, source: str, json_file: Path | None) -> None:
    """Measure what a ledger costs."""
    os.environ.update(QUIET)
    import tensorflow as tf

    keras = importlib.import_module(zoo.KERASES[source])
    model, x = zoo.extractor(keras), tf.constant(samples.inputs(64))
    gc.collect()
    gc.freeze()
    spent = loop(lambda: model(x, training=False), steps, repeats)
    shares = {name: spread(ratios(seconds, spent["off"])) for name, seconds in spent.items()}
    costs = list(alive(tf))
    tables = [loop_table(spent, shares, steps, source), alive_table(costs)]
    hand_over(Findings(tables, aims(shares, costs), [], {"seconds": spent, "alive": costs}), json_file)


if __name__ == "__main__":
    main()

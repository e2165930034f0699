"""A scenario as a bare script would have it: no worker, no generator, no verdict.

It reads memory and collects where the harness does, and keeps what it read to itself. For each line on its input it
runs one cell, or times the readings.

python benchmarks/bare.py keras|tf-keras
"""

from __future__ import annotations

import gc
import importlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tensorledger.data import samples
from tensorledger.models import zoo
from tensorledger.protocol.messages import Reading
from tensorledger.runtime.census import Census

readings: list[Reading] = []


def read() -> None:
    readings.append(Census().reading())


def settle() -> None:
    gc.collect()
    gc.collect()


def create_dispose(keras: Any, x: Any) -> None:
    model = zoo.classifier(keras)
    read()
    del model
    keras.backend.clear_session()
    gc.collect()
    read()


def predict_dispose(keras: Any, x: Any) -> None:
    model = zoo.classifier(keras)
    read()
    prediction = model(x, training=False)
    read()
    del prediction, model
    keras.backend.clear_session()
    gc.collect()
    read()


SCENARIOS = {"create-dispose": create_dispose, "predict-dispose": predict_dispose}


def cell(scenario: Callable[[Any, Any], None], cycles: int, keras: Any, x: Any) -> dict[str, float]:
    readings.clear()
    gc.disable()
    settle()
    for _ in range(cycles + 1):
        read()
        scenario(keras, x)
        settle()
        read()
    gc.enable()
    return {"readings": len(readings)}


def time_readings(count: int, keras: Any) -> dict[str, float]:
    """Return the seconds of one reading while a model is alive, and of one collection."""
    model = zoo.classifier(keras)
    reading = _each(count, read)
    del model
    return {"bare": reading, "harness": reading, "collection": _each(20, gc.collect)}


def _each(count: int, act: Callable[[], object]) -> float:
    started = time.perf_counter()
    for _ in range(count):
        act()
    return (time.perf_counter() - started) / count


def main(name: str) -> None:
    keras = importlib.import_module(zoo.KERASES[name])
    x = tf.constant(samples.inputs(784))
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        started = time.perf_counter()
        if "scenario" in request:
            answer = cell(SCENARIOS[request["scenario"]], request["cycles"], keras, x)
        else:
            answer = time_readings(request["count"], keras)
        print(json.dumps({**answer, "wall": time.perf_counter() - started}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

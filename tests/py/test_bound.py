"""The bound on rounding by moving weights: beside the one derived by operations, and what it sees and leaves."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

# In one process with TensorFlow: bounds of the zoo's models in two ways; of models whose answer is known; the weights
# afterwards; and how far a float32 evaluation is off from one in float64.
SCRIPT = """
import contextlib, importlib, json, os, sys
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", KERAS_BACKEND="tensorflow")
import numpy as np
from tensorledger.data import samples
from tensorledger.models import rounding
from tensorledger.models.zoo import KERASES, MODELS
from tensorledger.predictions.bound import bounds
from tensorledger.predictions.runnable import of_keras

said = {}
for source, module in KERASES.items():
    keras = importlib.import_module(module)
    for name, make in MODELS.items():
        model = make(keras)
        x = samples.inputs(model.input_shape[1])
        runnable = of_keras(model)
        before = model.get_weights()
        (bound,) = bounds(runnable, [x], runnable.predict([x]))
        same = all(np.array_equal(one, other) for one, other in zip(before, model.get_weights()))
        said[f"{source}/{name}"] = {"moved": float(bound.max()), "derived": rounding.bound(model, x), "weights": same}

import keras
def of(model, x):
    runnable = of_keras(model)
    return [float(bound.max()) for bound in bounds(runnable, [x], runnable.predict([x]))]
random = np.random.default_rng(0)
x = random.normal(size=(8, 400)).astype(np.float32)
step = keras.Sequential([keras.Input((400,)), keras.layers.Dense(8), keras.layers.Lambda(lambda y: keras.ops.sign(y))])
step.layers[0].set_weights([np.ones((400, 8)), np.zeros(8)])
said["sign"] = of(step, np.tile([1.0, -1.0], (8, 200)).astype(np.float32))
said["sign of zeros"] = of(step, np.zeros_like(x))
said["nothing"] = of(keras.Sequential([keras.Input((400,)), keras.layers.Flatten()]), x)
off = []
for seed in range(20):
    keras.utils.set_random_seed(seed)
    model = keras.Sequential([keras.Input((400,)), keras.layers.Dense(300, "tanh"), keras.layers.Dense(5)])
    weights = [weight.astype(np.float64) for weight in model.get_weights()]
    exact = np.tanh(x.astype(np.float64) @ weights[0] + weights[1]) @ weights[2] + weights[3]
    runnable = of_keras(model)
    (bound,) = bounds(runnable, [x], runnable.predict([x]))
    off.append(float(np.abs(runnable.predict([x])[0] - exact).max() / bound.max()))
said["off"] = off
print("@@" + json.dumps(said))
"""


@pytest.fixture(scope="module")
def said() -> Any:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("@@"))[2:])


@pytest.mark.parametrize("model", ["keras/classifier", "keras/extractor", "tf-keras/classifier", "tf-keras/extractor"])
def test_it_comes_to_what_the_derivation_by_operations_does(said: Any, model: str) -> None:
    found = said[model]
    assert found["derived"] / 4 <= found["moved"] <= found["derived"] * 4
    assert found["weights"]  # they are put back


def test_one_evaluation_is_well_within_it_and_it_is_not_beyond_reason(said: Any) -> None:
    assert all(0.002 < ratio < 0.5 for ratio in said["off"])


def test_what_jumps_has_no_bound_that_means_anything_unless_it_is_sure(said: Any) -> None:
    assert said["sign"][0] > 0.01 and said["sign of zeros"][0] < 1e-5


def test_what_computes_nothing_may_differ_by_little(said: Any) -> None:
    assert 0 < said["nothing"][0] < 1e-4

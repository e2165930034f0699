"""A compiled model arrives compiled: trained in TensorFlow.js it becomes what Keras makes of it; or that is told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trainable
from convertible import KERASES
from nodejs import node

from tensorledger.conversion.layers import Converted, convert_layers
from tensorledger.environment.tree import tree

CLOSE = 5e-5
"""Weights and losses are of the order of 1; Adam divides by roots of squares that are close to 0."""
CASES = [(source, name, loss) for source in KERASES for name in trainable.OPTIMIZERS for loss in trainable.LOSSES]

TRAIN = """
const fs = require('fs');
const [tfjs, steps, ...folders] = process.argv.slice(1);
const tf = require(tfjs);
console.warn = () => {};
async function trained(folder) {
  const {modelTopology, weightsManifest, trainingConfig} = JSON.parse(fs.readFileSync(`${folder}/model.json`));
  const {x, y} = JSON.parse(fs.readFileSync(`${folder}/../reference.json`));
  const bytes = Buffer.concat(weightsManifest.flatMap(g => g.paths).map(p => fs.readFileSync(`${folder}/${p}`)));
  const weightData = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const weightSpecs = weightsManifest.flatMap(g => g.weights);
  const saved = {modelTopology, weightSpecs, weightData, trainingConfig};
  const model = await tf.loadLayersModel({load: async () => saved});
  let said;
  for (let step = 0; step < steps; step += 1) said = await model.trainOnBatch(tf.tensor(x), tf.tensor(y));
  return {weights: model.getWeights().map(weight => Array.from(weight.dataSync())), said};
}
(async () => {
  const results = {};
  for (const folder of folders) results[folder] = await trained(folder).catch(error => ({error: error.message}));
  console.log(JSON.stringify(results));
})();
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trainable")
    done = subprocess.run([sys.executable, trainable.__file__, folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def convert(saved: Path, source: str, name: str, loss: str, kind: str) -> Converted:
    folder = saved / source / f"{name}-{loss}"
    return convert_layers(folder / f"model.{kind}", folder / kind)


@pytest.fixture(scope="module")
def results(saved: Path) -> dict[str, Any]:
    folders = []
    for case in CASES:
        for kind in ("keras", "h5"):
            assert convert(saved, *case, kind).left_out == []
            folders.append(saved / case[0] / f"{case[1]}-{case[2]}" / kind)
    command: list[str | Path] = [
        node.path, "-e", TRAIN, tree() / "node_modules" / "tfjs-4.22.0", str(trainable.STEPS), *folders
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("kind", ["keras", "h5"])
@pytest.mark.parametrize(("source", "name", "loss"), CASES)
def test_three_steps_make_the_same_weights_loss_and_metric(
    saved: Path, results: dict[str, Any], source: str, name: str, loss: str, kind: str
) -> None:
    folder = saved / source / f"{name}-{loss}"
    expected: dict[str, Any] = json.loads((folder / "reference.json").read_text())
    result: dict[str, Any] = results[str(folder / kind)]
    assert "error" not in result, result["error"]
    for mine, theirs in zip(
        [*result["weights"], result["said"]], [*expected["weights"], expected["said"]], strict=True
    ):
        assert np.abs(np.subtract(mine, theirs)).max() <= CLOSE


@pytest.mark.parametrize("name", trainable.LEFT_OUT)
@pytest.mark.parametrize("source", KERASES)
def test_what_trains_otherwise_is_left_out_and_told(saved: Path, source: str, name: str) -> None:
    (said,) = convert(saved, source, name, "mse", "keras").left_out
    assert said.startswith("how it was compiled: TensorFlow.js has not the same as ")
    written = json.loads((saved / source / f"{name}-mse" / "keras" / "model.json").read_text())
    assert "trainingConfig" not in written

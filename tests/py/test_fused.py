"""Operations that TensorFlow fused, taken apart again, are what TensorFlow and TensorFlow.js make of them."""

from __future__ import annotations

import json
import subprocess
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from nodejs import node

from tensorledger.conversion.folder import TfjsModel, read_tfjs
from tensorledger.conversion.fused import PLAIN, _steps, apart, runs, terms
from tensorledger.conversion.graph import _refusals, _repaired
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.topology import Json
from tensorledger.conversion.writing import Weight, write_model, write_weights
from tensorledger.environment.tree import tree

tf = pytest.importorskip("tensorflow")
from tensorledger.predictions.graphdef import of_graph  # noqa: E402 - imports TensorFlow

Array = npt.NDArray[Any]
CLOSE = 1e-5
FLOAT = {"type": "DT_FLOAT"}
DRAWN = np.random.default_rng(11)
X = {"matrix": DRAWN.normal(size=(3, 4)), "image": DRAWN.normal(size=(2, 5, 5, 4))}
W = {
    "_FusedMatMul": DRAWN.normal(size=(4, 6)),
    "_FusedConv2D": DRAWN.normal(size=(2, 2, 4, 6)),
    "FusedDepthwiseConv2dNative": DRAWN.normal(size=(2, 2, 4, 2)),
}
DEPTHWISE = "FusedDepthwiseConv2dNative"
BIAS, SLOPE = DRAWN.normal(size=6), DRAWN.uniform(0.1, 0.9, 6)
ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "Relu": lambda x: tf.nn.relu(x),
    "Relu6": lambda x: tf.nn.relu6(x),
    "Elu": lambda x: tf.nn.elu(x),
    "LeakyRelu": lambda x: tf.nn.leaky_relu(x, 0.15),
    "Sigmoid": lambda x: tf.nn.sigmoid(x),
    "Prelu": lambda x: tf.where(x > 0, x, x * tf.constant(_fitting(SLOPE, x), tf.float32)),
}
OFTEN = [(), ("BiasAdd",), *(("BiasAdd", name) for name in ACTIVATIONS), ("Relu",), ("LeakyRelu",), ("Prelu",)]
CASES = [(op, steps) for op in W for steps in OFTEN]
UNRUN = [
    *((op, steps) for op in W for steps in [("Relu",), ("LeakyRelu",), ("Prelu",), ()]),
    ("FusedDepthwiseConv2dNative", ("BiasAdd", "LeakyRelu")),
]
"""What TensorFlow.js does not do, or TensorFlow not fuse: an activation without a sum, and a slope that is not read."""


def _fitting(values: Array, x: Any) -> Array:
    return np.resize(values, x.shape[-1])


def constant(name: str, array: Any) -> Json:
    shape = {"dim": [{"size": str(size)} for size in array.shape]}
    return {
        "name": name,
        "op": "Const",
        "attr": {"dtype": FLOAT, "value": {"tensor": {"dtype": "DT_FLOAT", "tensorShape": shape}}},
    }


def fused(op: str, steps: tuple[str, ...]) -> Json:
    attr: Json = {"T": FLOAT, "fused_ops": {"list": {"s": [b64encode(step.encode()).decode() for step in steps]}}}
    attr |= {"num_args": {"i": str(len([step for step in steps if step in ("BiasAdd", "Prelu")]))}}
    attr |= {"epsilon": {"f": 0.0}, "leakyrelu_alpha": {"f": 0.15}}
    if op == "_FusedMatMul":
        attr |= {"transpose_a": {"b": False}, "transpose_b": {"b": False}}
    else:
        attr |= {"strides": {"list": {"i": ["1", "1", "1", "1"]}}, "dilations": {"list": {"i": ["1", "1", "1", "1"]}}}
        attr |= {"padding": {"s": b64encode(b"SAME").decode()}, "data_format": {"s": b64encode(b"NHWC").decode()}}
    rest = ["bias" if step == "BiasAdd" else "slope" for step in steps if step in ("BiasAdd", "Prelu")]
    return {"name": "y", "op": op, "input": ["x", "w", *rest], "attr": attr}


def made(folder: Path, op: str, steps: tuple[str, ...]) -> tuple[Path, Array, Array]:
    """Write a graph with one fused operation; return its folder, an input, and what TensorFlow says by plain ones."""
    x = (X["matrix"] if op == "_FusedMatMul" else X["image"]).astype(np.float32)
    w = W[op].astype(np.float32)
    plain = {
        "_FusedMatMul": lambda: tf.matmul(x, w),
        "_FusedConv2D": lambda: tf.nn.conv2d(x, w, 1, "SAME"),
        "FusedDepthwiseConv2dNative": lambda: tf.nn.depthwise_conv2d(x, w, (1, 1, 1, 1), "SAME"),
    }
    y = plain[op]()
    bias, slope = (_fitting(values, y).astype(np.float32) for values in (BIAS, SLOPE))
    for step in steps:
        y = y + bias if step == "BiasAdd" else ACTIVATIONS[step](y)
    arrays = {"w": w, "bias": bias, "slope": slope}
    weights = [Weight(name, array.shape, "float32", lambda array=array: array) for name, array in arrays.items()]  # type: ignore[misc]
    shape = {"dim": [{"size": "-1"}, *({"size": str(size)} for size in x.shape[1:])]}
    placeholder = {"name": "x", "op": "Placeholder", "attr": {"dtype": FLOAT, "shape": {"shape": shape}}}
    nodes = [placeholder, *(constant(name, array) for name, array in arrays.items()), fused(op, steps)]
    tensor = {"dtype": "DT_FLOAT", "tensorShape": shape}
    folder.mkdir(parents=True)
    manifest = write_weights(folder, weights)
    signature = {"inputs": {"x": {"name": "x:0", **tensor}}, "outputs": {"y": {"name": "y:0", **tensor}}}
    topology = {"node": nodes, "versions": {"producer": 1}}
    described = {"format": "graph-model", "modelTopology": topology, "signature": signature}
    write_model(folder, {**described, "weightsManifest": manifest})
    return folder, x, np.asarray(y)


PREDICT = """
const fs = require('fs');
const [tfjs, ...folders] = process.argv.slice(1);
const tf = require(tfjs);
console.warn = () => {};
(async () => {
  const said = {};
  for (const folder of folders) {
    try {
      const {modelTopology, weightsManifest, signature} = JSON.parse(fs.readFileSync(`${folder}/model.json`));
      const [{paths, weights: weightSpecs}] = weightsManifest;
      const weightData = new Uint8Array(fs.readFileSync(`${folder}/${paths[0]}`)).buffer;
      const saved = {modelTopology, weightSpecs, weightData, signature};
      const model = await tf.loadGraphModel({load: async () => saved});
      said[folder] = Array.from(model.predict(tf.tensor(JSON.parse(fs.readFileSync(`${folder}/x.json`)))).dataSync());
    } catch (error) {
      said[folder] = String(error.message);
    }
  }
  console.log(JSON.stringify(said));
})();
"""


def in_tfjs(folders: list[Path]) -> dict[str, Any]:
    command: list[str | Path] = [node.path, "-e", PREDICT, tree() / "node_modules" / "tfjs-4.22.0", *folders]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


@pytest.mark.parametrize(("op", "steps"), CASES, ids=lambda value: value if isinstance(value, str) else "-".join(value))
def test_a_fused_operation_is_what_its_parts_are_in_tensorflow(tmp_path: Path, op: str, steps: tuple[str, ...]) -> None:
    folder, x, y = made(tmp_path / "graph", op, steps)
    (said,) = of_graph(read_tfjs(folder)).predict([x])
    assert said.shape == y.shape and np.abs(said - y).max() <= CLOSE
    # Each step counts.
    for step in steps:
        (other,) = of_graph(changed(read_tfjs(folder), lambda node, step=step: without(node, step))).predict([x])  # type: ignore[misc]
        assert np.abs(other - y).max() > 100 * CLOSE


def changed(model: TfjsModel, change: Callable[[Json], Json]) -> TfjsModel:
    topology = {**model.topology, "node": [change(node) for node in model.topology["node"]]}
    return replace(model, described={**model.described, "modelTopology": topology})


def without(node: Json, step: str) -> Json:
    if node["name"] != "y":
        return node
    return fused(node["op"], tuple(one for one in _steps(node) if one != step))


def test_taken_apart_or_not_it_is_the_same_in_tensorflow_js(tmp_path: Path) -> None:
    wanted = {}
    for number, (op, steps) in enumerate(CASES):
        folder, x, y = made(tmp_path / f"{number}", op, steps)
        pieces = changed_nodes(read_tfjs(folder))
        (tmp_path / f"{number}-apart").mkdir()
        model = {
            **read_tfjs(folder).described,
            "weightsManifest": write_weights(tmp_path / f"{number}-apart", read_tfjs(folder).weights),
        }
        write_model(
            tmp_path / f"{number}-apart", {**model, "modelTopology": {**model["modelTopology"], "node": pieces}}
        )
        for one in (folder, tmp_path / f"{number}-apart"):
            (one / "x.json").write_text(json.dumps(x.tolist()))
        assert runs({"op": op, "attr": fused(op, steps)["attr"]}) == (op != DEPTHWISE or "LeakyRelu" not in steps)
        if (op, steps) not in UNRUN:
            wanted[str(folder)] = (op, steps, y)
        wanted[str(tmp_path / f"{number}-apart")] = (op, steps, y)
    slope = tmp_path / str(CASES.index((DEPTHWISE, ("BiasAdd", "LeakyRelu"))))
    said = in_tfjs([*map(Path, wanted), slope])
    for key, (op, steps, y) in wanted.items():
        assert isinstance(said[key], list) and None not in said[key], (op, steps, key, said[key])
        assert np.abs(np.array(said[key]) - y.ravel()).max() <= CLOSE, (op, steps)
    assert None in said[str(slope)]  # NaN: why it is taken apart


def changed_nodes(model: TfjsModel) -> list[Json]:
    return [one for node in model.topology["node"] for one in apart(node)]


def test_a_prelu_by_itself_is_taken_apart_and_other_nodes_are_left() -> None:
    prelu = {"name": "y", "op": "Prelu", "input": ["x", "slope"], "attr": {"T": FLOAT}}
    assert [node["op"] for node in apart(prelu)] == ["Relu", "Neg", "Relu", "Mul", "Sub"]
    assert [node["name"] for node in apart(prelu)][-1] == "y"
    other = {"name": "z", "op": "Softmax", "input": ["x"]}
    assert list(apart(other)) == [other] and next(apart(other)) is other


def test_what_it_waits_for_stays() -> None:
    node = fused("_FusedMatMul", ("BiasAdd", "Relu"))
    waiting = {**node, "input": [*node["input"], "^before"]}
    assert terms(waiting) == terms(fused("_FusedMatMul", ("BiasAdd", "Prelu"))) == ["bias"]  # a slope is no sum
    assert [one["input"] for one in apart(waiting)] == [["x", "w", "^before"], ["y/plain", "bias"], ["y/0"]]
    assert [one["name"] for one in apart(waiting)] == ["y/plain", "y/0", "y"]


def test_only_a_bias_of_one_dimension_stays_fused(tmp_path: Path) -> None:
    folder, _, _ = made(tmp_path / "graph", "_FusedMatMul", ("BiasAdd", "Relu"))
    model = read_tfjs(folder)
    assert _repaired(model).topology == model.topology

    def of_another(node: Json) -> Json:
        return {**node, "input": ["x", "w", "other"]} if node["name"] == "y" else node

    ops = [node["op"] for node in _repaired(changed(model, of_another)).topology["node"]]
    assert ops == ["Placeholder", "Const", "Const", "Const", "MatMul", "AddV2", "Relu"]
    flat = replace(model, weights=tuple(replace(one, shape=(1, 6)) for one in model.weights))
    assert "_FusedMatMul" not in [node["op"] for node in _repaired(flat).topology["node"]]
    assert set(PLAIN) >= set(W)


def test_what_tensorflow_js_does_not_run_is_not_left_fused(tmp_path: Path) -> None:
    for op in W:
        folder, _, _ = made(tmp_path / op, op, ("BiasAdd", "LeakyRelu"))
        assert (op in [node["op"] for node in _repaired(read_tfjs(folder)).topology["node"]]) == (op != DEPTHWISE)


def graph(*nodes: Json, inside: bool) -> Json:
    return {"node": [], "library": {"function": [{"nodeDef": list(nodes)}]}} if inside else {"node": list(nodes)}


@pytest.mark.parametrize("inside", [False, True], ids=["outside", "in a function"])
@pytest.mark.parametrize(
    ("node", "said"),
    [
        ({"op": "FusedBatchNormV3", "attr": {"is_training": {"b": True}}}, "normalizes by the batch that it is given"),
        ({"op": "FusedBatchNorm"}, "normalizes by the batch that it is given"),
        ({"op": "RandomUniform"}, "draws random numbers when it predicts"),
        ({"op": "StatelessRandomNormalV2"}, "draws random numbers when it predicts"),
        ({"op": "Multinomial"}, "draws random numbers when it predicts"),
        ({"op": "FusedBatchNormV3", "attr": {"is_training": {"b": False}}}, ""),
        ({"op": "MatMul"}, ""),
    ],
)
def test_what_would_be_another_each_time_is_refused_by_name(node: Json, said: str, inside: bool) -> None:
    found = list(_refusals(graph({"name": "here", **node}, {"name": "x", "op": "Placeholder"}, inside=inside)))
    assert len(found) == bool(said)
    assert all(one.startswith(f"here ({node['op']}): ") and said in one for one in found)


def test_a_weight_that_is_not_there_is_named(tmp_path: Path) -> None:
    folder, _, _ = made(tmp_path / "graph", "_FusedMatMul", ("BiasAdd",))
    model = read_tfjs(folder)

    def bare(node: Json) -> Json:
        return {**node, "attr": {"dtype": FLOAT}} if node["op"] == "Const" else node

    with pytest.raises(CannotConvert, match=r"model\.json is not whole: there is no weight w"):
        of_graph(replace(changed(model, bare), weights=model.weights[1:]))


def test_a_graph_that_cannot_be_run_is_refused(tmp_path: Path) -> None:
    folder, _, _ = made(tmp_path / "graph", "_FusedMatMul", ("BiasAdd",))
    for change, said in (
        (lambda node: {**node, "op": "NoSuchOp"} if node["name"] == "y" else node, "TensorFlow cannot run its graph"),
        (lambda node: {**node, "input": ["x", "no", "bias"]} if node["name"] == "y" else node, "cannot run its graph"),
        (lambda node: {**node, "input": ["x", "w"]} if node["name"] == "y" else node, "its graph is broken"),
        (lambda node: {**node, "name": "v"} if node["name"] == "w" else node, "cannot run its graph"),
        (lambda node: {**node, "op": "NoOp"} if node["name"] == "x" else node, "its graph takes nothing"),
        (lambda node: {**node, "attr": {"T": "?"}} if node["name"] == "x" else node, "its graph is broken"),
    ):
        with pytest.raises(CannotConvert, match=said) as raised:
            of_graph(changed(read_tfjs(folder), change))
        assert str(folder / "model.json") in str(raised.value)

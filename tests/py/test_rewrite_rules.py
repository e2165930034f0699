"""What each rule makes of a description, by itself: what it changes, and what it has to leave as it is.

That TensorFlow.js needs it so is tested in test_layers_models.py, test_fused.py and test_round_trip.py, on models.
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tensorledger.conversion.back import _refusals, _repaired
from tensorledger.conversion.folder import TfjsModel
from tensorledger.conversion.fused import apart, runs, terms
from tensorledger.conversion.graph import _refusals as graph_refusals
from tensorledger.conversion.graph import _repaired as graph_repaired
from tensorledger.conversion.graph import convert_graph
from tensorledger.conversion.names import named
from tensorledger.conversion.older import convert_for, rules_for, rules_needed
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.rules import RULES, repair
from tensorledger.conversion.topology import Json
from tensorledger.conversion.writing import Weight

BY_NAME = {rule.name: rule for rule in RULES}


def layer(kind: str, **config: Any) -> Json:
    return {"class_name": kind, "config": {"name": "here", **config}}


def sequential(*layers: Json) -> Json:
    return {"class_name": "Sequential", "config": {"name": "model", "layers": list(layers)}}


def described(topology: Json, *weights: str) -> Json:
    """Return a ``model.json`` with weights of these names."""
    manifest = [{"paths": ["group1-shard1of1.bin"], "weights": [{"name": name} for name in weights]}]
    return {"modelTopology": {"model_config": topology}, "weightsManifest": manifest}


def after(rule: str, topology: Json) -> Any:
    """Return a topology as a rule leaves it."""
    return BY_NAME[rule].rewrite(described(topology))["modelTopology"]["model_config"]


# --- which rules were needed


def test_the_rules_that_changed_something_are_named_in_their_order() -> None:
    model = described(sequential(layer("InputLayer", batch_shape=[None, 3]), layer("Dense", activation="silu")))
    changed, applied = repair(model, rules_for("4.22.0"))
    assert applied == ["batch-input-shape", "swish"]
    assert changed["modelTopology"]["model_config"]["config"]["layers"] == [
        layer("InputLayer", batch_input_shape=[None, 3]),
        layer("Dense", activation="swish"),
    ]
    assert repair(changed, rules_for("4.22.0")) == (changed, [])


@pytest.mark.parametrize(
    ("release", "needed"),
    [
        ("0.13.1", {"wrapped-names", "plain-model", "variance-scaling", "bare-sequential"}),
        ("0.13.2", {"wrapped-names", "plain-model", "variance-scaling"}),
        ("0.13.3", {"wrapped-names", "plain-model"}),
        ("2.0.0", {"wrapped-names", "plain-model"}),
        ("2.0.1", {"plain-model"}),
        ("2.3.1", {"plain-model"}),
        ("2.4.0", set()),
    ],
)
def test_a_release_needs_the_rules_of_what_it_cannot_read(release: str, needed: set[str]) -> None:
    assert {rule.name for rule in rules_for(release)} - {rule.name for rule in rules_for("4.22.0")} == needed


def test_for_an_old_release_the_description_is_rewritten_and_the_other_files_are_linked(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    model = described({"class_name": "Functional", "config": {"layers": [], "input_layers": [], "output_layers": []}})
    (source / "model.json").write_text(json.dumps(model), encoding="utf-8")
    (source / "group1-shard1of1.bin").write_bytes(b"1234")
    assert rules_needed(source, "2.3.0") == ["plain-model"] and rules_needed(source, "2.4.0") == []
    convert_for(source, tmp_path / "old", "2.3.0")
    assert sorted(file.name for file in (tmp_path / "old").iterdir()) == ["group1-shard1of1.bin", "model.json"]
    assert (tmp_path / "old" / "group1-shard1of1.bin").samefile(source / "group1-shard1of1.bin")
    written = json.loads((tmp_path / "old" / "model.json").read_text(encoding="utf-8"))
    assert written["modelTopology"]["model_config"]["class_name"] == "Model"
    assert json.loads((source / "model.json").read_text(encoding="utf-8")) == model


# --- what layers are configured with

L2 = {"module": "keras.regularizers", "class_name": "L2", "config": {"l2": 0.5}}
HE = {"class_name": "HeNormal", "config": {"seed": 3}}
GLOROT = {"class_name": "GlorotUniform", "config": {}}
INSIDE = layer("LSTM", name="forward_lstm", units=2)
CONFIGS: list[tuple[str, Json, Json]] = [
    ("batch-input-shape", layer("InputLayer", batch_shape=[None, 2], dtype="float32"),
     layer("InputLayer", batch_input_shape=[None, 2], dtype="float32")),
    ("both-rates", layer("Dense", kernel_regularizer=L2),
     layer("Dense", kernel_regularizer={"class_name": "L1L2", "config": {"l1": 0.0, "l2": 0.5}})),
    ("both-rates", layer("Dense", bias_regularizer={"class_name": "L1", "config": {"l1": 0.1}}),
     layer("Dense", bias_regularizer={"class_name": "L1L2", "config": {"l1": 0.1, "l2": 0.0}})),
    ("separable-kernel", layer("SeparableConv2D", kernel_initializer=GLOROT, kernel_regularizer=None,
                               kernel_constraint=None, depthwise_initializer=GLOROT, filters=2),
     layer("SeparableConv2D", depthwise_initializer=GLOROT, filters=2)),
    ("one-direction", layer("Bidirectional", layer=INSIDE, backward_layer=INSIDE, merge_mode="sum"),
     layer("Bidirectional", layer=layer("LSTM", name="lstm", units=2), merge_mode="sum")),
    ("leaky-alpha", layer("LeakyReLU", negative_slope=0.2, dtype="float32"),
     layer("LeakyReLU", alpha=0.2, dtype="float32")),
    ("swish", layer("LSTM", activation="silu", recurrent_activation="silu", units=1),
     layer("LSTM", activation="swish", recurrent_activation="swish", units=1)),
    ("initializer-names", layer("Dense", kernel_initializer={"class_name": "OrthogonalInitializer", "config": {}}),
     layer("Dense", kernel_initializer={"class_name": "Orthogonal", "config": {}})),
    ("initializer-names", layer("Dense", kernel_initializer={"class_name": "IdentityInitializer", "config": {}}),
     layer("Dense", kernel_initializer={"class_name": "Identity", "config": {}})),
    ("variance-scaling", layer("Dense", kernel_initializer=HE),
     layer("Dense", kernel_initializer={"class_name": "VarianceScaling", "config": {
         "scale": 2.0, "mode": "fan_in", "distribution": "normal", "seed": 3}})),
    ("variance-scaling", layer("Dense", kernel_initializer=GLOROT),
     layer("Dense", kernel_initializer={"class_name": "VarianceScaling", "config": {
         "scale": 1.0, "mode": "fan_avg", "distribution": "uniform", "seed": None}})),
    ("lecun", layer("Dense", kernel_initializer={"class_name": "LecunNormal", "config": {"seed": 3}}),
     layer("Dense", kernel_initializer={"class_name": "VarianceScaling", "config": {
         "scale": 1.0, "mode": "fan_in", "distribution": "normal", "seed": 3}})),
    ("lecun", layer("Dense", bias_initializer={"class_name": "LecunUniform", "config": {}}),
     layer("Dense", bias_initializer={"class_name": "VarianceScaling", "config": {
         "scale": 1.0, "mode": "fan_in", "distribution": "uniform", "seed": None}})),
    ("plain-model", {"class_name": "Functional", "config": {"layers": [layer("Dense")]}},
     {"class_name": "Model", "config": {"layers": [layer("Dense")]}}),
    ("bare-sequential", sequential(layer("Dense")), {"class_name": "Sequential", "config": [layer("Dense")]}),
]  # fmt: skip
LEFT: list[tuple[str, Json]] = [
    ("batch-input-shape", layer("Dense", batch_shape=[None, 2])),
    ("both-rates", layer("Dense", kernel_regularizer={"class_name": "L1L2", "config": {"l1": 0.1, "l2": 0.1}})),
    ("both-rates", layer("Dense", kernel_regularizer="l2")),
    ("both-rates", layer("Dense", kernel_constraint=L2)),
    ("separable-kernel", layer("Conv2D", kernel_initializer=GLOROT, kernel_regularizer=L2, kernel_constraint=None)),
    ("one-direction", layer("TimeDistributed", layer=INSIDE, backward_layer=INSIDE)),
    ("leaky-alpha", layer("ReLU", negative_slope=0.2)),
    ("swish", layer("Dense", activation="relu", name="silu")),
    ("initializer-names", layer("Dense", kernel_initializer={"class_name": "HeNormal", "config": {}})),
    ("variance-scaling", layer("Dense", kernel_initializer={"class_name": "Zeros", "config": {}})),
    ("variance-scaling", layer("Dense", kernel_regularizer=HE)),
    ("initializer-names", layer("Dense", kernel_initializer="orthogonal")),
    ("lecun", layer("Dense", kernel_initializer=GLOROT)),
    ("lecun", layer("Dense", kernel_initializer="zeros")),
    ("plain-model", sequential(layer("Dense"))),
    ("bare-sequential", {"class_name": "Functional", "config": {"layers": [layer("Dense")]}}),
]


@pytest.mark.parametrize(("rule", "before", "wanted"), CONFIGS)
def test_a_rule_rewrites_what_it_is_for(rule: str, before: Json, wanted: Json) -> None:
    assert after(rule, before) == wanted


@pytest.mark.parametrize(("rule", "before"), LEFT)
def test_a_rule_leaves_all_else(rule: str, before: Json) -> None:
    assert after(rule, before) == before


def test_every_rule_of_configs_is_tried_both_ways() -> None:
    connecting = {"nested-calls", "inbound-nodes", "triples"}
    of_weights = {"wrapped-names"}
    assert {rule for rule, _, _ in CONFIGS} == {rule for rule, _ in LEFT} == {*BY_NAME} - connecting - of_weights


def test_a_weight_of_a_time_distributed_loses_the_name_of_the_layer_inside_and_no_other_does() -> None:
    topology = sequential(layer("TimeDistributed", name="each", layer=layer("Dense", name="dense")), layer("LSTM"))
    model = described(topology, "each/dense/kernel", "here/lstm_cell/kernel", "bias")
    (group,) = BY_NAME["wrapped-names"].rewrite(model)["weightsManifest"]
    assert [one["name"] for one in group["weights"]] == ["each/kernel", "here/lstm_cell/kernel", "bias"]


# --- how layers are connected


def tensor(name: str, node: int = 0, index: int = 0) -> Json:
    return {"class_name": "__keras_tensor__", "config": {"shape": [None, 2], "keras_history": [name, node, index]}}


def call(*args: Any, **kwargs: Any) -> Json:
    return {"args": list(args), "kwargs": kwargs}


def functional(*layers: Json, outputs: Any, inputs: Any = ("x", 0, 0)) -> Json:
    ends = {"input_layers": inputs, "output_layers": outputs}
    return {"class_name": "Functional", "config": {"name": "model", "layers": list(layers), **ends}}


def called(name: str, *calls: Any, kind: str = "Dense") -> Json:
    inside = {"name": name, **({} if kind == "Dense" else {"layers": [layer("Dense", name="inner")]})}
    return {"class_name": kind, "config": inside, "inbound_nodes": list(calls)}


def calls(topology: Any) -> dict[str, Any]:
    return {one["config"]["name"]: one.get("inbound_nodes") for one in topology["config"]["layers"]}


def test_calls_of_a_model_inside_are_counted_from_1_and_those_of_layers_from_0() -> None:
    bare = {"class_name": "InputLayer", "config": {"name": "x"}}
    topology = functional(
        bare,
        called("inside", call(tensor("x")), kind="Sequential"),
        called("dense", call(tensor("inside")), call([tensor("x"), {"class_name": "other"}], mask=tensor("inside", 1))),
        outputs=[["inside", 0, 0], ["dense", 0, 0]],
    )
    found = after("nested-calls", topology)
    assert found["config"]["layers"][0] == bare  # which has no calls, and is given none
    assert calls(found) == {
        "x": None,
        "inside": [call(tensor("x"))],
        "dense": [
            call(tensor("inside", 1)),
            call([tensor("x"), {"class_name": "other"}], mask=tensor("inside", 2)),
        ],
    }
    assert found["config"]["output_layers"] == [["inside", 1, 0], ["dense", 0, 0]]


def test_outputs_of_a_functional_model_inside_are_counted_from_1_by_keras_itself() -> None:
    topology = functional(called("inside", call(tensor("x")), kind="Functional"), outputs=[["inside", 1, 0]])
    assert after("nested-calls", topology) == topology


@pytest.mark.parametrize(
    "topology",
    [
        functional(called("dense", call(tensor("x"))), outputs=[["dense", 0, 0]]),
        functional(called("inside", [[["x", 0, 0, {}]]], kind="Sequential"), outputs=[["inside", 1, 0]]),
        sequential(called("inside", call(tensor("x")), kind="Sequential")),
    ],
    ids=["no model inside", "calls as Keras 2 writes them", "Sequential"],
)
def test_where_keras_3_calls_no_model_inside_calls_are_left_as_they_are(topology: Json) -> None:
    assert after("nested-calls", topology) == topology


def test_a_call_becomes_the_list_of_its_tensors_each_with_what_else_was_given() -> None:
    given = call([tensor("x"), tensor("y", 0, 1)], axis=1, mask=[None], training=False, seed=None, state=tensor("z"))
    topology = functional(called("add", given), called("old", [["x", 0, 0, {}]]), outputs=[["add", 0, 0]])
    assert calls(after("inbound-nodes", topology)) == {
        "add": [[["x", 0, 0, {"axis": 1}], ["y", 0, 1, {"axis": 1}], ["z", 0, 0, {"axis": 1}]]],
        "old": [[["x", 0, 0, {}]]],
    }


@pytest.mark.parametrize(
    ("ends", "listed"),
    [
        (["x", 0, 0], [["x", 0, 0]]),
        ([["x", 0, 0], ["y", 0, 0]], [["x", 0, 0], ["y", 0, 0]]),
        ({"a": ["x", 0, 0], "b": [["y", 0, 0]]}, [["x", 0, 0], ["y", 0, 0]]),
    ],
    ids=["one", "a list", "by name"],
)
def test_inputs_and_outputs_become_a_list_of_references(ends: Any, listed: list[Any]) -> None:
    found = after("triples", functional(inputs=ends, outputs=ends))["config"]
    assert found["input_layers"] == found["output_layers"] == listed
    assert after("triples", sequential(layer("Dense"))) == sequential(layer("Dense"))


def test_layers_inside_models_wrappers_and_cells_are_rewritten_too() -> None:
    inside = layer("Dense", activation="silu")
    cells = layer("RNN", cell=layer("StackedRNNCells", cells=[layer("LSTMCell", activation="silu")]))
    found = after("swish", sequential(sequential(inside), layer("TimeDistributed", layer=inside), cells))
    assert json.dumps(found).count('"swish"') == 3 and "silu" not in json.dumps(found)


# --- what weights are called

WEIGHTS: list[tuple[Json, list[tuple[str, ...]]]] = [
    (layer("Dense"), [("dense/vars/0", "kernel"), ("dense/vars/1", "bias")]),
    (layer("Dense", use_bias=False), [("dense/vars/0", "kernel")]),
    (layer("LSTM", use_bias=False), [
        ("lstm/cell/vars/0", "kernel"),
        ("lstm/cell/vars/1", "recurrent_kernel"),
    ]),
    (layer("LayerNormalization"), [
        ("layer_normalization/vars/0", "gamma"),
        ("layer_normalization/vars/1", "beta"),
    ]),
    (layer("LayerNormalization", rms_scaling=True), [("layer_normalization/vars/0", "gamma")]),
    (layer("TimeDistributed", layer=layer("Embedding", name="inner")), [
        ("time_distributed/layer/vars/0", "inner/embeddings"),
    ]),
    (layer("Bidirectional", layer=layer("LSTM", name="forward_lstm", use_bias=False)), [
        ("bidirectional/forward_layer/cell/vars/0", "forward_lstm/kernel", "forward_lstm"),
        ("bidirectional/forward_layer/cell/vars/1", "forward_lstm/recurrent_kernel", "forward_lstm"),
        ("bidirectional/backward_layer/cell/vars/0", "backward_lstm/kernel", "backward_lstm"),
        ("bidirectional/backward_layer/cell/vars/1", "backward_lstm/recurrent_kernel", "backward_lstm"),
    ]),
    (layer("RNN", cell=layer("GRUCell", name="cell", use_bias=False)), [
        ("rnn/cell/vars/0", "kernel"),
        ("rnn/cell/vars/1", "recurrent_kernel"),
    ]),
    (layer("RNN", cell=layer("StackedRNNCells", cells=[
        layer("SimpleRNNCell", name="first", use_bias=False), layer("SimpleRNNCell", name="second", use_bias=False),
    ])), [
        ("rnn/cell/cells/simple_rnn_cell/vars/0", "RNNCell_0/kernel", "first"),
        ("rnn/cell/cells/simple_rnn_cell/vars/1", "RNNCell_0/recurrent_kernel", "first"),
        ("rnn/cell/cells/simple_rnn_cell_1/vars/0", "RNNCell_1/kernel", "second"),
        ("rnn/cell/cells/simple_rnn_cell_1/vars/1", "RNNCell_1/recurrent_kernel", "second"),
    ]),
    (layer("Model", layers=[layer("Embedding")]), [
        ("functional/layers/embedding/vars/0", "embeddings"),
    ]),
    (layer("Functional", layers=[layer("Embedding")]), [
        ("functional/layers/embedding/vars/0", "embeddings"),
    ]),
    (sequential(layer("Embedding")), [("sequential/layers/embedding/vars/0", "embeddings")]),
    (layer("Flatten"), []),
]  # fmt: skip
"""A layer; of each of its weights the place, its name below the layer's, and the owners inside the layer."""


@pytest.mark.parametrize(("one", "wanted"), WEIGHTS)
def test_a_weight_is_called_by_its_layer_and_lies_where_keras_puts_it(one: Json, wanted: list[tuple[str, ...]]) -> None:
    found = list(named(sequential(one)))
    assert [(f"layers/{place}", f"here/{name}", ("here", *inside)) for place, name, *inside in wanted] == [
        (weight.place, weight.name, weight.owners) for weight in found
    ]


def test_the_second_layer_of_a_kind_has_a_folder_of_its_own() -> None:
    model = sequential(*(layer("Embedding", name=name) for name in "ab"))
    assert [weight.place for weight in named(model)] == ["layers/embedding/vars/0", "layers/embedding_1/vars/0"]


# --- operations that TensorFlow fused

FLOAT = {"type": "DT_FLOAT"}


def fused(op: str, *steps: str, inputs: tuple[str, ...] = (), **attr: Any) -> Json:
    listed = {"list": {"s": [b64encode(step.encode()).decode() for step in steps]}}
    return {"name": "y", "op": op, "input": ["x", "w", *inputs], "attr": {"T": FLOAT, "fused_ops": listed, **attr}}


def pieces(node: Json) -> list[tuple[str, str, list[str]]]:
    return [(one["name"], one["op"], one["input"]) for one in apart(node)]


def test_each_step_of_a_fused_operation_becomes_one_of_its_own_the_last_by_its_name() -> None:
    node = fused(
        "_FusedMatMul", "BiasAdd", "LeakyRelu", inputs=("b", "^c"), transpose_a={"b": True}, leakyrelu_alpha={"f": 0.1}
    )
    assert pieces(node) == [
        ("y/plain", "MatMul", ["x", "w", "^c"]),
        ("y/0", "AddV2", ["y/plain", "b"]),
        ("y", "LeakyRelu", ["y/0"]),
    ]
    plain, _, last = apart(node)
    assert plain["attr"] == {"T": FLOAT, "transpose_a": {"b": True}}
    assert last["attr"] == {"T": FLOAT, "alpha": {"f": 0.1}}


def test_without_steps_a_fused_operation_is_the_plain_one() -> None:
    assert pieces(fused("_FusedConv2D")) == [("y", "Conv2D", ["x", "w"])]
    assert pieces(fused("_FusedMatMul", "Relu6")) == [("y/plain", "MatMul", ["x", "w"]), ("y", "Relu6", ["y/plain"])]


def test_a_prelu_becomes_what_it_is_made_of_fused_or_not() -> None:
    ops = ["Relu", "Neg", "Relu", "Mul", "Sub"]
    made = pieces(fused("_FusedMatMul", "Prelu", inputs=("slope",)))
    assert [op for _, op, _ in made] == ["MatMul", *ops] and made[4][2] == ["y/negative", "slope"]
    alone = pieces({"name": "y", "op": "Prelu", "input": ["x", "slope"], "attr": {"T": FLOAT}})
    assert [op for _, op, _ in alone] == ops and alone[-1] == ("y", "Sub", ["y/positive", "y/scaled"])


def test_other_operations_are_left_as_they_are() -> None:
    node = {"name": "z", "op": "Softmax", "input": ["x"]}
    assert list(apart(node)) == [node]


@pytest.mark.parametrize(
    ("steps", "inputs", "added"),
    [
        (("BiasAdd",), ("b",), ["b"]),
        (("BiasAdd", "Relu"), ("b",), ["b"]),
        (("Relu",), (), []),
        (("BiasAdd", "Prelu"), ("b", "slope"), ["b"]),
        (("Prelu", "BiasAdd"), ("slope", "b"), ["b"]),
    ],
)
def test_what_a_fused_operation_adds_is_what_its_sums_take(steps: Any, inputs: Any, added: list[str]) -> None:
    assert terms(fused("_FusedMatMul", *steps, inputs=inputs)) == added


@pytest.mark.parametrize(
    ("op", "step", "is_right"),
    [
        ("FusedDepthwiseConv2dNative", "LeakyRelu", False),
        ("FusedDepthwiseConv2dNative", "Relu", True),
        ("_FusedConv2D", "LeakyRelu", True),
    ],
)
def test_of_a_depthwise_operation_tensorflow_js_does_not_read_the_slope(op: str, step: str, is_right: bool) -> None:
    assert runs(fused(op, "BiasAdd", step, inputs=("b",))) == is_right


def graph_of(*nodes: Json, **shapes: tuple[int, ...]) -> TfjsModel:
    """Return a graph model with these nodes, and weights of these shapes."""
    weights = tuple(Weight(name, shape, "float32", lambda: np.zeros(1)) for name, shape in shapes.items())
    return TfjsModel(Path("model.json"), {"modelTopology": {"node": list(nodes)}}, "graph", weights)


def ops(model: TfjsModel) -> list[str]:
    return [node["op"] for node in graph_repaired(model).topology["node"]]


def test_what_adds_nothing_but_biases_of_one_dimension_stays_fused() -> None:
    node, none = fused("_FusedMatMul", "BiasAdd", "Relu", inputs=("b",)), fused("_FusedMatMul", "Relu")
    taken = ["MatMul", "AddV2", "Relu"]
    assert ops(graph_of(node, b=(3,))) == ops(graph_of(node, b=(3,), c=(3,))) == ["_FusedMatMul"]
    assert ops(graph_of(none, b=(3,))) == ops(graph_of(none)) == ["_FusedMatMul"]
    assert ops(graph_of(node, c=(3,))) == taken  # what is added is no weight
    assert ops(graph_of(node, b=(1, 3))) == ops(graph_of(node, b=())) == taken
    softmax = {"name": "z", "op": "Softmax", "input": ["x"]}
    assert graph_repaired(graph_of(softmax)).topology["node"] == [softmax]


def test_a_depthwise_operation_with_a_slope_does_not_stay_fused() -> None:
    node = fused("FusedDepthwiseConv2dNative", "BiasAdd", "LeakyRelu", inputs=("b",), leakyrelu_alpha={"f": 0.1})
    assert ops(graph_of(node, b=(3,))) == ["DepthwiseConv2dNative", "AddV2", "LeakyRelu"]


def dilations(*numbers: str) -> Json:
    return {"dilations": {"list": {"i": list(numbers)}}}


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ({"op": "Conv2DBackpropInput", "attr": dilations("1", "2", "2", "1")}, "no dilated transposed convolution"),
        ({"op": "Conv2DBackpropInput", "attr": dilations("1", "1", "1", "1")}, ""),
        ({"op": "Conv2DBackpropInput"}, ""),
        ({"op": "Conv2D", "attr": dilations("1", "2", "2", "1")}, ""),
        ({"op": "RandomUniform"}, "draws random numbers"),
        ({"op": "FusedBatchNormV3"}, "normalizes by the batch"),
        ({"op": "FusedBatchNormV3", "attr": {"is_training": {"b": False}}}, ""),
    ],
)
def test_a_graph_that_would_predict_otherwise_is_refused(node: Json, said: str) -> None:
    found = list(graph_refusals({"node": [{"name": "here", **node}]}))
    assert len(found) == bool(said) and all(f"here ({node['op']}): " in one and said in one for one in found)


@pytest.mark.parametrize("dtype", ["string", "float32"])
def test_a_graph_with_a_table_of_strings_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dtype: str
) -> None:
    def convert_tf_saved_model(source: str, written: str, control_flow_v2: bool) -> None:
        manifest = [{"paths": ["w.bin"], "weights": [{"name": "w", "shape": [1], "dtype": dtype}]}]
        model = {"format": "graph-model", "modelTopology": {"node": [{"name": "w", "op": "Const"}]}}
        Path(written).mkdir()
        (Path(written) / "model.json").write_text(json.dumps({**model, "weightsManifest": manifest}))
        (Path(written) / "w.bin").write_bytes(bytes(4))

    converter, converters = ModuleType("converter"), ModuleType("tensorflowjs.converters")
    converter.convert_tf_saved_model = convert_tf_saved_model  # type: ignore[attr-defined]
    converters.tf_saved_model_conversion_v2 = converter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tensorflowjs", ModuleType("tensorflowjs"))
    monkeypatch.setitem(sys.modules, "tensorflowjs.converters", converters)
    if dtype == "string":
        with pytest.raises(CannotConvert, match="it has a table of strings"):
            convert_graph(tmp_path, tmp_path / "out")
    else:
        convert_graph(tmp_path, tmp_path / "out")
    assert (tmp_path / "out").is_dir() == (dtype != "string")


# --- back to Keras


def back(topology: Json, **shapes: tuple[int, ...]) -> Json:
    """Return a TensorFlow.js model's topology as Keras 3 has it, beside weights of these shapes."""
    weights = tuple(Weight(name, shape, "float32", lambda: np.zeros(1)) for name, shape in shapes.items())
    return _repaired(TfjsModel(Path("model.json"), {"modelTopology": topology}, "layers", weights))


def config_back(one: Json, **shapes: tuple[int, ...]) -> Json:
    *_, found = back(sequential(one), **shapes)["config"]["layers"]
    assert (found["class_name"], found["module"], found["registered_name"]) == (one["class_name"], "keras.layers", None)
    config: Json = found["config"]
    return config


def placed(value: Json, module: str) -> Json:
    return {**value, "module": module, "registered_name": None}


NORMAL = {"class_name": "RandomNormal", "config": {"stddev": 1}}
MINE = {"class_name": "Mine", "config": {}}
NON_NEGATIVE, RATES = {"class_name": "NonNeg", "config": {}}, {"class_name": "L1L2", "config": {}}
BACK: list[tuple[Json, Json]] = [
    (layer("InputLayer", batch_input_shape=[None, 2]), {"batch_shape": [None, 2]}),
    (layer("GRU", implementation=1, time_major=False), {"reset_after": False}),
    (layer("LSTM", implementation=1, unit_forget_bias=True), {"unit_forget_bias": True}),
    (layer("LeakyReLU", alpha=0.1), {"negative_slope": 0.1}),
    (layer("LeakyReLU"), {"negative_slope": 0.3}),
    (layer("ELU", alpha=0.1), {"alpha": 0.1}),
    (layer("BatchNormalization", axis=[3]), {"axis": 3}),
    (layer("BatchNormalization", axis=3), {"axis": 3}),
    (layer("LayerNormalization", axis=[3]), {"axis": [3]}),
    (layer("SeparableConv2D", groups=1), {"depth_multiplier": 1}),
    (layer("DepthwiseConv2D", depth_multiplier=2, groups=1), {"depth_multiplier": 2}),
    (layer("Conv2D", groups=1), {"groups": 1}),
    (layer("Dense", kernel_initializer=NORMAL, bias_initializer=MINE, units=1),
     {"kernel_initializer": placed(NORMAL, "keras.initializers"), "bias_initializer": MINE, "units": 1}),
    (layer("Dense", kernel_initializer=placed(NORMAL, "mine")), {"kernel_initializer": placed(NORMAL, "mine")}),
    (layer("Dense", kernel_constraint=NON_NEGATIVE), {"kernel_constraint": placed(NON_NEGATIVE, "keras.constraints")}),
    (layer("Dense", kernel_regularizer=RATES), {"kernel_regularizer": placed(RATES, "keras.regularizers")}),
    (layer("Dense", kernel_regularizer={"l1": 0}), {"kernel_regularizer": {"l1": 0}}),
]  # fmt: skip


@pytest.mark.parametrize(("one", "wanted"), BACK)
def test_a_layer_comes_back_in_keras_words(one: Json, wanted: Json) -> None:
    assert config_back(one) == {"name": "here", **wanted}


def test_the_depth_of_a_separable_kernel_is_its_weights() -> None:
    kernel: Any = {"here/depthwise_kernel": (3, 3, 4, 2)}
    assert config_back(layer("SeparableConv2D"), **kernel)["depth_multiplier"] == 2


def test_an_rnn_keeps_its_own_options_and_not_its_cells() -> None:
    cell = layer("LSTMCell", units=2)
    found = config_back(layer("RNN", cell=cell, units=2, return_sequences=True))
    assert set(found) == {"name", "cell", "return_sequences"}
    gru = config_back(layer("RNN", cell=layer("GRUCell", units=2)))
    assert gru["cell"]["config"] == {"name": "here", "units": 2, "reset_after": False}


def test_a_sequential_begins_with_an_input_layer_of_its_first_layers_shape() -> None:
    first = layer("Dense", name="first", batch_input_shape=[None, 3], dtype="int32")
    begins = {"name": "first_input", "batch_shape": [None, 3], "dtype": "int32"}
    for topology in (sequential(first), {"class_name": "Sequential", "config": [first]}):
        one, other = back(topology)["config"]["layers"]
        assert (one["class_name"], one["config"]) == ("InputLayer", begins)
        assert other["config"] == {"name": "first", "dtype": "int32"}


@pytest.mark.parametrize(
    "first",
    [
        layer("InputLayer", batch_input_shape=[None, 3]),
        layer("Dense"),
        sequential(layer("InputLayer", batch_input_shape=[None, 3])),
    ],
    ids=["an input layer", "no shape", "a model"],
)
def test_a_sequential_that_begins_with_something_else_is_given_no_input_layer(first: Json) -> None:
    (found,) = back(sequential(first))["config"]["layers"]
    assert found["class_name"] == first["class_name"]


def test_a_functional_model_is_given_no_input_layer() -> None:
    model = functional(layer("Dense", batch_input_shape=[None, 3]), inputs=[["here", 0, 0]], outputs=[["here", 0, 0]])
    assert [one["class_name"] for one in back(model)["config"]["layers"]] == ["Dense"]


def test_a_sequential_keeps_its_name_and_a_bare_one_is_given_one() -> None:
    assert back(sequential(layer("Dense")))["config"]["name"] == "model"
    bare = {"class_name": "Sequential", "config": [layer("Dense")]}
    assert back(bare)["config"]["name"] == "sequential"
    assert back({**bare, "name": "mine"})["config"]["name"] == "mine"


def test_calls_of_models_inside_are_counted_from_0_again() -> None:
    inside = called("inside", [["x", 0, 0, {}]], kind="Sequential")
    other = {**functional(outputs=[["x", 0, 0]], inputs=[["x", 0, 0]]), "inbound_nodes": [[["x", 0, 0, {}]]]}
    other["config"] = {**other["config"], "name": "other"}
    last = called("dense", [["inside", 1, 0, {}], ["other", 2, 0, {}], ["x", 0, 0, {}]])
    model = functional(
        inside, other, last, inputs=[["x", 0, 0]], outputs=[["inside", 1, 0], ["other", 1, 0], ["dense", 0, 0]]
    )
    found = back(model)
    assert found["module"] == "keras.src.models.functional" and found["class_name"] == "Functional"
    assert calls(found)["dense"] == [[["inside", 0, 0, {}], ["other", 1, 0, {}], ["x", 0, 0, {}]]]
    # Of outputs, Keras counts those of functional models from 1 itself.
    assert found["config"]["output_layers"] == [["inside", 0, 0], ["other", 1, 0], ["dense", 0, 0]]
    assert found["config"]["input_layers"] == ["x", 0, 0]  # one, by itself


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (layer("LSTM", recurrent_activation="hard_sigmoid"), "hard_sigmoid is 0.2 x + 0.5"),
        (layer("LSTM", recurrent_activation="sigmoid", comment="hard_sigmoid"), ""),
        (layer("UpSampling2D", interpolation="bilinear"), "places the corners otherwise"),
        (layer("UpSampling2D", interpolation="nearest"), ""),
        (layer("UpSampling2D"), ""),
        (layer("Resizing"), "it is not the same in TensorFlow.js"),
        (layer("RandomWidth"), "Keras 3 has no such layer"),
        (layer("ThresholdedReLU"), "Keras 3 has no such layer"),
        (layer("Mine"), "Keras 3 has no such layer"),
        (layer("Dense"), ""),
    ],
)
def test_what_would_be_another_in_keras_is_refused_by_name(one: Json, said: str) -> None:
    found = list(_refusals(sequential(one)))
    assert len(found) == bool(said) and all(f"here ({one['class_name']}): " in each and said in each for each in found)

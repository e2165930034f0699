"""What is refused, or left out, and what is not, rule by rule: at the boundary of each.

That it would be wrong in TensorFlow.js is tested in test_layers_models.py, test_since.py and test_training_config.py.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from tensorledger.conversion.back import write_keras
from tensorledger.conversion.constraints import CLOSE, violated
from tensorledger.conversion.folder import TfjsModel, read_tfjs
from tensorledger.conversion.layers import convert_layers, convert_tfjs
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.refused import graph_refusals, refusals
from tensorledger.conversion.since import lacking
from tensorledger.conversion.topology import Json
from tensorledger.conversion.training import Untranslated, training
from tensorledger.conversion.writing import Weight


def layer(kind: str, **config: Any) -> Json:
    return {"class_name": kind, "config": {"name": "here", **config}, "module": "keras.layers"}


def sequential(*layers: Json, name: str = "model") -> Json:
    return {"class_name": "Sequential", "config": {"name": name, "layers": list(layers)}}


def functional(*layers: Json, outputs: Any = ("here", 0, 0)) -> Json:
    ends = {"input_layers": ["x", 0, 0], "output_layers": outputs}
    return {"class_name": "Functional", "config": {"name": "model", "layers": list(layers), **ends}}


def after(before: str, one: Json) -> Json:
    """Return a layer that is called on another's output, as Keras 3 writes it."""
    given = {"class_name": "__keras_tensor__", "config": {"keras_history": [before, 0, 0]}}
    return {**one, "inbound_nodes": [{"args": [given], "kwargs": {}}]}


def given(one: Json, *rest: Any) -> Json:
    """Return a layer that is called on another's output, as Keras 2 and TensorFlow.js write it."""
    return {**one, "inbound_nodes": [[["before", 0, 0, *rest]]]}


# --- a layers model


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (given(layer("Dropout"), {"training": True}), "called with training=True"),
        (given(layer("Dropout"), {"training": False}), ""),
        (given(layer("LSTM"), {"mask": ["m", 0, 0]}), "called with a mask"),
        (given(layer("LSTM"), {"mask": None}), ""),
        (given(layer("LSTM"), {}), ""),
        (given(layer("LSTM")), ""),
        (given(sequential(layer("Dense"), name="here"), {"training": True}), "called with training=True"),
        (given(sequential(layer("Dense"), name="here"), {"training": False}), ""),
        (layer("Tanh") | {"module": "keras.src.ops.numpy"}, "no layer for an operation of keras.ops"),
        (layer("NotEqual") | {"module": "keras.src.ops.numpy"}, "it makes the mask"),
        (layer("Any") | {"module": "keras.src.ops.numpy"}, "it makes the mask"),
        (layer("NotEqual"), "has no such layer"),
        (layer("Softmax", axis=-1), ""),
        (layer("Softmax", axis=[-1]), ""),
        (layer("Softmax", axis=1), "along the last axis only"),
        (layer("Softmax", axis=1) | {"build_config": {"input_shape": [None, 3]}}, ""),
        (layer("Softmax", axis=1) | {"build_config": {"input_shape": [None, 3, 4]}}, "along the last axis only"),
        (layer("Concatenate"), ""),
        (layer("Concatenate", axis=0), ""),
        (layer("Concatenate", axis=2), ""),
        (layer("Concatenate", axis=-1), ""),
        (layer("Concatenate", axis=-2), "counts the axis of a Concatenate from the start"),
    ],
)
def test_a_layer_is_refused_for_what_it_is_or_how_it_is_called(one: Json, why: str) -> None:
    found = list(refusals(sequential(one), keras_3=True))
    assert len(found) == bool(why) and all(f"here ({one['class_name']}): " in said and why in said for said in found)


@pytest.mark.parametrize(
    ("layers", "refused"),
    [
        ([layer("Masking"), layer("Dense")], ""),
        ([layer("Embedding", mask_zero=True), layer("LSTM")], ""),
        ([layer("Embedding", mask_zero=False), layer("Flatten")], ""),
        ([layer("Masking"), layer("Flatten", name="flat")], "flat (Flatten)"),
        ([layer("Embedding", mask_zero=True), layer("Flatten", name="flat")], "flat (Flatten)"),
        ([layer("Masking"), layer("LSTM", name="all", return_sequences=True)], "all (LSTM)"),
        ([layer("Masking"), layer("LSTM", return_sequences=False)], ""),
        ([layer("Masking"), sequential(layer("Dense"), name="inside")], "inside (Sequential)"),
    ],
)
def test_what_hands_a_mask_on_otherwise_is_refused(layers: list[Json], refused: str) -> None:
    found = list(refusals(sequential(*layers), keras_3=True))
    assert len(found) == bool(refused)
    assert all(said.startswith(f"{refused}: it is beside a mask") for said in found)


NORMALIZED = layer("BatchNormalization", axis=1)
ROWS = layer("InputLayer", name="x", batch_shape=[None, 3])
STEPS = layer("InputLayer", name="x", batch_shape=[None, 3, 4])
DENSE, FLAT = layer("Dense", name="dense"), layer("Flatten", name="flat")
CONVOLUTION = layer("Conv1D", name="convolution")


@pytest.mark.parametrize(
    ("model", "known"),
    [
        (sequential(ROWS, NORMALIZED), True),
        (sequential(layer("InputLayer", batch_input_shape=[None, 3]), NORMALIZED), True),
        (sequential(STEPS, NORMALIZED), False),
        (sequential(layer("InputLayer"), NORMALIZED), False),
        (sequential(ROWS, DENSE, layer("ReLU"), NORMALIZED), True),
        (sequential(STEPS, DENSE, NORMALIZED), False),
        (sequential(STEPS, CONVOLUTION, FLAT, NORMALIZED), True),
        (sequential(STEPS, layer("GlobalAveragePooling1D"), DENSE, NORMALIZED), True),
        (sequential(STEPS, FLAT, layer("Reshape"), NORMALIZED), False),
        (sequential(DENSE, NORMALIZED), False),
        (sequential(NORMALIZED), False),
        (sequential(STEPS, layer("BatchNormalization", axis=[1])), False),
        (sequential(STEPS, layer("BatchNormalization", axis=[2])), True),
        (sequential(STEPS, layer("BatchNormalization", axis=-1)), True),
        (sequential(STEPS, layer("LayerNormalization", axis=1)), True),
        (sequential(STEPS, NORMALIZED | {"build_config": {"input_shape": [None, 3]}}), True),
        (functional(STEPS, ROWS | {"config": {**ROWS["config"], "name": "rows"}}, after("rows", NORMALIZED)), True),
        (functional(ROWS, STEPS | {"config": {**STEPS["config"], "name": "steps"}}, after("steps", NORMALIZED)), False),
        (functional(ROWS, given(NORMALIZED)), False),
        (functional(layer("InputLayer", name="before", batch_shape=[None, 3]), STEPS, given(NORMALIZED)), True),
    ],
)
def test_batch_normalization_along_axis_1_is_refused_where_that_may_not_be_the_last(model: Json, known: bool) -> None:
    found = list(refusals(model, keras_3=True))
    assert len(found) == (not known) and all("its axis, 1, is not known to be the last" in said for said in found)


def test_a_tensor_that_a_model_gives_twice_is_refused() -> None:
    for outputs, twice in (
        ([["here", 0, 0], ["here", 0, 0]], True),
        ([["here", 0, 0], ["here", 0, 1]], False),
        ([["here", 0, 0]], False),
        (["here", 0, 0], False),
    ):
        found = list(refusals(functional(layer("Dense"), outputs=outputs), keras_3=True))
        assert len(found) == twice and all("gives one tensor twice" in said for said in found)


@pytest.mark.parametrize(
    ("one", "keras_3", "why"),
    [
        (layer("IntegerLookup"), True, "loses the shape"),
        (layer("StringLookup"), True, ""),
        (layer("Dense", activation="sparsemax"), True, "shapes do not fit"),
        (layer("Dense", activation="softmax"), True, ""),
        (layer("ConvLSTM2D", return_sequences=True), False, "disposes a tensor"),
        (layer("ConvLSTM2D", return_sequences=True), True, ""),
        (layer("ConvLSTM2D", return_sequences=False), False, ""),
        (layer("LSTM", return_sequences=True), False, ""),
    ],
)
def test_a_graph_model_is_refused_for_what_its_graph_would_do_wrong(one: Json, keras_3: bool, why: str) -> None:
    found = list(graph_refusals([one], keras_3))
    assert len(found) == bool(why) and all(said.startswith("here (") and why in said for said in found)


# --- releases


@pytest.mark.parametrize(
    ("one", "first", "last_without", "what"),
    [
        (layer("LeakyReLU"), "0.7.0", "0.6.1", "LeakyReLU layers"),
        (layer("Masking"), "1.1.0", "1.0.4", "Masking layers"),
        (layer("Rescaling"), "3.21.0", "3.20.0", "Rescaling layers"),
        (layer("BatchNormalization"), "1.2.10", "1.2.11", "BatchNormalization layers"),
        (layer("BatchNormalization", scale=False), "0.7.0", "0.6.1", "batch normalization without center or scale"),
        (layer("BatchNormalization", center=False), "0.7.0", "0.6.1", "batch normalization without center or scale"),
        (layer("Conv2D", dilation_rate=[2, 2]), "0.9.1", "0.8.0", "dilated convolutions"),
        (layer("Conv1D", dilation_rate=2), "0.9.1", "0.8.0", "dilated convolutions"),
        (layer("LSTM", stateful=True), "0.12.6", "0.12.5", "stateful recurrent layers"),
        (layer("Dense", activation="swish"), "2.5.0", "2.4.0", "the activation swish"),
        (layer("LSTM", recurrent_activation="silu"), "2.5.0", "2.4.0", "the activation swish"),
        (layer("Dense", activation="gelu"), "4.19.0", "4.18.0", "the activation gelu"),
    ],
)
def test_a_release_lacks_what_came_later(one: Json, first: str, last_without: str, what: str) -> None:
    topology = sequential(layer("Dense", name="weights"), one)
    assert list(lacking(topology, first)) == []
    (said,) = lacking(topology, last_without)
    assert said.startswith(f"here ({one['class_name']}): tfjs@{last_without} is not right with {what}; ")


@pytest.mark.parametrize(
    "one",
    [
        layer("Conv2D", dilation_rate=[1, 1]),
        layer("Conv1D", dilation_rate=1),
        layer("Conv1D", dilation_rate=None),
        layer("BatchNormalization", center=True, scale=True),
        layer("LSTM", stateful=False),
        layer("Dense", activation="relu", comment="gelu"),
    ],
)
def test_a_release_does_not_lack_what_it_always_had(one: Json) -> None:
    assert list(lacking(sequential(layer("Dense"), one), "0.6.1")) == []


def test_a_sequential_is_lacking_only_inside_a_functional_model() -> None:
    inside = sequential(layer("Dense"), name="inside")
    (said,) = lacking(functional(layer("Dense"), inside), "0.10.3")
    assert said.startswith("model (Functional): ") and "a Sequential inside a functional model" in said
    for other in (
        sequential(layer("Dense"), inside),
        functional(layer("Dense")),
        functional(functional(layer("Dense"))),
    ):
        assert list(lacking(other, "0.10.3")) == []


@pytest.mark.parametrize(
    ("release", "said"),
    [("0.9.0", "0.9.1"), ("0.9.1", ""), ("0.11.0", "0.11.7"), ("0.11.6", "0.11.7"), ("0.11.7", ""), ("0.10.3", "")],
)
def test_a_release_that_loads_no_model_is_told_with_the_next_that_does(release: str, said: str) -> None:
    found = list(lacking(sequential(layer("Dense")), release))
    assert found == ([f"tfjs@{release} loads no converted model; the next that does is {said}"] if said else [])


@pytest.mark.parametrize(("release", "lacks"), [("4.8.0", False), ("4.9.0", True), ("4.10.0", True), ("4.11.0", False)])
def test_a_model_without_weights_is_what_a_few_releases_do_not_load(release: str, lacks: bool) -> None:
    assert bool(list(lacking(sequential(layer("Flatten")), release))) == lacks
    assert list(lacking(sequential(layer("Dense")), release)) == []


# --- constraints on weights


def constraint(kind: str, **config: Any) -> Json:
    return {"class_name": kind, "config": config}


def unmet(values: Any, said: Any) -> list[str]:
    array = np.array(values, np.float64)
    weight = Weight("here/kernel", array.shape, "float32", lambda: array)
    return list(violated(sequential(layer("Dense", use_bias=False, kernel_constraint=said)), [weight]))


BETWEEN = constraint("MinMaxNorm", min_value=0.5, max_value=2.0, rate=1.0, axis=0)


@pytest.mark.parametrize(
    ("values", "said", "met"),
    [
        ([[1.0], [0.0]], constraint("NonNeg"), True),
        ([[1.0], [-0.5]], constraint("NonNegative"), False),
        ([[1.0], [-0.5]], constraint("NonNeg"), False),
        ([[1.0], [-CLOSE]], constraint("NonNeg"), True),
        ([[1.0], [-CLOSE / 2]], constraint("NonNeg"), True),
        ([[1.0], [-CLOSE * 2]], constraint("NonNeg"), False),
        ([[0.0], [0.0]], constraint("NonNeg"), True),
        ([[3.0], [4.0]], constraint("MaxNorm", max_value=5.0, axis=0), True),
        ([[3.0], [4.0]], constraint("MaxNorm", max_value=4.9, axis=0), False),
        ([[3.0], [4.0]], constraint("MaxNorm", max_value=4.9, axis=1), True),
        ([[3.0], [4.0]], constraint("MaxNorm", max_value=4.9, axis=[0, 1]), False),
        ([[0.6], [0.8]], constraint("UnitNorm", axis=0), True),
        ([[0.6], [0.9]], constraint("UnitNorm", axis=0), False),
        ([[0.6], [0.8]], BETWEEN, True),
        ([[0.3], [0.3]], BETWEEN, False),
        ([[3.0], [4.0]], BETWEEN, False),
        ([[3.0], [4.0]], constraint("MinMaxNorm", min_value=0.5, max_value=2.0, rate=0.0), True),
        ([[1.0], [0.0]], constraint("Mine"), False),
        ([[-1.0], [0.0]], None, True),
    ],
)
def test_a_weight_that_loading_would_change_is_told_with_its_constraint(values: Any, said: Any, met: bool) -> None:
    found = unmet(values, said)
    assert len(found) == (not met)
    assert all(f"here/kernel does not meet its constraint {said['class_name']}" in one for one in found)


def test_a_weight_that_a_file_does_not_have_meets_its_constraint() -> None:
    assert list(violated(sequential(layer("Dense", kernel_constraint=constraint("NonNeg"))), [])) == []


def test_a_depthwise_kernel_is_held_to_its_own_constraint() -> None:
    weight = Weight("here/depthwise_kernel", (1,), "float32", lambda: np.array([-1.0]))
    one = layer("DepthwiseConv2D", use_bias=False, depthwise_constraint=constraint("NonNeg"))
    assert len(list(violated(sequential(one), [weight]))) == 1


# --- how a model was compiled


def optimizer(kind: str, **config: Any) -> Json:
    return {"class_name": kind, "config": {"learning_rate": 0.1, **config}}


TEN = sequential(layer("Dense", units=10))
ONE = sequential(layer("Dense", units=1))


def compiled(topology: Json = TEN, **said: Any) -> Json:
    return training({"optimizer": optimizer("SGD"), "loss": "mse", **said}, topology)


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (optimizer("SGD", momentum=0.0, decay=1), optimizer("SGD")),
        (optimizer("Adam", beta_1=0.9, amsgrad=False), optimizer("Adam", beta_1=0.9)),
        (optimizer("Custom>Adam"), optimizer("Adam")),
        (optimizer("RMSprop", rho=0.8, momentum=0.5), optimizer("RMSProp", decay=0.8, momentum=0.5)),
        (optimizer("RMSprop"), optimizer("RMSProp", decay=0.9)),
    ],
)
def test_an_optimizer_keeps_the_options_that_tensorflow_js_has(said: Json, wanted: Json) -> None:
    assert compiled(optimizer=said)["optimizer_config"] == wanted


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (optimizer("Adadelta"), "the optimizer Adadelta"),
        (optimizer("SGD", momentum=0.9), "SGD with momentum"),
        (optimizer("SGD", nesterov=True), "SGD with nesterov"),
        (optimizer("Adam", learning_rate={"class_name": "ExponentialDecay"}), "a learning rate that changes"),
        ("adam", "an optimizer by its name alone, 'adam'"),
        (None, "no optimizer"),
    ],
)
def test_an_optimizer_that_would_train_otherwise_is_told(said: Any, why: str) -> None:
    with pytest.raises(Untranslated, match=why):
        compiled(optimizer=said)


CLASS: Json = {"class_name": "CategoricalCrossentropy", "config": {"name": "categorical_crossentropy"}}


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("mse", "mean_squared_error"),
        ("hinge", "hinge"),
        (CLASS, "categorical_crossentropy"),
        ({**CLASS, "config": {**CLASS["config"], "from_logits": False}}, "categorical_crossentropy"),
        ({"class_name": "Huber", "config": {"name": "hinge", "delta": 1.0}}, "hinge"),
        ({"class_name": "function", "config": "mean_absolute_error"}, "mean_absolute_error"),
        (["mse", "hinge"], ["mean_squared_error", "hinge"]),
        ({"a": "mse", "b": CLASS}, {"a": "mean_squared_error", "b": "categorical_crossentropy"}),
    ],
)
def test_a_loss_arrives_by_the_name_that_tensorflow_js_knows(said: Any, wanted: Any) -> None:
    assert compiled(loss=said)["loss"] == wanted


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("huber", "the loss 'huber'"),
        (None, "the loss None"),
        ({**CLASS, "config": {**CLASS["config"], "from_logits": True}}, "CategoricalCrossentropy with from_logits"),
        ({**CLASS, "config": {**CLASS["config"], "label_smoothing": 0.1}}, "with label_smoothing"),
        ({"class_name": "Huber", "config": {"name": "hinge", "delta": 2.0}}, "with delta"),
    ],
)
def test_a_loss_that_would_be_another_is_told(said: Any, why: str) -> None:
    with pytest.raises(Untranslated, match=why):
        compiled(loss=said)


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (None, []),
        ([], []),
        (["mse", ["mae"]], ["mse", "mae"]),
        ({"a": ["mse"], "b": "mae"}, ["mse", "mae"]),
        ([{"class_name": "BinaryAccuracy", "config": {"name": "binary_accuracy"}}], ["binaryAccuracy"]),
        (
            {"class_name": "MeanMetricWrapper", "config": {"name": "mine", "fn": "categorical_accuracy"}},
            ["categoricalAccuracy"],
        ),
        ([{"class_name": "function", "config": "mean_squared_error"}], ["mse"]),
    ],
)
def test_a_metric_arrives_by_the_name_that_tensorflow_js_knows(said: Any, wanted: list[str]) -> None:
    assert compiled(metrics=said)["metrics"] == wanted


def test_a_metric_that_tensorflow_js_has_not_is_told() -> None:
    with pytest.raises(Untranslated, match="the metric 'auc'"):
        compiled(metrics=["auc"])


SPARSE = "sparse_categorical_crossentropy"
INSIDE = functional(layer("Dense", units=10), layer("Dense", name="last", units=1), outputs=[["last", 0, 0]])


@pytest.mark.parametrize("name", ["accuracy", "acc"])
@pytest.mark.parametrize(
    ("topology", "loss", "wanted"),
    [
        (TEN, "mse", "categoricalAccuracy"),
        (ONE, "mse", "binaryAccuracy"),
        (TEN, SPARSE, "accuracy"),
        (TEN, [SPARSE], "accuracy"),
        (TEN, {"here": SPARSE}, "accuracy"),
        (sequential(layer("Dense", units=10), ONE), "mse", "binaryAccuracy"),
        (INSIDE, "mse", "binaryAccuracy"),
        (functional(layer("Dense", units=10), layer("Dense", name="last", units=1)), "mse", "categoricalAccuracy"),
        ({"class_name": "Sequential", "config": [layer("Dense", units=1)]}, "mse", "binaryAccuracy"),
    ],
)
def test_accuracy_goes_by_the_numbers_of_a_prediction_as_keras_has_it(
    topology: Json, loss: Any, wanted: str, name: str
) -> None:
    assert compiled(topology, loss=loss, metrics=[name])["metrics"] == [wanted]


@pytest.mark.parametrize(
    "topology",
    [
        sequential(layer("Dense", units=10), layer("Activation")),
        sequential(layer("Dense", units=10), layer("LSTM", units=1)),
        functional(layer("Dense", units=1), outputs=[["here", 0, 0], ["here", 0, 0]]),
        functional(layer("Dense", units=1), outputs=["elsewhere", 0, 0]),
        sequential(),
    ],
)
def test_accuracy_of_what_is_not_known_to_be_so_many_numbers_is_told(topology: Json) -> None:
    with pytest.raises(Untranslated, match="whose output is no Dense layer's"):
        compiled(topology, metrics=["accuracy"])


# --- whole files


def keras_file(folder: Path, **config: Any) -> Path:
    """Write a .keras file of Keras 3 with one layer, an activation that TensorFlow.js calls otherwise, and a state."""
    file = folder / "model.keras"
    with h5py.File(folder / "weights.h5", "w") as weights:
        weights["layers/dense/vars/0"] = np.ones((2, 1), np.float32)
        weights["optimizer/vars/0"] = np.ones((3,), np.float32)
    with zipfile.ZipFile(file, "w") as archive:
        dense = layer("Dense", **{"units": 1, "use_bias": False, "activation": "silu", **config})
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.5.0"}))
        archive.writestr("config.json", json.dumps(sequential(dense)))
        archive.write(folder / "weights.h5", "model.weights.h5")
    return file


def written(folder: Path) -> Json:
    found: Json = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    return found


def activation(folder: Path) -> Any:
    return written(folder)["modelTopology"]["model_config"]["config"]["layers"][0]["config"]["activation"]


def test_the_rules_of_the_release_are_applied_unless_others_are_named(tmp_path: Path) -> None:
    file = keras_file(tmp_path)
    assert convert_layers(file, tmp_path / "repaired").rules == ["swish"]
    assert convert_layers(file, tmp_path / "as-it-is", []).rules == []
    assert (activation(tmp_path / "repaired"), activation(tmp_path / "as-it-is")) == ("swish", "silu")


@pytest.mark.parametrize(
    "config",
    [
        {"activation": "mine"},
        {"kernel_constraint": {"class_name": "Mine", "config": {}}},
        {"kernel_constraint": {"class_name": 1}},
    ],
    ids=["refused", "a constraint", "not understood"],
)
def test_what_is_refused_is_called_what_it_is_to_be_called_and_else_by_its_file(tmp_path: Path, config: Json) -> None:
    file = keras_file(tmp_path, **config)
    for called, name in (("", str(file)), ("the model", "the model")):
        with pytest.raises(CannotConvert) as raised:
            convert_layers(file, tmp_path / "out", called=called)
        assert str(raised.value).startswith((f"{name} cannot be a layers model:", f"{name}: what it says of its"))


@pytest.mark.parametrize(
    ("dtype", "left_out"),
    [
        ({"class_name": "DTypePolicy", "config": {"name": "mixed_float16"}}, "its precision, mixed_float16: "),
        ("float64", "its precision, float64: "),
        ({"class_name": "DTypePolicy", "config": {"name": "float32"}}, ""),
        ("float32", ""),
        (None, ""),
    ],
)
def test_another_precision_than_float32_is_told(tmp_path: Path, dtype: Any, left_out: str) -> None:
    found = convert_layers(keras_file(tmp_path, dtype=dtype), tmp_path / "out").left_out
    assert len(found) == bool(left_out) and all(said.startswith(left_out) for said in found)


def test_an_optimizers_state_is_no_weight_of_the_model(tmp_path: Path) -> None:
    convert_layers(keras_file(tmp_path), tmp_path / "out")
    (group,) = written(tmp_path / "out")["weightsManifest"]
    assert [weight["name"] for weight in group["weights"]] == ["here/kernel"]


def test_a_model_of_tensorflow_js_keeps_what_is_said_beside_its_layers(tmp_path: Path) -> None:
    convert_layers(keras_file(tmp_path), tmp_path / "first")
    (tmp_path / "bare").mkdir()
    for file in (tmp_path / "first").iterdir():
        (tmp_path / "bare" / file.name).write_bytes(file.read_bytes())
    described = written(tmp_path / "first")
    bare = {**described["modelTopology"]["model_config"], "keras_version": "tfjs-layers 4.22.0"}
    (tmp_path / "bare" / "model.json").write_text(json.dumps({**described, "modelTopology": bare}), encoding="utf-8")
    convert_tfjs(read_tfjs(tmp_path / "bare"), tmp_path / "out")
    found = written(tmp_path / "out")["modelTopology"]
    assert set(found) == {"model_config", "keras_version"} and found["keras_version"] == "tfjs-layers 4.22.0"
    assert found["model_config"]["config"] == bare["config"]


def tfjs_model(topology: Json, *names: str) -> TfjsModel:
    weights = tuple(Weight(name, (2,), "float32", lambda: np.ones(2, np.float32)) for name in names)
    return TfjsModel(Path("model.json"), {"modelTopology": topology}, "layers", weights)


@pytest.mark.parametrize(
    ("topology", "names", "places"),
    [
        (sequential(layer("Embedding")), ["here/embeddings"], ["layers/embedding/vars/0"]),
        (
            sequential(layer("TimeDistributed", layer=layer("Embedding", name="inner"))),
            ["here/embeddings"],
            ["layers/time_distributed/layer/vars/0"],
        ),
    ],
)
def test_a_weight_goes_to_its_place_in_a_keras_file_and_one_that_is_missing_is_named(
    tmp_path: Path, topology: Json, names: list[str], places: list[str]
) -> None:
    write_keras(tfjs_model(topology, *names), tmp_path / "model.keras")
    with zipfile.ZipFile(tmp_path / "model.keras") as archive:
        archive.extract("model.weights.h5", tmp_path)
    with h5py.File(tmp_path / "model.weights.h5", "r") as file:
        assert [file[place].shape for place in places] == [(2,)]
    with pytest.raises(CannotConvert, match=r"there is no weight here/.*embeddings"):
        write_keras(tfjs_model(topology, "here/other"), tmp_path / "other.keras")

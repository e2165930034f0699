"""Models with every layer that both sides have predict the same in TensorFlow.js; what cannot be right is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import convertible
import numpy as np
import pytest
from nodejs import node

from tensorledger.conversion.layers import convert_layers, rules_for
from tensorledger.conversion.reading import opened
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.refused import _INITIALIZERS, _REGULARIZERS, KINDS, refusals
from tensorledger.conversion.rules import RULES, repair
from tensorledger.conversion.tfjs import LAYERS
from tensorledger.conversion.topology import Json, all_layers
from tensorledger.environment.tree import tree

NEWEST = "4.22.0"
CLOSE = 1e-5
"""Predictions are of the order of 1, of float32 with some tens of terms each."""

PREDICT = """
const fs = require('fs');
const [tfjs, ...folders] = process.argv.slice(1);
const tf = require(tfjs);
console.warn = () => {};
async function off(folder) {
  const {modelTopology, weightsManifest} = JSON.parse(fs.readFileSync(`${folder}/model.json`));
  const {inputs, outputs} = JSON.parse(fs.readFileSync(`${folder}/../../reference.json`));
  const bytes = Buffer.concat(weightsManifest.flatMap(g => g.paths).map(p => fs.readFileSync(`${folder}/${p}`)));
  const weightData = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const weightSpecs = weightsManifest.flatMap(g => g.weights);
  const load = tf.loadLayersModel ?? tf.loadModel;
  const model = await load({load: async () => ({modelTopology, weightSpecs, weightData})});
  const given = inputs.map(x => tf.tensor(x));
  const said = [model.predict(given.length > 1 ? given : given[0])].flat();
  const each = said.map((y, i) => Array.from(y.dataSync()).map((v, k) => Math.abs(v - outputs[i][k])));
  return Math.max(...each.map(differences => differences.some(Number.isNaN) ? Infinity : Math.max(...differences)));
}
(async () => {
  const said = {};
  for (const folder of folders) said[folder] = await off(folder).then(String, error => `Error: ${error.message}`);
  console.log(JSON.stringify(said));
})();
"""
KINDS_OF_FILE = ("keras", "h5")


@pytest.fixture(scope="module")
def saved(convertible_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All models, as each Keras saves them, to put what is made of them beside."""
    return shutil.copytree(convertible_models, tmp_path_factory.mktemp("models") / "convertible")


def models() -> Iterator[tuple[str, str, str]]:
    for source in convertible.KERASES:
        for name in convertible.MODELS:
            for kind in KINDS_OF_FILE:
                yield source, name, kind


@pytest.fixture(scope="module")
def needed(saved: Path) -> dict[tuple[str, str, str], list[str]]:
    """Each model converted; the rules that it needed."""
    return {
        (source, name, kind): convert_layers(
            saved / source / name / f"model.{kind}", saved / source / name / "converted" / kind
        ).rules
        for source, name, kind in models()
    }


def differences(folders: list[Path], release: str = NEWEST) -> dict[str, float]:
    """Return by how much predictions of models in these folders are off; infinite: it does not load, or says NaN."""
    command: list[str | Path] = [node.path, "-e", PREDICT, tree() / "node_modules" / f"tfjs-{release}", *folders]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said: dict[str, str] = json.loads(done.stdout)
    return {folder: float("inf") if text.startswith("Error") else float(text) for folder, text in said.items()}


@pytest.fixture(scope="module")
def off(saved: Path, needed: dict[tuple[str, str, str], list[str]]) -> dict[str, float]:
    return differences([saved / source / name / "converted" / kind for source, name, kind in needed])


@pytest.mark.parametrize(("source", "name", "kind"), list(models()), ids=lambda text: text)
def test_a_model_predicts_what_its_keras_predicts(
    saved: Path, off: dict[str, float], source: str, name: str, kind: str
) -> None:
    assert off[str(saved / source / name / "converted" / kind)] <= CLOSE


@pytest.mark.parametrize("rule", rules_for(NEWEST), ids=lambda rule: rule.name)
def test_without_a_rule_models_that_need_it_do_not_load_or_predict_something_else(
    saved: Path, needed: dict[tuple[str, str, str], list[str]], rule: Any
) -> None:
    concerned = [case for case, rules in needed.items() if rule.name in rules]
    assert {source for source, _, _ in concerned} == set(rule.kerases)
    others = [other for other in rules_for(NEWEST) if other is not rule]
    folders = []
    for source, name, kind in concerned:
        folders.append(saved / source / name / f"without-{rule.name}" / kind)
        convert_layers(saved / source / name / f"model.{kind}", folders[-1], others)
    assert {folder: by for folder, by in differences(folders).items() if by <= CLOSE} == {}


@pytest.mark.parametrize("source", convertible.KERASES)
@pytest.mark.parametrize("release", ["0.12.4", "0.15.3", "1.7.4", "2.8.6"])
def test_an_old_release_needs_its_rules_and_no_others(saved: Path, tmp_path: Path, source: str, release: str) -> None:
    rules = rules_for(release)
    for name in ("dense", "shared", "nested", "nested-functional", "lstm", "time-distributed"):
        shutil.copyfile(saved / source / name / "reference.json", tmp_path / "reference.json")  # beside all of them
        file = saved / source / name / "model.keras"
        applied = convert_layers(file, tmp_path / name / "all", rules).rules
        for rule in rules:
            if rule.name in applied:
                others = [other for other in rules if other is not rule]
                convert_layers(file, tmp_path / name / rule.name, others)
        found = differences([tmp_path / name / folder for folder in ("all", *applied)], release)
        assert {Path(folder).name: by <= CLOSE for folder, by in found.items()} == {
            "all": True,
            **dict.fromkeys(applied, False),
        }, name


def test_every_layer_that_both_sides_have_is_in_a_model_or_refused(saved: Path) -> None:
    used = set()
    for source, name, kind in models():
        if kind == "keras":
            with opened(saved / source / name / "model.keras") as found:
                used |= {layer["class_name"] for layer in all_layers(found.topology)}
    apart = {
        "Model": "what Functional was called",
        "ConvLSTM2DCell": "no layer of Keras's",
        "RandomWidth": "Keras 2 has it alone",
    }
    refused = {kind for kind in LAYERS - used - set(apart) if list(refusals(layer(kind), True))}
    assert LAYERS - used - refused == set(apart)


def test_the_list_of_layers_is_the_releases_own() -> None:
    script = """
      const tf = require(process.argv[1]);
      const all = Object.entries(tf.serialization.SerializationMap.getMap().classNameMap);
      console.log(JSON.stringify(all.filter(([, [kind]]) => kind.prototype?.addWeight).map(([name]) => name)));
    """
    command: list[str | Path] = [node.path, "-e", script, tree() / "node_modules" / f"tfjs-{NEWEST}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(json.loads(done.stdout)) == LAYERS


def test_an_initializer_or_a_regularizer_that_is_not_refused_is_one_of_the_releases_own_when_it_arrives() -> None:
    script = """
      const tf = require(process.argv[1]);
      console.log(JSON.stringify(Object.keys(tf.serialization.SerializationMap.getMap().classNameMap)));
    """
    command: list[str | Path] = [node.path, "-e", script, tree() / "node_modules" / f"tfjs-{NEWEST}"]
    known = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for part, kinds in (("kernel_initializer", _INITIALIZERS), ("kernel_regularizer", _REGULARIZERS)):
        for kind in kinds:
            one = layer("Dense", **{part: {"class_name": kind, "config": {}}})
            arrived, _ = repair({"modelTopology": {"model_config": one}, "weightsManifest": []}, rules_for(NEWEST))
            assert arrived["modelTopology"]["model_config"]["config"][part]["class_name"] in known, kind


@pytest.mark.parametrize("source", convertible.KERASES)
def test_no_tensorflow_is_imported(saved: Path, source: str, tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from tensorledger.conversion.layers import convert_layers;"
        "convert_layers(Path(sys.argv[1]), Path(sys.argv[2]));"
        "print([name for name in ('tensorflow', 'keras', 'tf_keras', 'tensorflowjs') if name in sys.modules])"
    )
    file = saved / source / "dense" / "model.keras"
    command: list[str | Path] = [sys.executable, "-c", script, file, tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


# --- refusals


def layer(kind: str, **config: Any) -> Json:
    return {"class_name": kind, "config": {"name": "here", **config}, "module": "keras.layers", "registered_name": None}


def called(one: Json, **kwargs: Any) -> Json:
    return one | {"inbound_nodes": [{"args": [], "kwargs": kwargs}]}


REFUSED: dict[str, tuple[Json, Json]] = {
    "given-mask": (called(layer("LSTM"), mask={"class_name": "__keras_tensor__"}), called(layer("LSTM"), mask=None)),
    "both-ways": (
        layer("Bidirectional", layer=layer("RNN", cell=layer("LSTMCell"))),
        layer("Bidirectional", layer=layer("LSTM")),
    ),
    "backward-layer": (
        layer("Bidirectional", layer=layer("LSTM", units=2), backward_layer=layer("LSTM", units=3)),
        layer("Bidirectional", layer=layer("LSTM", units=2), backward_layer=layer("LSTM", units=2, go_backwards=True)),
    ),
    "wrapped": (
        layer("TimeDistributed", layer=layer("Bidirectional", layer=layer("LSTM"))),
        layer("TimeDistributed", layer=layer("LSTM")),
    ),
    "dilated-depthwise": (
        layer("DepthwiseConv2D", dilation_rate=[2, 2]),
        layer("DepthwiseConv2D", dilation_rate=[1, 1]),
    ),
    "input-type": (layer("InputLayer", dtype="int64"), layer("InputLayer", dtype="int32")),
    "concatenation": (layer("Concatenate", axis=-2), layer("Concatenate", axis=-1)),
    "channels-first": (
        layer("GlobalMaxPooling1D", data_format="channels_first"),
        layer("GlobalMaxPooling1D", data_format="channels_last"),
    ),
    "time-major": (layer("LSTM", time_major=True), layer("LSTM", time_major=False)),
    "lambda": (layer("Lambda"), layer("Dense")),
    "custom-layer": (layer("Mine") | {"module": "mine", "registered_name": "mine>Mine"}, layer("Dense")),
    "operation": (layer("Tanh") | {"module": "keras.src.ops.numpy"}, layer("Dense")),
    "mask": (layer("NotEqual") | {"module": "keras.src.ops.numpy"}, layer("Dense")),
    "no-such-layer": (layer("MultiHeadAttention"), layer("Dense")),
    "reset-after": (layer("GRU", reset_after=True), layer("GRU", reset_after=False)),
    "hard-sigmoid": (layer("LSTM", recurrent_activation="hard_sigmoid"), layer("LSTM", recurrent_activation="sigmoid")),
    "no-such-activation": (layer("Dense", activation="leaky_relu"), layer("Dense", activation="silu")),
    "no-such-initializer": (
        layer("Dense", kernel_initializer={"class_name": "STFT", "config": {}}),
        layer("Dense", kernel_initializer={"class_name": "LecunNormal", "config": {}}),
    ),
    "no-such-regularizer": (
        layer("Dense", kernel_regularizer={"class_name": "OrthogonalRegularizer", "config": {"factor": 0.1}}),
        layer("Dense", kernel_regularizer={"class_name": "L2", "config": {"l2": 0.1}}, bias_regularizer=None),
    ),
    "relu-options": (layer("ReLU", negative_slope=0.1), layer("ReLU", max_value=6.0, negative_slope=0.0)),
    "another-axis": (
        layer("BatchNormalization", axis=[1]) | {"build_config": {"input_shape": [None, 5, 4]}},
        layer("BatchNormalization", axis=[2]) | {"build_config": {"input_shape": [None, 5, 4]}},
    ),
    "keepdims": (layer("GlobalMaxPooling2D", keepdims=True), layer("GlobalMaxPooling2D", keepdims=False)),
    "transposed-options": (
        layer("Conv2DTranspose", dilation_rate=[2, 2], output_padding=None),
        layer("Conv2DTranspose", dilation_rate=[1, 1], output_padding=None),
    ),
    "random-width": (layer("RandomWidth"), layer("Rescaling")),
    "causal": (layer("Conv1D", padding="causal"), layer("Conv1D", padding="same")),
    "training-mode": (
        layer("BatchNormalization") | {"inbound_nodes": [{"args": [], "kwargs": {"training": True}}]},
        layer("BatchNormalization") | {"inbound_nodes": [{"args": [], "kwargs": {"training": False}}]},
    ),
    "rms-scaling": (layer("LayerNormalization", rms_scaling=True), layer("LayerNormalization", rms_scaling=False)),
    "interpolation": (layer("UpSampling2D", interpolation="bilinear"), layer("UpSampling2D", interpolation="nearest")),
    "size": (layer("Resizing"), layer("Rescaling")),
    "elu-alpha": (layer("ELU", alpha=0.5), layer("ELU", alpha=1.0)),
    "grouped": (layer("Conv2D", groups=2), layer("Conv2D", groups=1)),
}


def inside(one: Json) -> Json:
    wrapped = {"class_name": "TimeDistributed", "config": {"name": "outside", "layer": one}}
    if one["class_name"] in ("Bidirectional", "TimeDistributed"):
        wrapped = one  # which are not wrapped once more
    return {"class_name": "Sequential", "config": {"name": "model", "layers": [wrapped]}}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("placed", [lambda one: one, inside], ids=["alone", "inside"])
def test_what_would_be_wrong_is_refused_by_name_with_what_to_do(kind: Any, placed: Callable[[Json], Json]) -> None:
    bad, good = REFUSED[kind.name]
    assert f"here ({bad['class_name']}): {kind.why}; {kind.instead}" in list(refusals(placed(bad), True))
    assert list(refusals(placed(good), True)) == []


def test_hard_sigmoid_of_keras_2_is_the_one_that_tensorflow_js_has() -> None:
    bad, _ = REFUSED["hard-sigmoid"]
    assert list(refusals(bad, False)) == []


# --- files that are not what they seem


def test_a_refused_model_leaves_nothing_behind(saved: Path, tmp_path: Path) -> None:
    file = changed(saved / "keras" / "gru" / "model.keras", tmp_path / "bad.keras", reset_after)
    before = file.read_bytes()
    with pytest.raises(CannotConvert, match=r"bad\.keras cannot be a layers model:\n.*\(GRU\).*reset_after=False"):
        convert_layers(file, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.keras"] and file.read_bytes() == before


def changed(file: Path, copy: Path, change: Callable[[dict[str, bytes]], dict[str, bytes]]) -> Path:
    """Write a copy of an archive with other members."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(copy, "w") as archive:
        for name, data in change(members).items():
            archive.writestr(name, data)
    return copy


def reset_after(members: dict[str, bytes]) -> dict[str, bytes]:
    return {**members, "config.json": members["config.json"].replace(b'"reset_after": false', b'"reset_after": true')}


def without(name: str) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    return lambda members: {key: data for key, data in members.items() if key != name}


def with_member(name: str, data: bytes) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    return lambda members: {**members, name: data}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (without("config.json"), "config.json"),
        (without("metadata.json"), "metadata.json"),
        (without("model.weights.h5"), "model.weights.h5"),
        (with_member("config.json", b"{"), "is broken"),
        (with_member("config.json", b"[]"), "no description of a model"),
        (with_member("config.json", b'{"class_name": "Sequential", "config": {"layers": 5}}'), "says of its layers"),
        (
            with_member("config.json", b'{"class_name": "Sequential", "config": {"layers": ["a"]}}'),
            "says of its layers",
        ),
        (with_member("config.json", b'{"class_name": "Mine", "config": {}}'), "of a class of one's own"),
        (with_member("config.json", b'{"class_name": "Sequential"}'), "does not describe a model"),
        (with_member("config.json", b"\\xff"), "is broken"),
        (with_member("model.weights.h5", b"not weights"), "is broken"),
    ],
)
def test_a_broken_archive_is_refused(saved: Path, tmp_path: Path, change: Any, said: str) -> None:
    file = changed(saved / "keras" / "dense" / "model.keras", tmp_path / "é broken.keras", change)
    with pytest.raises(CannotConvert, match=said) as raised:
        convert_layers(file, tmp_path / "out")
    assert str(file) in str(raised.value) and not (tmp_path / "out").exists()


def test_a_member_that_points_outside_is_not_extracted(saved: Path, tmp_path: Path) -> None:
    file = changed(
        saved / "keras" / "dense" / "model.keras", tmp_path / "model.keras", with_member("../outside.txt", b"no")
    )
    convert_layers(file, tmp_path / "inner" / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["inner", "model.keras"]


@pytest.mark.parametrize("kind", KINDS_OF_FILE)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.95])
def test_a_truncated_file_is_refused(saved: Path, tmp_path: Path, kind: str, share: float) -> None:
    whole = (saved / "keras" / "conv2d" / f"model.{kind}").read_bytes()
    file = tmp_path / f"cut.{kind}"
    file.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(CannotConvert):
        convert_layers(file, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_weights_alone_are_refused(saved: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(saved / "keras" / "dense" / "model.keras") as archive:
        (tmp_path / "weights.h5").write_bytes(archive.read("model.weights.h5"))
    with pytest.raises(CannotConvert, match="holds weights only"):
        convert_layers(tmp_path / "weights.h5", tmp_path / "out")


def test_paths_may_have_spaces_and_letters_of_any_kind(saved: Path, tmp_path: Path) -> None:
    file = tmp_path / "mein Modell ü.keras"
    shutil.copyfile(saved / "keras" / "dense" / "model.keras", file)
    convert_layers(file, tmp_path / "aus gabe" / "ö")
    assert (tmp_path / "aus gabe" / "ö" / "model.json").is_file()


# --- weights


@pytest.mark.parametrize("shard", [1, 7, 64, 2**20])
def test_shards_are_as_large_as_asked_and_together_the_same(saved: Path, tmp_path: Path, shard: int) -> None:
    file = saved / "keras" / "dense" / "model.keras"
    convert_layers(file, tmp_path / "whole")
    convert_layers(file, tmp_path / "parts", shard=shard)
    (group,) = json.loads((tmp_path / "parts" / "model.json").read_text())["weightsManifest"]
    parts = [(tmp_path / "parts" / path).read_bytes() for path in group["paths"]]
    assert all(len(part) == shard for part in parts[:-1]) and 0 < len(parts[-1]) <= shard
    assert b"".join(parts) == (tmp_path / "whole" / "group1-shard1of1.bin").read_bytes()
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == sorted(["model.json", *group["paths"]])


@pytest.mark.parametrize(("quantize", "step"), [("float16", 2**-11), ("uint16", 2**-16), ("uint8", 2**-8)])
def test_quantized_weights_are_as_close_as_their_type(saved: Path, tmp_path: Path, quantize: str, step: float) -> None:
    file = saved / "keras" / "dense" / "model.keras"
    convert_layers(file, tmp_path / "whole")
    convert_layers(file, tmp_path / "small", quantize=quantize)
    whole = np.fromfile(tmp_path / "whole" / "group1-shard1of1.bin", "<f4")
    (group,) = json.loads((tmp_path / "small" / "model.json").read_text())["weightsManifest"]
    data, start = (tmp_path / "small" / "group1-shard1of1.bin").read_bytes(), 0
    back = []
    for weight in group["weights"]:
        how, count = weight["quantization"], int(np.prod(weight["shape"]))
        kind = np.dtype(how["dtype"]).newbyteorder("<")
        numbers = np.frombuffer(data, kind, count, start).astype(np.float64)
        back.append(numbers * how.get("scale", 1) + how.get("min", 0))
        start += count * kind.itemsize
    assert start == len(data) == len(whole) * np.dtype(quantize).itemsize
    error = np.abs(np.concatenate(back) - whole).max()
    assert 0 < error <= step * np.ptp(whole)


def test_every_rule_names_what_it_is_for() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(rule.reason and rule.applies_to and set(rule.kerases) <= set(convertible.KERASES) for rule in RULES)

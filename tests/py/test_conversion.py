"""Converted models load in TensorFlow.js and predict what Keras predicts, and every rule is needed for that."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nodejs import node

from tensorledger.conversion.layers import rules_for
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.rules import RULES, repair
from tensorledger.data import samples
from tensorledger.environment.folders import whole_folder
from tensorledger.environment.tree import tree
from tensorledger.models.saved import saved_model, saved_models
from tensorledger.models.zoo import KERASES, MODELS

NEWEST, OLD = "4.22.0", "0.12.4"
"""Releases to load models in; the old one needs every rule, and has no layer normalization."""
CASES = [(source, model) for source in KERASES for model in MODELS]

# Prints, for each folder named on the command line, its model's predictions or why there are none.
PREDICT = """
const fs = require('fs');
const [tfjs, ...folders] = process.argv.slice(1);
const tf = require(tfjs);
console.warn = () => {};
const fraction = (k) => Number((BigInt(k) * 2654435761n) % 4294967296n) / 4294967296;
async function predict(folder) {
  const {modelTopology, weightsManifest} = JSON.parse(fs.readFileSync(`${folder}/model.json`));
  const bytes = Buffer.concat(weightsManifest.flatMap(g => g.paths).map(p => fs.readFileSync(`${folder}/${p}`)));
  const weightData = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const weightSpecs = weightsManifest.flatMap(g => g.weights);
  const load = tf.loadLayersModel ?? tf.loadModel;
  const model = await load({load: async () => ({modelTopology, weightSpecs, weightData})});
  const features = model.inputs[0].shape[1];
  const x = tf.tensor2d(Float32Array.from({length: 8 * features}, (_, k) => fraction(k)), [8, features]);
  return {x: Array.from(x.dataSync()), predictions: Array.from(model.predict(x).dataSync())};
}
(async () => {
  const results = {};
  for (const folder of folders) results[folder] = await predict(folder).catch(e => ({error: String(e)}));
  console.log(JSON.stringify(results));
})();
"""

# In one process with TensorFlow: each model converted without each rule, and from .h5; and loaded back by its Keras.
CONVERT = (
    f"RELEASES = {[NEWEST, OLD]!r}"
    + """
import importlib, json, os, sys
from pathlib import Path
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", KERAS_BACKEND="tensorflow")
from tensorledger.conversion.layers import convert_layers, rules_for
from tensorledger.conversion.reading import opened
from tensorledger.data import samples
from tensorledger.models.zoo import KERASES, MODELS
from tensorflowjs.converters import keras_h5_conversion as tensorflowjs
import h5py, io, zipfile
saved, out = map(Path, sys.argv[1:])
rules, reloaded = {}, {}
for source, module in KERASES.items():
    keras = importlib.import_module(module)
    for name in MODELS:
        file = saved / source / name / "model.keras"
        model = keras.models.load_model(file)
        x = samples.inputs(model.input_shape[1])
        reloaded[f"{source}/{name}"] = model(x, training=False).numpy().ravel().tolist()
        for release in RELEASES:
            convert_layers(file, out / release / "with" / source / name, rules_for(release))
            for rule in rules_for(release):
                others = [other for other in rules_for(release) if other is not rule]
                convert_layers(file, out / release / "without" / rule.name / source / name, others)
        convert_layers(file, out / "unrepaired" / source / name, [])
        with zipfile.ZipFile(file) as archive, opened(file) as found:
            weights = h5py.File(io.BytesIO(archive.read("model.weights.h5")))
            said = [json.loads(archive.read(member)) for member in ("metadata.json", "config.json")]
            topology, (group,) = tensorflowjs.h5_v3_merged_saved_model_to_tfjs_format(weights, *said)
            # What has no place in TensorFlow.js, such as a Dropout's seed, it writes too.
            group = [one for one in group if one["name"] in found.named]
        (out / "official" / source / name).mkdir(parents=True)
        tensorflowjs.write_artifacts(topology, [group], str(out / "official" / source / name))
        if source == "tf-keras":
            model.save(out / f"{name}.h5")
            rules[name] = convert_layers(out / f"{name}.h5", out / "h5" / source / name).rules
(out / "said.json").write_text(json.dumps({"rules": rules, "reloaded": reloaded}))
"""
)


@pytest.fixture(scope="module")
def saved() -> Path:
    return saved_models()


@pytest.fixture(scope="module")
def folders(saved: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a variant of each conversion per subfolder, and what CONVERT said of them."""
    out = tmp_path_factory.mktemp("conversions")
    done = subprocess.run([sys.executable, "-c", CONVERT, str(saved), str(out)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for source, model in CASES:
        shutil.copytree(saved / source / model / "tfjs", out / "converted" / source / model)
        plant(out / "converted" / source / model, out / "row" / source / model, one_row_one_percent_off)
        plant(out / "converted" / source / model, out / "relu" / source / model, relu_left_out)
    return out


@pytest.fixture(scope="module")
def results(folders: Path) -> dict[str, dict[str, Any]]:
    """What TensorFlow.js makes of each variant, by its path below ``folders``."""
    paths = sorted(path.parent for path in folders.rglob("model.json") if not path.is_relative_to(folders / "official"))
    of_old = [path for path in paths if path.is_relative_to(folders / OLD)]
    return {
        str(Path(path).relative_to(folders)): result
        for release, chosen in ((OLD, of_old), (NEWEST, [path for path in paths if path not in of_old]))
        for path, result in predictions(release, chosen).items()
    }


def predictions(release: str, paths: list[Path]) -> dict[str, dict[str, Any]]:
    """Return what a release predicts with the models in these folders, or why it does not."""
    command: list[str | Path] = [node.path, "-e", PREDICT, tree() / "node_modules" / f"tfjs-{release}", *paths]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


def reference(saved: Path, source: str, model: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((saved / source / model / "reference.json").read_text())
    return found


def difference(predictions: list[float], expected: dict[str, Any]) -> float:
    return float(np.abs(np.subtract(predictions, expected["predictions"])).max())


def plant(converted: Path, planted: Path, error: Callable[[dict[str, Any], Any], None]) -> None:
    shutil.copytree(converted, planted)
    description = json.loads((planted / "model.json").read_text())
    shard = planted / description["weightsManifest"][0]["paths"][0]
    weights = np.fromfile(shard, np.float32)
    error(description, weights)
    weights.tofile(shard)
    (planted / "model.json").write_text(json.dumps(description))


def one_row_one_percent_off(description: dict[str, Any], weights: Any) -> None:
    start = 0
    for weight in description["weightsManifest"][0]["weights"]:
        if weight["name"] in ("hidden/kernel", "hidden_1/kernel"):
            columns = weight["shape"][1]
            weights[start + 5 * columns : start + 6 * columns] *= 1.01
        start += int(np.prod(weight["shape"]))


def relu_left_out(description: dict[str, Any], weights: Any) -> None:
    layers = description["modelTopology"]["model_config"]["config"]["layers"]
    next(layer for layer in layers if layer["class_name"] == "Dense")["config"]["activation"] = "linear"


@pytest.mark.parametrize(("source", "model"), CASES)
def test_a_converted_model_predicts_what_its_keras_predicts(
    source: str, model: str, saved: Path, results: dict[str, dict[str, Any]]
) -> None:
    expected, result = reference(saved, source, model), results[f"converted/{source}/{model}"]
    assert "error" not in result
    assert difference(result["predictions"], expected) <= expected["bound"]


@pytest.mark.parametrize("error", ["row", "relu"])
@pytest.mark.parametrize(("source", "model"), CASES)
def test_a_small_error_in_a_model_exceeds_the_bound(
    error: str, source: str, model: str, saved: Path, results: dict[str, dict[str, Any]]
) -> None:
    expected = reference(saved, source, model)
    assert difference(results[f"{error}/{source}/{model}"]["predictions"], expected) > expected["bound"]


@pytest.mark.parametrize("rule", rules_for(NEWEST), ids=lambda rule: rule.name)
def test_without_the_rule_a_model_does_not_load_or_predicts_something_else(
    rule: Any, saved: Path, results: dict[str, dict[str, Any]]
) -> None:
    concerned = [case for case in CASES if rule.name in reference(saved, *case)["rules"]]
    for source, model in concerned:
        expected, result = reference(saved, source, model), results[f"{NEWEST}/without/{rule.name}/{source}/{model}"]
        assert "error" in result or not difference(result["predictions"], expected) <= expected["bound"]


@pytest.mark.parametrize("source", KERASES)
def test_a_model_with_the_rules_of_an_old_release_predicts_there_what_its_keras_predicts(
    source: str, saved: Path, results: dict[str, dict[str, Any]]
) -> None:
    expected, result = reference(saved, source, "classifier"), results[f"{OLD}/with/{source}/classifier"]
    assert "error" not in result, result["error"]
    assert difference(result["predictions"], expected) <= expected["bound"]


def test_every_rule_is_needed_by_one_of_the_two_releases() -> None:
    assert set(rules_for(OLD)) == set(RULES)
    old = {"variance-scaling", "bare-sequential", "plain-model", "wrapped-names"}
    assert {rule.name for rule in RULES if rule not in rules_for(NEWEST)} == old
    for release in ("0.13.1", "0.12.7", "0.6.1"):
        assert rules_for(release) == RULES
    assert {rule.name for rule in rules_for("0.13.2")} == {rule.name for rule in RULES} - {"bare-sequential"}
    for release in ("2.4.0", "2.8.6", "4.22.0"):
        assert rules_for(release) == rules_for(NEWEST)
    newest = {rule.name for rule in rules_for(NEWEST)}
    for release in ("2.0.1", "2.3.0"):
        assert {rule.name for rule in rules_for(release)} == newest | {"plain-model"}
    for release in ("0.13.3", "0.15.3", "1.0.4", "1.7.4", "2.0.0"):
        assert {rule.name for rule in rules_for(release)} == newest | {"plain-model", "wrapped-names"}


def test_a_saved_model_for_an_old_release_differs_in_its_description_alone(saved: Path) -> None:
    newest, old = saved_model("classifier", "keras", NEWEST), saved_model("classifier", "keras", OLD)
    assert saved_model("classifier", "keras") == saved_model("classifier", "keras", "0.15.3") == newest
    assert saved_model("classifier", "keras", "0.8.0") == old
    assert (old.keras, old.graph, old.predictions) == (newest.keras, newest.graph, newest.predictions)
    before, after = Path(newest.tfjs), Path(old.tfjs)
    assert before.parent == after.parent == saved / "keras" / "classifier" and before != after
    assert sorted(path.name for path in before.iterdir()) == sorted(path.name for path in after.iterdir())
    for path in before.iterdir():
        assert (path.read_bytes() == (after / path.name).read_bytes()) == (path.name != "model.json")
    topology = json.loads((after / "model.json").read_text())["modelTopology"]
    assert isinstance(topology["model_config"]["config"], list)


@pytest.mark.parametrize("model", MODELS)
def test_a_whole_h5_file_of_tf_keras_converts_too(
    model: str, saved: Path, folders: Path, results: dict[str, dict[str, Any]]
) -> None:
    expected, result = reference(saved, "tf-keras", model), results[f"h5/tf-keras/{model}"]
    assert difference(result["predictions"], expected) <= expected["bound"]
    said = json.loads((folders / "said.json").read_text())
    assert said["rules"][model] == (["both-rates"] if model == "classifier" else [])


@pytest.mark.parametrize(("source", "model"), CASES)
def test_a_saved_model_loads_back_in_its_own_keras(source: str, model: str, saved: Path, folders: Path) -> None:
    said = json.loads((folders / "said.json").read_text())
    expected = reference(saved, source, model)
    assert difference(said["reloaded"][f"{source}/{model}"], expected) <= expected["bound"]


@pytest.mark.parametrize(("source", "model"), CASES)
def test_weight_files_stay_as_tensorflowjs_writes_them(source: str, model: str, folders: Path) -> None:
    converted, official = (folders / kind / source / model for kind in ("converted", "official"))
    names = [path.name for path in official.iterdir()]
    assert sorted(names) == sorted(path.name for path in converted.iterdir())
    for name in set(names) - {"model.json"}:
        assert (converted / name).read_bytes() == (official / name).read_bytes()


def test_javascript_makes_the_same_samples(results: dict[str, dict[str, Any]]) -> None:
    assert results["converted/keras/classifier"]["x"] == samples.inputs(784).ravel().tolist()


def test_labels_are_one_hot_or_a_column() -> None:
    assert samples.labels(10).argmax(axis=1).tolist() == list(range(8))
    assert samples.labels(3).tolist()[4] == [0, 1, 0]
    assert samples.labels(1).ravel().tolist() == [0, 1] * 4


def test_rules_leave_their_argument_alone_and_have_nothing_to_do_twice(folders: Path) -> None:
    for source, model in CASES:
        before = (folders / "unrepaired" / source / model / "model.json").read_text()
        written = json.loads(before)
        repaired, changed = repair(written, RULES)
        assert changed and json.dumps(written) == before
        assert repair(repaired, RULES) == (repaired, [])


def test_a_folder_is_whole_or_not_there(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), whole_folder(tmp_path / "model") as folder:
        (folder / "half").write_text("")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with whole_folder(tmp_path / "model") as folder:
        (folder / "all").write_text("")
        assert not (tmp_path / "model").exists()
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")] == ["model", "model/all"]
    with pytest.raises(FileExistsError), whole_folder(tmp_path / "model"):
        pass


def test_a_file_that_is_no_model_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    from tensorledger.conversion.layers import convert_layers  # imports h5py, not TensorFlow

    (tmp_path / "model.keras").write_text("not a model")
    with pytest.raises(CannotConvert, match="neither a"):
        convert_layers(tmp_path / "model.keras", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["model.keras"]

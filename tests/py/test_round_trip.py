"""A layers model that TensorFlow.js saved, of Keras or its own, is brought back to Keras 3 and predicts the same."""

from __future__ import annotations

import json
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

from tensorledger.conversion import back
from tensorledger.conversion.back import write_keras
from tensorledger.conversion.folder import read_tfjs
from tensorledger.conversion.layers import convert_layers
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.tfjs import LAYERS
from tensorledger.conversion.topology import Json
from tensorledger.environment.tree import tree

CLOSE = 1e-4
NEWEST = "4.22.0"
EARLIER = ("0.12.4", "1.7.4")
"""Releases whose own models are brought back too."""
SAVE = Path(__file__).parent / "fixtures" / "saved.mjs"
CASES = [(source, name) for source in convertible.KERASES for name in convertible.MODELS]
HARD = "hard_sigmoid is 0.2 x + 0.5 in TensorFlow.js, and x / 6 + 0.5 in Keras 3; make it with sigmoid and train again"
CORNERS = "TensorFlow.js places the corners otherwise than Keras 3 when it interpolates; make it with interpolation="
OTHERWISE = "it is not the same in TensorFlow.js as in Keras 3; do it before the model"
REFUSED = {
    ("tf-keras", "thresholded-relu"): "(ThresholdedReLU): Keras 3 has no such layer",
    ("tf-keras", "conv-lstm"): f"(ConvLSTM2D): {HARD}",
}

# Prints, for each file of a JSON list of [file, reference], by how much Keras 3 predicts something else, or why not.
LOAD = """
import json, os, sys
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", KERAS_BACKEND="tensorflow")
import keras
import numpy as np

def off(file, reference):
    model = keras.models.load_model(file)
    x = [np.array(one, np.float32) for one in reference["inputs"]]
    y = model(x if len(x) > 1 else x[0], training=False)
    if len(reference["outputs"]) == 1:
        assert not isinstance(y, (list, tuple, dict)), "one prediction is in a list"
        y = [y]
    each = zip(y, reference["outputs"], strict=True)
    return max(float(np.abs(np.asarray(one).ravel() - np.array(other)).max()) for one, other in each)

said = {}
for file, reference in json.load(open(sys.argv[1])):
    try:
        said[file] = off(file, json.load(open(reference)))
    except Exception as error:
        said[file] = f"{type(error).__name__}: {error}"
json.dump(said, open(sys.argv[2], "w"))
"""


class Loads:
    """Files to load in Keras, all in one process, since that takes seconds to start."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.listed: list[tuple[str, str]] = []
        self.refused: dict[str, str] = {}
        self.said: dict[str, Any] = {}

    def add(self, key: str, model: Path, reference: Path) -> None:
        """Bring a folder back."""
        file = self.folder / f"{key}.keras"
        try:
            write_keras(read_tfjs(model), file)
        except CannotConvert as error:
            self.refused[key] = str(error)
        else:
            self.listed.append((str(file), str(reference)))

    def run(self) -> None:
        asked, answer = self.folder / "asked.json", self.folder / "said.json"
        asked.write_text(json.dumps(self.listed))
        command: list[str | Path] = [sys.executable, "-c", LOAD, asked, answer]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        self.said = json.loads(answer.read_text())

    def off(self, key: str) -> float | str:
        found: float | str = self.said[str(self.folder / f"{key}.keras")]
        return found


def saved_by_tfjs(out: Path, folders: list[Path], release: str) -> dict[str, str]:
    library = tree() / "node_modules" / f"tfjs-{release}"
    done = subprocess.run(
        [node.path, "--no-warnings", SAVE, library, out, *folders], capture_output=True, text=True
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    failed: dict[str, str] = json.loads(done.stdout.rpartition("@@")[2])
    return failed


# --- repairs taken out


def undo(change: Callable[[Json, Json], Json]) -> Callable[[pytest.MonkeyPatch], None]:
    """Return what has ``change(config before, config after)`` undo something of a layer."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = back._layer

        def wrong(layer: Json, weights: Any) -> Json:
            done = right(layer, weights)
            if isinstance(done["config"], dict) and isinstance(layer["config"], dict):
                return {**done, "config": change(layer["config"], dict(done["config"]))}
            return done

        patch.setattr(back, "_layer", wrong)

    return plant


def as_before(key: str) -> Callable[[Json, Json], Json]:
    def change(before: Json, after: Json) -> Json:
        after.pop(key, None)
        return {**after, key: before[key]} if key in before else after

    return change


def replaced(name: str, value: Any) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setattr(back, name, value)


def ends_alone(config: Json) -> Json:
    return {key: back._bare(ends) if key.endswith("_layers") else ends for key, ends in config.items()}


def all_of_rnn(before: Json, after: Json) -> Json:
    return {**before, **after} if "cell" in before and isinstance(before["cell"], dict) else after


FAULTS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], tuple[str, ...]]] = {
    "a GRU that is not said to be without reset_after": (undo(as_before("reset_after")), ("0.12.4/gru",)),
    "LeakyReLU's slope by its old name": (
        undo(lambda before, after: {key: value for key, value in after.items() if key != "negative_slope"}),
        ("keras/leaky-relu", "tf-keras/leaky-relu", "4.22.0/image"),
    ),
    "a depth multiplier that is forgotten": (
        undo(as_before("depth_multiplier")),
        ("keras/separable", "tf-keras/separable", "4.22.0/image"),
    ),
    "calls of models inside as they are counted in TensorFlow.js": (
        replaced("_recounted", ends_alone),
        ("keras/nested", "keras/nested-output", "tf-keras/nested-output", "4.22.0/inside", "1.7.4/inside"),
    ),
    "an axis in a list": (undo(as_before("axis")), ("tf-keras/batch-normalization", "tf-keras/conv2d")),
    "an RNN with its cell's options": (undo(all_of_rnn), ("keras/rnn-of-cell", "tf-keras/rnn-of-cells")),
    "options that Keras 3 does not take": (
        replaced("_UNKNOWN", {}),
        (
            *("keras/conv-lstm", "keras/average-pooling-1d", "as converted/tf-keras/gru"),
            *(f"as converted/tf-keras/{name}" for name in ("depthwise", "separable", "transposed", "transposed-3d")),
        ),
    ),
    "a Sequential without an input layer": (
        replaced("_begun", lambda layer: layer),
        ("4.22.0/gru", "4.22.0/dense-dropout-normalization", "0.12.4/lstm-sigmoid", "4.22.0/sequential-first"),
    ),
    "an input layer by its old words": (undo(as_before("batch_shape")), ("keras/dense", "4.22.0/two-inputs")),
    "the shape of a batch in every layer": (
        undo(as_before("batch_input_shape")),
        ("4.22.0/gru", "4.22.0/dense-dropout-normalization"),
    ),
    "a Sequential inside that is called as any other": (
        undo(lambda before, after: {**after, "name": "sequential"} if "layers" in after else after),
        ("4.22.0/once-inside", "keras/nested"),
    ),
}


@pytest.fixture(scope="module")
def loads(convertible_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Loads:
    out = tmp_path_factory.mktemp("round-trip")
    folders = {f"{source}/{name}": out / source / name for source, name in CASES}
    for key, folder in folders.items():
        convert_layers(convertible_models / key / "model.keras", folder)
    failed = saved_by_tfjs(out / NEWEST, list(folders.values()), NEWEST)
    assert set(failed) <= {"resized", "encoded"}, failed  # TensorFlow.js's own layers that fail there
    for release in EARLIER:
        saved_by_tfjs(out / release, [], release)
    found = Loads(out)
    made: dict[str, tuple[Path, Path]] = {}
    for key, folder in folders.items():
        made[key] = folder.with_name(f"{folder.name}-saved"), convertible_models / key / "reference.json"
        made[f"as converted/{key}"] = folder, made[key][1]
    for release in (NEWEST, *EARLIER):
        for file in (out / release).rglob("reference.json"):
            made[f"{release}/{file.parent.name}"] = file.parent, file
    for key, (folder, reference) in made.items():
        found.add(key if key.startswith("as converted") else f"good/{key}", folder, reference)
    for number, (plant, keys) in enumerate(FAULTS.values()):
        with pytest.MonkeyPatch.context() as patch:
            plant(patch)
            for key in keys:
                found.add(f"{number}/{key}", *made[key])
    found.run()
    return found


@pytest.mark.parametrize("form", ["good", "as converted"])
@pytest.mark.parametrize(("source", "name"), [case for case in CASES if case not in REFUSED])
def test_a_model_of_keras_comes_back_the_same(loads: Loads, source: str, name: str, form: str) -> None:
    off = loads.off(f"{form}/{source}/{name}")
    assert isinstance(off, float) and off <= CLOSE, off


@pytest.mark.parametrize("form", ["good", "as converted"])
def test_what_keras_3_has_not_is_refused_and_nothing_else(loads: Loads, form: str) -> None:
    refused = {
        tuple(key.split("/")[1:]): said
        for key, said in loads.refused.items()
        if key.startswith(form) and key.split("/")[1] in convertible.KERASES
    }
    assert set(refused) == set(REFUSED)
    for case, said in REFUSED.items():
        assert said in refused[case]
        suffix = "-saved" if form == "good" else ""
        assert (
            f"{loads.folder / case[0] / (case[1] + suffix) / 'model.json'} cannot be a model of Keras 3:"
            in (refused[case])
        )


OWN = (
    "dense-dropout-normalization", "two-inputs", "inside", "once-inside", "sequential-first", "sequential-alone",
    "functional-first", "input-layer", "gru", "lstm-sigmoid", "time-distributed", "embedding", "image", "elu-softmax",
    "rescaled",
)  # fmt: skip
OF_EARLIER = {
    # It saves the shared layers of a model as if they were called once, and does not load or predict the same itself.
    "0.12.4": ("once-inside", "functional-first", "input-layer", "gru", "lstm-sigmoid", "time-distributed"),
    "1.7.4": ("two-inputs", "inside", "once-inside", "sequential-first", "gru", "lstm-sigmoid", "time-distributed"),
}


@pytest.mark.parametrize(
    ("release", "name"),
    [(NEWEST, name) for name in OWN] + [(release, name) for release, names in OF_EARLIER.items() for name in names],
)
def test_a_model_made_in_tensorflow_js_predicts_in_keras_what_it_predicts_there(
    loads: Loads, release: str, name: str
) -> None:
    off = loads.off(f"good/{release}/{name}")
    assert isinstance(off, float) and off <= CLOSE, off


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lstm", f"(LSTM): {HARD}"),
        ("hard-sigmoid", f"(Dense): {HARD}"),
        ("thresholded", "(ThresholdedReLU): Keras 3 has no such layer"),
        ("upsampled", f"(UpSampling2D): {CORNERS}'nearest' and train again"),
        ("cropped", f"(CenterCrop): {OTHERWISE}"),
    ],
)
def test_what_would_be_another_in_keras_is_refused_with_what_to_do(loads: Loads, name: str, said: str) -> None:
    assert said in loads.refused[f"good/{NEWEST}/{name}"]


def test_what_is_refused_would_be_another_in_keras(
    loads: Loads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(back, "_refusals", lambda topology: iter(()))
    unchecked = Loads(tmp_path)
    for name in ("lstm", "hard-sigmoid", "thresholded", "upsampled", "cropped"):
        unchecked.add(name, loads.folder / NEWEST / name, loads.folder / NEWEST / name / "reference.json")
    unchecked.run()
    assert len(unchecked.said) == 5
    assert {file: off for file, off in unchecked.said.items() if isinstance(off, float) and off <= CLOSE} == {}


def planted() -> Iterator[tuple[str, str]]:
    for fault, (_, keys) in FAULTS.items():
        for key in keys:
            yield fault, key


@pytest.mark.parametrize(("fault", "key"), list(planted()))
def test_without_a_repair_a_model_does_not_load_or_predicts_something_else(loads: Loads, fault: str, key: str) -> None:
    off = loads.off(f"{list(FAULTS).index(fault)}/{key}")
    assert isinstance(off, str) or not off <= CLOSE
    good = loads.off(key if key.startswith("as converted") else f"good/{key}")
    assert isinstance(good, float) and good <= CLOSE


@pytest.mark.parametrize("name", ["add", "shared", "nested", "nested-output", "nested-functional"])
def test_calls_and_ends_are_as_keras_3_writes_them(loads: Loads, convertible_models: Path, name: str) -> None:
    def ends(file: Path) -> list[Any]:
        with zipfile.ZipFile(file) as archive:
            config = json.loads(archive.read("config.json"))["config"]
        # Of two inputs Keras says them by name or not, as the model was made.
        return [config["output_layers"], len(config["input_layers"])]

    own = ends(convertible_models / "keras" / name / "model.keras")
    assert ends(loads.folder / "good" / "keras" / f"{name}.keras") == own


# --- files


@pytest.fixture
def model(loads: Loads) -> Path:
    return loads.folder / "keras" / "dense-saved"


def test_a_file_is_not_written_over_and_a_refused_one_not_begun(loads: Loads, model: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.keras").write_text("mine")
    with pytest.raises(FileExistsError):
        write_keras(read_tfjs(model), tmp_path / "mine.keras")
    with pytest.raises(CannotConvert):
        write_keras(read_tfjs(loads.folder / NEWEST / "lstm"), tmp_path / "lstm.keras")
    assert [one.name for one in tmp_path.iterdir()] == ["mine.keras"]
    assert (tmp_path / "mine.keras").read_text() == "mine"


def test_a_weight_that_is_not_there_is_named(model: Path, tmp_path: Path) -> None:
    said = json.loads((model / "model.json").read_text())
    (group,) = said["weightsManifest"]
    last = group["weights"].pop()
    data = (model / group["paths"][0]).read_bytes()
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / group["paths"][0]).write_bytes(data[: -4 * int(np.prod(last["shape"]))])
    (tmp_path / "model" / "model.json").write_text(json.dumps(said))
    with pytest.raises(CannotConvert, match=f"model.json is not whole: there is no weight {last['name']}"):
        write_keras(read_tfjs(tmp_path / "model"), tmp_path / "model.keras")
    assert [one.name for one in tmp_path.iterdir()] == ["model"]


def test_a_layer_of_ones_own_is_refused(model: Path, tmp_path: Path) -> None:
    text = (model / "model.json").read_text()
    assert "Mine" not in LAYERS and text.count('"class_name":"Dense"') == 2
    copy = tmp_path / "model"
    copy.mkdir()
    (copy / "weights.bin").write_bytes((model / "weights.bin").read_bytes())
    (copy / "model.json").write_text(text.replace('"class_name":"Dense"', '"class_name":"Mine"', 1))
    with pytest.raises(CannotConvert, match=r"\(Mine\): Keras 3 has no such layer"):
        write_keras(read_tfjs(copy), tmp_path / "model.keras")

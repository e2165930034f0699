"""Weights arrive as they are: what TensorFlow.js would change, or a smaller type cannot hold, is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from nodejs import node

from tensorledger.conversion import layers
from tensorledger.conversion.constraints import violated
from tensorledger.conversion.folder import read_tfjs
from tensorledger.conversion.layers import convert_layers, convert_tfjs
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.topology import Json
from tensorledger.conversion.writing import Weight, write_model, write_weights
from tensorledger.environment.tree import tree

PREDICT = Path(__file__).parent / "fixtures" / "predicted.mjs"
SAVE = Path(__file__).parent / "fixtures" / "saved.mjs"
CLOSE = 1e-5

# Each of Keras's constraints on a kernel: trained until it holds, and with weights that do not meet it.
CONSTRAINED = """
import importlib, json, os, sys
from pathlib import Path
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", KERAS_BACKEND="tensorflow")
import numpy as np

def _unmet(random, name, weight):
    if "variance" in name:
        return np.ones(weight.shape)
    drawn = random.normal(size=weight.shape) * 2
    return np.where(drawn > 2, drawn, -np.abs(drawn)) if weight.ndim > 1 else -np.abs(drawn)

for source, module in {"keras": "keras", "tf-keras": "tf_keras"}.items():
    k = importlib.import_module(module)
    kinds = {
        "max-norm": lambda: k.constraints.MaxNorm(0.7),
        "max-norm-axis": lambda: k.constraints.MaxNorm(0.7, axis=[0, 1]),
        "unit-norm": lambda: k.constraints.UnitNorm(axis=0),
        "min-max-norm": lambda: k.constraints.MinMaxNorm(0.4, 0.7),
        "non-neg": lambda: k.constraints.NonNeg(),
    }
    of, non_neg = k.layers, k.constraints.NonNeg()
    models = {
        name: [k.Input((6,)), of.Dense(5, kernel_constraint=make()), of.Dense(2)] for name, make in kinds.items()
    } | {
        "recurrent": [k.Input((3, 4)), of.SimpleRNN(3, recurrent_constraint=non_neg), of.Dense(2)],
        "bidirectional": [k.Input((3, 4)), of.Bidirectional(of.SimpleRNN(3, kernel_constraint=non_neg)), of.Dense(2)],
        "cell": [k.Input((3, 4)), of.RNN(of.SimpleRNNCell(3, recurrent_constraint=non_neg)), of.Dense(2)],
        "distributed": [
            k.Input((3, 4)), of.TimeDistributed(of.Dense(3, bias_constraint=non_neg)), of.Flatten(), of.Dense(2)
        ],
        "separable": [
            k.Input((4, 4, 2)), of.SeparableConv2D(3, 2, pointwise_constraint=non_neg), of.Flatten(), of.Dense(2)
        ],
        "normalized": [k.Input((6,)), of.BatchNormalization(beta_constraint=non_neg), of.Dense(2)],
    }
    for name, listed in models.items():
        random = np.random.default_rng(len(name))
        model = k.Sequential(listed)
        x = random.normal(size=(8, *model.input_shape[1:])).astype("float32")
        for state in ("trained", "unmet"):
            if state == "trained":
                model.compile("sgd", "mse")
                model.fit(x, np.ones((8, 2), "float32"), epochs=3, verbose=0)
            else:
                both = zip(model.weights, model.get_weights())
                model.set_weights([_unmet(random, one.name, now) for one, now in both])
            folder = Path(sys.argv[1]) / source / name / state
            folder.mkdir(parents=True)
            model.save(folder / "model.keras")
            reference = {"inputs": [x.tolist()], "outputs": [model.predict(x, verbose=0).ravel().tolist()]}
            (folder / "reference.json").write_text(json.dumps(reference))
"""
CONSTRAINTS = {
    "max-norm": r"/kernel does not meet its constraint MaxNorm",
    "max-norm-axis": r"/kernel does not meet its constraint MaxNorm",
    "unit-norm": r"/kernel does not meet its constraint UnitNorm",
    "min-max-norm": r"/kernel does not meet its constraint MinMaxNorm",
    "non-neg": r"\(Dense\): dense\S*/kernel does not meet its constraint NonNeg",
    "recurrent": r"\(SimpleRNN\): simple_rnn\S*/recurrent_kernel does not meet",
    "bidirectional": r"/forward_simple_rnn\S*/kernel does not meet(.|\n)*/backward_simple_rnn\S*/kernel does not meet",
    "cell": r"\(SimpleRNNCell\): rnn\S*/recurrent_kernel does not meet",
    "distributed": r"\(Dense\): time_distributed\S*/bias does not meet",
    "separable": r"/pointwise_kernel does not meet",
    "normalized": r"/beta does not meet",
}
SOURCES = ("keras", "tf-keras")


@pytest.fixture(scope="module")
def constrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("constrained")
    done = subprocess.run([sys.executable, "-c", CONSTRAINED, str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def off(pairs: list[tuple[Path, Path]], release: str = "4.22.0") -> list[float | str]:
    library = tree() / "node_modules" / f"tfjs-{release}"
    command: list[str | Path] = [node.path, "--no-warnings", PREDICT, library, *(one for pair in pairs for one in pair)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.rpartition("@@")[2])
    return [said[str(folder)] for folder, _ in pairs]


@pytest.fixture(scope="module")
def loaded(constrained: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str], float | str]:
    """By how much predictions are off with each model in TensorFlow.js, nothing refused."""
    out, cases = tmp_path_factory.mktemp("converted"), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layers, "violated", lambda topology, weights: iter(()))
        for source in SOURCES:
            for name in CONSTRAINTS:
                for state in ("trained", "unmet"):
                    cases.append((source, name, state))
                    convert_layers(constrained / source / name / state / "model.keras", out / source / name / state)
    pairs = [(out.joinpath(*case), constrained.joinpath(*case) / "reference.json") for case in cases]
    return dict(zip(cases, off(pairs), strict=True))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_constraint_that_training_met_is_left_and_one_that_is_not_met_is_refused(
    constrained: Path, loaded: dict[tuple[str, str, str], float | str], tmp_path: Path, source: str, name: str
) -> None:
    trained, unmet = loaded[source, name, "trained"], loaded[source, name, "unmet"]
    assert isinstance(trained, float) and trained <= CLOSE
    assert isinstance(unmet, float) and unmet > 100 * CLOSE  # TensorFlow.js does change them
    convert_layers(constrained / source / name / "trained" / "model.keras", tmp_path / "out")
    with pytest.raises(CannotConvert, match=CONSTRAINTS[name]) as raised:
        convert_layers(constrained / source / name / "unmet" / "model.keras", tmp_path / "no")
    assert raised.value.of_format and [one.name for one in tmp_path.iterdir()] == ["out"]


def weight(name: str, values: Any) -> Weight:
    array: npt.NDArray[Any] = np.array(values, np.float32)
    return Weight(name, array.shape, "float32", lambda: array)


def dense(constraint: Json | None) -> Json:
    config = {"name": "here", "kernel_constraint": constraint, "use_bias": True}
    return {"class_name": "Sequential", "config": {"name": "m", "layers": [{"class_name": "Dense", "config": config}]}}


@pytest.mark.parametrize(
    ("constraint", "values", "met"),
    [
        (None, [[-5.0]], True),
        ({"class_name": "NonNeg", "config": {}}, [[0.0, 1.0]], True),
        ({"class_name": "NonNeg", "config": {}}, [[1.0, -1e-7]], True),
        ({"class_name": "NonNeg", "config": {}}, [[1.0, -1e-3]], False),
        ({"class_name": "MaxNorm", "config": {"max_value": 1.0, "axis": 0}}, [[0.6], [0.8]], True),
        ({"class_name": "MaxNorm", "config": {"max_value": 1.0, "axis": 0}}, [[0.6], [0.81]], False),
        ({"class_name": "MaxNorm", "config": {"max_value": 1.0, "axis": 1}}, [[0.9], [0.9]], True),
        ({"class_name": "MaxNorm", "config": {"max_value": 1.0, "axis": [0, 1]}}, [[0.9], [0.9]], False),
        ({"class_name": "UnitNorm", "config": {"axis": 0}}, [[0.6], [0.8]], True),
        ({"class_name": "UnitNorm", "config": {"axis": 0}}, [[0.5], [0.8]], False),
        (
            {"class_name": "MinMaxNorm", "config": {"min_value": 0.5, "max_value": 1.0, "rate": 0.5, "axis": 0}},
            [[0.1]],
            False,
        ),
        ({"class_name": "MinMaxNorm", "config": {"min_value": 0.5, "max_value": 1.0, "axis": 0}}, [[0.7]], True),
        ({"class_name": "Mine", "config": {}}, [[1.0]], False),
        ({"class_name": "MaxNorm", "config": {"max_value": 1.0, "axis": 0}}, np.zeros((0, 3)), True),
        ({"class_name": "MaxNorm", "config": {"max_value": 1.0, "axis": 0}}, np.zeros((3, 1)), True),
    ],
)
def test_a_constraint_is_met_within_rounding(constraint: Json | None, values: Any, met: bool) -> None:
    said = list(violated(dense(constraint), [weight("here/kernel", values), weight("here/bias", [-1.0])]))
    assert (said == []) == met
    assert all(one.startswith("here (Dense): here/kernel does not meet its constraint ") for one in said)


def test_a_constrained_layer_inside_another_is_looked_at_too() -> None:
    inner = dense({"class_name": "NonNeg", "config": {}})["config"]["layers"][0]
    wrapped = {"class_name": "TimeDistributed", "config": {"name": "outer", "layer": inner}}
    model = {"class_name": "Sequential", "config": {"name": "m", "layers": [wrapped]}}
    assert list(violated(model, [weight("outer/here/kernel", [[1.0]])])) == []
    assert len(list(violated(model, [weight("outer/here/kernel", [[-1.0]])]))) == 1


# --- smaller types


def test_what_is_beyond_float16_is_refused_by_name(tmp_path: Path) -> None:
    big = [weight("small/kernel", [1.0]), weight("big/kernel", [65504.0, 65520.0])]
    with pytest.raises(CannotConvert, match=r"the weight big/kernel has numbers beyond float16's 65,504; use uint16"):
        write_weights(tmp_path, big, quantize="float16")
    write_weights(tmp_path, [weight("big/kernel", [65504.0, -65519.0])], quantize="float16")
    write_weights(tmp_path, big, quantize="uint16")
    # What is not finite already stays so.
    write_weights(tmp_path, [weight("endless", [np.inf, 1.0])], quantize="float16")
    assert np.fromfile(tmp_path / "group1-shard1of1.bin", "<f2").tolist() == [np.inf, 1.0]


@pytest.mark.parametrize("quantize", ["float16", "uint16", "uint8"])
def test_numbers_by_themselves_and_whole_ones_are_not_made_smaller(tmp_path: Path, quantize: str) -> None:
    number = Weight("whole", (2,), "int32", lambda: np.array([7, -7], np.int32))
    (group,) = write_weights(
        tmp_path, [weight("epsilon", 1e-9), number, weight("row", [1e-9])], quantize=quantize, shard=5
    )
    assert [one.get("quantization", {}).get("dtype") for one in group["weights"]] == [None, None, quantize]
    write_model(tmp_path, {"modelTopology": {"node": []}, "weightsManifest": [group]})
    scalar, whole, row = read_tfjs(tmp_path).weights
    assert scalar.shape == () and scalar.read() == np.float32(1e-9) and whole.read().tolist() == [7, -7]
    assert row.read()[0] == pytest.approx(1e-9, abs=6e-8)


# --- a layers folder for another release, in other shards, smaller


@pytest.fixture(scope="module")
def folders(convertible_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models for 4.22.0, each beside what TensorFlow.js makes of it when it saves it."""
    out = tmp_path_factory.mktemp("folders")
    for name in NAMES:
        convert_layers(convertible_models / "keras" / name / "model.keras", out / name)
    library = tree() / "node_modules" / "tfjs-4.22.0"
    command: list[str | Path] = [
        node.path,
        "--no-warnings",
        SAVE,
        library,
        out / "own",
        *(out / name for name in NAMES),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


NAMES = ("dense", "shared", "time-distributed", "nested", "nested-functional", "lstm")


@pytest.mark.parametrize("release", ["0.12.4", "1.7.4", "4.22.0"])
def test_a_folder_is_made_one_for_another_release(
    convertible_models: Path, folders: Path, tmp_path: Path, release: str
) -> None:
    pairs, own = [], []
    for name in NAMES:
        for suffix in ("", "-saved"):
            out = tmp_path / f"{name}{suffix}"
            convert_tfjs(read_tfjs(folders / f"{name}{suffix}"), out, release=release, shard=100)
            pairs.append((out, convertible_models / "keras" / name / "reference.json"))
            own.append((folders / f"{name}{suffix}", pairs[-1][1]))
            assert max(one.stat().st_size for one in out.glob("*.bin")) <= 100
    assert [found for found in off(pairs, release) if not (isinstance(found, float | int) and found <= CLOSE)] == []
    without = [found for found in off(own, release) if isinstance(found, float | int) and found <= CLOSE]
    assert len(without) == len(own) if release == "4.22.0" else len(without) < len(own)


def test_it_says_which_rules_it_took(folders: Path, tmp_path: Path) -> None:
    said = {}
    for release in ("4.22.0", "0.12.4"):
        said[release] = convert_tfjs(read_tfjs(folders / "time-distributed"), tmp_path / release, release=release)
    assert (said["4.22.0"].rules, said["4.22.0"].left_out) == ([], [])
    assert said["0.12.4"].rules == ["wrapped-names", "variance-scaling", "bare-sequential"]


def test_how_it_was_compiled_and_what_it_says_of_itself_stay(folders: Path, tmp_path: Path) -> None:
    before = json.loads((folders / "dense" / "model.json").read_text())
    more = {"trainingConfig": {"loss": "mean_squared_error"}, "userDefinedMetadata": {"mine": [1]}}
    (tmp_path / "model").mkdir()
    for path in before["weightsManifest"][0]["paths"]:
        (tmp_path / "model" / path).write_bytes((folders / "dense" / path).read_bytes())
    (tmp_path / "model" / "model.json").write_text(json.dumps(before | more))
    convert_tfjs(read_tfjs(tmp_path / "model"), tmp_path / "out")
    assert json.loads((tmp_path / "out" / "model.json").read_text()) == before | more


@pytest.mark.parametrize(("quantize", "most"), [("float16", 2e-3), ("uint16", 1e-3), ("uint8", 0.1)])
def test_a_folder_is_made_smaller(
    convertible_models: Path, folders: Path, tmp_path: Path, quantize: str, most: float
) -> None:
    reference = convertible_models / "keras" / "dense" / "reference.json"
    for suffix in ("", "-saved"):
        convert_tfjs(read_tfjs(folders / f"dense{suffix}"), tmp_path / f"small{suffix}", quantize=quantize)
        # What was made smaller once is read as what it is now, and can be made no worse in its own type.
        convert_tfjs(read_tfjs(tmp_path / f"small{suffix}"), tmp_path / f"whole{suffix}")
    small, saved, whole, other = off(
        [(tmp_path / name, reference) for name in ("small", "small-saved", "whole", "whole-saved")]
    )
    assert small == saved == whole == other and isinstance(small, float) and 0 < small <= most


def test_what_a_release_lacks_and_what_is_refused_is_so_of_a_folder_too(folders: Path, tmp_path: Path) -> None:
    with pytest.raises(CannotConvert, match=r"lstm\S* \(LSTM\): .*not right with|a Sequential inside a functional"):
        convert_tfjs(read_tfjs(folders / "nested"), tmp_path / "out", release="0.10.0")
    gru = json.loads(
        (folders / "own" / "gru" / "model.json").read_text().replace('"reset_after":false', '"reset_after":true')
    )
    (tmp_path / "gru").mkdir()
    (tmp_path / "gru" / "weights.bin").write_bytes((folders / "own" / "gru" / "weights.bin").read_bytes())
    write_model(tmp_path / "gru", gru)
    with pytest.raises(CannotConvert, match=r"gru/model\.json cannot be a layers model:\n.*\(GRU\)"):
        convert_tfjs(read_tfjs(tmp_path / "gru"), tmp_path / "out")
    assert [one.name for one in tmp_path.iterdir()] == ["gru"]


def test_nothing_is_written_over(folders: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(FileExistsError):
        convert_tfjs(read_tfjs(folders / "dense"), tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["mine"]

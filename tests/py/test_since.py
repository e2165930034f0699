"""What a release of TensorFlow.js is said to lack it does lack, and what it is not said to lack it is right with.

On every release of the user's cache with TENSORLEDGER_EVERY_RELEASE set; otherwise on a few.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import convertible
import pytest
from nodejs import node
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from tensorledger.conversion import layers
from tensorledger.conversion.layers import convert_layers, rules_for
from tensorledger.conversion.reading import opened
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.since import LACKS, NO_MODEL, WEIGHTLESS, Lack, lacking
from tensorledger.conversion.topology import all_layers
from tensorledger.environment.releases import LIBRARY, is_here, packages, published

CLOSE = 1e-4
PREDICT = Path(__file__).parent / "fixtures" / "predicted.mjs"
FEW = (
    "0.6.1", "0.10.0", "0.11.1", "0.12.4", "0.12.5", "0.15.3", "1.0.4", "1.2.11", "1.7.4", "2.8.6", "3.21.0", "4.10.0",
    "4.22.0",
)  # fmt: skip
"""Those that are pinned, those that are installed for it, and two that lack what no other does."""
RELEASES = published(LIBRARY, ask=False) if os.environ.get("TENSORLEDGER_EVERY_RELEASE") else FEW


def _one(name: str, *arguments: Any, **options: Any) -> Callable[[Any], Any]:
    return lambda of: getattr(of, name)(*arguments, **options)


def _stateful(k: Any) -> Any:
    return k.Sequential([k.Input(batch_shape=(3, 5, 4)), k.layers.SimpleRNN(3, stateful=True)])


def _sequential_inside(k: Any) -> Any:
    x = k.Input((6,))
    return k.Model(x, k.layers.Dense(2)(k.Sequential([k.Input((6,)), k.layers.Dense(3)], name="inside")(x)))


def _flat(*layers: Callable[[Any], Any], shape: tuple[int, ...]) -> Callable[[Any], Any]:
    return convertible._row(*layers, _one("Flatten"), shape=shape)


MORE = {
    "elu": convertible._row(_one("Dense", 5), _one("ELU")),
    "prelu": convertible._row(_one("Dense", 5), _one("PReLU")),
    "softmax": convertible._row(_one("Dense", 5), _one("Softmax")),
    "relu": convertible._row(_one("Dense", 5), _one("ReLU")),
    "gaussian-noise": convertible._row(_one("GaussianNoise", 0.1), _one("Dense", 2)),
    "gaussian-dropout": convertible._row(_one("GaussianDropout", 0.1), _one("Dense", 2)),
    "alpha-dropout": convertible._row(_one("AlphaDropout", 0.1), _one("Dense", 2)),
    "gelu": convertible._row(_one("Dense", 5, "gelu"), _one("Dense", 2)),
    "swish": convertible._row(_one("Dense", 5, "silu"), _one("Dense", 2)),
    "other-activations": convertible._row(
        *(_one("Dense", 5, name) for name in convertible.ACTIVATIONS if name != "gelu"), _one("Dense", 2, "softmax")
    ),
    "center-alone": convertible._row(_one("BatchNormalization", scale=False), _one("Dense", 2)),
    "max-pooling-1d": convertible._steps(_one("MaxPooling1D", 2), _one("Flatten"), _one("Dense", 2)),
    "average-pooling-1d-alone": convertible._steps(_one("AveragePooling1D", 2), _one("Flatten"), _one("Dense", 2)),
    "global-pooling-1d": convertible._steps(_one("Conv1D", 3, 2), _one("GlobalMaxPooling1D"), _one("Dense", 2)),
    "spatial-dropout": convertible._steps(_one("SpatialDropout1D", 0.1), _one("Flatten"), _one("Dense", 2)),
    "masked": convertible._steps(_one("Masking", 0.0), _one("SimpleRNN", 3)),
    "permute": convertible._steps(_one("Permute", (2, 1)), _one("Flatten"), _one("Dense", 2)),
    "reshape": convertible._row(_one("Reshape", (3, 2)), _one("Flatten"), _one("RepeatVector", 2)),
    "zero-padding": convertible._image(_one("ZeroPadding2D", 1)),
    "cropping": convertible._image(_one("Cropping2D", 1)),
    "up-sampling": convertible._image(_one("UpSampling2D")),
    "max-pooling-2d": convertible._image(_one("Conv2D", 4, 3, strides=2), _one("MaxPooling2D")),
    "average-pooling-2d": convertible._image(_one("AveragePooling2D", 2)),
    "dilated": convertible._image(_one("Conv2D", 4, 2, dilation_rate=2)),
    "conv3d-alone": convertible._image(_one("Conv3D", 3, 2), shape=(4, 4, 4, 2)),
    "max-pooling-3d": convertible._image(_one("MaxPooling3D", 2), shape=(4, 4, 4, 2)),
    "sequential-inside": _sequential_inside,
    "stateful": _stateful,
    "rnn": convertible._steps(lambda of: of.RNN(of.SimpleRNNCell(3))),
    "rescaled": _flat(_one("Rescaling", 0.1), _one("Conv2D", 2, 2), shape=(4, 4, 2)),
    "weightless": convertible._row(_one("Flatten"), shape=(2, 3)),
}
"""Beside convertible.MODELS: each for one thing alone, as far as that goes."""
THRESHOLDED = "thresholded-relu"
"""Of these convertible.MODELS, tf_keras's: Keras 3 has not the layer."""


@pytest.fixture(scope="module")
def models(convertible_models: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folder of each model, with ``model.keras`` and ``reference.json``."""
    out = tmp_path_factory.mktemp("more")
    script = (
        "import sys; from pathlib import Path; import convertible, test_since;"
        "convertible.MODELS = test_since.MORE; convertible.KERASES = {'keras': 'keras'};"
        "convertible.save(Path(sys.argv[1]))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    command: list[str | Path] = [sys.executable, "-c", script, out]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    own = {
        name: convertible_models / ("tf-keras" if name == THRESHOLDED else "keras") / name
        for name in convertible.MODELS
    }
    return own | {name: out / "keras" / name for name in MORE}


@pytest.fixture(scope="module")
def off(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, float | str]]:
    """Return what tells of each model by how much a release is off, or why it says nothing; nothing is refused."""
    out = tmp_path_factory.mktemp("converted")
    known: dict[str, dict[str, float | str]] = {}

    def of_release(release: str) -> dict[str, float | str]:
        if release in known:
            return known[release]
        folders = {name: out / "+".join(rule.name for rule in rules_for(release)) / name for name in models}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(layers, "lacking", lambda topology, release: iter(()))
            for name, folder in folders.items():
                if not folder.is_dir():
                    convert_layers(models[name] / "model.keras", folder, rules_for(release))
        known[release] = {}
        # Early releases number a weight's name when another model of the process has it: those that were made together.
        for together in {folder.parent for folder in models.values()}:
            names = [name for name, folder in models.items() if folder.parent == together]
            said = predicted(release, [(folders[name], models[name] / "reference.json") for name in names])
            known[release] |= {name: said[str(folders[name])] for name in names}
        return known[release]

    return of_release


def predicted(release: str, pairs: list[tuple[Path, Path]]) -> dict[str, float | str]:
    library = packages(release, "cpu").library
    command: list[str | Path] = [node.path, "--no-warnings", PREDICT, library, *(one for pair in pairs for one in pair)]
    done = subprocess.run(command, capture_output=True, text=True)
    if "@@" not in done.stdout:  # it does not load itself
        return {str(folder): done.stderr[-300:] for folder, _ in pairs}
    said: dict[str, float | str] = json.loads(done.stdout.rpartition("@@")[2])
    return said


@pytest.fixture(scope="module")
def concerns(models: dict[str, Path]) -> dict[str, set[Lack]]:
    """What of LACKS each model has."""
    found = {}
    for name, folder in models.items():
        with opened(folder / "model.keras") as source:
            found[name] = {lack for lack in LACKS for layer in all_layers(source.topology) if lack.concerns(layer)}
    return found


def is_right(off: float | str) -> bool:
    return isinstance(off, float | int) and off <= CLOSE


def here(release: str) -> Any:
    skip = pytest.mark.skipif(not is_here(release, "cpu"), reason=f"tensorledger install tfjs@{release}")
    return pytest.param(release, marks=skip)


@pytest.mark.parametrize("release", [here(release) for release in RELEASES])
def test_a_release_is_right_with_just_what_it_is_not_said_to_lack(
    models: dict[str, Path], off: Callable[[str], dict[str, float | str]], release: str
) -> None:
    said = {}
    for name, folder in models.items():
        with opened(folder / "model.keras") as source:
            said[name] = not list(lacking(source.topology, release))
    found = off(release)
    assert {name: found[name] for name in said if said[name] != is_right(found[name])} == {}


@pytest.mark.parametrize("lack", LACKS, ids=lambda lack: f"{lack.what} {lack.releases}")
def test_what_a_release_is_said_to_lack_the_next_has(
    concerns: dict[str, set[Lack]], off: Callable[[str], dict[str, float | str]], lack: Lack
) -> None:
    covered = SpecifierSet(lack.releases)
    usable = [
        release
        for release in sorted(RELEASES, key=Version)
        if is_here(release, "cpu") and not any(none.contains(release) for none in NO_MODEL)
    ]
    before = [release for release in usable if covered.contains(release)]
    after = [release for release in usable if before and Version(release) > Version(before[-1])]
    if not before or not after:
        pytest.skip(f"tensorledger install a release of tfjs {lack.releases}, and one after it")
    alone = [name for name, found in concerns.items() if found == {lack}]
    having = [name for name, found in concerns.items() if lack in found]
    assert having
    chosen = alone or having
    assert [name for name in chosen if is_right(off(before[-1])[name])] == []
    newest = {name: off(after[0])[name] for name in alone if not WEIGHTLESS.contains(after[0])}
    assert {name: found for name, found in newest.items() if not is_right(found)} == {}
    assert all(is_right(off("4.22.0")[name]) for name in having)


def test_each_thing_is_in_a_model_that_has_nothing_else_of_the_kind(concerns: dict[str, set[Lack]]) -> None:
    alone = {lack for found in concerns.values() if len(found) == 1 for lack in found}
    others = {"StackedRNNCells layers", "batch normalization without center or scale"}
    assert {lack.what for lack in set(LACKS) - alone} == others
    assert {name for name, found in concerns.items() if not found} >= {"dense", "other-activations", "weightless"}


@pytest.mark.parametrize("release", ["0.9.0", "0.11.1", "0.11.6", "4.9.0"])
def test_a_release_that_loads_no_model_is_refused_with_one_that_does(
    models: dict[str, Path], tmp_path: Path, release: str
) -> None:
    name, better = {"0.9.0": ("dense", "0.9.1"), "4.9.0": ("weightless", "4.11.0")}.get(release, ("dense", "0.11.7"))
    with pytest.raises(CannotConvert, match=f"tfjs@{release} loads no .*{better}") as raised:
        convert_layers(models[name] / "model.keras", tmp_path / "out", release=release)
    assert raised.value.of_format and list(tmp_path.iterdir()) == []


def test_what_is_lacking_is_refused_with_the_layer_and_a_release_that_has_it(
    models: dict[str, Path], tmp_path: Path
) -> None:
    for name, release, said in (
        ("prelu", "0.12.4", r"p_re_lu \(PReLU\): tfjs@0\.12\.4 is not right with PReLU layers; from 0\.14\.2 on it is"),
        ("gelu", "4.18.0", r"\(Dense\): tfjs@4\.18\.0 is not right with the activation gelu; from 4\.19 on it is"),
        ("batch-normalization", "1.2.11", r"tfjs@1\.2\.11 is not right with BatchNormalization layers; 1\.3\.0 is"),
        (
            "nested",
            "0.10.0",
            r"functional\w* \(Functional\): tfjs@0\.10\.0 is not right with a Sequential inside a func",
        ),
    ):
        with pytest.raises(CannotConvert, match=said):
            convert_layers(models[name] / "model.keras", tmp_path / "out", release=release)
    assert list(tmp_path.iterdir()) == []
    convert_layers(models["prelu"] / "model.keras", tmp_path / "out", release="0.14.2")
    assert (tmp_path / "out" / "model.json").is_file()

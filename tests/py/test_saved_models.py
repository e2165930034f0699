"""The zoo's files are built once, all or nothing, the same every time; a build that fails says why."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorledger.environment.cache import CacheUnusable, cache_folder
from tensorledger.models import rounding, saved
from tensorledger.models.saved import ModelsNotBuilt, UnknownModel, saved_model, saved_models
from tensorledger.models.zoo import KERASES, MODELS


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TENSORLEDGER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_every_model_is_there_from_every_keras() -> None:
    for source in KERASES:
        for model, outputs in {"classifier": 10, "extractor": 1}.items():
            files = saved_model(model, source)
            assert Path(files.keras).is_file() and Path(files.tfjs, "model.json").is_file()
            assert len(files.predictions) == 8 * outputs
            assert 0 < files.bound < 1e-3


def test_building_again_gives_the_very_same_models(tmp_path: Path) -> None:
    first, second = saved_models(), tmp_path / "again"
    saved.run_build(second)
    for pattern in ("reference.json", "tfjs/*.bin"):
        compared = sorted(path.relative_to(second) for path in second.glob(f"*/*/{pattern}"))
        assert len(compared) >= len(KERASES) * len(MODELS)
        for path in compared:
            assert (first / path).read_bytes() == (second / path).read_bytes(), path


def test_processes_that_ask_at_once_build_once(empty_cache: Path) -> None:
    script = """
import sys, time
from tensorledger.models.saved import saved_models
def build(folder):
    print("built")
    time.sleep(0.5)
    folder.mkdir()
print(saved_models(build))
"""

    def ask(_: int) -> list[str]:
        return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.split()

    with ThreadPoolExecutor() as pool:
        said = [line for lines in pool.map(ask, range(2)) for line in lines]
    assert said.count("built") == 1
    assert len(said) == 3 and len(set(said)) == 2


def test_a_build_that_fails_says_why_and_leaves_nothing(
    empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tf_keras.py").write_text("raise ImportError('this tf_keras is broken')")
    (tmp_path / "keras.py").write_text("import tf_keras")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ModelsNotBuilt, match=r"(?s)exit status 1.*this tf_keras is broken.*pip install") as failure:
        saved_models()
    assert "not installed" not in str(failure.value)
    assert [path.suffix for path in (empty_cache / "models").iterdir()] in ([], [".lock"])


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved, "PACKAGES", ("numpy", "tensorledger-is-not-this"))
    assert "not installed: tensorledger-is-not-this." in str(ModelsNotBuilt("exit status 1"))


def test_what_a_killed_build_left_is_removed(empty_cache: Path) -> None:
    def killed(folder: Path) -> None:
        (folder.parent / f".{folder.name}.x1y2").mkdir()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        saved_models(killed)
    folder = saved_models(lambda folder: folder.mkdir())
    assert {path for path in folder.parent.iterdir() if path.suffix != ".lock"} == {folder}


def test_another_package_version_or_another_source_is_another_folder(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved_models(lambda folder: folder.mkdir())
    assert saved_models(lambda folder: pytest.fail("built again")) == before
    monkeypatch.setattr(saved, "PACKAGES", ("numpy",))
    other_versions = saved_models(lambda folder: folder.mkdir())
    monkeypatch.setattr(saved, "SOURCES", ("models/zoo.py",))
    other_sources = saved_models(lambda folder: folder.mkdir())
    assert len({before, other_versions, other_sources}) == 3


def test_the_legacy_keras_switch_does_not_reach_the_build(
    empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = "import os\nraise ImportError('switch: ' + os.environ.get('TF_USE_LEGACY_KERAS', 'unset'))"
    (tmp_path / "keras.py").write_text(shown)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "1")
    with pytest.raises(ModelsNotBuilt, match="switch: unset"):
        saved_models()


def test_an_unknown_model_is_refused_with_those_that_exist() -> None:
    with pytest.raises(UnknownModel, match="no model 'clasifier'; there are classifier, extractor"):
        saved_model("clasifier", "keras")
    with pytest.raises(UnknownModel, match="there are those from keras, tf-keras"):
        saved_model("classifier", "torch")


def test_asking_for_files_imports_no_tensorflow() -> None:
    script = "import sys, tensorledger.models.saved; print({'tensorflow', 'keras', 'tf_keras'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "set()\n"


def test_a_cache_that_cannot_be_written_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TENSORLEDGER_CACHE", str(tmp_path / "file"))
    with pytest.raises(CacheUnusable, match="Set TENSORLEDGER_CACHE"):
        cache_folder()


class Layer:
    """As much of a Keras layer as the rounding analysis looks at."""

    def __init__(self, weights: list[Any], **config: Any) -> None:
        self.get_weights = lambda: weights
        self.get_config = lambda: {"name": "layer", "use_bias": True, "scale": True, "center": True, **config}


class Dense(Layer):
    pass


class LayerNormalization(Layer):
    pass


class Model:
    def __init__(self, last: str, outputs: int) -> None:
        draw = np.random.default_rng(0).normal
        self.layers: list[Layer] = [
            Dense([draw(size=(5, 6)), draw(size=6)], activation="relu"),
            LayerNormalization([draw(size=6), draw(size=6)], epsilon=0.001),
            Dense([draw(size=(6, outputs)), draw(size=outputs)], activation=last),
        ]


@pytest.mark.parametrize(("last", "outputs"), [("softmax", 3), ("sigmoid", 1)])
def test_the_bound_uses_the_derivatives_of_the_model(last: str, outputs: int) -> None:
    operations = rounding.operations(Model(last, outputs))

    def run(x: Any) -> tuple[Any, list[rounding.Step]]:
        steps = []
        for operation in operations:
            steps.append(operation(x))
            x = steps[-1].output
        return x, steps

    x, step = np.random.default_rng(1).normal(size=(1, 5)), 1e-6
    slope = np.eye(outputs)[None]
    for operation in reversed(run(x)[1]):
        slope = operation.pull(slope)
    numeric = [(run(x + step * row)[0] - run(x - step * row)[0])[0] / (2 * step) for row in np.eye(5)]
    assert np.allclose(slope[0], np.transpose(numeric), atol=1e-8)


def test_a_layer_without_an_analysis_has_no_bound() -> None:
    model = Model("softmax", 3)
    model.layers.append(Layer([]))
    with pytest.raises(TypeError, match="no rounding analysis"):
        rounding.bound(model, np.zeros((1, 5), np.float32))

"""``tensorledger convert``: what it says, writes and returns, and for which release."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from tensorledger.cli import main
from tensorledger.conversion.back import write_keras
from tensorledger.conversion.folder import TfjsModel
from tensorledger.conversion.writing import Weight
from tensorledger.models.saved import saved_models


@pytest.fixture(scope="module")
def file() -> Path:
    return saved_models() / "keras" / "classifier" / "model.keras"


def convert(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["convert", *map(str, arguments)])


def test_it_says_what_it_wrote_and_what_it_repaired(file: Path, tmp_path: Path) -> None:
    done = convert(file, tmp_path / "out", "--json", tmp_path / "said.json")
    assert done.exit_code == 0, done.output
    assert "a layers model for tfjs@4.22.0; repaired: batch-input-shape, both-rates" in done.output
    said = json.loads((tmp_path / "said.json").read_text())
    assert said == {
        "schema": "tensorledger/conversion/1",
        "source": str(file),
        "destination": str(tmp_path / "out"),
        "for": "4.22.0",
        "format": "layers",
        "refused": [],
        "quantized": None,
        "notes": [],
        "rules": ["batch-input-shape", "both-rates"],
        "left_out": [],
    }
    assert (tmp_path / "out" / "model.json").is_file()


def test_an_old_release_gets_what_it_can_load(file: Path, tmp_path: Path) -> None:
    done = convert(file, tmp_path / "out", "--for", "tfjs@0.12.7", "--shard", "100k", "--quantize", "uint8")
    assert done.exit_code == 0, done.output
    written = json.loads((tmp_path / "out" / "model.json").read_text())
    assert isinstance(written["modelTopology"]["model_config"]["config"], list)
    (group,) = written["weightsManifest"]
    sizes = [(tmp_path / "out" / path).stat().st_size for path in group["paths"]]
    assert sizes == [100 * 1024, 203530 - 100 * 1024]
    assert {weight["quantization"]["dtype"] for weight in group["weights"]} == {"uint8"}


def test_a_large_model_goes_through_in_pieces(tmp_path: Path) -> None:
    size, layers = 3000, 6
    kernel = size * size * 4

    def zeros(name: str, *shape: int) -> Weight:
        return Weight(name, shape, "float32", lambda: np.zeros(shape, np.float32))

    names = [f"dense_{number}" for number in range(layers)]
    weights = [one for name in names for one in (zeros(f"{name}/kernel", size, size), zeros(f"{name}/bias", size))]
    dense = [{"class_name": "Dense", "config": {"name": name, "units": size, "activation": "relu"}} for name in names]
    start = {"class_name": "InputLayer", "config": {"name": "start", "batch_input_shape": [None, size]}}
    topology = {"class_name": "Sequential", "config": {"name": "large", "layers": [start, *dense]}}
    made = TfjsModel(tmp_path / "model.json", {"modelTopology": topology}, "layers", tuple(weights))
    write_keras(made, tmp_path / "large.keras")
    # The kernel counts what a process was before it ran a program to that program; here it begins anew.
    script = (
        "import sys; from tensorledger.cli import main; main(sys.argv[1:], standalone_mode=False);"
        "print(open('/proc/self/status').read())"
    )
    command: list[str | Path] = [sys.executable, "-c", script, "convert", tmp_path / "large.keras", tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    most = int(next(line.split()[1] for line in done.stdout.splitlines() if line.startswith("VmHWM"))) * 1024
    assert most <= 100 * 2**20 + 2 * kernel < layers * kernel


def test_what_is_refused_is_told_with_status_1_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "model.keras").write_text("not a model")
    done = convert(tmp_path / "model.keras", tmp_path / "out", "--json", tmp_path / "said.json")
    assert done.exit_code == 1 and "refused" in done.output and "neither a .keras nor an .h5 file" in done.output
    assert "neither a .keras" in json.loads((tmp_path / "said.json").read_text())["refused"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.keras", "said.json"]


def test_an_output_that_is_there_or_cannot_be_written_is_an_error_with_status_2(file: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("")
    done = convert(file, tmp_path / "out")
    assert done.exit_code == 2 and "exists already" in done.output
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]
    (tmp_path / "file").write_text("")
    done = convert(file, tmp_path / "file" / "out")
    assert done.exit_code == 2 and str(tmp_path / "file") in done.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--for", "keras"], "name one release of TensorFlow.js"),
        (["--for", "tfjs@>=4"], "name one release of TensorFlow.js"),
        (["--for", "tfjs@9.9.9"], "no release of this version was published"),
        (["--shard", "much"], "is no size"),
        (["--shard", "0"], "at least 1 byte"),
        (["--quantize", "int4"], "'int4' is not one of"),
    ],
)
def test_what_cannot_be_meant_is_told(file: Path, tmp_path: Path, options: list[str], said: str) -> None:
    done = convert(file, tmp_path / "out", *options)
    assert done.exit_code == 2 and said in " ".join(done.output.split()), done.output
    assert not (tmp_path / "out").exists()

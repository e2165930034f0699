"""A TensorFlow.js folder is read as TensorFlow.js reads it; what is not whole is refused by name, whatever is wrong."""

from __future__ import annotations

import copy
import json
import os
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from nodejs import node

from tensorledger.conversion.back import write_keras
from tensorledger.conversion.folder import read_tfjs, read_weights
from tensorledger.conversion.layers import convert_tfjs
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.topology import Json
from tensorledger.conversion.writing import QUANTIZED, Weight, write_model, write_weights
from tensorledger.environment.tree import tree

# Prints the weights of each folder named on the command line, as TensorFlow.js decodes them, or why it does not.
DECODE = """
const fs = require('fs');
const [tfjs, ...folders] = process.argv.slice(1);
const tf = require(tfjs);
const said = {};
for (const folder of folders) {
  try {
    const {weightsManifest} = JSON.parse(fs.readFileSync(`${folder}/model.json`));
    const bytes = Buffer.concat(weightsManifest.flatMap(g => g.paths).map(p => fs.readFileSync(`${folder}/${p}`)));
    const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    const decoded = Object.entries(tf.io.decodeWeights(data, weightsManifest.flatMap(g => g.weights)));
    said[folder] = decoded.map(([name, one]) => [name, one.shape, one.dtype, Array.from(one.dataSync())]);
  } catch (error) {
    said[folder] = String(error);
  }
}
console.log(JSON.stringify(said));
"""
DENSE = {
    "class_name": "Sequential",
    "config": {
        "name": "model",
        "layers": [
            {
                "class_name": "Dense",
                "config": {
                    "name": "dense",
                    "units": 2,
                    "use_bias": True,
                    "activation": "relu",
                    "batch_input_shape": [None, 3],
                    "kernel_constraint": {"class_name": "NonNeg", "config": {}},
                },
            },
            {"class_name": "Dense", "config": {"name": "top", "units": 1, "use_bias": True, "activation": "linear"}},
        ],
    },
}
NUMBERS = [
    np.arange(6, dtype=np.float32).reshape(3, 2),
    np.array([0.5, -1.5], np.float32),
    np.array([[2], [3]], np.float32),
    np.array([-0.25], np.float32),
]
NAMES = ["dense/kernel", "dense/bias", "top/kernel", "top/bias"]
Change = Callable[[Json, Path], object]


def weight(name: str, array: npt.NDArray[Any]) -> Weight:
    return Weight(name, array.shape, str(array.dtype), lambda: array)


def dense() -> list[Weight]:
    return [weight(name, array) for name, array in zip(NAMES, NUMBERS, strict=True)]


def made(folder: Path, weights: list[Weight], *, topology: Json = DENSE, **options: Any) -> Path:
    """Write a folder; ``options`` are those of ``write_weights``."""
    folder.mkdir(parents=True)
    write_model(folder, {"modelTopology": topology, "weightsManifest": write_weights(folder, weights, **options)})
    return folder


def changed(folder: Path, change: Change) -> Path:
    """Change what ``model.json`` says, and files beside it."""
    said = json.loads((folder / "model.json").read_text())
    change(said, folder)
    (folder / "model.json").write_text(json.dumps(said))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made(tmp_path / "a model ü", dense())


def values(folder: Path) -> dict[str, tuple[list[int], str, list[Any]]]:
    return {
        one.name: (list(one.shape), str(one.read().dtype), one.read().ravel().tolist())
        for one in read_tfjs(folder).weights
    }


# --- bad folders


def first(said: Json) -> Json:
    entry: Json = said["weightsManifest"][0]["weights"][0]
    return entry


def shape(*sizes: Any) -> Change:
    return lambda said, folder: first(said).update(shape=list(sizes))


def entry(**more: Any) -> Change:
    return lambda said, folder: first(said).update(more)


def path(written: Any) -> Change:
    return lambda said, folder: said["weightsManifest"][0].update(paths=[written])


def without(*keys: Any) -> Change:
    def change(said: Any, folder: Path) -> None:
        for key in keys[:-1]:
            said = said[key]
        del said[keys[-1]]

    return change


def manifest(written: Any) -> Change:
    return lambda said, folder: said.update(weightsManifest=written)


def topology(written: Any) -> Change:
    return lambda said, folder: said.update(modelTopology=written)


def _shard(said: Json, folder: Path) -> Path:
    return folder / str(said["weightsManifest"][0]["paths"][0])


def shortened(said: Json, folder: Path) -> None:
    _shard(said, folder).write_bytes(_shard(said, folder).read_bytes()[:-1])


def lengthened(said: Json, folder: Path) -> None:
    _shard(said, folder).write_bytes(_shard(said, folder).read_bytes() + b"\0")


def linked_outside(said: Json, folder: Path) -> None:
    outside = folder.parent / "outside.bin"
    _shard(said, folder).rename(outside)
    _shard(said, folder).symlink_to(outside)


def inside_a_linked_folder(said: Json, folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir()
    name = _shard(said, folder).name
    _shard(said, folder).rename(folder.parent / "elsewhere" / name)
    (folder / "linked").symlink_to(folder.parent / "elsewhere")
    said["weightsManifest"][0]["paths"] = [f"linked/{name}"]


def beside(said: Json, folder: Path) -> None:
    name = _shard(said, folder).name
    _shard(said, folder).rename(folder.parent / name)
    said["weightsManifest"][0]["paths"] = [f"../{name}"]


BAD: dict[str, tuple[Change, str]] = {
    "no topology": (without("modelTopology"), "has no modelTopology"),
    "a topology that is a list": (topology([]), "has no modelTopology"),
    "a topology of nothing": (topology({}), "neither of layers nor of a graph"),
    "a topology in which the model is none": (topology({"model_config": None}), "neither of layers nor of a graph"),
    "a topology in which the model is a list": (topology({"model_config": []}), "neither of layers nor of a graph"),
    "a path that is absolute": (path("/etc/hostname"), "'/etc/hostname' leads outside the folder"),
    "a path to beside the folder": (beside, r"'\.\./group1-shard1of1\.bin' leads outside the folder"),
    "a path to beside it, from inside": (path("a/../../x.bin"), "leads outside the folder"),
    "a path with backslashes": (path("..\\x.bin"), "leads outside the folder"),
    "a path that is an address": (path("https://example.org/x.bin"), "leads outside the folder"),
    "a path that is a link to outside": (linked_outside, "'group1-shard1of1.bin' leads outside the folder"),
    "a path through a link to outside": (inside_a_linked_folder, "'linked/group1-shard1of1.bin' leads outside"),
    "a path that is too long for any": (path("x" * 5000), "is none: File name too long"),
    "a path that is empty": (path(""), "is not whole: there is no "),
    "a path that is the folder": (path("."), r"is not whole: there is no \."),
    "a path that is a number": (path(5), "its weightsManifest is broken: TypeError"),
    "a path with a zero byte": (path("x\0.bin"), "is not whole: there is no "),
    "a shard that is not there": (
        lambda said, folder: _shard(said, folder).unlink(),
        "is not whole: there is no group1-shard1of1.bin",
    ),
    "a shard that is a byte too short": (
        shortened,
        r"the weight top/bias \[1\] ends at byte 44, and group1-shard1of1\.bin end at 43",
    ),
    "a shard that is a byte too long": (lengthened, r"its weights are 44 bytes, and group1-shard1of1\.bin 45"),
    "a size below 0": (shape(3, -2), r"dense/kernel has no shape, but \[3, -2\]"),
    "a size that is no whole number": (shape(3, 2.0), r"dense/kernel has no shape, but \[3, 2\.0\]"),
    "a size that is true": (shape(True, 6), r"dense/kernel has no shape, but \[True, 6\]"),
    "a size that is text": (shape("3", 2), r"dense/kernel has no shape, but \['3', 2\]"),
    "a size that is not known": (shape(None, 2), r"dense/kernel has no shape, but \[None, 2\]"),
    "a shape that is text": (entry(shape=""), "dense/kernel has no shape, but ''"),
    "a shape that is an object": (entry(shape={}), "dense/kernel has no shape, but {}"),
    "a shape of more than there is": (shape(10**6, 10**6), "ends at byte 4,000,000,000,000, and"),
    "a shape of more than can be": (shape(*[10**4000] * 3), "dense/kernel has a shape that no array has"),
    "a shape of nothing that is more than can be": (shape(0, *[2**40] * 3), "has a shape that no array has"),
    "a shape of too many dimensions": (shape(*[1] * 65), "has a shape that no array has"),
    "a type that is not known": (entry(dtype="float64"), "dense/kernel is of the type 'float64', which is not read"),
    "a type that is a list": (entry(dtype=["float32"]), "its weightsManifest is broken: TypeError"),
    "a quantization that is not known": (
        entry(quantization={"dtype": "uint4", "scale": 1, "min": 0}),
        "dense/kernel is of the type 'uint4', which is not read",
    ),
    "a quantization without a scale": (entry(quantization={"dtype": "uint8", "min": 0}), "has no scale and min"),
    "a quantization of text": (
        entry(quantization={"dtype": "uint8", "scale": "1", "min": 0}),
        "dense/kernel is quantized, and has no scale and min",
    ),
    "a quantization beyond float64": (
        entry(quantization={"dtype": "uint8", "scale": 10**400, "min": 0}),
        "has no scale and min",
    ),
    "a quantization of nothing": (entry(quantization={}), "its weightsManifest is broken: KeyError: 'dtype'"),
    "a quantized bool": (
        entry(dtype="bool", quantization={"dtype": "uint8", "scale": 1, "min": 0}),
        "dense/kernel is bool, and cannot be of uint8",
    ),
    "an int32 of float16": (
        entry(dtype="int32", quantization={"dtype": "float16"}),
        "dense/kernel is int32, and cannot be of float16",
    ),
    "two weights of one name": (entry(name="top/bias"), "two weights are called 'top/bias'"),
    "a weight whose name is a number": (entry(name=5), "a weight has no name, but 5"),
    "a manifest that is an object": (manifest({}), "its weightsManifest is no list"),
    "a manifest that is one group": (
        lambda said, folder: said.update(weightsManifest=said["weightsManifest"][0]),
        "its weightsManifest is no list",
    ),
    "a manifest that is nothing": (manifest(None), "its weightsManifest is no list"),
    "a manifest of text": (manifest(["group"]), "its weightsManifest is broken: TypeError"),
    "no paths": (without("weightsManifest", 0, "paths"), "its weightsManifest is broken: KeyError: 'paths'"),
    "no weights": (without("weightsManifest", 0, "weights"), "its weightsManifest is broken: KeyError: 'weights'"),
    "no name": (without("weightsManifest", 0, "weights", 0, "name"), "is broken: KeyError: 'name'"),
    "no shape": (without("weightsManifest", 0, "weights", 0, "shape"), "is broken: KeyError: 'shape'"),
    "no type": (without("weightsManifest", 0, "weights", 0, "dtype"), "is broken: KeyError: 'dtype'"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_folder_is_refused_by_name_with_what_is_wrong(folder: Path, kind: str) -> None:
    change, said = BAD[kind]
    assert values(folder)  # it was well
    before = entries(changed(folder, change).parent)
    with pytest.raises(CannotConvert, match=said) as raised:
        read_tfjs(folder)
    assert str(folder / "model.json") in str(raised.value)
    assert entries(folder.parent) == before


def entries(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(one), one.lstat().st_mtime_ns) for one in folder.rglob("*"))


TEXTS: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "is broken"),
    "half an object": (b'{"modelTopology": {', "is broken"),
    "no UTF-8": (b'{"modelTopology": "\xff"}', "is broken"),
    "a list": (b"[]", "describes no TensorFlow.js model"),
    "a number": (b"4", "describes no TensorFlow.js model"),
    "a number of too many digits": (b"9" * 5000, "is broken"),
    "what Python alone reads": (b'{"modelTopology": NaN}', "is broken: NaN is no JSON"),
    "nested too deep to read": (b'{"modelTopology":' * 100_000, "is broken"),
    "nested deep": (b'{"modelTopology":' * 300 + b"{}" + b"}" * 300, "is broken: it is nested deeper than any model"),
    "lists nested deep": (b'{"a":' + b"[" * 900 + b"]" * 900 + b"}", "is broken"),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_file_that_describes_no_model_is_refused(folder: Path, kind: str) -> None:
    text, said = TEXTS[kind]
    (folder / "model.json").write_bytes(text)
    for read in (read_tfjs, read_weights):
        with pytest.raises(CannotConvert, match=said) as raised:
            read(folder / "model.json")
        assert str(folder / "model.json") in str(raised.value)


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir, os.mkfifo], ids=["nothing", "folder", "pipe"])
def test_what_is_no_file_is_not_there(tmp_path: Path, make: Callable[[Path], object]) -> None:
    if make is not Path.touch:
        make(tmp_path / "model.json")
    with pytest.raises(CannotConvert, match=r"model\.json: there is no such file"):
        read_tfjs(tmp_path)


# --- thousands of bad folders

ODD: list[Any] = [
    None, True, False, 0, 1, -1, 2.5, 1e308, 10**30, "", "x", "float32", "uint8", "/etc/passwd", "..", "a\0b", "\ud800",
    [], [[]], {}, [None], [1], ["x"], {"class_name": "Dense"}, {"class_name": "Model", "config": {}},
    {"class_name": "Sequential", "config": []}, {"class_name": "NonNeg", "config": None},
]  # fmt: skip


def mutated(described: Json, draw: random.Random) -> Json:
    """Return a description with one to three things in it taken out, doubled, or replaced by something odd."""
    described = copy.deepcopy(described)
    for _ in range(draw.randint(1, 3)):
        holders = list(_holders(described))
        holder, key = holders[draw.randrange(len(holders))]
        match draw.randrange(4):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
            case 2 if isinstance(holder[key], int) and not isinstance(holder[key], bool):
                holder[key] += draw.choice([-1, 1])
            case _:
                holder[key] = copy.deepcopy(draw.choice(ODD))
    return described


def _holders(value: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list) and value[key]:
            yield from _holders(value[key])


def functional() -> Json:
    """A functional model with a Sequential inside, as TensorFlow.js has it."""
    inner = copy.deepcopy(DENSE)
    inner["config"]["name"] = "inner"  # type: ignore[index]
    return {
        "class_name": "Model",
        "config": {
            "name": "outer",
            "layers": [
                {
                    "class_name": "InputLayer",
                    "name": "x",
                    "config": {"name": "x", "batch_input_shape": [None, 3], "dtype": "float32"},
                    "inbound_nodes": [],
                },
                {**inner, "name": "inner", "inbound_nodes": [[["x", 0, 0, {}]]]},
            ],
            "input_layers": [["x", 0, 0]],
            "output_layers": [["inner", 1, 0]],
        },
    }


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_changed_in_a_folder_it_is_read_or_refused(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    folder = made(
        tmp_path / "model",
        dense(),
        topology=[DENSE, functional()][seed % 2],
        shard=20,
        quantize=["", "", "uint8", "float16"][seed],
    )
    whole = json.loads((folder / "model.json").read_text())
    shards = {path: (folder / path).read_bytes() for path in whole["weightsManifest"][0]["paths"]}
    read = refused = unnamed = 0
    for number in range(500):
        text = json.dumps(mutated(whole, draw))
        if number % 10 == 0:
            text = text[: draw.randrange(len(text))]
        cut = draw.choice(list(shards)) if number % 7 == 0 else None
        if cut:
            (folder / cut).write_bytes(shards[cut][: draw.randrange(len(shards[cut]))])
        (folder / "model.json").write_text(text)
        try:
            model = read_tfjs(folder)
            for one in model.weights:
                assert one.read().shape == one.shape
            read += 1
            for write, out in ((convert_tfjs, tmp_path / f"{number}"), (write_keras, tmp_path / f"{number}.keras")):
                assert model.format == "layers"
                write(model, out)
        except CannotConvert as error:
            refused += 1
            unnamed += str(folder) not in str(error)
        except Exception as error:
            raise AssertionError(f"mutation {number} of {seed}: {text}") from error
        if cut:
            (folder / cut).write_bytes(shards[cut])
    assert read > 50 and refused > 200 and not unnamed, (read, refused, unnamed)
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []  # nothing half done


# --- good folders


def test_a_folder_or_its_file_by_any_name_is_read(folder: Path) -> None:
    by_folder = read_tfjs(folder)
    (folder / "model.json").rename(folder / "mein modell.json")
    by_file = read_tfjs(folder / "mein modell.json")
    assert by_file.described == by_folder.described and by_folder.format == by_file.format == "layers"
    assert by_folder.topology == DENSE
    for weights in (by_file.weights, read_weights(folder / "mein modell.json")):
        assert [one.name for one in weights] == NAMES
        assert all((one.read() == array).all() for one, array in zip(weights, NUMBERS, strict=True))


def test_a_link_inside_the_folder_is_followed(folder: Path) -> None:
    (folder / "group1-shard1of1.bin").rename(folder / "weights.bin")
    (folder / "group1-shard1of1.bin").symlink_to("weights.bin")
    assert values(folder)["dense/bias"][2] == [0.5, -1.5]


def test_a_linked_folder_is_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    assert values(tmp_path / "link") == values(folder)


def test_a_model_without_weights_is_read(folder: Path) -> None:
    assert read_tfjs(changed(folder, manifest([]))).weights == ()
    assert read_tfjs(changed(folder, manifest([{"paths": [], "weights": []}]))).weights == ()
    assert read_tfjs(changed(folder, without("weightsManifest"))).weights == ()


def kinds() -> list[Weight]:
    """Return weights of each type, of none and of many dimensions."""
    draw = np.random.default_rng(7)
    return [
        weight("float", draw.normal(size=(3, 5)).astype(np.float32)),
        weight("scalar", np.array(-2.5, np.float32)),
        weight("int", draw.integers(-(2**31), 2**31, (4,)).astype(np.int32)),
        weight("bool", np.array([[True, False, True]])),
        weight("empty", np.zeros((0, 3), np.float32)),
        weight("positive", draw.uniform(1, 2, 7).astype(np.float32)),
        weight("equal", np.full((2, 2), -1.75, np.float32)),
        weight("large", (draw.normal(size=9) * 6e4).clip(-65000, 65000).astype(np.float32)),
        weight("tiny", (draw.normal(size=9) * 1e-7).astype(np.float32)),
        weight("last", np.array([1.0], np.float32)),
    ]


def several_groups(said: Json, folder: Path) -> None:
    """Put half of the weights into a group of its own, in a folder inside."""
    (group,) = said["weightsManifest"]
    data = b"".join((folder / path).read_bytes() for path in group["paths"])
    sizes = [int(np.prod(one["shape"])) * (1 if one["dtype"] == "bool" else 4) for one in group["weights"]]
    cut = sum(sizes[:3])
    (folder / "more").mkdir()
    (folder / "first.bin").write_bytes(data[:cut])
    (folder / "more" / "second ü.bin").write_bytes(data[cut : cut + 5])
    (folder / "more" / "third").write_bytes(data[cut + 5 :])
    said["weightsManifest"] = [
        {"paths": ["first.bin"], "weights": group["weights"][:3]},
        {"paths": ["more/second ü.bin", "more/third"], "weights": group["weights"][3:]},
    ]


def of_integers(said: Json, folder: Path) -> None:
    """Quantize whole numbers too, as tensorflowjs does; some lie in the middle between two."""
    data = np.array([0, 1, 2, 3, 7, 255], np.uint8)
    (folder / "ints.bin").write_bytes(data.tobytes())
    how = {"dtype": "uint8", "scale": 0.5, "min": -3}
    said["weightsManifest"] = [
        {"paths": ["ints.bin"], "weights": [{"name": "i", "shape": [6], "dtype": "int32", "quantization": how}]}
    ]


def test_weights_are_what_tensorflow_js_makes_of_them(tmp_path: Path) -> None:
    folders = [made(tmp_path / f"shards of {size}", kinds(), shard=size) for size in (1, 3, 16, 2**20)]
    folders += [made(tmp_path / quantize, kinds(), shard=11, quantize=quantize) for quantize in QUANTIZED]
    folders.append(changed(made(tmp_path / "groups", kinds(), shard=40), several_groups))
    folders.append(changed(made(tmp_path / "integers", []), of_integers))
    folders.append(made(tmp_path / "empty alone", [weight("empty", np.zeros((0, 3), np.float32))]))
    command: list[str | Path] = [node.path, "-e", DECODE, tree() / "node_modules" / "tfjs-4.22.0", *folders]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    decoded = json.loads(done.stdout)
    for folder in folders:
        assert isinstance(decoded[str(folder)], list), (folder.name, decoded[str(folder)])
        theirs = {name: (shape, dtype, numbers) for name, shape, dtype, numbers in decoded[str(folder)]}
        assert values(folder) == theirs, folder.name
    assert values(folders[-2])["i"] == ([6], "int32", [-3, -2, -2, -1, 1, 125])
    for folder in folders[:4]:
        assert values(folder) == {
            one.name: (list(one.shape), one.dtype, one.read().ravel().tolist()) for one in kinds()
        }

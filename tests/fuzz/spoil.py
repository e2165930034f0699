"""Spoils a file that is well, or a folder: by chance in its bytes, and with knowledge of what is in it."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import struct
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from fuzzing import ODD, damaged, deep, mutated, places

DEEP = (100, 300, 900, 50_000)
OUTSIDE = (
    "../secret.bin", "/etc/passwd", "..", ".", "", "a/../../secret.bin", "http://localhost:1/x", "C:\\x", "x\x00y",
    "~/.profile", "x" * 5000, "model.json", "\ud800",
)  # fmt: skip
"""Names of files that are none of the model's."""


_SECRET = Path("secret.bin")


def spoil(source: Path, destination: Path, kind: str, chance: random.Random) -> None:
    """Write a spoilt copy of ``source``; beside it is a file that is none of the model's."""
    global _SECRET
    _SECRET = destination.parent / "secret.bin"
    {
        "keras": _keras, "h5": _h5, "tfjs": _tfjs, "graph": _tfjs, "results": _results, "saved-model": _folder,
        "inputs": _bytes,
    }[kind](source, destination, chance)  # fmt: skip


def _bytes(source: Path, destination: Path, chance: random.Random) -> None:
    destination.write_bytes(damaged(source.read_bytes(), chance))


def _described(content: bytes, chance: random.Random) -> bytes:
    """Return JSON with something else in it, or that is none any more."""
    match chance.randrange(12):
        case 0:
            return damaged(content, chance)
        case 1:
            return chance.choice([b"", b"[]", b"null", b"1", b'"x"', b"{}", b"{" * 9999, b"\xff\xfe", b"9" * 5000])
        case 2:
            text, levels = content.decode(), chance.choice(DEEP)
            place = text.find(":", chance.randrange(len(text))) + 1
            return (text[:place] + "[" * levels + "]" * levels + "," + text[place:]).encode()
        case 3:
            key = chance.choice(
                [b"config", b"class_name", b"name", b"layers", b"shape", b"dtype", b"results", b"schema"]
            )
            return content.replace(b'"%s": ' % key, b'"%s": %s, "%s": ' % (key, chance.choice([b"1", b"[]"]), key), 1)
        case _:
            return json.dumps(mutated(json.loads(content), chance, chance.choice([1, 1, 1, 2, 4, 8]))).encode()


# --- .keras


def _keras(source: Path, destination: Path, chance: random.Random) -> None:
    if chance.random() < 0.2:
        return _bytes(source, destination, chance)
    with zipfile.ZipFile(source) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist()]
    by_name = {name: place for place, (name, _) in enumerate(entries)}

    def change(name: str, how: Callable[[bytes, random.Random], bytes]) -> None:
        place = by_name[name]
        entries[place] = name, how(entries[place][1], chance)

    match chance.randrange(10):
        case 0 | 1 | 2 | 3:
            change("config.json", _described)
        case 4:
            change("metadata.json", _described)
        case 5 | 6:
            change("model.weights.h5", _in_h5)
        case 7:
            change("model.weights.h5", lambda content, by: _damaged_h5(content, by))
        case _:
            return _archive(entries, destination, chance)
    _zip(entries, destination, chance)
    return None


def _zip(entries: list[tuple[str, bytes]], destination: Path, chance: random.Random) -> None:
    compression = chance.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    with warnings.catch_warnings(), zipfile.ZipFile(destination, "w", compression) as archive:
        warnings.simplefilter("ignore")
        for name, content in entries:
            archive.writestr(name, content)


def _archive(entries: list[tuple[str, bytes]], destination: Path, chance: random.Random) -> None:
    """Spoil an archive itself: its entries, and what it says of them."""
    at = chance.randrange(len(entries))
    name, content = entries[at]
    match chance.randrange(8):
        case 0:
            del entries[at]
        case 1:
            entries.append((name, chance.choice([b"", b"{}", content, b"x" * 1000])))
        case 2:
            entries += [(chance.choice(["../evil", "/tmp/evil", "evil/", f"{name}/x", "\x1b[2J"]), b"evil")] * 2
        case 3:
            entries[at] = name, chance.choice([b" " * 300_000_000, b"\0" * 300_000_000, b"[" * 20_000_000])
        case 4:
            entries[at] = chance.choice([name.upper(), f"x/{name}", f"{name}/", f"./{name}"]), content
        case _:
            pass
    _zip(entries, destination, chance)
    if chance.random() < 0.7:
        return
    written = bytearray(destination.read_bytes())
    central = written.find(b"PK\x01\x02")
    for _ in range(chance.randrange(3)):
        central = max(central, written.find(b"PK\x01\x02", central + 1))
    field, size = chance.choice([(8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (42, 4)])
    value = chance.choice([0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFFF, 99, 2**31, 12])
    struct.pack_into({2: "<H", 4: "<I"}[size], written, central + field, value % 2 ** (8 * size))
    destination.write_bytes(written)


# --- HDF5


def _damaged_h5(content: bytes, chance: random.Random) -> bytes:
    """Damage bytes of an HDF5 file: in its tables rather than in its numbers."""
    found = bytearray(content)
    for _ in range(chance.choice([1, 2, 4, 16])):
        marks = [found.find(mark) for mark in (b"TREE", b"HEAP", b"SNOD", b"GCOL", b"OHDR", b"\x89HDF")]
        base = chance.choice([*(mark for mark in marks if mark >= 0), chance.randrange(len(found))])
        at = min(base + chance.randrange(400), len(found) - 1)
        match chance.randrange(4):
            case 0:
                found[at] ^= 1 << chance.randrange(8)
            case 1:
                found[at] = chance.choice([0, 1, 0xFF, 0x7F, 0x80])
            case 2:
                found[at : at + 8] = struct.pack("<Q", chance.choice([0, 1, at, len(found), 2**63, 2**64 - 1]))
            case 3:
                del found[at : at + chance.choice([1, 8, 512])]
    return bytes(found)


def _h5(source: Path, destination: Path, chance: random.Random) -> None:
    content = source.read_bytes()
    match chance.randrange(5):
        case 0:
            destination.write_bytes(damaged(content, chance))
        case 1:
            destination.write_bytes(_damaged_h5(content, chance))
        case _:
            destination.write_bytes(_in_h5(content, chance))


def _in_h5(content: bytes, chance: random.Random) -> bytes:
    """Change an HDF5 file by HDF5's own means."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.h5"
        path.write_bytes(content)
        for _ in range(chance.choice([1, 1, 1, 2, 4])):
            with suppress(Exception), h5py.File(path, "r+") as file:
                _change(file, chance)
        return path.read_bytes()


def _change(file: Any, chance: random.Random) -> None:
    groups: list[Any] = [file]
    datasets: list[Any] = []
    file.visititems(lambda name, one: (datasets if isinstance(one, h5py.Dataset) else groups).append(one))
    texts = [key for key in ("model_config", "training_config", "keras_version") if key in file.attrs]
    if texts and chance.random() < 0.6:
        key = chance.choice(texts)
        if chance.random() < 0.75 and key != "keras_version":
            file.attrs[key] = _described(file.attrs[key].encode(), chance)
        else:
            _attribute(file, key, chance)
    elif chance.random() < 0.3:
        group = chance.choice(groups)
        _attribute(group, chance.choice([*group.attrs, "weight_names", "layer_names"]), chance)
    elif datasets and chance.random() < 0.6:
        _dataset(chance.choice(datasets), chance)
    else:
        _link(file, chance.choice(groups), chance)


def _attribute(group: Any, key: str, chance: random.Random) -> None:
    odd: list[Any] = [
        None, 1, 2.5, b"", "", b"\xff\xfe", "x" * 60_000, [1, 2], [b"kernel:0"] * 50, np.array([[b"a"]]), [b"\xff"],
        ["../x"], h5py.Empty("f4"), np.zeros(0, "S4"), np.zeros((2, 2), "f4"), [b"a/" * 200], "{}", "[]", "3", b"\x00",
        "\x1b[2J",
    ]  # fmt: skip
    value = chance.choice(odd)
    if value is None:
        del group.attrs[key]
    else:
        group.attrs[key] = value


def _dataset(dataset: Any, chance: random.Random) -> None:
    file, name, shape = dataset.file, dataset.name, dataset.shape or (2,)
    del file[name]
    kinds: list[Any] = [
        "f2", "f4", "f8", ">f4", "i1", "u8", "c8", "S3", "?", h5py.string_dtype(), h5py.vlen_dtype("f4"),
        h5py.ref_dtype, np.dtype([("r", "f4"), ("i", "f4")]), h5py.enum_dtype({"A": 1}), "V7", "g",
        h5py.opaque_dtype("M8[s]"),
    ]  # fmt: skip
    match chance.randrange(9):
        case 0 | 1:
            file.create_dataset(name, shape, chance.choice(kinds))
        case 2:
            shapes: list[Any] = [
                (), (0,), (1,), (*shape, 1), shape[::-1], (7, 7), (2,) * 20, (2, 3, 0), (2**31,), (1,) * 32,
            ]  # fmt: skip
            file.create_dataset(name, chance.choice(shapes), "f4")
        case 3:
            huge: list[Any] = [(2**40,), (2**20, 2**20), (2**62,), (3, 2**33)]
            file.create_dataset(name, chance.choice(huge), "f4", chunks=True)
        case 4:
            file.create_dataset(name, data=h5py.Empty("f4"))
        case 5:
            outside = chance.choice([str(_SECRET), "secret.bin", "/etc/passwd", "/dev/zero"])
            file.create_dataset(name, shape, "<i4", external=[(outside, 0, h5py.h5f.UNLIMITED)])
        case 6:
            layout = h5py.VirtualLayout(shape, "f4")
            layout[:] = h5py.VirtualSource(chance.choice(["other.h5", "/etc/passwd", "."]), "x", shape)
            file.create_virtual_dataset(name, layout)
        case 7:
            filters: dict[str, Any] = chance.choice(
                [{"compression": "gzip"}, {"compression": "lzf"}, {"shuffle": True}]
            )
            file.create_dataset(name, data=np.full(shape, np.nan, "f4"), chunks=True, **filters)
        case 8:
            file.create_group(name)


def _link(file: Any, group: Any, chance: random.Random) -> None:
    keys = [*group, "vars", "0", "layers", "more"]
    key = chance.choice(keys)
    if key in group:
        other = chance.choice(["moved", "\x1b[2J", "a\nb", "é", f"{key}x", ""])
        if other and chance.random() < 0.4:
            group.move(key, other)
            return
        del group[key]
    match chance.randrange(6):
        case 0:
            group[key] = h5py.ExternalLink(chance.choice(["other.h5", "/etc/passwd", "../secret.bin", "."]), "/layers")
        case 1:
            group[key] = h5py.SoftLink(chance.choice(["/", "/nowhere", f"{group.name}/{key}", ".."]))
        case 2:
            group[key] = file
        case 3:
            group[key] = np.dtype("f4")
        case 4:
            inner = group.create_group(key)
            for _ in range(chance.choice([3, 1500])):
                inner = inner.create_group("x")
        case 5:
            pass


# --- folders


def _tfjs(source: Path, destination: Path, chance: random.Random) -> None:
    shutil.copytree(source, destination)
    file = destination / "model.json"
    shards = sorted(destination.glob("*.bin"))
    if chance.random() < 0.75 or not shards:
        file.write_bytes(_described(file.read_bytes(), chance))
        return
    shard = chance.choice(shards)
    described = json.loads(file.read_bytes())
    match chance.randrange(10):
        case 8 | 9:
            # Just as long as it is: nothing but where it is can be wrong with it.
            entry: Any = {"name": "other/kernel", "shape": [_SECRET.stat().st_size // 4], "dtype": "int32"}
            path = chance.choice([f"../{_SECRET.name}", str(_SECRET), "linked.bin", "./.././secret.bin"])
            (destination / "linked.bin").symlink_to(_SECRET)
            described["weightsManifest"].append({"paths": [path], "weights": [entry]})
        case 0:
            shard.unlink()
        case 1:
            shard.write_bytes(damaged(shard.read_bytes(), chance))
        case 2:
            shard.unlink()
            there = ["/etc/passwd", "../secret.bin", shard.name, "model.json", "/dev/zero", "/"]
            shard.symlink_to(chance.choice(there))
        case 3:
            shard.unlink()
            shard.mkdir()
        case 4:
            described["weightsManifest"][0]["paths"][0] = chance.choice(OUTSIDE)
        case 5:
            group = described["weightsManifest"][0]
            shapes = [[2**31, 2**31], [-1, -6], [0], [2**53], [1] * 40, [6.0], [[6]]]
            group["weights"][0]["shape"] = chance.choice(shapes)
        case 6:
            entry = chance.choice(described["weightsManifest"][0]["weights"])
            entry["quantization"] = {
                "dtype": chance.choice(["uint8", "uint16", "float16", "int4", 1]),
                "scale": chance.choice(ODD), "min": chance.choice(ODD), "original_dtype": "float32",
            }  # fmt: skip
        case 7:
            shard.unlink()
            os.mkfifo(shard)
    file.write_text(json.dumps(described), encoding="utf-8")


def _folder(source: Path, destination: Path, chance: random.Random) -> None:
    shutil.copytree(source, destination)
    file = chance.choice(sorted(destination.iterdir()))
    if chance.random() < 0.5:
        file.unlink()
    else:
        file.write_bytes(damaged(file.read_bytes(), chance))


def _results(source: Path, destination: Path, chance: random.Random) -> None:
    content = source.read_bytes()
    if chance.random() < 0.5:
        destination.write_bytes(_described(content, chance))
        return
    described = json.loads(content)
    for holder, key in chance.sample(list(places(described)), chance.choice([1, 3, 10])):
        if key != "schema" and not isinstance(holder.get(key) if isinstance(holder, dict) else None, dict | list):
            like = [one for one in ODD if type(one) is type(holder[key])]
            holder[key] = chance.choice(like) if like else None
    destination.write_text(json.dumps(described), encoding="utf-8")


def more(kind: str, chance: random.Random) -> bytes | None:
    """Return a file that is made of nothing, for readers of files; None for what is a folder."""
    if kind in ("tfjs", "graph", "saved-model"):
        return None
    starts = {
        "keras": b"PK\x03\x04",
        "h5": b"\x89HDF\r\n\x1a\n",
        "results": b'{"schema": "tensorledger/',
        "inputs": b"\x93NUMPY",
    }
    content = io.BytesIO()
    content.write(chance.choice([starts[kind], b"", b"\x00"]))
    content.write(chance.choice([b"", chance.randbytes(chance.randrange(600)), json.dumps(deep(200)).encode()]))
    return content.getvalue()

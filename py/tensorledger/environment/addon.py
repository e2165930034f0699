"""The addon of tfjs-node, compiled against the TensorFlow of this Python environment.

npm would download a library of TensorFlow's for it; here it is linked with the one that the Python package brings, so
that both runtimes run the same. It is compiled once for each library and each state of the sources, and kept in the
user's cache only if it then works in a Node.js process.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from tensorledger.environment.cache import CacheUnusable, cache_folder
from tensorledger.environment.folders import whole_file
from tensorledger.environment.node import node
from tensorledger.environment.tree import tree

LIBRARIES = ("libtensorflow_cc.so.2", "libtensorflow_framework.so.2")
HEADER = "include/tensorflow/c/eager/c_api.h"
PINS = "pip install 'tensorledger[harness]'"
COMPILER = "g++"
MEND_COMPILER = "apt-get install g++"

QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
"""The environment in which the addon is loaded: a log without TensorFlow's greetings, and the CPU."""

COUNTED = ("TFE_NewTensorHandle", "TFE_TensorHandleCopyToDevice", "TFE_Execute", "TFE_DeleteTensorHandle")
"""The calls by which handles come and go, which js/addon/handles.cc counts."""
OPTIONS = (
    *("-O2", "-fPIC", "-shared", "-std=gnu++17"),
    *("-DNAPI_VERSION=8", "-DNODE_GYP_MODULE_NAME=tfjs_binding", "-DBUILDING_NODE_EXTENSION"),
    "-Dnapi_register_module_v1=tfjs_node_register",
)

SECONDS = 300
"""Time limit of compiling, and of trying; they take 8 s and 2 s here."""
LINES = 12
"""Lines of the compiler's that are told."""


class AddonNotBuilt(Exception):
    """The addon could not be made; the message says why."""


@dataclass(frozen=True)
class Addon:
    """What the addon is compiled of, and where it is then."""

    sources: Path
    """Folder of tfjs-node's C++."""
    headers: Path
    """Folder of Node.js's headers for addons."""
    tensorflow: Path
    """Folder of the Python package."""

    def file(self) -> Path:
        """Return where the addon is, or would be. Raises CacheUnusable, and OSError where a source is not there."""
        return cache_folder() / "addons" / f"{self._key()}.node"

    def built(self) -> Path:
        """Return the addon's file, after compiling and trying it if need be: one process does, the others wait.

        Raises AddonNotBuilt, NodeMissing or CacheUnusable.
        """
        try:
            file = self.file()
            if _is_whole(file):
                return file
            file.parent.mkdir(exist_ok=True)
            with FileLock(f"{file}.lock"):
                if not _is_whole(file):
                    file.unlink(missing_ok=True)
                    for unfinished in file.parent.glob(f".{file.name}.*"):
                        shutil.rmtree(unfinished, ignore_errors=True)  # of a build that was killed
                    with whole_file(file) as made:
                        self._compile(made)
                        _try(made)
                    _mark(file).write_text(_digest(file), encoding="ascii")
        except OSError as error:
            raise CacheUnusable(cache_folder() / "addons", error) from error
        return file

    def _parts(self) -> list[Path]:
        return [tree() / "js" / "addon" / "handles.cc", *sorted(self.sources.glob("*.cc"))]

    def _key(self) -> str:
        digest = hashlib.sha256(repr((OPTIONS, COUNTED, self.tensorflow)).encode())
        for library in LIBRARIES:
            state = (self.tensorflow / library).stat()
            digest.update(repr((library, state.st_size, state.st_mtime_ns)).encode())
        for file in [*self._parts(), *sorted(self.sources.glob("*.h")), *sorted(self.headers.glob("*.h"))]:
            digest.update(file.name.encode() + file.read_bytes())
        return digest.hexdigest()[:20]

    def _compile(self, made: Path) -> None:
        """Compile the addon into a file. Raises AddonNotBuilt."""
        compiler = shutil.which(COMPILER)
        if compiler is None:
            raise AddonNotBuilt(lacking(self.tensorflow) or f"{COMPILER} was not found; {MEND_COMPILER}")
        libraries = [f"-l:{library}" for library in LIBRARIES]
        linker = ["-L", str(self.tensorflow), *libraries, f"-Wl,-rpath,{self.tensorflow}"]
        linker += [f"-Wl,--wrap={call}" for call in COUNTED]
        includes = ["-I", str(self.headers), "-I", str(self.tensorflow / "include")]
        command = [compiler, *OPTIONS, *includes, *map(str, self._parts()), *linker, "-o", str(made)]
        _run(command, f"{COMPILER} could not compile tfjs-node's addon against the TensorFlow in {self.tensorflow}")


def _mark(file: Path) -> Path:
    return file.with_suffix(".sha256")


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _is_whole(file: Path) -> bool:
    """Say whether the addon is there as it was built: a cache can be damaged, or cleaned up in."""
    try:
        return _mark(file).read_text(encoding="ascii") == _digest(file)
    except (OSError, UnicodeDecodeError):
        return False


def _try(made: Path) -> None:
    """Let the addon multiply two matrices in a Node.js process. Raises AddonNotBuilt."""
    command = [str(node()), str(tree() / "js" / "addon" / "smoke.mjs"), str(made)]
    _run(command, "tfjs-node's addon was compiled, and does not work in Node.js")


def _run(command: Sequence[str], failed: str) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=SECONDS, env={**os.environ, **QUIET}
        )
    except subprocess.TimeoutExpired as error:
        raise AddonNotBuilt(f"{failed}: it was not done after {SECONDS} s") from error
    if done.returncode != 0:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-LINES:])
        raise AddonNotBuilt(f"{failed} (status {done.returncode}):\n{said}")


def tensorflow() -> Path | None:
    """Return the folder of this environment's TensorFlow, which is not imported for it; None where there is none."""
    spec = importlib.util.find_spec("tensorflow")
    places = list(spec.submodule_search_locations or []) if spec is not None else []
    return Path(places[0]).resolve() if places else None


def lacking(folder: Path | None) -> str | None:
    """Say what there is not that the addon is compiled with, and the command that mends it; None where all is here.

    ``folder``: that of the TensorFlow, as ``tensorflow()`` returns it.
    """
    if folder is None:
        return f"not installed: tensorflow, whose library tfjs-node runs on; {PINS}"
    missing = [name for name in (*LIBRARIES, HEADER) if not (folder / name).is_file()]
    if missing:
        return f"the TensorFlow in {folder} comes without {', '.join(missing)}, which tfjs-node's addon needs; {PINS}"
    if shutil.which(COMPILER) is None:
        return f"{COMPILER} was not found, which compiles tfjs-node's addon; {MEND_COMPILER}"
    return None


def hand(file: Path, package: Path) -> None:
    """Put the addon where a release of tfjs-node, by the folder of its package, looks for it. Raises OSError."""
    place = _place(package)
    if place.is_symlink() and place.readlink() == file:
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as beside:
        link = Path(beside) / place.name
        link.symlink_to(file)
        link.replace(place)


def _place(package: Path) -> Path:
    """Return where tfjs-node looks: the folder of the newest Node-API that it knows, which Node.js 18.4 has too."""
    binary = json.loads((package / "package.json").read_text(encoding="utf-8"))["binary"]
    newest = str(max(binary["napi_versions"]))
    folder: Path = package / binary["module_path"].replace("{napi_build_version}", newest)
    return folder / f"{binary['module_name']}.node"

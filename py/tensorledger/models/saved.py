"""The zoo's models as files: built once per user by models/build.py, in a process of its own.

This side never imports TensorFlow.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

import tensorledger
from tensorledger.conversion.older import NEWEST, convert_for, rules_needed
from tensorledger.environment.cache import cache_folder
from tensorledger.models.zoo import KERASES, MODELS
from tensorledger.protocol.messages import SavedModel

PACKAGES = ("tensorflow", "keras", "tf-keras", "tensorflowjs", "numpy", "h5py")
"""The distributions that the files depend on."""
SOURCES = ("models/zoo.py", "models/rounding.py", "models/build.py", "conversion/*.py", "data/samples.py")
"""Our own modules that they depend on."""
BUILD_SECONDS = 600
"""Time limit; a build takes 7 s on two cores."""
LINES_SHOWN = 15


class UnknownModel(LookupError):
    """There is no such model, or no such Keras."""


class ModelsNotBuilt(Exception):
    """The models' files could not be made; the message says why and what to do."""

    def __init__(self, what: str, output: str = "") -> None:
        lines = output.strip().splitlines()[-LINES_SHOWN:]
        missing = [package for package, version in _versions().items() if version is None]
        reason = f"not installed: {', '.join(missing)}. " if missing else ""
        advice = f"{reason}The versions that work together: pip install 'tensorledger[harness]'"
        super().__init__("\n".join([f"the models could not be built: {what}", *lines, advice]))


def saved_model(model: str, source: str, release: str | None = None) -> SavedModel:
    """Return the files of a model of the zoo as made by a Keras: ``source`` is "keras" or "tf-keras".

    ``tfjs`` is as that ``release`` of TensorFlow.js can load it.

    Raises ``UnknownModel``, ``ModelsNotBuilt``, or ``CacheUnusable``.
    """
    if model not in MODELS:
        raise UnknownModel(f"no model {model!r}; there are {', '.join(MODELS)}")
    if source not in KERASES:
        raise UnknownModel(f"no model from {source!r}; there are those from {', '.join(KERASES)}")
    folder = saved_models() / source / model
    reference = json.loads((folder / "reference.json").read_text(encoding="utf-8"))
    return SavedModel(
        keras=str(folder / "model.keras"),
        tfjs=str(_tfjs(folder, release)),
        graph=str(folder / "graph"),
        predictions=reference["predictions"],
        bound=reference["bound"],
    )


def _tfjs(folder: Path, release: str | None) -> Path:
    """Return the folder of the layers model for a release; made of the newest one's where that differs."""
    newest = folder / "tfjs"
    names = rules_needed(newest, release or NEWEST)
    if not names:
        return newest
    older = folder / f"tfjs-{'+'.join(names)}"
    if not older.is_dir():
        with FileLock(f"{older}.lock"):
            if not older.is_dir():
                convert_for(newest, older, release or NEWEST)
    return older


def saved_models(build: Callable[[Path], None] | None = None) -> Path:
    """Return the folder that models/build.py describes, built on first use (by ``build``, if given).

    It is named after what it was built from, so that a change of our code or of a package makes another. However many
    processes ask at once, one builds and the others wait. Raises ``ModelsNotBuilt`` or ``CacheUnusable``.
    """
    folder = cache_folder() / "models" / _key()
    if folder.is_dir():
        return folder
    folder.parent.mkdir(exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            for unfinished in folder.parent.glob(f".{folder.name}.*"):
                shutil.rmtree(unfinished, ignore_errors=True)  # of a build that was killed
            (build or run_build)(folder)
    return folder


def run_build(folder: Path) -> None:
    """Run models/build.py in a process of its own. Raises ``ModelsNotBuilt``."""
    # With TF_USE_LEGACY_KERAS, what TensorFlow itself calls Keras is another one than in the workers.
    environment = {name: value for name, value in os.environ.items() if name != "TF_USE_LEGACY_KERAS"}
    command = [sys.executable, "-m", "tensorledger.models.build", str(folder)]
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=BUILD_SECONDS,
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired as expired:
        output = expired.output.decode(errors="replace") if isinstance(expired.output, bytes) else ""
        raise ModelsNotBuilt(f"not done after {BUILD_SECONDS} s", output) from expired
    if done.returncode != 0 or not folder.is_dir():
        raise ModelsNotBuilt(f"exit status {done.returncode}", done.stdout)


def _key() -> str:
    package = Path(tensorledger.__file__).parent
    digest = hashlib.sha256(json.dumps(_versions()).encode())
    for path in sorted(path for pattern in SOURCES for path in package.glob(pattern)):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:32]


def _versions() -> dict[str, str | None]:
    versions: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = None
    return versions

"""Node.js and npm: those of the Python package nodejs-bin, else those on the PATH; TENSORLEDGER_NODE names another."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

OLDEST = (18, 4)
"""What js/ is written for: nodejs-bin's newest release."""


MEND = "pip install nodejs-bin==18.4.0a4, and leave TENSORLEDGER_NODE unset"


class NodeMissing(Exception):
    """There is no Node.js to run TensorFlow.js in, or it is too old."""


@cache
def node() -> Path:
    """Return the Node.js to use. Raises NodeMissing, which says what to do."""
    found = _find()
    if found is None:
        raise NodeMissing(f"Node.js was not found; {MEND}")
    version = node_version(found)
    try:
        release = tuple(map(int, version.split(".")[:2]))
    except ValueError:
        raise NodeMissing(f"{found} is not Node.js: asked for its version it says {version[:60]!r}; {MEND}") from None
    if release < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise NodeMissing(f"Node.js {version} at {found} is older than {oldest}; {MEND}")
    return found


def _find() -> Path | None:
    named = os.environ.get("TENSORLEDGER_NODE")
    if named:
        return Path(named)
    package = _package()
    if package is not None:
        return package / "bin" / "node"
    found = shutil.which("node")
    return Path(found) if found else None


def _package() -> Path | None:
    spec = importlib.util.find_spec("nodejs")
    return Path(spec.origin).parent if spec is not None and spec.origin else None


@cache
def node_version(path: Path) -> str:
    """Ask a Node.js for its version. Raises NodeMissing where it cannot be run."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise NodeMissing(f"Node.js at {path} cannot be run: {error}; {MEND}") from error
    return done.stdout.strip().removeprefix("v")


def npm() -> list[str]:
    """Return the command that runs npm with ``node()``. Raises NodeMissing."""
    beside = _package()
    script = beside / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js" if beside else None
    if script is not None and script.is_file():
        return [str(node()), str(script)]
    found = shutil.which("npm")
    if found is None:
        raise NodeMissing(f"npm was not found; {MEND}")
    return [found]

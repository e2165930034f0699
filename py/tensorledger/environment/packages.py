"""The npm packages that the lock file pins: what the JavaScript worker imports, and the default TensorFlow.js releases.

In a checkout they are in its ``node_modules``, where ``make setup`` puts them. An installed package puts what the
worker imports into the user's cache, the first time that a JavaScript target is used, and each release only when it
is wanted (``releases.py``): all of them are 1 GB.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from filelock import FileLock

from tensorledger.environment.cache import cache_folder
from tensorledger.environment.node import NodeMissing, npm
from tensorledger.environment.tree import is_checkout, tree

LOCK = "package-lock.json"
WORKER = "@cfworker/json-schema"
"""What the worker imports; it depends on nothing."""

MARK = "installed.sha256"
SECONDS = 900
"""Time limit of npm ci; it takes 15 s here."""


class PackagesMissing(Exception):
    """npm could not install what is needed."""


@cache
def modules() -> Path:
    """Return the ``node_modules`` folder to use, complete. Raises PackagesMissing or NodeMissing."""
    home = tree() if is_checkout() else cache_folder() / "npm" / _digest()[:16]
    if not _complete(home):
        home.mkdir(parents=True, exist_ok=True)
        with FileLock(home / ".install.lock"):
            if not _complete(home):
                _install(home)
    return home / "node_modules"


def installed() -> bool:
    """Say whether ``modules()`` would return at once."""
    return _complete(tree() if is_checkout() else cache_folder() / "npm" / _digest()[:16])


def release(alias: str) -> str:
    """Return the exact version that the lock file pins for an alias such as ``tfjs-4.22.0``."""
    lock = json.loads((tree() / LOCK).read_text(encoding="utf-8"))
    return str(lock["packages"][f"node_modules/{alias}"]["version"])


def _digest() -> str:
    return hashlib.sha256((tree() / LOCK).read_bytes()).hexdigest()


def _complete(home: Path) -> bool:
    mark = home / "node_modules" / MARK
    return mark.is_file() and mark.read_text(encoding="ascii").strip() == _digest()


def _install(home: Path) -> None:
    """Install from the lock file, without running any package's scripts; the mark is written last."""
    if home != tree():
        _write_worker_only(home)
    command = [*npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    environment = {**os.environ, "CI": "true"}
    try:
        done = subprocess.run(command, cwd=home, capture_output=True, text=True, env=environment, timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        raise PackagesMissing(f"npm ci in {home} was not done after {SECONDS} s; is the registry reached?") from error
    if done.returncode != 0:
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        raise PackagesMissing(f"npm ci in {home} failed with status {done.returncode}:\n{said}")
    (home / "node_modules" / MARK).write_text(_digest(), encoding="ascii")


def _write_worker_only(home: Path) -> None:
    """Write a package.json and a lock file of what the worker imports, as the whole lock file pins it."""
    lock = json.loads((tree() / LOCK).read_text(encoding="utf-8"))
    pinned = lock["packages"][f"node_modules/{WORKER}"]
    package = {"name": "tensorledger-worker", "private": True, "dependencies": {WORKER: pinned["version"]}}
    lock["name"], lock["packages"] = package["name"], {"": package, f"node_modules/{WORKER}": pinned}
    (home / "package.json").write_text(json.dumps(package), encoding="utf-8")
    (home / LOCK).write_text(json.dumps(lock), encoding="utf-8")


if __name__ == "__main__":
    try:
        modules()
    except (PackagesMissing, NodeMissing) as error:
        sys.exit(str(error))

"""The npm packages that the lock file pins: the default TensorFlow.js releases, and what the JavaScript worker imports.

In a checkout they are in its ``node_modules``, where ``make setup`` puts them; an installed package puts them into the
user's cache, the first time that a JavaScript target is used.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from filelock import FileLock

from tensorledger.environment.cache import cache_folder
from tensorledger.environment.node import npm
from tensorledger.environment.tree import is_checkout, tree

LOCK = "package-lock.json"
FILES = ("package.json", LOCK)
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
    development = [] if is_checkout() else ["--omit=dev"]
    for name in FILES if home != tree() else ():
        shutil.copyfile(tree() / name, home / name)
    command = [*npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund", *development]
    environment = {**os.environ, "CI": "true"}
    try:
        done = subprocess.run(command, cwd=home, capture_output=True, text=True, env=environment, timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        raise PackagesMissing(f"npm ci in {home} was not done after {SECONDS} s; is the registry reached?") from error
    if done.returncode != 0:
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        raise PackagesMissing(f"npm ci in {home} failed with status {done.returncode}:\n{said}")
    (home / "node_modules" / MARK).write_text(_digest(), encoding="ascii")


if __name__ == "__main__":
    modules()

"""Releases of TensorFlow.js: which were published, and where one is on this machine.

In a checkout the default ones are npm aliases in the lock file (``packages.py``). Any other is fetched into the user's
cache the first time that it is used, or ahead by ``tensorledger install``: into a folder of its own that appears
complete or not at all, by one process while the others wait.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from filelock import FileLock
from packaging.version import InvalidVersion, Version

from tensorledger.environment import addon
from tensorledger.environment.cache import CacheUnusable, cache_folder
from tensorledger.environment.folders import whole_folder, write_whole
from tensorledger.environment.node import NodeMissing, npm
from tensorledger.environment.packages import modules
from tensorledger.environment.tree import is_checkout, tree

LIBRARY = "@tensorflow/tfjs"
BACKENDS = {
    "wasm": "@tensorflow/tfjs-backend-wasm",
    "webgpu": "@tensorflow/tfjs-backend-webgpu",
    "node": "@tensorflow/tfjs-node",
}
"""The packages that backends come in which are not in TensorFlow.js itself; tfjs-node brings TensorFlow.js along."""

HEADERS = "node-api-headers@1.9.0"
"""What tfjs-node's addon is compiled with, beside TensorFlow."""
SOURCES = "4.22.0"
"""The release whose addon serves all: those of 3.3.0 and older call functions that TensorFlow has no more."""
ON_NODE = "1.2.8"
"""The first release of tfjs-node that works with it. For 1.2.3 to 1.2.7 npm finds TensorFlow.js 1.2.11, which hands
over the matrices of a product otherwise; older ones take addons of another build system."""
INCOMPLETE = ("3.21.0",)
"""Releases of tfjs-node that were published without their JavaScript; 3.21.1 brings TensorFlow.js 3.21.0."""
NOT_ON_NODE = f"tfjs-node works from {ON_NODE} on, but for {', '.join(INCOMPLETE)}, which was published incomplete"

LISTING = "releases.json"
"""The releases that were published when this version of tensorledger was: what is known without asking npm."""

FRESH = 24 * 3600
"""Seconds that npm's answer about published releases is taken for."""
SECONDS = 600
"""Time limit of one npm install; the largest, 4.22.0 with wasm, takes about 15 s."""
ASKING = 60
"""Time limit of asking npm which releases there are."""
PATIENCE = ["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"]
"""How long npm waits before it tries again; left to itself it takes 70 s to say that there is no network."""


class ReleaseMissing(Exception):
    """A release could not be fetched; the message says why and what to do."""


@dataclass(frozen=True)
class Packages:
    """Where a release is: its folder, and that of the package its backend comes in; of tfjs-node, its addon."""

    library: Path
    backend: Path | None


def packages(version: str, backend: str) -> Packages:
    """Return where a release is, after fetching it if need be.

    Raises ReleaseMissing, NodeMissing, PackagesMissing or CacheUnusable.
    """
    if _is_in_checkout(version, backend):
        folders = [modules() / alias for alias in _aliases(version, backend)]
    else:
        home = fetched(version, backend)
        folders = [home / "node_modules" / name for name in _names(backend)]
    if backend == "node":
        folders.append(_with_addon(folders[0]))
    return Packages(folders[0], folders[1] if len(folders) > 1 else None)


def works_on_node(version: str) -> bool:
    """Say whether a release of tfjs-node works with the addon as it is compiled here."""
    return Version(version) >= Version(ON_NODE) and version not in INCOMPLETE


def is_here(version: str, backend: str) -> bool:
    """Say whether ``packages`` would return without fetching anything (what ``modules()`` installs aside)."""
    if backend == "node" and not addon_is_here():
        return False
    return _is_in_checkout(version, backend) or _is_whole(folder_of(version, backend), backend)


def addon_is_here() -> bool:
    """Say whether tfjs-node's addon is compiled already, against this environment's TensorFlow."""
    here = addon.tensorflow()
    try:
        return here is not None and _addon(folder_of(SOURCES, "node"), here).file().is_file()
    except (OSError, CacheUnusable):
        return False


def _with_addon(package: Path) -> Path:
    """Make a release of tfjs-node ready: return its addon, after compiling it if need be. Raises ReleaseMissing."""
    here = addon.tensorflow()
    if here is None:
        raise ReleaseMissing(addon.lacking(here))
    try:
        file = _addon(fetched(SOURCES, "node"), here).built()
        addon.hand(file, package)
    except addon.AddonNotBuilt as error:
        raise ReleaseMissing(str(error)) from error
    except OSError as error:
        raise CacheUnusable(package, error) from error
    return file


def _addon(home: Path, tensorflow: Path) -> addon.Addon:
    """Return the addon as it is compiled of what is in the folder of a release."""
    found = home / "node_modules"
    return addon.Addon(found / BACKENDS["node"] / "binding", found / "node-api-headers" / "include", tensorflow)


def _is_in_checkout(version: str, backend: str) -> bool:
    return is_checkout() and all(alias in pins() for alias in _aliases(version, backend))


@cache
def pins() -> frozenset[str]:
    """Return the npm aliases of releases in the lock file, such as ``tfjs-4.22.0``."""
    lock = json.loads((tree() / "package-lock.json").read_text(encoding="utf-8"))
    return frozenset(name for name in lock["packages"][""]["dependencies"] if name.startswith("tfjs-"))


def fetched(version: str, backend: str) -> Path:
    """Return the folder in the cache that a release is in, after fetching it if need be."""
    home = folder_of(version, backend)
    if _is_whole(home, backend):
        return home
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{home}.lock"):
            if not _is_whole(home, backend):
                for unfinished in home.parent.glob(f".{home.name}.*"):
                    shutil.rmtree(unfinished, ignore_errors=True)  # of a fetch that was killed
                _remove(home)
                with whole_folder(home) as folder:
                    _install(folder, _wanted(version, backend))
    except OSError as error:
        raise CacheUnusable(home.parent, error) from error
    return home


def in_use(version: str, backend: str) -> IO[str] | None:
    """Say that a release is used, so that nobody discards it until what is returned is closed.

    None where that cannot happen: in the checkout. Raises CacheUnusable.
    """
    if _is_in_checkout(version, backend):
        return None
    home = folder_of(version, backend)
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        handle = open(f"{home}.use", "a", encoding="ascii")  # noqa: SIM115 - the caller closes it
        fcntl.flock(handle, fcntl.LOCK_SH)
    except OSError as error:
        raise CacheUnusable(home.parent, error) from error
    return handle


def discard(home: Path) -> bool:
    """Remove a release from the cache by its folder, unless somebody uses it; say whether it is gone."""
    with open(f"{home}.use", "a", encoding="ascii") as handle, FileLock(f"{home}.lock"):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        # Gone at once for who looks whether it is there, however long it takes to remove.
        leaving = home.with_name(f".{home.name}.discarded-{os.getpid()}")
        with suppress(OSError):
            home.rename(leaving)
        _remove(leaving)
        return not home.exists()


def _is_whole(home: Path, backend: str) -> bool:
    """Say whether a release is there: its folder comes whole, but somebody may have cleaned up in the cache."""
    return all((home / "node_modules" / name / "package.json").is_file() for name in _names(backend))


def _remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    else:
        shutil.rmtree(path, ignore_errors=True)


def published(package: str = LIBRARY, *, ask: bool = True) -> list[str]:
    """Return the stable releases of a package, oldest first: as npm says, or as known where npm cannot be asked.

    ``ask``: whether npm is asked at all.
    """
    known = json.loads((tree() / "js" / LISTING).read_text(encoding="utf-8"))[package]
    return sorted({*known, *(_asked(package) if ask else [])}, key=Version)


def _asked(package: str) -> list[str]:
    """Return what npm says, at most a day old; nothing where it cannot be asked."""
    try:
        kept = cache_folder() / "published" / f"{package.replace('/', '+')}.json"
        if kept.is_file() and time.time() - kept.stat().st_mtime < FRESH:
            return _stable(kept.read_text(encoding="utf-8"))
        command = [*npm(), "view", package, "versions", "--json", "--fetch-retries=0"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=ASKING, check=True)
        versions = _stable(done.stdout)
    except (CacheUnusable, NodeMissing, OSError, subprocess.SubprocessError, ValueError):
        return []
    with suppress(OSError):  # then it is asked again
        kept.parent.mkdir(exist_ok=True)
        write_whole(kept, json.dumps(versions))
    return versions


def _stable(said: str) -> list[str]:
    """Return the stable ones of the versions that npm said, in JSON. Raises ValueError where it said none."""
    versions = json.loads(said)
    if not isinstance(versions, list) or not versions:
        raise ValueError(f"npm said {said[:60]!r}")
    return [version for version in versions if isinstance(version, str) and _is_stable(version)]


def _is_stable(version: str) -> bool:
    try:
        return not Version(version).is_prerelease
    except InvalidVersion:
        return False


def nearest(version: str, versions: Sequence[str]) -> list[str]:
    """Return the releases just below and just above one that does not exist."""
    wanted = Version(version)
    below = [other for other in versions if Version(other) < wanted][-1:]
    return below + [other for other in versions if Version(other) > wanted][:1]


def _names(backend: str) -> list[str]:
    if backend == "node":
        return [BACKENDS[backend]]
    return [LIBRARY, *([BACKENDS[backend]] if backend in BACKENDS else [])]


def _wanted(version: str, backend: str) -> list[str]:
    return [*(f"{name}@{version}" for name in _names(backend)), *([HEADERS] if backend == "node" else [])]


def _aliases(version: str, backend: str) -> list[str]:
    return [f"{name.removeprefix('@tensorflow/')}-{version}" for name in _names(backend)]


def folder_of(version: str, backend: str) -> Path:
    """Return where in the cache a release is, or would be."""
    return cache_folder() / "releases" / "+".join([version, *([backend] if backend in BACKENDS else [])])


def _install(folder: Path, what: list[str]) -> None:
    """Install packages into a new folder, without running any package's scripts. Raises ReleaseMissing."""
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    quietly = ["--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--no-package-lock"]
    command = [*npm(), "install", *quietly, *PATIENCE, *what]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        reason = f"npm did not fetch {' and '.join(what)} within {SECONDS} s; is the registry reached?"
        raise ReleaseMissing(reason) from error
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        said = "\n".join([line for line in lines if not line.startswith("npm ERR!     at ")][:12])
        raise ReleaseMissing(
            f"npm could not fetch {' and '.join(what)} (status {done.returncode}):\n{said}\n"
            "Once npm works: tensorledger install TARGET"
        )

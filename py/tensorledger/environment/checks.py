"""What ``tensorledger doctor`` looks at."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import msgspec

from tensorledger.browser.chromium import ChromiumMissing, chromium
from tensorledger.environment import addon
from tensorledger.environment.cache import CacheUnusable, cache_folder
from tensorledger.environment.node import NodeMissing, node, node_version, npm
from tensorledger.environment.packages import installed
from tensorledger.environment.tree import is_checkout, tree

PINS = "pip install 'tensorledger[harness]'"


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at. ``mend`` says what to do where it is not well."""

    name: str
    well: bool
    found: str
    mend: str = ""
    optional: bool = False
    """Whether only some targets need it, which are skipped without it."""

    @property
    def in_the_way(self) -> bool:
        """Whether runs need what is not well."""
        return not self.well and not self.optional


def checks() -> Iterator[Check]:
    """Look at everything that a run needs; nothing of TensorFlow is imported."""
    yield _platform()
    yield _python()
    for package in ("tensorflow", "keras", "tf-keras", "tensorflowjs"):
        yield _package(package)
    yield from _node()
    yield _modules()
    yield _addon()
    yield _chromium()
    yield _cache()
    yield Check(name="files", well=True, found=f"{tree()} ({'a checkout' if is_checkout() else 'installed'})")


def _platform() -> Check:
    system, machine = platform.system(), platform.machine()
    if system == "Windows":
        return Check(name="platform", well=False, found=system, mend="Windows is not supported; use WSL 2")
    return Check(name="platform", well=hasattr(os, "fork"), found=f"{system} {machine}; tested on Linux x86_64")


def _python() -> Check:
    well = (3, 11) <= sys.version_info[:2] <= (3, 12)
    mend = "" if well else "use Python 3.11 or 3.12"
    return Check(name="python", well=well, found=platform.python_version(), mend=mend)


def _package(name: str) -> Check:
    try:
        return Check(name=name, well=True, found=version(name))
    except PackageNotFoundError:
        return Check(name=name, well=False, found="not installed", mend=PINS)


def _node() -> Iterator[Check]:
    try:
        yield Check(name="node", well=True, found=f"{node_version(node())} at {node()}")
        yield Check(name="npm", well=True, found=npm()[-1])
    except NodeMissing as error:
        yield Check(name="node", well=False, found=str(error), mend=PINS)


def _modules() -> Check:
    if installed():
        return Check(name="npm packages", well=True, found="installed as the lock file says")
    return Check(name="npm packages", well=True, found="not there yet; installed when a tfjs target first runs")


def _addon() -> Check:
    """Look at what the targets on tfjs-node take."""
    lacks = addon.lacking(addon.tensorflow())
    if lacks is None:
        found = f"compiled against the TensorFlow in {addon.tensorflow()}, when a target on node first runs"
        return Check(name="tfjs-node", well=True, found=found, optional=True)
    found, _, mend = lacks.rpartition("; ")
    return Check(name="tfjs-node", well=False, found=found, mend=mend, optional=True)


def _chromium() -> Check:
    """Look at what the targets in a browser, and `watch`, take."""
    try:
        return Check(name="chromium", well=True, found=str(chromium()), optional=True)
    except ChromiumMissing as error:
        found, _, mend = str(error).partition("; ")
        return Check(name="chromium", well=False, found=found, mend=mend, optional=True)


def _cache() -> Check:
    try:
        return Check(name="cache", well=True, found=str(cache_folder()))
    except CacheUnusable as error:
        return Check(name="cache", well=False, found=str(error), mend="see what was found")

"""Which targets there are, which are meant by what someone wrote, and what one that cannot run here lacks."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from packaging.version import InvalidVersion, Version

from tensorledger.browser.chromium import ChromiumMissing, chromium
from tensorledger.environment import addon
from tensorledger.environment.node import NodeMissing, node
from tensorledger.environment.releases import (
    BACKENDS,
    LIBRARY,
    NOT_ON_NODE,
    addon_is_here,
    nearest,
    pins,
    published,
    works_on_node,
)
from tensorledger.models.zoo import KERASES
from tensorledger.targets.target import LANGUAGES, BadTarget, Pattern, Target

DEFAULT = "default"
"""The named set of the targets that the suite runs on: both Kerases, and the releases that the lock file pins."""

ALL_BACKENDS = "all-backends"
"""The named set of ``default`` and every other backend: WebGL on each pinned release, the newest tfjs-node of each
major, the others on the newest."""

_INSTALL = "pip install 'tensorledger[harness]'"


@cache
def default() -> tuple[Target, ...]:
    """Return the targets of the set ``default``, in the order of tables."""
    kerases = [Target(name) for name, language in LANGUAGES.items() if language == "py"]
    pinned = []
    for alias in pins():
        name, _, release = alias.rpartition("-")
        backend = name.removeprefix("tfjs").removeprefix("-backend-") or "cpu"
        pinned.append(Target("tfjs", release, backend))
    pinned.sort(key=lambda target: (Version(target.version or "0"), target.backend))
    return (*kerases, *pinned)


@cache
def all_backends() -> tuple[Target, ...]:
    """Return the targets of the set ``all-backends``: those of ``default``, and then the other backends."""
    releases = [target.version for target in default() if target.backend == "cpu"]
    in_pages = [
        *(Target("tfjs", release, "webgl", browser=True) for release in releases),
        *(Target("tfjs", releases[-1], backend, browser=True) for backend in ("webgpu", "cpu", "wasm")),
    ]
    newest = {Version(release).major: release for release in published(BACKENDS["node"], ask=False)}
    on_node = [Target("tfjs", release, "node") for release in newest.values() if works_on_node(release)]
    return (*default(), *on_node, *in_pages)


NAMED = {DEFAULT: default, ALL_BACKENDS: all_backends}


def resolve(written: Sequence[str]) -> list[Target]:
    """Return the targets that are meant, each once, in the order written. Raises BadTarget and says which exist."""
    chosen: dict[Target, None] = {}
    for text in written or [DEFAULT]:
        found = list(NAMED[text]()) if text in NAMED else _find(Pattern.parse(text))
        chosen.update(dict.fromkeys(found))
    return list(chosen)


def _find(pattern: Pattern) -> list[Target]:
    if LANGUAGES[pattern.name] == "py":
        found = installed(Target(pattern.name))
        if pattern.version is not None and (found is None or not pattern.admits(found)):
            raise BadTarget(f"no target {pattern.text!r}: {pattern.name} {found or 'is not'} installed")
        return [Target(pattern.name)]
    backend = pattern.backend or "cpu"
    if pattern.version is None:
        return [Target("tfjs", default()[-1].version, backend, pattern.browser)]
    return [Target("tfjs", release, backend, pattern.browser) for release in _releases(pattern, backend)]


def _releases(pattern: Pattern, backend: str) -> list[str]:
    """Return the published releases that a pattern means, with a backend. Raises BadTarget where there are none."""
    pinned = [target.version for target in default() if target.backend == backend and target.version is not None]
    if pattern.version in pinned:
        return [pattern.version]
    there: list[str] = []
    # What is known to be there needs no asking; a range may mean a release that came out since.
    for ask in (False, True):
        libraries = published(LIBRARY, ask=ask)
        with_backend = published(BACKENDS[backend], ask=ask) if backend in BACKENDS else libraries
        if backend == "node":  # it brings its TensorFlow.js along, which may be the one of the release before
            libraries = [release for release in with_backend if works_on_node(release)]
        there = [release for release in libraries if release in set(with_backend)]
        found = [release for release in there if pattern.admits(release)]
        if found and (ask or pattern.exact):
            return found
    what = f"no release of TensorFlow.js with the backend {backend}" if backend in BACKENDS else "no release"
    if backend == "node":
        what = f"{NOT_ON_NODE}; none that works"
    try:
        close = nearest(pattern.version or "", there)
    except InvalidVersion:
        close = [there[0], there[-1]]
    raise BadTarget(
        f"no target {pattern.text!r}: {what} of this version was published; the nearest are "
        f"{' and '.join(close)}. Pinned: {', '.join(map(str, default()))}"
    )


def installed(target: Target) -> str | None:
    """Return the version that would run; None where there is none."""
    if target.version is not None:
        return target.version
    try:
        return version(target.name)
    except PackageNotFoundError:
        return None


def lacking(target: Target) -> str | None:
    """Say what a target lacks here, with the command that mends it; None where it can run."""
    if target.language == "js":
        try:
            node()
            if target.browser:
                chromium()
            if target.backend == "node" and not addon_is_here():
                return addon.lacking(addon.tensorflow())
        except (NodeMissing, ChromiumMissing) as error:
            return str(error)
        return None
    missing = [module for module in ("tensorflow", KERASES[target.name]) if importlib.util.find_spec(module) is None]
    return f"not installed: {', '.join(missing)}; {_INSTALL}" if missing else None

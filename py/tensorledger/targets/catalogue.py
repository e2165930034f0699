"""Which targets there are, which are meant by what someone wrote, and what one that cannot run here lacks."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from packaging.version import Version

from tensorledger.environment.node import NodeMissing, node
from tensorledger.environment.tree import tree
from tensorledger.models.zoo import KERASES
from tensorledger.targets.target import LANGUAGES, BadTarget, Pattern, Target

DEFAULT = "default"

ALIAS = "tfjs-"
"""What the npm alias of a TensorFlow.js release starts with; its version follows."""

_INSTALL = "pip install 'tensorledger[harness]'"


@cache
def known() -> tuple[Target, ...]:
    """Return every target there is, in the order of tables."""
    package = json.loads((tree() / "package.json").read_text(encoding="utf-8"))
    releases = [name.removeprefix(ALIAS) for name in package["dependencies"] if name.startswith(ALIAS)]
    return (
        *(Target(name) for name, language in LANGUAGES.items() if language == "py"),
        *(Target("tfjs", release, "cpu") for release in sorted(releases, key=Version)),
    )


def resolve(written: Sequence[str]) -> list[Target]:
    """Return the targets that are meant, each once, in the order written. Raises BadTarget and says which exist."""
    chosen: dict[Target, None] = {}
    for text in written or [DEFAULT]:
        found = list(known()) if text == DEFAULT else _find(Pattern.parse(text))
        if not found:
            raise BadTarget(f"no target {text!r}; there are: {', '.join(map(str, known()))}")
        chosen.update(dict.fromkeys(found))
    return list(chosen)


def _find(pattern: Pattern) -> list[Target]:
    if LANGUAGES[pattern.name] == "py":
        found = installed(Target(pattern.name))
        if pattern.version is not None and (found is None or not pattern.admits(found)):
            raise BadTarget(f"no target {pattern.text!r}: {pattern.name} {found or 'is not'} installed")
        return [Target(pattern.name)]
    wanted = Pattern(pattern.text, pattern.name, pattern.version, pattern.backend or "cpu", pattern.browser)
    found_releases = [target for target in known() if wanted.matches(target)]
    return found_releases if pattern.version else found_releases[-1:]


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
        except NodeMissing as error:
            return str(error)
        return None
    missing = [module for module in ("tensorflow", KERASES[target.name]) if importlib.util.find_spec(module) is None]
    return f"not installed: {', '.join(missing)}; {_INSTALL}" if missing else None

"""The grammar of targets: ``name[@version][/backend[+browser]]``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

LANGUAGES = {"tfjs": "js", "keras": "py", "tf-keras": "py"}
"""The names of targets, each with the language of its scenarios."""

BACKENDS = ("cpu", "wasm", "node", "webgl", "webgpu")
IN_BROWSER = ("webgl", "webgpu")
"""The backends that are in a browser only."""
NODE_ONLY = ("node",)
PLACES = (*BACKENDS, "cpu+browser", "wasm+browser")
"""All that can be written after the slash."""

_WRITTEN = re.compile(r"(?P<name>[a-z-]+)(@(?P<version>[^/]+))?(/(?P<backend>[a-z]+)(?P<browser>\+browser)?)?")


class BadTarget(ValueError):
    """What was written is no target; the message says what is, or which there are."""


@dataclass(frozen=True)
class Target:
    """One concrete runtime. ``str`` gives it as people write it; version and backend are None for the Kerases."""

    name: str
    version: str | None = None
    backend: str | None = None
    browser: bool = False
    """Whether it runs in a page; so it does with the backends that are in a browser only."""

    @property
    def language(self) -> str:
        """Return "js" or "py"."""
        return LANGUAGES[self.name]

    def __str__(self) -> str:
        version = f"@{self.version}" if self.version else ""
        backend = f"/{self.backend}" if self.backend else ""
        return f"{self.name}{version}{backend}{'+browser' if self.browser and self.backend not in IN_BROWSER else ''}"


@cache
def _range(written: str) -> SpecifierSet:
    return SpecifierSet(written, prereleases=True)


@dataclass(frozen=True)
class Pattern:
    """What someone wrote: one target or a range of them."""

    text: str
    name: str
    version: str | None
    backend: str | None
    browser: bool

    @classmethod
    @cache
    def parse(cls, text: str) -> Pattern:
        """Raises BadTarget for what is not of the grammar."""
        match = _WRITTEN.fullmatch(text)
        if match is None:
            raise BadTarget(f"{text!r} is no target; write name[@version][/backend[+browser]], as tfjs@4.22.0/cpu")
        name, version, backend = match["name"], match["version"], match["backend"]
        if name not in LANGUAGES:
            raise BadTarget(f"no target {text!r}: the names are {', '.join(LANGUAGES)}")
        if backend is not None and (LANGUAGES[name] == "py" or backend not in BACKENDS):
            known = "none" if LANGUAGES[name] == "py" else ", ".join(BACKENDS)
            raise BadTarget(f"no target {text!r}: the backends of {name} are: {known}")
        if match["browser"] and backend in NODE_ONLY:
            raise BadTarget(f"no target {text!r}: {backend} is Node.js's own, and runs in no browser")
        pattern = cls(text, name, version, backend, bool(match["browser"]) or backend in IN_BROWSER)
        pattern.admits("0")
        return pattern

    @property
    def exact(self) -> bool:
        """Whether one version is meant, and not a range."""
        return self.version is not None and self.version[0].isdigit()

    def admits(self, version: str) -> bool:
        """Say whether a version is meant. Raises BadTarget where the range cannot be read."""
        if self.version is None or self.version == "*":
            return True
        try:
            if self.exact:
                return Version(self.version) == Version(version)
            return Version(version) in _range(self.version)
        except (InvalidSpecifier, InvalidVersion):
            what = f"{self.version!r} is neither a version nor a range such as >=0.12.5,<1.0"
            raise BadTarget(f"{self.text!r}: {what}") from None

    def matches(self, target: Target) -> bool:
        """Say whether a target is meant. A part that is not written means all of them."""
        return (
            self.name == target.name
            and (self.backend is None or (self.backend, self.browser) == (target.backend, target.browser))
            and (target.version is None or self.admits(target.version))
        )

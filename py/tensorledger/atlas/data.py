"""The atlas as a file, schema ``tensorledger/atlas/1``: of each scenario the ranges of releases that show the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from packaging.version import Version

from tensorledger.atlas.shows import Shows
from tensorledger.atlas.sweep import Swept
from tensorledger.environment.folders import write_whole
from tensorledger.environment.tree import shown, tree
from tensorledger.targets.target import Target
from tensorledger.version import __version__

SCHEMA = "tensorledger/atlas/1"


class BadAtlas(Exception):
    """A file is no atlas that can be used; the message names it."""


class Range(msgspec.Struct, frozen=True):
    """Releases that follow upon each other, those that cannot be used aside, and all show the same."""

    first: str
    last: str
    shows: Shows


class Unusable(msgspec.Struct, frozen=True):
    """A release that cannot be measured."""

    release: str
    state: str
    """ "does not install" or "does not load"."""
    why: str


class Atlas(msgspec.Struct, frozen=True):
    """What every scenario shows on every release, in the order of names and of releases."""

    schema: str
    environment: dict[str, str]
    backend: str
    releases: list[str]
    """Those that were measured, oldest first."""
    unusable: list[Unusable]
    scenarios: dict[str, list[Range]]

    def within(self, found: Range) -> list[str]:
        """Return the releases of a range."""
        return self.releases[self.releases.index(found.first) : self.releases.index(found.last) + 1]

    def shows(self, scenario: str, release: str) -> Shows | None:
        """Return what a scenario shows on a release; None where it was not measured."""
        for found in self.scenarios.get(scenario, []):
            if release in self.within(found):
                return found.shows
        return None

    def target(self, release: str) -> Target:
        """Return the target that a release was measured as."""
        return Target("tfjs", release, self.backend)


def atlas_of(swept: Swept) -> Atlas:
    """Return the atlas of a sweep over releases of one backend."""
    targets = sorted(swept.cells, key=lambda target: Version(target.version or "0"))
    loaded = [target for target in targets if swept.cells[target] and swept.unusable(target) is None]
    unusable = [
        Unusable(
            str(target.version),
            "does not install" if why.not_installed else "does not load",
            (why.not_installed or why.not_loaded).strip(),
        )
        for target in targets
        if (why := swept.unusable(target)) is not None
    ]
    nodes = {cell.versions["node"] for cells in swept.cells.values() for cell in cells.values() if cell.versions}
    names = sorted({name for target in loaded for name in swept.cells[target]})
    return Atlas(
        schema=SCHEMA,
        environment={"tensorledger": __version__, "node": ", ".join(sorted(nodes))},
        backend=next((str(target.backend) for target in targets), "cpu"),
        releases=[str(target.version) for target in loaded],
        unusable=unusable,
        scenarios={name: list(_ranges(name, loaded, swept)) for name in names},
    )


def _ranges(scenario: str, targets: Sequence[Target], swept: Swept) -> Iterator[Range]:
    begun: tuple[str, str, Shows] | None = None
    for target in targets:
        shows = swept.cells[target][scenario].shows
        assert shows is not None and target.version is not None, "those that cannot be used are aside"
        if begun is not None and begun[2] == shows:
            begun = (begun[0], target.version, shows)
            continue
        if begun is not None:
            yield Range(*begun)
        begun = (target.version, target.version, shows)
    if begun is not None:
        yield Range(*begun)


def committed() -> Path:
    """Return where the project's own atlas is."""
    return tree() / "docs" / "atlas.json"


def text_of(atlas: Atlas) -> str:
    """Return the file's text: a line for each range, so that a change of one is one line of a diff."""
    plain: dict[str, Any] = msgspec.to_builtins(atlas)

    def lines(items: Sequence[Any]) -> str:
        if not items:
            return "[]"
        return "[\n   " + ",\n   ".join(json.dumps(item, ensure_ascii=False) for item in items) + "\n  ]"

    scenarios = ",\n  ".join(f"{json.dumps(name)}: {lines(ranges)}" for name, ranges in plain.pop("scenarios").items())
    unusable = lines(plain.pop("unusable"))
    head = ",\n ".join(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in plain.items())
    return f'{{\n {head},\n "unusable": {unusable},\n "scenarios": {{\n  {scenarios}\n }}\n}}\n'


def write(path: Path, atlas: Atlas) -> None:
    """Write the file, whole or not at all. Raises OSError."""
    write_whole(path.resolve(), text_of(atlas))


def read(path: Path) -> Atlas:
    """Return a file's atlas. Raises BadAtlas."""
    try:
        atlas = msgspec.json.decode(path.read_bytes(), type=Atlas)
    except (OSError, msgspec.DecodeError) as error:
        raise BadAtlas(f"{shown(path)}: {error}") from error
    if atlas.schema != SCHEMA:
        raise BadAtlas(f"{shown(path)}: its schema is {atlas.schema!r}, not {SCHEMA!r}")
    return atlas

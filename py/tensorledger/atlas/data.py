"""The atlas as a file, schema ``tensorledger/atlas/1``: of each scenario the ranges of releases that show the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import msgspec.structs
from packaging.version import Version

from tensorledger.atlas.shows import Shows
from tensorledger.atlas.sweep import Swept
from tensorledger.environment.folders import write_whole
from tensorledger.environment.tree import shown, tree
from tensorledger.targets.target import Target
from tensorledger.version import __version__

SCHEMA = "tensorledger/atlas/1"
T = TypeVar("T")


class BadAtlas(Exception):
    """A file is no atlas that can be used; the message names it."""


class Range(msgspec.Struct, frozen=True):
    """Releases that follow upon each other, those that cannot be used aside, and all show the same."""

    first: str
    last: str
    shows: Shows


class Recipe(msgspec.Struct, frozen=True):
    """Releases that follow upon each other, and the way by which ``release()`` released there."""

    first: str
    last: str
    name: str


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
    recipes: list[Recipe]
    unusable: list[Unusable]
    scenarios: dict[str, list[Range]]

    @property
    def is_whole(self) -> bool:
        """Say whether every range is of releases that are listed."""
        listed = {*self.releases}
        return all({found.first, found.last} <= listed for ranges in self.scenarios.values() for found in ranges)

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
        recipes=[
            Recipe(*found) for found in _runs([(str(target.version), _recipe(swept, target)) for target in loaded])
        ],
        unusable=unusable,
        scenarios={
            name: [Range(*found) for found in _runs([(str(t.version), _shows(swept, t, name)) for t in loaded])]
            for name in names
        },
    )


def _recipe(swept: Swept, target: Target) -> str:
    """Return the recipe of a release, which is the same in all of its cells that ran."""
    return max(cell.shows.recipe for cell in swept.cells[target].values() if cell.shows)


def _shows(swept: Swept, target: Target, scenario: str) -> Shows:
    """Return what a scenario shows, less the recipe, which the release decides."""
    shows = swept.cells[target][scenario].shows
    assert shows is not None, "those that cannot be used are aside"
    return msgspec.structs.replace(shows, recipe="")


def _runs(each: Sequence[tuple[str, T]]) -> Iterator[tuple[str, str, T]]:
    """Yield the first and the last of releases that follow upon each other and have the same, and that."""
    for value, group in groupby(each, key=lambda one: one[1]):
        releases = [release for release, _ in group]
        yield releases[0], releases[-1], value


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
    recipes, unusable = lines(plain.pop("recipes")), lines(plain.pop("unusable"))
    head = ",\n ".join(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in plain.items())
    return f'{{\n {head},\n "recipes": {recipes},\n "unusable": {unusable},\n "scenarios": {{\n  {scenarios}\n }}\n}}\n'


def write(path: Path, atlas: Atlas) -> None:
    """Write the file, whole or not at all. Raises OSError."""
    write_whole(path.resolve(), text_of(atlas))


def read(path: Path) -> Atlas:
    """Return a file's atlas. Raises BadAtlas."""
    try:
        atlas = msgspec.json.decode(path.read_bytes(), type=Atlas)
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        raise BadAtlas(f"{shown(path)}: {error}") from error
    if atlas.schema != SCHEMA:
        raise BadAtlas(f"{shown(path)}: its schema is {atlas.schema!r}, not {SCHEMA!r}")
    if not atlas.is_whole:
        raise BadAtlas(f"{shown(path)}: it has ranges of releases that it does not list")
    return atlas

"""A model's description: the parts that its memory is made of, per runtime where they differ.

One file a model, ``harness/models/NAME.toml``. Every target is judged by it; nothing in it comes from the runtime
that is under test.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from tensorledger.environment.tree import shown, tree
from tensorledger.expectations.toml import BadDefinition, read_table
from tensorledger.targets.target import LANGUAGES, BadTarget, Pattern

QUANTITIES = ("tensors", "bytes", "buffers", "buffer_bytes")
"""What is exact, and so can be expected."""
COUNTABLE = 2**53
"""What can be counted exactly everywhere: beyond it neither JavaScript nor a float does, and no count comes near."""


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tensors that come and go together. Each has a buffer of its own unless ``buffers`` says otherwise."""

    tensors: int
    bytes: int
    buffers: int | msgspec.UnsetType = msgspec.UNSET
    buffer_bytes: int | msgspec.UnsetType = msgspec.UNSET

    def amount(self, quantity: str) -> int:
        """Return how much of a quantity the part is."""
        stated = getattr(self, quantity)
        if stated is msgspec.UNSET:
            stated = self.tensors if quantity == "buffers" else self.bytes
        return int(stated)


NO_PART = Part(0, 0)


@dataclass(frozen=True)
class Description:
    """The parts of one model by runtime and name; ``optimizer.slots`` is within ``optimizer``."""

    model: str
    path: Path
    parts: dict[str, dict[str, Part]]
    """By runtime as the file writes it: a name, or a range of releases, whose parts replace those of the name."""

    def of(self, runtime: str) -> dict[str, Part]:
        """Return the parts in a runtime: a name, a target, or a range that the file writes. Raises BadDefinition."""
        name, _, version = runtime.partition("/")[0].partition("@")
        if name not in self.parts:
            raise BadDefinition(f"{shown(self.path)}: there is no {self.model} for {name}")
        found = dict(self.parts[name])
        for written, parts in self.parts.items():
            pattern = Pattern.parse(written)
            if written == runtime or (pattern.version and version[:1].isdigit() and pattern.admits(version)):
                found.update(parts)
        return found

    def within(self, runtime: str, name: str) -> dict[str, Part]:
        """Return the part of this name, or those within it. Raises BadDefinition where there is none."""
        parts = self.of(runtime)
        found = {part: value for part, value in parts.items() if f"{part}.".startswith(f"{name}.")}
        if not found:
            raise BadDefinition(f"{shown(self.path)}: no part {name!r} for {runtime}; there are: {', '.join(parts)}")
        return found


@cache
def describe(model: str) -> Description:
    """Return a model's description. Raises BadDefinition, naming the models that there are."""
    folder = tree() / "harness" / "models"
    path = folder / f"{model}.toml"
    if not path.is_file():
        there = ", ".join(sorted(file.stem for file in folder.glob("*.toml")))
        raise BadDefinition(f"no model {model!r}; there are: {there}")
    return parse(model, path, read_table(path))


def parse(model: str, path: Path, table: dict[str, Any]) -> Description:
    """Make a description of a file's content: parts that all runtimes share, then a table for each that has the model.

    A table may also be for a range of releases, as ``["tfjs@<1.1"]``, with what is otherwise there.
    """
    runtimes = {name: value for name, value in table.items() if name.partition("@")[0] in LANGUAGES}
    for name, value in table.items():
        meant = get_close_matches(name.partition("@")[0], LANGUAGES, n=1, cutoff=0.75)
        if name not in runtimes and isinstance(value, dict) and meant:
            raise BadDefinition(f"{shown(path)}: [{name}] is no runtime; did you mean [{meant[0]}]?")
    shared = _parts(path, "", {name: value for name, value in table.items() if name not in runtimes})
    parts: dict[str, dict[str, Part]] = {}
    for runtime, value in runtimes.items():
        try:
            name = Pattern.parse(runtime).name
        except BadTarget as error:
            raise BadDefinition(f"{shown(path)}: {error}") from error
        if not isinstance(value, dict) or (name != runtime and name not in runtimes):
            raise BadDefinition(f"{shown(path)}: {runtime} is not a table, or there is none for [{name}] itself")
        parts[runtime] = {**(shared if name == runtime else {}), **_parts(path, "", value)}
    if not parts:
        names = ", ".join(f"[{name}]" for name in LANGUAGES)
        raise BadDefinition(f"{shown(path)}: no table of a runtime: write {names}")
    return Description(model, path, parts)


def _parts(path: Path, prefix: str, table: dict[str, Any]) -> dict[str, Part]:
    parts: dict[str, Part] = {}
    for key, value in table.items():
        name = f"{prefix}{key}"
        if value == 0 and isinstance(value, int):
            parts[name] = NO_PART
        elif not isinstance(value, dict):
            raise BadDefinition(f"{shown(path)}: {name} = {value!r}: write {{ tensors = N, bytes = N }}, or 0 for none")
        elif set(value) & set(QUANTITIES):
            try:
                parts[name] = msgspec.convert(value, Part)
            except msgspec.ValidationError as error:
                raise BadDefinition(f"{shown(path)}: {name}: {error}") from error
        else:
            parts.update(_parts(path, f"{name}.", value))
    return parts

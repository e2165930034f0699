"""Where what was measured is kept at once, so that nothing is measured twice: a file of JSON lines for each release."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

import tensorledger
from tensorledger.atlas.measure import How, Measured
from tensorledger.environment.node import node, node_version
from tensorledger.environment.tree import tree
from tensorledger.expectations.expectation import expectation_for
from tensorledger.scenarios.catalogue import Scenario
from tensorledger.targets.target import Target

BESIDE = ("scenarios", "addon", "tracking", "testing", "page", "watch", "index.mjs", "build.mjs")
"""Of js/, what no cell depends on: the scenarios, which have keys of their own, what an addon is tried with, the npm
package's own, and `watch`'s."""

FORMAT = 2
"""Of a line; raised when what is measured changes without a change of the files in js/."""


class StoreUnusable(Exception):
    """The store cannot be read or written, or another run has it; the message says what to do."""


class Line(msgspec.Struct, frozen=True):
    """One cell, with the key of all that it was made from."""

    key: str
    scenario: str
    measured: Measured


def key(scenario: Scenario, target: Target, how: How) -> str:
    """Return the digest of all that a cell depends on. Raises NodeMissing or BadDefinition."""
    file = scenario.file(target)
    assert file is not None, "who asks has looked whether it is written in the target's language"
    parts = (FORMAT, str(target), node_version(node()), _sources(), expectation_for(scenario.name, file).model, how)
    return hashlib.sha256(repr(parts).encode() + file.read_bytes()).hexdigest()[:20]


@cache
def _sources() -> str:
    """Return the digest of the JavaScript that every scenario runs on, and of what makes the models that are loaded."""
    js, package = tree() / "js", Path(tensorledger.__file__).parent
    files = [file for file in js.rglob("*.mjs") if file.relative_to(js).parts[0] not in BESIDE]
    for folder in ("conversion", "models", "data"):
        files += (package / folder).rglob("*.py")
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()


class Store:
    """The cells that were measured, by their key."""

    def __init__(self, folder: Path) -> None:
        """Read a folder's files. Raises StoreUnusable; a last line that was cut off is dropped."""
        self._folder = folder
        self._lines: dict[str, Measured] = {}
        try:
            for file in sorted(folder.glob("*.jsonl")):
                self._read(file)
        except OSError as error:
            raise _unusable(folder, error) from error

    def _read(self, file: Path) -> None:
        text = file.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if whole != text:  # the run was killed while it wrote
            file.write_bytes(whole)
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                found = msgspec.json.decode(line, type=Line)
            except (msgspec.DecodeError, msgspec.ValidationError) as error:
                raise StoreUnusable(f"{file}, line {number}: {error}\nDelete the line, or the file.") from error
            self._lines[found.key] = found.measured

    def get(self, key: str) -> Measured | None:
        """Return what was measured, or None."""
        return self._lines.get(key)

    def add(self, target: Target, scenario: str, key: str, measured: Measured) -> None:
        """Keep a cell, at once. Raises StoreUnusable."""
        line = msgspec.json.encode(Line(key, scenario, measured)) + b"\n"
        try:
            with (self._folder / f"{target.version}+{target.backend}.jsonl").open("ab") as file:
                file.write(line)
        except OSError as error:
            raise _unusable(self._folder, error) from error
        self._lines[key] = measured


@contextmanager
def store_at(folder: Path) -> Iterator[Store]:
    """Yield the store in a folder, which is nobody else's meanwhile. Raises StoreUnusable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock", timeout=0)
        lock.acquire()
    except Timeout as error:
        raise StoreUnusable(f"another run is writing to {folder}; wait for it, or end it") from error
    except OSError as error:
        raise _unusable(folder, error) from error
    try:
        yield Store(folder)
    finally:
        lock.release()


def _unusable(folder: Path, error: OSError) -> StoreUnusable:
    return StoreUnusable(f"the atlas's store {folder} cannot be used: {error.strerror or error}")

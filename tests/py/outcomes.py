"""What the tests of the harness core share: hand-made outcomes, trees of definitions, copies of the checkout."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

import tensorledger
from tensorledger.environment.tree import tree
from tensorledger.expectations.amount import ON_GPU, Counts, amount
from tensorledger.expectations.description import QUANTITIES, describe
from tensorledger.expectations.deviation import Deviation, Deviations, otherwise
from tensorledger.expectations.deviation import load as load_deviations
from tensorledger.expectations.expectation import END, Expectation, Throws, load
from tensorledger.expectations.toml import BadDefinition
from tensorledger.protocol.messages import Agreement, CheckpointReading, Cycle, Outcome, Reading, Thrown
from tensorledger.targets.target import Target
from tensorledger.verdicts.levels import level

CHECKOUT = tree()

# A worker never starts from nothing: this is what lived before the scenario's first line.
BEFORE = {"tensors": 100, "bytes": 5000, "buffers": 70, "buffer_bytes": 4000}


def absolute(
    numbers: Mapping[str, int | None],
    backend: Mapping[str, float | None] | None = None,
    heap: Mapping[str, float | None] | None = None,
    process: Mapping[str, float | None] | None = None,
) -> Reading:
    """Return a reading of these absolute numbers; the exact ones that are not given are null."""
    exact = {quantity: numbers.get(quantity) for quantity in QUANTITIES}
    return Reading(**exact, backend=dict(backend or {}), heap=dict(heap or {}), process=dict(process or {}))


def reading(**numbers: int | None) -> Reading:
    """Return a reading of these numbers above what lived before; a quantity that is not given is back at it."""
    found: dict[str, int | None] = {}
    for quantity, before in {**BEFORE, **dict.fromkeys(ON_GPU, 0)}.items():
        more = numbers.get(quantity, 0)
        found[quantity] = None if more is None else before + more
    return absolute(found, backend={quantity: found[quantity] for quantity in ON_GPU})


def cycle(thrown: Thrown | None = None, /, **checkpoints: Mapping[str, int | None]) -> Cycle:
    """Return a cycle with these checkpoints, each as ``reading`` takes it; ``end`` is added where it is not given."""
    found = {**checkpoints, END: checkpoints.get(END, {})}
    taken = [CheckpointReading(name=name, reading=reading(**numbers)) for name, numbers in found.items()]
    return Cycle(baseline=reading(), checkpoints=taken, thrown=thrown, leaks=[])


def outcome(
    *cycles: Cycle,
    agreements: tuple[Agreement, ...] = (),
    not_applicable: str | None = None,
    error: Thrown | None = None,
) -> Outcome:
    """Return an outcome; the first cycle is the warm-up."""
    return Outcome(
        recipe="dispose",
        cycles=list(cycles),
        agreements=list(agreements),
        not_applicable=not_applicable,
        running=[],
        error=error,
    )


def thrown(message: str = "it broke", after: str | None = None, kind: str = "Error") -> Thrown:
    return Thrown(type=kind, message=message, checkpoint=after, stack=[])


def as_expected(expectation: Expectation, target: Target, cycles: int = 2) -> Outcome:
    """Return the outcome of a target that does exactly what is expected of it."""

    def numbers(counts: Counts) -> dict[str, int]:
        description = expectation.description
        return {name: amount(written, name, description, str(target)).value for name, written in counts.stated()}

    each = {name: numbers(counts) for name, counts in expectation.checkpoints.items()}
    added = numbers(expectation.growth)
    if expectation.caught is not None:
        each[END] = numbers(expectation.caught.end)
        added = numbers(expectation.caught.growth)
    warm = {**each, **{name: {**each.get(name, {}), **numbers(found)} for name, found in expectation.first.items()}}
    said = None if expectation.throws is None else _as_expected(expectation.throws)
    walked = [_later(cycle(said, **(each if number else warm)), added, number) for number in range(cycles + 1)]
    exact = [Agreement(model=name, source="keras", max_abs=0, max_rel=0, bound=1e-6) for name in expectation.compares]
    return outcome(*walked, agreements=tuple(exact))


def _later(first: Cycle, added: Mapping[str, int], number: int) -> Cycle:
    """Return a cycle as it is after ``number`` others, each of which added something that stays."""

    def on_top(found: Reading) -> Reading:
        more = {name: number * each for name, each in added.items()}
        exact = {name: getattr(found, name) + more.get(name, 0) for name in QUANTITIES}
        backend = {name: (value or 0) + more.get(name, 0) for name, value in found.backend.items()}
        return msgspec.structs.replace(found, **exact, backend=backend)

    checkpoints = [CheckpointReading(name=found.name, reading=on_top(found.reading)) for found in first.checkpoints]
    return msgspec.structs.replace(first, baseline=on_top(first.baseline), checkpoints=checkpoints)


def growing(found: Outcome, names: Sequence[str], each: float = 2**20, language: str = "js") -> Outcome:
    """Return an outcome in which each cycle adds so many bytes to the levels of these names."""
    cycles = []
    for number, cycle in enumerate(found.cycles):
        *before, end = cycle.checkpoints
        grown = end.reading
        for name in names:
            at = level(name, language)
            grown = msgspec.structs.replace(grown, **{at.part: {**getattr(grown, at.part), at.key: number * each}})
        last = CheckpointReading(name=end.name, reading=grown)
        cycles.append(msgspec.structs.replace(cycle, checkpoints=[*before, last]))
    return msgspec.structs.replace(found, cycles=cycles)


def _as_expected(throws: Throws) -> Thrown:
    # Good for plain text and numbers in it, which is what patterns of messages mostly are.
    return thrown(re.sub(r"\\(.)", r"\1", throws.matches.replace(r"\d+", "1")), throws.after)


MODEL = """\
weights = { tensors = 4, bytes = 160 }

[tfjs]
seeds = 0
optimizer.scalars = { tensors = 2, bytes = 8 }
optimizer.slots = { tensors = 8, bytes = 320 }
metrics = 0
views = { tensors = 3, bytes = 12, buffers = 1, buffer_bytes = 4 }

[keras]
seeds = { tensors = 6, bytes = 96 }
optimizer.scalars = { tensors = 2, bytes = 12 }
optimizer.slots = { tensors = 8, bytes = 320 }
metrics = { tensors = 4, bytes = 16 }

[tf-keras]
seeds = 0
optimizer.scalars = { tensors = 2, bytes = 12 }
optimizer.slots = { tensors = 8, bytes = 320 }
metrics = { tensors = 4, bytes = 16 }
"""
"""A model's description, made up so that no part is like another."""


class Definitions:
    """A tree of definitions of a test's own, with one model, ``classifier``; ``definitions_at`` makes it the tree."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("models/classifier", MODEL)

    def write(self, name: str, text: str) -> Path:
        path = self.root / "harness" / f"{name}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        describe.cache_clear()
        return path

    def expectation(self, text: str, name: str = "walk") -> Expectation:
        return load(self.write(f"expectations/{name}", text))

    def deviations(self, text: str, expectation: Expectation, name: str = "walk") -> Deviations:
        """Load deviations after adding what they are against, which their file has to state."""
        blocks = re.split(r"(?m)^(?=\[\[deviation\]\])", text)
        whole = "".join(block + _against(block, expectation) for block in blocks)
        return load_deviations(self.write(f"deviations/{name}", whole), expectation)


def _against(block: str, expectation: Expectation) -> str:
    try:
        (deviation,) = msgspec.convert(tomllib.loads(block)["deviation"], list[Deviation])
        places = otherwise(deviation, expectation)
    except (KeyError, ValueError, BadDefinition):
        return ""  # that is what the test is about
    return "".join(
        f"against.{json.dumps(place)}.{quantity} = {json.dumps(said)}\n"
        for place, counts in places.items()
        for quantity, said in counts.items()
    )


@contextmanager
def definitions_at(root: Path) -> Iterator[None]:
    """Make ``root`` the tree whose ``harness`` folder holds expectations, deviations and models.

    The package finds its tree by where it lies itself, so it is told that it lies there.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tensorledger, "__file__", str(root / "py" / "tensorledger" / "__init__.py"))
        _forget()
        try:
            yield
        finally:
            patch.undo()
            _forget()


def _forget() -> None:
    tree.cache_clear()
    describe.cache_clear()


def copy_of_the_checkout(folder: Path) -> Path:
    """Copy all that ``pytest harness`` needs; what a test changes there is nobody else's."""
    for name in ("py", "js", "harness"):
        shutil.copytree(CHECKOUT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "package.json", "package-lock.json"):
        shutil.copy(CHECKOUT / name, folder)
    (folder / "node_modules").symlink_to(CHECKOUT / "node_modules")
    return folder


def pytest_harness(checkout: Path, *arguments: str, folder: str = "harness") -> subprocess.CompletedProcess[str]:
    """Run ``pytest harness``, or what is in a folder or a file of it, in a checkout, as a person does there."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", folder, "-p", "no:cacheprovider", *arguments],
        cwd=checkout,
        env={**environment, "PYTHONPATH": str(checkout / "py"), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "120"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

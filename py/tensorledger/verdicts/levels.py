"""The levels that are statistics: where each is in a reading, and how much growth of it is no leak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tensorledger.expectations.expectation import LevelName
from tensorledger.protocol.messages import Cycle, Reading

KIB = 1024


@dataclass(frozen=True)
class Level:
    """Where a level is in a reading, and how much a cycle may add to it."""

    name: LevelName
    """What results call it."""
    part: str
    key: str
    unit: str
    base: float
    """What a cycle may add, whatever it does."""
    each: float
    """And for each tensor that it makes: the runtimes keep the names of all that they have ever made, for good."""
    coarse: float | None
    """What each cycle must add to be suspicious in a short look, when much is still warming up; None: nothing is."""
    retains: str
    """What is known to fill up there and to stay, which is no leak; decision 0011 says how that was seen."""

    def read(self, reading: Reading) -> float | None:
        """Return the level's value; None where the runtime does not tell it."""
        value: float | None = getattr(reading, self.part).get(self.key)
        return value

    def tolerance(self, tensors: int) -> float:
        """Return how much a cycle that makes so many tensors may add."""
        return self.base + self.each * tensors


def _bytes(name: LevelName, part: str, key: str, retains: str) -> Level:
    return Level(name, part, key, "bytes", base=512, each=256, coarse=256 * KIB, retains=retains)


def _on_gpu(key: str, retains: str) -> Level:
    """Return a level of bytes that TensorFlow.js counts exactly: what grows by a texel, grows."""
    return Level("backend", "backend", key, "bytes", base=1, each=0, coarse=4, retains=retains)


def _resident(retains: str) -> Level:
    return Level("process", "process", "resident", "bytes", base=64 * KIB, each=0, coarse=None, retains=retains)


LEVELS: dict[str, tuple[Level, ...]] = {
    "js": (
        # A count without noise, of what holds arrays outside the heap: one in every other cycle is no cache.
        Level(
            "backend", "backend", "handles", "handles", base=0.5, each=0, coarse=1, retains="constants, each made once"
        ),
        _bytes(
            "heap", "heap", "used", "V8's compiled code, TensorFlow.js's cache of the last 100 models that predicted"
        ),
        _bytes("native", "heap", "external", "array buffers that V8 frees late"),
        _bytes("backend", "backend", "wasm", "the memory of WebAssembly, which grows and never shrinks"),
        _on_gpu("gpu", "buffers that WebGPU frees with its next command"),
        _on_gpu("gpu_allocated", "textures and buffers that are kept to be used again"),
        _resident("pages that V8 frees lazily"),
    ),
    "py": (
        Level(
            "heap", "heap", "objects", "objects", base=0.5, each=0.5, coarse=500, retains="caches of traced functions"
        ),
        _bytes("native", "process", "in_use", "oneDNN's primitive cache, TensorFlow's kernel cache"),
        _bytes("backend", "backend", "allocator", "constants of traced functions"),
        _resident("the pool of TensorFlow's CPU allocator, which grows by doubling"),
    ),
}
"""By language, what explains others before what it explains: objects take memory, and all memory is the process's."""


def level(name: str, language: str) -> Level:
    """Return the first level of a name: the one that results carry."""
    return next(found for found in LEVELS[language] if found.name == name)


UNKNOWN = 16
"""Tensors that a scenario is taken to make where it has no checkpoint at which they could be counted."""


def tensors_made(cycles: Sequence[Cycle]) -> int:
    """Return how many tensors a cycle has at most beyond its baseline, at any checkpoint."""
    counts = [
        checkpoint.reading.tensors - cycle.baseline.tensors
        for cycle in cycles
        for checkpoint in cycle.checkpoints[:-1]
        if checkpoint.reading.tensors is not None and cycle.baseline.tensors is not None
    ]
    return max(0, *counts) if counts else UNKNOWN

"""The results object of DESIGN.md, schema ``tensorledger/results/1``. New keys may come; none is renamed or removed."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import msgspec

from tensorledger.environment.folders import write_whole
from tensorledger.protocol.messages import Agreement, Frame, LiveTensor
from tensorledger.verdicts.verdict import Verdict
from tensorledger.version import __version__

SCHEMA = "tensorledger/results/1"


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Memory at one point, relative to the cycle's baseline; null: not read."""

    name: str
    tensors: int | None
    bytes: int | None
    buffers: int | None
    buffer_bytes: int | None
    backend: dict[str, float | None]
    heap: dict[str, float | None]
    process: dict[str, float | None]
    expected: dict[str, int]


class CycleEnd(msgspec.Struct, frozen=True, kw_only=True):
    """What a cycle left, relative to its own baseline; see verdicts/levels.py for ``heap`` and ``native``."""

    cycle: int
    tensors: int | None
    bytes: int | None
    buffers: int | None
    heap: float | None
    native: float | None
    above: dict[str, float | None] = {}
    """What is there after it above what was there after the warm-up, of each of these: what growth is looked for in.
    Not the sum of what the cycles left, for a collection before a cycle may free what the one before has left."""


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """Per cycle, from the end of the warm-up."""

    tensors: float | None
    bytes: float | None
    buffers: float | None
    heap: float | None
    native: float | None


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """What broke, and after which checkpoint."""

    type: str
    message: str
    checkpoint: str | None
    stack: list[Frame]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One cell: a scenario on a target."""

    scenario: str
    language: str
    target: str
    recipe: str
    verdict: Verdict
    reason: str
    deviation: str | None
    seconds: float
    cycles: int
    checkpoints: list[Checkpoint]
    """Of the last cycle."""
    first: list[Checkpoint]
    """Of the warm-up."""
    series: list[CycleEnd]
    growth: Growth | None
    confidence: dict[str, float]
    """How sure it is that a level grows, by name: one less the chance of what was measured if it did not."""
    error: Failure | None
    leaks: list[LiveTensor]
    problems: list[str]
    """Every expectation that was not met, with what was measured instead."""
    parity: list[Agreement]
    """Predictions of loaded models beside those of the Keras that made them."""
    thrown: Failure | None = None
    """What was thrown where that was expected, or documented."""
    caught: bool | None = None
    """Of a scenario that leaks on purpose: whether it failed with exactly what it is to leave; null of all others."""
    retained: dict[str, str] = msgspec.field(default_factory=dict)
    """What is said of the levels that seemed to grow and only filled up, by name."""
    log: str = ""
    """The end of what the scenario printed."""


def document(results: Sequence[Result], versions: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Return the whole object. ``versions`` is what each target's worker said it is."""
    node = next((found["node"] for found in versions.values() if "node" in found), None)
    environment = {
        "tensorledger": __version__,
        "node": node,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "targets": versions,
    }
    return {"schema": SCHEMA, "environment": environment, "results": msgspec.to_builtins(list(results))}


def write(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file so that it is whole or as it was. Raises OSError."""
    write_whole(path, json.dumps(content, indent=1) + "\n")

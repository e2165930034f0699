"""Runs scenarios that tests write, in real workers."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

from tensorledger.models.saved import saved_model
from tensorledger.protocol.messages import Cycle, Outcome, RunScenario
from tensorledger.targets.target import Target
from tensorledger.workers.pool import Workers
from tensorledger.workers.worker import Watch

WATCH = Watch(reached=lambda cycle, name: None, saved_model=saved_model)


def measured(
    workers: Workers,
    folder: Path,
    source: str,
    target: str = "keras",
    *,
    recipe: str = "",
    cycles: int = 2,
    allocator: str = "default",
    params: dict[str, Any] | None = None,
) -> tuple[Outcome, str]:
    """Run a scenario of this source in a fresh worker; return what it measured and what it printed."""
    file = folder / "walk.py"
    file.write_text(dedent(source), encoding="utf-8")
    request = RunScenario(
        scenario=str(file), model="classifier", recipe=recipe, cycles=cycles, throws=False, params=params or {}
    )
    return workers.run(Target(target), request, WATCH, 120, keep=False, fresh=True, allocator=allocator)


def left(cycle: Cycle) -> tuple[int, int]:
    """Return the tensors and bytes at a cycle's end, relative to its baseline."""
    assert cycle.thrown is None, cycle.thrown
    end, before = cycle.checkpoints[-1].reading, cycle.baseline
    assert None not in (end.tensors, before.tensors, end.bytes, before.bytes)
    return end.tensors - before.tensors, end.bytes - before.bytes  # type: ignore[operator]

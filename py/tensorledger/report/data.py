"""What the page is given: all that it shows, each thing once, as plain JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from tensorledger.report.compared import Change
from tensorledger.report.fit import fits, levels
from tensorledger.report.merged import Merged, Seen
from tensorledger.results.result import Result
from tensorledger.terminal.leaks import source
from tensorledger.version import __version__

ELSEWHERE = ("scenario", "target", "verdict", "seconds", "caught")
"""What is said of a cell itself, for bodies are shared by the cells that are alike."""

UNJUDGED = ("heap", "process")
"""Levels that are judged over cycles alone; what they are at a checkpoint says nothing."""

FRAMES = 4
"""Frames that are shown of a tensor's stack: the line that made it, and how that was come to."""


def data(merged: Merged, changes: Sequence[Change] | None = None) -> dict[str, Any]:
    """Return the page's data; ``changes`` where runs are compared.

    A cell is ``[scenario, target, runs, shown]``, by their places in the lists; a run of it ``[file, verdict, seconds,
    body]``. What a body has not is empty.
    """
    scenarios, targets = merged.scenarios, merged.targets
    bodies: dict[str, int] = {}

    def body(seen: Seen) -> int:
        written = json.dumps(_body(seen.result), separators=(",", ":"), ensure_ascii=False)
        return bodies.setdefault(written, len(bodies))

    row = {scenario: place for place, scenario in enumerate(scenarios)}
    column = {target: place for place, target in enumerate(targets)}
    cells = [
        [
            row[scenario],
            column[target],
            [[found.run, found.verdict, found.result.seconds, body(found)] for found in seen],
            seen.index(merged.shown((scenario, target))),
        ]
        for (scenario, target), seen in merged.cells.items()
    ]
    said: dict[str, Any] = {
        "version": __version__,
        "files": [{"file": run.file, **msgspec.to_builtins(run.environment)} for run in merged.runs],
        "problems": list(merged.problems),
        "scenarios": scenarios,
        "targets": targets,
        "cells": cells,
        "bodies": [json.loads(written) for written in bodies],
        "checks": [_filled(_check(msgspec.to_builtins(check))) for check in merged.checks],
        "recipes": [_filled(msgspec.to_builtins(row)) for row in merged.rows],
        "atlases": [_filled(msgspec.to_builtins(atlas)) for atlas in merged.atlases],
    }
    if changes is not None:
        said["changes"] = [
            {"scenario": change.key[0], "target": change.key[1], "kind": change.kind, "said": change.said}
            for change in changes
        ]
    return said


def _body(result: Result) -> dict[str, Any]:
    whole = msgspec.to_builtins(result)
    for name in ELSEWHERE:
        del whole[name]
    for checkpoint in (*whole["checkpoints"], *whole["first"]):
        for name in UNJUDGED:
            del checkpoint[name]
    if result.verdict not in ("fail", "error"):
        del whole["log"]
    for leak, found in zip(whole["leaks"], result.leaks, strict=True):
        leak["stack"] = [frame for frame in leak["stack"] if frame["of"] == "user"][:FRAMES] or leak["stack"][:1]
        leak["line"] = source(found.stack[0]) if found.stack else ""
    whole["levels"] = levels(result.series)
    whole["fits"] = msgspec.to_builtins(fits(result.series))
    del whole["series"]
    kept: dict[str, Any] = _filled(whole)
    return kept


def _check(check: dict[str, Any]) -> dict[str, Any]:
    """Return a check without its cells, which are in the grid."""
    return {name: value for name, value in check.items() if name != "results"}


def _filled(value: Any) -> Any:
    """Return JSON without what is empty; 0 and false are not."""
    if isinstance(value, dict):
        return {name: _filled(found) for name, found in value.items() if found not in (None, "", [], {})}
    return [_filled(found) for found in value] if isinstance(value, list) else value

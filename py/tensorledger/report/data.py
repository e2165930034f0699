"""What the page is given: all that it shows, each thing once, as plain JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from tensorledger.atlas.data import Atlas
from tensorledger.atlas.judged import judged
from tensorledger.protocol.messages import Frame, LiveTensor
from tensorledger.recipes.row import Row
from tensorledger.recipes.table import advice, groups, harms, reasons, works
from tensorledger.report.compared import Change
from tensorledger.report.fit import STATISTICS, fits, levels
from tensorledger.report.merged import ORDER, Merged, Seen
from tensorledger.results.result import Failure, Result
from tensorledger.terminal.cell import parity
from tensorledger.terminal.leaks import at, by_place, leak, source
from tensorledger.terminal.marks import MARKS
from tensorledger.terminal.recipes import LEGEND, crossing
from tensorledger.verdicts.judge import agrees
from tensorledger.verdicts.levels import LEVELS as LANGUAGES
from tensorledger.verdicts.levels import level
from tensorledger.version import __version__

ELSEWHERE = ("scenario", "target", "verdict", "seconds", "caught")
"""What is said of a cell itself, for bodies are shared by the cells that are alike."""

UNJUDGED = ("heap", "process")
"""Levels that are judged over cycles alone; what they are at a checkpoint says nothing."""

FRAMES = 4
"""Frames that are shown of a tensor's stack: the line that made it, and how that was come to."""

STACK = 12
"""Frames that are shown of what was thrown."""


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
        "marks": {verdict: MARKS[verdict][0] for verdict in ORDER},
        "units": {language: {name: level(name, language).unit for name in STATISTICS} for language in LANGUAGES},
        "files": [{"file": run.file, **msgspec.to_builtins(run.environment)} for run in merged.runs],
        "problems": list(merged.problems),
        "scenarios": scenarios,
        "targets": targets,
        "cells": cells,
        "bodies": [json.loads(written) for written in bodies],
        "checks": [_filled(_check(msgspec.to_builtins(check))) for check in merged.checks],
        "recipes": [*_recipes(merged.rows)],
        "legend": LEGEND,
        "reasons": reasons(merged.rows),
        "atlases": [_filled({"place": place, **_atlas(atlas)}) for place, atlas in enumerate(merged.atlases)],
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
    whole["leaks"] = [_place(stack, tensors) for stack, tensors in by_place(result.leaks)]
    whole["parity"] = [{"said": parity(agreement), "ok": agrees(agreement)} for agreement in result.parity]
    for name in ("error", "thrown"):
        whole[name] = _failure(getattr(result, name))
    whole["levels"] = levels(result.series)
    whole["fits"] = msgspec.to_builtins(fits(result.series))
    del whole["series"]
    kept: dict[str, Any] = _filled(whole)
    return kept


def _place(stack: Sequence[Frame], tensors: Sequence[LiveTensor]) -> dict[str, Any]:
    """Return what was made at one place: the line, how that was come to, and the tensors."""
    return {
        "of": stack[0].of if stack else "",
        "stack": [at(frame) for frame in stack[:FRAMES]],
        "line": source(stack[0]) if stack else "",
        "tensors": [{"said": leak(found), "held": found.held} for found in tensors],
    }


def _failure(found: Failure | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {**msgspec.to_builtins(found), "stack": [at(frame) for frame in found.stack[:STACK]]}


def _recipes(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Yield the recipes table of each model, in each language, by how it was used."""
    for group in groups(rows):
        lines = [
            {
                "label": line.label,
                "cells": {
                    recipe: {"said": crossing(row).plain, "works": works(row), "bad": bool(row.error) or harms(row)}
                    for recipe, row in line.rows.items()
                },
                "best": advice(line),
            }
            for line in group.lines
        ]
        yield {
            "model": group.model,
            "language": group.language,
            "usage": group.usage,
            "recipes": group.recipes,
            "lines": lines,
        }


def _atlas(atlas: Atlas) -> dict[str, Any]:
    """Return an atlas with how many releases each range is of, and its verdict where the scenario is a known one."""
    whole: dict[str, Any] = msgspec.to_builtins(atlas)
    for name, ranges in atlas.scenarios.items():
        for written, found in zip(whole["scenarios"][name], ranges, strict=True):
            written["count"] = len(atlas.within(found))
            written["verdict"] = judged(atlas, name, found)
    return whole


def _check(check: dict[str, Any]) -> dict[str, Any]:
    """Return a check without its cells, which are in the grid."""
    return {name: value for name, value in check.items() if name != "results"}


def _filled(value: Any) -> Any:
    """Return JSON without what is empty; 0 and false are not."""
    if isinstance(value, dict):
        # Also an empty name is one.
        return {key: _filled(found) for key, found in value.items() if key == "name" or found not in (None, "", [], {})}
    return [_filled(found) for found in value] if isinstance(value, list) else value

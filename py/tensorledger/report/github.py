"""Workflow commands of GitHub Actions, which it shows at the user's lines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tensorledger.protocol.messages import Frame
from tensorledger.report.merged import Key, Merged, name_of
from tensorledger.report.plain import broken, culprit, details, failed, headline, why

SHOWN = 10
"""Errors of a step that GitHub shows."""
WORKSPACE = "GITHUB_WORKSPACE"
SUMMARY = "GITHUB_STEP_SUMMARY"
"""In the environment: the file that a step's summary, in Markdown, is appended to."""

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""What a terminal obeys, and a log should not have."""


@dataclass(frozen=True)
class Place:
    """What cells have in common that are told in one annotation: the line; those without one, the scenario."""

    file: str
    line: int | None
    column: int | None
    scenario: str


def commands(merged: Merged) -> Iterator[str]:
    """Yield the commands: an error for each line that broken cells are told at, errors first, and then how many more
    there are than GitHub shows."""
    for check in failed(merged):
        yield _command("error", {"title": f"{check.model} is not ready"}, why(check))
    places: dict[Place, list[Key]] = {}
    for key in broken(merged):
        places.setdefault(_place(culprit(merged.shown(key).result), key[0]), []).append(key)
    for number, (place, keys) in enumerate(places.items()):
        if number == SHOWN:
            rest = len(places) - SHOWN
            yield _command("notice", {"title": "tensorledger"}, f"and {rest} more places: see the summary of the step")
            return
        result = merged.shown(keys[0]).result
        where = {"file": place.file, "line": place.line, "col": place.column}
        title = (
            f"{result.verdict}: {name_of(keys[0]) if len(keys) == 1 else f'{place.scenario} on {len(keys)} targets'}"
        )
        others = [f"also: {name_of(key)}: {headline(merged.shown(key).result)}" for key in keys[1:]]
        text = "\n".join([details(result), *others])
        yield _command("error", {**{name: value for name, value in where.items() if value}, "title": title}, text)


def _place(frame: Frame | None, scenario: str) -> Place:
    if frame is None:
        return Place("", None, None, scenario)
    root = Path(os.environ.get(WORKSPACE) or Path.cwd())
    file = Path(frame.file)
    inside = file.is_absolute() and file.is_relative_to(root)
    return Place(str(file.relative_to(root)) if inside else frame.file, frame.line, frame.column, scenario)


def _command(name: str, properties: dict[str, str | int | None], message: str) -> str:
    said = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{name} {said}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return CONTROL.sub("\ufffd", text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")

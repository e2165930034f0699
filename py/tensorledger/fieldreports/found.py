"""What was measured of reports: ``docs/reports.json``, which only ``docs/field_reports.py --measure`` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from tensorledger.environment.folders import write_whole
from tensorledger.environment.tree import tree

SCHEMA = "tensorledger/field-reports/1"


class Line(msgspec.Struct, frozen=True):
    """A line of a scenario."""

    place: str
    """As file:line."""
    source: str


class Asked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one target showed."""

    target: str
    shows: bool | None
    """Whether it shows what is reported; null: the scenario could not be followed to its end there."""
    verdict: str
    """By the scenario's expectation and deviations."""
    tensors: int | None = None
    """Left at the end of each cycle, as are the next."""
    bytes: int | None = None
    twin: int | None = None
    """Tensors that the twin leaves."""
    grows: list[str] = []
    """The levels that were found to grow."""
    threw: str = ""
    line: Line | None = None
    """The line that made what is left."""


class Span(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Releases that were looked at, one after the other, and are alike."""

    first: str
    last: str
    looked: int
    shows: bool | None
    threw: str = ""


class Found(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of one report."""

    report: str
    scenario: str
    cycles: int
    """After the warm-up."""
    asked: list[Asked]
    """The default targets."""
    spans: list[Span] = []
    """Releases of TensorFlow.js on cpu, by exact counts; empty where only statistics, or Python, can tell."""
    of: int = 0
    """How many releases there are."""


class Findings(msgspec.Struct, frozen=True):
    """All of it."""

    schema: str
    environment: dict[str, str]
    reports: list[Found]

    def of(self, name: str) -> Found | None:
        """Return what was found of a report."""
        return next((found for found in self.reports if found.report == name), None)


def committed() -> Path:
    """Return where the project's own findings are."""
    return tree() / "docs" / "reports.json"


def read(path: Path) -> Findings:
    """Return a file's findings. Raises OSError, msgspec.DecodeError."""
    return msgspec.json.decode(path.read_bytes(), type=Findings)


def text_of(findings: Findings) -> str:
    """Return the file's text: a line for each target and for each span."""
    plain: dict[str, Any] = msgspec.to_builtins(findings)
    for found in plain["reports"]:
        for key in ("asked", "spans"):
            found[key] = [json.dumps(each, ensure_ascii=False) for each in found.get(key, [])]
    parts = []
    for found in plain["reports"]:
        lists = ",\n   ".join(
            f'"{key}": [' + ",".join(f"\n    {line}" for line in found[key]) + "]" for key in ("asked", "spans")
        )
        head = ", ".join(f"{json.dumps(key)}: {json.dumps(found[key])}" for key in ("report", "scenario"))
        parts.append(f'  {{{head}, "cycles": {found["cycles"]}, "of": {found.get("of", 0)},\n   {lists}}}')
    head = f'"schema": {json.dumps(findings.schema)},\n "environment": {json.dumps(findings.environment)}'
    return f'{{\n {head},\n "reports": [\n' + ",\n".join(parts) + "\n ]\n}\n"


def write(path: Path, findings: Findings) -> None:
    """Write the file, whole or not at all. Raises OSError."""
    write_whole(path.resolve(), text_of(findings))

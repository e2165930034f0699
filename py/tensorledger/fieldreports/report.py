"""What people reported, in our own words: ``harness/reports/NAME.toml``. What is measured is never written there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from tensorledger.environment.tree import shown, tree
from tensorledger.expectations.expectation import LevelName
from tensorledger.expectations.toml import BadDefinition, read
from tensorledger.scenarios.catalogue import Scenario, all_scenarios

THREAD = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)")


class Thread(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A public thread."""

    of: str
    """As owner/repository#number."""
    title: str
    opened: date
    kind: Literal["issues", "pull"] = "issues"

    def __post_init__(self) -> None:
        if not THREAD.fullmatch(self.of):
            raise ValueError(f"of = {self.of!r} is not owner/repository#number")

    @property
    def address(self) -> str:
        """Return where it is read."""
        repository, _, number = self.of.partition("#")
        return f"https://github.com/{repository}/{self.kind}/{number}"


class At(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is there at a checkpoint where what is reported shows."""

    checkpoint: str
    tensors: int | None = None
    bytes: int | None = None


class Symptom(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How what is reported shows in the scenario: in any of these."""

    left: bool = False
    """Each cycle leaves tensors or bytes."""
    beside: str | None = None
    """A twin scenario: what it leaves is not what is reported, only more is; where it throws, nothing is said."""
    at: At | None = None
    throws: str | None = None
    """A pattern of the message that it throws."""
    after: str | None = None
    """The checkpoint after which it throws; none: wherever it does."""
    grows: list[LevelName] = []
    cycles: int | None = None
    """How many cycles it takes; none: what is usual."""

    def __post_init__(self) -> None:
        if not (self.left or self.at or self.throws or self.grows):
            raise ValueError("nothing says how it would show")
        re.compile(self.throws or "")


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    scenario: str
    whose: Literal["upstream", "user"]
    says: str
    symptom: Symptom
    thread: list[Thread]
    only: Literal["", "js", "py"] = ""
    way_round: str = ""
    smallest: str = ""
    tried: str = ""


@dataclass(frozen=True)
class Report:
    """One report, or several of the same thing."""

    name: str
    scenario: Scenario
    whose: Literal["upstream", "user"]
    """Where the cause is, if it reproduces: in the library, or in code that uses it otherwise than it is meant."""
    says: str
    symptom: Symptom
    threads: tuple[Thread, ...]
    way_round: str
    smallest: str
    """The smallest reproduction, as a script by itself."""
    tried: str
    """What the scenario cannot stand for, where it does not reproduce."""

    @property
    def twin(self) -> Scenario | None:
        """Return the twin's scenario."""
        return all_scenarios()[self.symptom.beside] if self.symptom.beside else None


def folder() -> Path:
    """Return where the reports are."""
    return tree() / "harness" / "reports"


def load(path: Path) -> Report:
    """Return a file's report. Raises BadDefinition."""
    file = read(path, _File)
    scenarios = all_scenarios()
    for name in filter(None, (file.scenario, file.symptom.beside)):
        if name not in scenarios:
            raise BadDefinition(f"{shown(path)}: there is no scenario {name!r}")
    if not file.thread:
        raise BadDefinition(f"{shown(path)}: it names no thread")
    return Report(
        name=path.stem,
        scenario=_only(scenarios[file.scenario], file.only),
        whose=file.whose,
        says=file.says.strip(),
        symptom=file.symptom,
        threads=tuple(file.thread),
        way_round=file.way_round.strip(),
        smallest=file.smallest.strip(),
        tried=file.tried.strip(),
    )


def _only(scenario: Scenario, language: str) -> Scenario:
    """Return a scenario in the one language that a report is about."""
    files = {name: path for name, path in scenario.files.items() if language in ("", name)}
    return Scenario(scenario.name, files)


def all_reports() -> list[Report]:
    """Return all reports, by name. Raises BadDefinition."""
    return [load(path) for path in sorted(folder().glob("*.toml"))]


@cache
def reported() -> frozenset[str]:
    """Return the names of the scenarios that a report is about, and of their twins."""
    return frozenset(
        name for report in all_reports() for name in (report.scenario.name, report.symptom.beside) if name is not None
    )

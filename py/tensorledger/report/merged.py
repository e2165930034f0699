"""Several runs as one grid: of each cell all that was measured of it, and which of that is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tensorledger.atlas.data import Atlas
from tensorledger.checking.checked import Checked
from tensorledger.recipes.row import Row
from tensorledger.recipes.table import harms
from tensorledger.report.files import BadFile, Environment, Recipes, Results, read
from tensorledger.results.result import Result
from tensorledger.terminal.marks import CAUGHT

ORDER = ("error", "fail", "deviates", CAUGHT, "pass", "skip")
"""Verdicts as the suite has them, those that need looking at first. A skip is last: it was measured elsewhere."""

Key = tuple[str, str]
"""A scenario and a target."""


def verdict_of(result: Result) -> str:
    """Return the verdict as the suite has it: a leak on purpose that was caught is as it must be."""
    return CAUGHT if result.caught else result.verdict


def name_of(key: Key) -> str:
    """Return what a cell is called: ``SCENARIO[TARGET]``."""
    return f"{key[0]}[{key[1]}]"


@dataclass(frozen=True)
class Run:
    """A file of results: its name as it was given, and where they are from."""

    file: str
    environment: Environment


@dataclass(frozen=True)
class Seen:
    """What one run says of a cell."""

    run: int
    """Its place among the runs."""
    result: Result

    @property
    def verdict(self) -> str:
        """The verdict as the suite has it."""
        return verdict_of(self.result)


@dataclass(frozen=True)
class Merged:
    """All of it."""

    runs: Sequence[Run]
    cells: dict[Key, Sequence[Seen]]
    """In the order in which they come first."""
    checks: Sequence[Checked] = ()
    rows: Sequence[Row] = ()
    atlases: Sequence[Atlas] = ()
    problems: Sequence[str] = ()
    """Of the files that could not be read: why."""

    def shown(self, key: Key) -> Seen:
        """Return what is shown of a cell: the worst of its runs, the last one of these."""
        seen = self.cells[key]
        worst = min(ORDER.index(found.verdict) for found in seen)
        return next(found for found in reversed(seen) if ORDER.index(found.verdict) == worst)

    @property
    def scenarios(self) -> list[str]:
        """Each once."""
        return list(dict.fromkeys(scenario for scenario, _ in self.cells))

    @property
    def targets(self) -> list[str]:
        """Each once."""
        return list(dict.fromkeys(target for _, target in self.cells))

    @property
    def empty(self) -> bool:
        """Whether there is nothing to report."""
        return not (self.cells or self.checks or self.rows or self.atlases)


def merge(files: Iterable[Path]) -> Merged:
    """Read files and merge what they hold; what cannot be read is left out, and said."""
    runs: list[Run] = []
    cells: dict[Key, list[Seen]] = {}
    checks: list[Checked] = []
    rows: list[Row] = []
    atlases: list[Atlas] = []
    problems: list[str] = []
    for path in files:
        try:
            content = read(path)
        except BadFile as error:
            problems.append(_writable(str(error)))
            continue
        if isinstance(content, Recipes):
            rows += content.rows
        elif isinstance(content, Atlas):
            atlases.append(content)
        else:
            if isinstance(content, Checked):
                checks.append(content)
            environment = content.environment if isinstance(content, Results) else Environment()
            runs.append(Run(_writable(str(path)), environment))
            for result in content.results:
                cells.setdefault((result.scenario, result.target), []).append(Seen(len(runs) - 1, result))
    return Merged(runs, {key: tuple(seen) for key, seen in cells.items()}, checks, _worst(rows), atlases, problems)


def _worst(rows: Iterable[Row]) -> list[Row]:
    """Return each crossing once: as it came out worst, and of these the last."""
    found: dict[tuple[object, ...], Row] = {}
    for row in rows:
        key = (row.model, row.language, row.target, row.recipe, row.usage, row.allocator)
        if key not in found or _badness(row) >= _badness(found[key]):
            found[key] = row
    return list(found.values())


def _badness(row: Row) -> tuple[object, ...]:
    left = row.left
    return bool(row.error), harms(row), left is not None, *((left.tensors or 0, left.bytes or 0) if left else (0, 0))


def _writable(text: str) -> str:
    """Return text as a file can hold it: names of files may be no text."""
    return text.encode("utf-8", "replace").decode("utf-8")

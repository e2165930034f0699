"""The fixture ``tfjs``: a scenario, or a piece of JavaScript, run on a release of TensorFlow.js from a Python test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from rich.markup import escape

from tensorledger.cells.cell import LIMIT, Cell, Settings, run_cell
from tensorledger.results.result import Result
from tensorledger.scenarios.catalogue import SUFFIXES, Scenario, find
from tensorledger.targets.catalogue import resolve
from tensorledger.targets.target import Target
from tensorledger.terminal.cell import details
from tensorledger.terminal.console import plain
from tensorledger.verdicts.verdict import AS_EXPECTED
from tensorledger.workers.pool import Workers

_NAME = re.compile(r"[a-z0-9]+([-/][a-z0-9]+)*")
_GIVEN = "{tf, models, data, target, held, params, tell, release}"


@dataclass(frozen=True)
class JavaScriptRun:
    """What a run has come to. As text it is what ``tensorledger run`` prints: ``assert run.ok, str(run)``."""

    result: Result
    """Verdict, reason, checkpoints, growth, leaks, as in the results JSON."""
    told: Mapping[str, Any] = field(default_factory=dict)
    """What the scenario has told by ``tell(name, value)``."""
    returned: Any = None
    """What a piece of JavaScript has returned in the last cycle."""

    @property
    def ok(self) -> bool:
        """Whether it is as expected."""
        return self.result.verdict in AS_EXPECTED

    def __str__(self) -> str:
        found = self.result
        return plain([f"{found.verdict}: {escape(found.reason or 'as expected')}", *details(found)])


class RunJavaScript:
    """Runs JavaScript; workers stay for the next run of the session."""

    def __init__(self, workers: Workers, folder: Path) -> None:
        self._workers = workers
        self._folder = folder
        self._pieces = 0

    @classmethod
    @contextmanager
    def started(cls, folders: pytest.TempPathFactory) -> Iterator[RunJavaScript]:
        """Have workers for a while; pieces of JavaScript become files in a folder of pytest's."""
        with Workers() as workers:
            yield cls(workers, folders.mktemp("tfjs"))

    def __call__(
        self,
        scenario: str | Path,
        *,
        target: str = "tfjs",
        cycles: int = 3,
        recipe: str = "",
        params: Mapping[str, Any] | None = None,
        timeout: float = LIMIT,
    ) -> JavaScriptRun:
        """Run a scenario by its name, in a file, or as JavaScript itself, and judge it as ``tensorledger run`` does.

        A piece of JavaScript is a module with an ``export default``, or the body of an async function that is given
        what a scenario is (tf, models, data, target, held, params, tell, release); where it yields, of a generator. It
        may return what JSON holds. ``timeout``: seconds. Skips the test where the target cannot run here; raises
        NoScenario, BadTarget.
        """
        chosen = _target(target)
        settings = Settings(cycles=cycles, recipe=recipe, limit=timeout, params=dict(params or {}))
        ran = run_cell(Cell(self._scenario(scenario), chosen), self._workers, settings)
        if ran.result.verdict == "skip":
            pytest.skip(f"{chosen}: {ran.result.reason}")
        told = dict(ran.outcome.told) if ran.outcome else {}
        return JavaScriptRun(ran.result, told, told.pop(_RETURNED, None))

    def _scenario(self, written: str | Path) -> Scenario:
        if isinstance(written, Path) or _NAME.fullmatch(written):
            return find(str(written))
        if "\n" not in written and Path(written).suffix in SUFFIXES:
            return find(written)
        self._pieces += 1
        file = self._folder / f"piece-{self._pieces}.mjs"
        file.write_text(_module(written), encoding="utf-8")
        return Scenario(file.name, {"js": file})


_RETURNED = "returned"


def _module(piece: str) -> str:
    """Return a module of a piece of JavaScript, whose lines stay the lines that they are."""
    if re.search(r"^\s*export\s+default\b", piece, re.MULTILINE):
        return piece
    if re.search(r"\byield\b", piece):
        return f"export default async function* ({_GIVEN}) {{ {piece}\n}}\n"
    return (
        f"const piece = async ({_GIVEN}) => {{ {piece}\n}};\n"
        "export default async context => {\n"
        "  const returned = await piece(context);\n"
        "  if (returned instanceof context.tf.Tensor) {\n"
        "    throw new TypeError('a tensor was returned, and JSON has none: return await tensor.array() of it');\n"
        "  }\n"
        f"  if (returned !== undefined) context.tell('{_RETURNED}', returned);\n"
        "};\n"
    )


def _target(written: str) -> Target:
    found = resolve([written])
    if len(found) != 1 or found[0].language != "js":
        raise ValueError(f"target={written!r}: one release of TensorFlow.js, as 'tfjs@4.22.0/cpu'")
    return found[0]

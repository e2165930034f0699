"""Small projects of tests that are held to no leaks, as ``tensorledger new`` writes, and a workflow that runs them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tensorledger.cli.written import TEMPLATES, New, filled

RUNNERS = ("vitest", "jest", "mocha", "node-test")
"""Each has a folder of templates; so has pytest."""


@dataclass(frozen=True)
class Project:
    """A folder with tests of pytest, of JavaScript, or both, and whether a workflow of GitHub's runs them."""

    name: str
    into: Path
    pytest: bool
    runner: str | None
    workflow: bool

    def files(self) -> Iterator[New]:
        """Yield what is to be written."""
        words = {"name": self.name, "module": self.name.replace("-", "_")}
        for kind in (*(["pytest"] if self.pytest else []), *([self.runner] if self.runner else [])):
            for template in sorted((TEMPLATES / kind).iterdir()):
                yield New((f"{kind}/{template.stem}",), self.into / self.name / filled(template.stem, words), words)
        if self.workflow:
            jobs = [*(["ci/pytest.yml"] if self.pytest else []), *(["ci/javascript.yml"] if self.runner else [])]
            path = self.into / ".github" / "workflows" / "tensor-leaks.yml"
            yield New(("ci/head.yml", *jobs), path, words)

    def commands(self) -> Iterator[str]:
        """Yield what runs it."""
        yield f"cd {shlex.quote(str(self.into / self.name))}"
        if self.pytest:
            yield "python -m pip install -r requirements.txt && python -m pytest"
        if self.runner:
            yield "npm install --ignore-scripts && npm test"

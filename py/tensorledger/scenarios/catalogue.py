"""Finds scenarios: the project's by name, anybody's by path."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from tensorledger.environment.tree import tree
from tensorledger.targets.target import BACKENDS, Target

SUFFIXES = {".mjs": "js", ".js": "js", ".cjs": "js", ".py": "py"}
"""The suffixes of scenario files, each with its language."""


BROWSER = "browser"
"""The folder of scenarios that take a page. One with a backend's name has those that are about that backend."""


REPORTS = "reports"
"""The folder of scenarios that are about public reports, which docs/reports.json tells of, and not the atlas."""


class NoScenario(ValueError):
    """There is no such scenario; the message says which are meant perhaps."""


@dataclass(frozen=True)
class Scenario:
    """A scenario's name, and its file for each language that it is written in."""

    name: str
    files: dict[str, Path]

    @property
    def of_a_report(self) -> bool:
        """Say whether it is there for public reports alone."""
        return self.name.startswith(f"{REPORTS}/")

    def file(self, target: Target) -> Path | None:
        """Return the file that runs on a target; None where it is not written in its language, or for another place."""
        place, slash, _ = self.name.partition("/")
        if slash and not Path(self.name).suffix:
            if place == BROWSER and not target.browser:
                return None
            if place in BACKENDS and place != target.backend:
                return None
        return self.files.get(target.language)


def all_scenarios() -> dict[str, Scenario]:
    """Return the project's scenarios by name, sorted."""
    found: dict[str, dict[str, Path]] = {}
    for language, folder, suffix in (("js", "js/scenarios", ".mjs"), ("py", "py/scenarios", ".py")):
        root = tree() / folder
        for file in sorted(root.rglob(f"*{suffix}")):
            name = file.relative_to(root).with_suffix("").as_posix().replace("_", "-")
            found.setdefault(name, {})[language] = file
    return {name: Scenario(name, found[name]) for name in sorted(found)}


def find(written: str) -> Scenario:
    """Return the scenario that is meant by a name or a path. Raises NoScenario."""
    path = Path(written)
    if path.suffix in SUFFIXES:
        if not path.is_file():
            raise NoScenario(f"{written}: there is no such file")
        if not written.isprintable():
            raise NoScenario(f"{written!r}: a file's name must be text that can be printed")
        return _of_file(written, path)
    scenarios = all_scenarios()
    if written in scenarios:
        return scenarios[written]
    close = get_close_matches(written, scenarios, n=3)
    there = f"did you mean {', '.join(close)}?" if close else f"there are {', '.join(scenarios)}"
    raise NoScenario(f"no scenario {written!r}; {there} (a file ends in {', '.join(SUFFIXES)})")


def _of_file(written: str, path: Path) -> Scenario:
    """Return the scenario of a file: one of the project's by its name, in that language, or one of the user's own."""
    language = SUFFIXES[path.suffix]
    absolute = path.resolve()
    for scenario in all_scenarios().values():
        if scenario.files.get(language) == absolute:
            return Scenario(scenario.name, {language: absolute})
    return Scenario(written, {language: absolute if absolute.suffix == path.suffix else path.absolute()})

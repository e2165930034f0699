"""``tensorledger new``: a scenario to start from, with its expectation, or a project of tests; passing as written."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from tensorledger.cli.projects import RUNNERS, Project
from tensorledger.cli.written import New, shown, write
from tensorledger.environment.tree import is_checkout, tree
from tensorledger.scenarios.catalogue import all_scenarios

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class NameType(click.ParamType[str]):
    """The name of a new scenario or project."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not NAME.fullmatch(str(value)):
            self.fail(f"{value!r}: a name is lower-case letters and digits, in words with one dash between", param, ctx)
        return str(value)


@click.command()
@click.argument("name", type=NameType())
@click.option("--js", "languages", flag_value="js", help="A scenario in JavaScript only.")
@click.option("--py", "languages", flag_value="py", help="A scenario in Python only.")
@click.option(
    "--pytest", is_flag=True, help="No scenario, but a folder NAME with a test of pytest that is held to no leaks."
)
@click.option(
    "--js-tests",
    "runner",
    type=click.Choice(RUNNERS),
    help="No scenario, but a folder NAME with an npm project whose test is held to no leaks by that runner.",
)
@click.option(
    "--ci", is_flag=True, help="With --pytest or --js-tests or both: a workflow of GitHub Actions that runs them."
)
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="A folder for all of it; with --ci, the repository's. Default: for a scenario the project's own folders in a "
    "checkout, else the current one.",
)
def new(name: str, languages: str | None, pytest: bool, runner: str | None, ci: bool, into: Path | None) -> None:
    """Write a scenario in both languages, with the expectation that it is held to. It passes as written.

    In a checkout it becomes one of the project's; elsewhere, a pair of files of your own, each with its .toml
    beside it.

    With --pytest, --js-tests or both it writes a small project of tests instead, which passes as written too.
    Nothing takes the place of a file that is there.
    """
    here = Path.cwd().resolve()
    if into is not None and _is_the_projects(into.resolve()):
        raise click.BadParameter(f"{into} is where the project's scenarios are: leave --into out", param_hint="--into")
    if pytest or runner:
        if languages:
            raise click.UsageError("--js and --py are of a scenario, --pytest and --js-tests of a project of tests")
        project = Project(name, into or Path(), pytest, runner, ci)
        write(project.files(), here)
        _told(project.commands())
    elif ci:
        raise click.UsageError("--ci runs what --pytest and --js-tests write: say which")
    else:
        _scenario(name, (languages,) if languages else ("js", "py"), into, here)


def _scenario(name: str, chosen: tuple[str, ...], into: Path | None, here: Path) -> None:
    in_project = into is None and is_checkout() and here.is_relative_to(tree())
    files = list(_of_the_project(name, chosen) if in_project else _of_ones_own(name, chosen, into or Path()))
    if in_project and name in all_scenarios():
        there = " and ".join(shown(file, here) for file in all_scenarios()[name].files.values())
        raise click.UsageError(f"there is a scenario {name} already: {there}")
    write(files, here)
    _told(_commands(name, chosen, files, here, in_project))


def _told(commands: Iterator[str]) -> None:
    click.echo("\nIt passes as it is. Run it, change it, run it again:")
    for command in commands:
        click.echo(f"  {command}")


def _is_the_projects(folder: Path) -> bool:
    return any(folder.is_relative_to(tree() / owned) for owned in ("js/scenarios", "py/scenarios", "harness"))


def _of_the_project(name: str, languages: tuple[str, ...]) -> Iterator[New]:
    expectation = Path("harness", "expectations", f"{name}.toml")
    words = {"name": name, "expectation": str(expectation)}
    if "js" in languages:
        yield New(("scenario.mjs",), tree() / "js" / "scenarios" / f"{name}.mjs", words)
    if "py" in languages:
        yield New(("scenario.py",), tree() / "py" / "scenarios" / f"{name.replace('-', '_')}.py", words)
    yield New(("expectation.toml",), tree() / expectation, words)
    if "js" in languages:
        yield New(("deviations.toml",), tree() / "harness" / "deviations" / f"{name}.toml", words)


def _of_ones_own(name: str, languages: tuple[str, ...], folder: Path) -> Iterator[New]:
    """Yield the scenarios and the .toml beside each, which is one file where a name has no dash."""
    stems = {"js": name, "py": name.replace("-", "_")}
    words = {stem: {"name": name, "expectation": f"{stem}.toml"} for stem in stems.values()}
    for language, suffix in (("js", ".mjs"), ("py", ".py")):
        if language in languages:
            stem = stems[language]
            yield New((f"scenario{suffix}",), folder / f"{stem}{suffix}", words[stem])
    for stem in dict.fromkeys(stems[language] for language in languages):
        yield New(("expectation.toml",), folder / f"{stem}.toml", words[stem])


def _commands(name: str, languages: tuple[str, ...], files: list[New], here: Path, in_project: bool) -> Iterator[str]:
    if in_project:
        yield f"tensorledger run {name}"
        yield f"pytest {shlex.quote(shown(tree() / 'harness', here))} -k {name}"
        return
    scenarios = [shlex.quote(str(file.path)) for file in files if file.templates[0].startswith("scenario")]
    targets = [{"js": "--target tfjs", "py": "--target keras"}[language] for language in languages]
    yield " ".join(["tensorledger run", *scenarios, *targets])

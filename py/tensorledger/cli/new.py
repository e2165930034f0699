"""``tensorledger new``: a scenario to start from, with its expectation, passing as written."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import tensorledger
from tensorledger.environment.tree import is_checkout, tree
from tensorledger.scenarios.catalogue import all_scenarios

TEMPLATES = Path(tensorledger.__file__).resolve().parent / "templates"

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class New:
    """A file to write: which template, and where."""

    template: str
    path: Path
    expectation: Path
    """What a scenario's comment names: the file that it is held to."""


class NameType(click.ParamType[str]):
    """The name of a new scenario."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not NAME.fullmatch(str(value)):
            self.fail(f"{value!r}: a name is lower-case letters and digits, in words with one dash between", param, ctx)
        return str(value)


@click.command()
@click.argument("name", type=NameType())
@click.option("--js", "languages", flag_value="js", help="In JavaScript only.")
@click.option("--py", "languages", flag_value="py", help="In Python only.")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="A folder for all of it. Default: the project's own folders in a checkout, else the current one.",
)
def new(name: str, languages: str | None, into: Path | None) -> None:
    """Write a scenario in both languages, with the expectation that it is held to. It passes as written.

    In a checkout it becomes one of the project's; elsewhere, a pair of files of your own, each with its .toml
    beside it.
    """
    chosen = (languages,) if languages else ("js", "py")
    here = Path.cwd().resolve()
    in_project = into is None and is_checkout() and here.is_relative_to(tree())
    if into is not None and _is_the_projects(into.resolve()):
        raise click.BadParameter(f"{into} is where the project's scenarios are: leave --into out", param_hint="--into")
    files = list(_of_the_project(name, chosen) if in_project else _of_ones_own(name, chosen, into or Path()))
    if in_project and name in all_scenarios():
        there = " and ".join(_shown(file, here) for file in all_scenarios()[name].files.values())
        raise click.UsageError(f"there is a scenario {name} already: {there}")
    existing = [_shown(file.path, here) for file in files if os.path.lexists(file.path)]
    if existing:
        raise click.UsageError(f"nothing was written: {', '.join(existing)}: there already")
    for file in files:
        _write(file, name, here)
        click.echo(f"wrote {_shown(file.path, here)}")
    click.echo("\nIt passes as it is. Run it, change it, run it again:")
    for command in _commands(name, chosen, files, here, in_project):
        click.echo(f"  {command}")


def _is_the_projects(folder: Path) -> bool:
    return any(folder.is_relative_to(tree() / owned) for owned in ("js/scenarios", "py/scenarios", "harness"))


def _of_the_project(name: str, languages: tuple[str, ...]) -> Iterator[New]:
    expectation = tree() / "harness" / "expectations" / f"{name}.toml"
    if "js" in languages:
        yield New("scenario.mjs", tree() / "js" / "scenarios" / f"{name}.mjs", expectation)
    if "py" in languages:
        yield New("scenario.py", tree() / "py" / "scenarios" / f"{name.replace('-', '_')}.py", expectation)
    yield New("expectation.toml", expectation, expectation)
    if "js" in languages:
        yield New("deviations.toml", tree() / "harness" / "deviations" / f"{name}.toml", expectation)


def _of_ones_own(name: str, languages: tuple[str, ...], folder: Path) -> Iterator[New]:
    """Yield the scenarios and the .toml beside each, which is one file where a name has no dash."""
    stems = {"js": name, "py": name.replace("-", "_")}
    for language, suffix in (("js", ".mjs"), ("py", ".py")):
        if language in languages:
            path = folder / f"{stems[language]}{suffix}"
            yield New(f"scenario{suffix}", path, path.with_suffix(".toml"))
    for stem in dict.fromkeys(stems[language] for language in languages):
        path = folder / f"{stem}.toml"
        yield New("expectation.toml", path, path)


def _write(file: New, name: str, here: Path) -> None:
    text = (TEMPLATES / f"{file.template}.txt").read_text(encoding="utf-8")
    of_project = file.expectation.is_absolute() and file.expectation.is_relative_to(tree())
    shown = str(file.expectation.relative_to(tree())) if of_project else file.expectation.name
    text = text.replace("{name}", name).replace("{expectation}", shown)
    try:
        file.path.parent.mkdir(parents=True, exist_ok=True)
        with file.path.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        message = f"{_shown(file.path, here)} could not be written: {error.strerror or error}"
        raise click.UsageError(message) from error


def _commands(name: str, languages: tuple[str, ...], files: list[New], here: Path, in_project: bool) -> Iterator[str]:
    if in_project:
        yield f"tensorledger run {name}"
        yield f"pytest {shlex.quote(_shown(tree() / 'harness', here))} -k {name}"
        return
    scenarios = [shlex.quote(str(file.path)) for file in files if file.template.startswith("scenario")]
    targets = [{"js": "--target tfjs", "py": "--target keras"}[language] for language in languages]
    yield " ".join(["tensorledger run", *scenarios, *targets])


def _shown(path: Path, here: Path) -> str:
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)

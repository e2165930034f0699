"""Options and arguments that several subcommands take."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tensorledger.cli.streams import complain
from tensorledger.protocol.messages import RECIPES
from tensorledger.results.result import write
from tensorledger.scenarios.catalogue import NoScenario, Scenario, find
from tensorledger.targets.catalogue import resolve
from tensorledger.targets.target import BadTarget, Target


class TargetType(click.ParamType[list[Target]]):
    """A target, a range of targets, or a named set, as people write it."""

    name = "target"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[Target]:
        try:
            return resolve([value])
        except BadTarget as error:
            self.fail(str(error), param, ctx)


class ScenarioType(click.ParamType[Scenario]):
    """A scenario's name or file."""

    name = "scenario"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Scenario:
        try:
            return find(value)
        except NoScenario as error:
            self.fail(str(error), param, ctx)


class RecipeType(click.ParamType[str]):
    """A recipe's name, of whichever language."""

    name = "recipe"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        names = list(dict.fromkeys(name for recipes in RECIPES.values() for name in recipes))
        if value and value not in names:
            self.fail(f"no recipe {value!r}; there are: {', '.join(names)}", param, ctx)
        return str(value)


class ParameterType(click.ParamType[tuple[str, Any]]):
    """NAME=VALUE; a value that is JSON is taken as that, any other as text."""

    name = "name=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        name, equals, text = str(value).partition("=")
        if not equals or not name:
            self.fail(f"{value!r} is not NAME=VALUE", param, ctx)
        try:
            return name, json.loads(text)
        except json.JSONDecodeError:
            return name, text


class NewFile(click.ParamType[Path]):
    """A file to write, checked before anything long is done: its folder exists and takes files."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        if path.is_dir():
            self.fail(f"{path} is a folder", param, ctx)
        if not path.absolute().parent.is_dir():
            self.fail(f"{path}: the folder does not exist", param, ctx)
        if not os.access(path.absolute().parent, os.W_OK):
            self.fail(f"{path}: the folder cannot be written to", param, ctx)
        return path


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write what `--json` asked for. Ends the command with status 2 where that cannot be done."""
    try:
        write(path, content)
    except OSError as error:
        complain(f"the results could not be written to {path}: {error}")
        raise click.exceptions.Exit(2) from error


json_option = click.option("--json", "json_file", type=NewFile(), help="Write the results there, for machines.")

target_option = click.option(
    "-t",
    "--target",
    "chosen",
    type=TargetType(),
    multiple=True,
    help="Where to run: name[@version][/backend], a range, or a named set. Again for more. Default: default.",
)


def flat(chosen: Sequence[list[Target]]) -> list[Target]:
    """Return the targets that several options chose, each once."""
    return list(dict.fromkeys(target for group in chosen for target in group)) or resolve([])

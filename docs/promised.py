"""What stays stable, listed from the code itself: a line for each name, option and key that others may rely on.

python docs/promised.py           writes docs/promised.txt; exit status 1, and nothing written, where a line would go
python docs/promised.py --break   writes it all the same: for a new major version
python docs/promised.py --check   writes nothing; exit status 1 where the list is not what the code has
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec.inspect as types

import tensorledger
from tensorledger.atlas.data import Atlas
from tensorledger.bisection.search import Change
from tensorledger.checking.checked import Checked
from tensorledger.claims.claim import Settled
from tensorledger.cli import main as command
from tensorledger.cli.bisect import Run, _document
from tensorledger.cli.install import Installed
from tensorledger.conversion.convert import Conversion
from tensorledger.environment.checks import Check
from tensorledger.environment.folders import write_whole
from tensorledger.environment.node import node
from tensorledger.environment.tree import tree
from tensorledger.models.saved import saved_model
from tensorledger.plugin import entry
from tensorledger.protocol.messages import RunScenario
from tensorledger.recipes.row import Row
from tensorledger.results.result import Result
from tensorledger.scenarios.catalogue import Scenario
from tensorledger.targets.target import Target
from tensorledger.watch.found import Watched
from tensorledger.workers.pool import Workers
from tensorledger.workers.worker import Watch

LIST = Path(__file__).with_name("promised.txt")

GIVEN = {
    "js": "export default async function* (context) { for (const name of Object.keys(context)) yield name; }\n",
    "py": "def scenario(context):\n    yield from list(vars(context))\n",
}
"""Scenarios with a checkpoint for each thing they are given; what docs/scenarios.md does not tell of is ours alone."""

OBJECTS = {
    "results/1 results[]": Result,
    "recipes/1 rows[]": Row,
    "claims/1 claims[]": Settled,
    "check/1": Checked,
    "watch/1": Watched,
    "atlas/1": Atlas,
    "bisect/1 runs[]": Run,
    "conversion/1": Conversion,
    "install/1 targets[]": Installed,
    "doctor/1 checks[]": Check,
}
"""What ``--json`` writes, by its schema and the place in it."""


def promised() -> list[str]:
    """Return all lines, in order."""
    return sorted({*_python(), *_commands(), *_json(), *_npm(), *_plugin(), *_scenarios()})


def _python() -> Iterator[str]:
    for name in tensorledger.__all__:
        yield f"python tensorledger.{name}"
        found = getattr(tensorledger, name)
        if callable(found) and not (isinstance(found, type) and issubclass(found, Warning)):
            for parameter in inspect.signature(found).parameters.values():
                default = "" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}"
                yield f"python tensorledger.{name} {parameter.kind.description}: {parameter.name}{default}"


def _commands() -> Iterator[str]:
    assert isinstance(command, click.Group)
    context = click.Context(command)
    for name in command.list_commands(context):
        one = command.get_command(context, name)
        assert one is not None
        for parameter in one.params:
            if isinstance(parameter, click.Argument):
                yield f"command {name} argument: {parameter.name}"
            for option in (*parameter.opts, *parameter.secondary_opts):
                if option.startswith("-"):
                    kind = parameter.type
                    choices = f" {'|'.join(map(str, kind.choices))}" if isinstance(kind, click.Choice) else ""
                    yield f"command {name} option: {option}{choices}"


def _json() -> Iterator[str]:
    for where, kind in OBJECTS.items():
        for key in _keys(types.type_info(kind)):
            yield f"json tensorledger/{where}{key}"
    made_up = [Change(first="2", previous="1", before="pass", after="fail")]
    document = _document(Scenario("walk", {}), "verdict", made_up, [])
    for key in {*document, *(f"changes[].{key}" for key in document["changes"][0])}:
        yield f"json tensorledger/bisect/1 {key}"


def _keys(kind: types.Type) -> Iterator[str]:
    """Yield the keys of what JSON holds, with the kind of value that each has."""
    if isinstance(kind, (types.StructType, types.DataclassType)):
        for field in kind.fields:
            yield f".{field.encode_name}: {_kind(field.type)}"
            for key in _keys(field.type):
                yield f".{field.encode_name}{key}"
    elif isinstance(kind, (types.ListType, types.VarTupleType)):
        yield from (f"[]{key}" for key in _keys(kind.item_type))
    elif isinstance(kind, types.DictType):
        yield from (f"{{}}{key}" for key in _keys(kind.value_type))
    elif isinstance(kind, types.UnionType):
        for one in kind.types:
            yield from _keys(one)


def _kind(kind: types.Type) -> str:
    if isinstance(kind, types.UnionType):
        return " or ".join(sorted(_kind(one) for one in kind.types))
    if isinstance(kind, types.LiteralType):
        return "|".join(sorted(map(str, kind.values)))
    named: dict[type[types.Type], str] = {
        types.StrType: "string",
        types.IntType: "integer",
        types.FloatType: "number",
        types.BoolType: "boolean",
        types.NoneType: "null",
        types.AnyType: "any",
    }
    listed = isinstance(kind, (types.ListType, types.VarTupleType, types.TupleType, types.SetType))
    return named.get(type(kind), "list" if listed else "object")


def _npm() -> Iterator[str]:
    listing = subprocess.run(
        [node(), tree() / "docs" / "promised.mjs"], capture_output=True, text=True, check=True, cwd=tree()
    )
    for path, names in json.loads(listing.stdout).items():
        yield f"npm {path}"
        for name in names:
            yield f"npm {path} {name}"


def _plugin() -> Iterator[str]:
    class Asked:
        """Notes what the plugin adds."""

        def getgroup(self, *_: str) -> Asked:
            return self

        def addoption(self, name: str, *, choices: Iterable[str], **_: Any) -> None:
            said.append(f"option: {name} {'|'.join(choices)}")

        def addini(self, name: str, *_: str, default: object = None, **__: object) -> None:
            said.append(f"setting: {name}" + ("" if default is None else f" = {default}"))

    said: list[str] = []
    entry.pytest_addoption(Asked())  # type: ignore[arg-type]
    said += [f"marker: {name}" for name in entry.MARKERS]
    said += [f"fixture: {name}" for name, found in vars(entry).items() if isinstance(found, type(entry.tfjs))]
    yield from (f"pytest {line}" for line in said)


def _scenarios() -> Iterator[str]:
    told = (tree() / "docs" / "scenarios.md").read_text(encoding="utf-8")
    watch = Watch(reached=lambda cycle, name: None, saved_model=saved_model)
    with Workers() as workers, tempfile.TemporaryDirectory() as folder:
        for target in (Target("tfjs", "4.22.0", "cpu"), Target("keras")):
            suffix = {"js": "mjs", "py": "py"}[target.language]
            file = Path(folder, f"given.{suffix}")
            file.write_text(GIVEN[target.language], encoding="utf-8")
            request = RunScenario(scenario=str(file), model="classifier", recipe="", cycles=1, throws=False, params={})
            outcome, _ = workers.run(target, request, watch, 120)
            for checkpoint in outcome.cycles[-1].checkpoints[:-1]:
                if re.search(rf"`{checkpoint.name}\b", told):
                    yield f"scenario {target.language} context.{checkpoint.name}"


def lost(now: Sequence[str], before: Sequence[str]) -> list[str]:
    """Return what somebody may rely on and is there no longer."""
    return sorted(set(before) - set(now))


def main(arguments: Sequence[str]) -> int:
    """Do what is asked for; return the exit status."""
    if list(arguments) not in ([], ["--check"], ["--break"]):
        print(__doc__, file=sys.stderr)
        return 2
    now = promised()
    before = LIST.read_text(encoding="utf-8").splitlines() if LIST.is_file() else []
    gone, new = lost(now, before), lost(before, now)
    for line in gone:
        print(f"- {line}")
    for line in new:
        print(f"+ {line}")
    if arguments == ["--check"]:
        return 1 if gone or new else 0
    if gone and arguments != ["--break"]:
        print("others may rely on what would go: --break, with a new major version", file=sys.stderr)
        return 1
    write_whole(LIST, "\n".join(now) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

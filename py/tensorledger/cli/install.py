"""``tensorledger install``: fetch ahead what targets need, so that a run fetches nothing."""

from __future__ import annotations

import importlib.util
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import click
import msgspec
from rich.console import Console
from rich.markup import escape

from tensorledger.cli.options import TargetType, flat, json_option
from tensorledger.environment import packages, releases
from tensorledger.environment.cache import CacheUnusable
from tensorledger.environment.node import NodeMissing
from tensorledger.environment.packages import PackagesMissing
from tensorledger.environment.releases import ReleaseMissing
from tensorledger.models.zoo import KERASES
from tensorledger.results.result import write
from tensorledger.targets.catalogue import installed, lacking
from tensorledger.targets.target import Target
from tensorledger.terminal.console import console
from tensorledger.terminal.progress import progress

State = Literal["there", "fetched", "failed", "lacking"]
MARKS = {"there": "[green]✓[/]", "fetched": "[green]✓[/]", "failed": "[bold red]✗[/]", "lacking": "[yellow]–[/]"}
SAID = {"there": "there already", "fetched": "fetched", "failed": "not fetched", "lacking": "cannot run here"}


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one target. ``reason`` says why where it is not here."""

    target: str
    version: str | None
    state: State
    folders: list[str] = []
    reason: str = ""


@click.command()
@click.argument("chosen", nargs=-1, required=True, type=TargetType(), metavar="TARGET...")
@json_option
def install(chosen: Sequence[list[Target]], json_file: Path | None) -> None:
    """Fetch ahead what targets need: TARGET is name[@version][/backend], a range, `tfjs@*` or a named set.

    Python packages are not installed by this, but it says how. Exit status: 1 where something could not be fetched,
    2 where a target cannot run here.
    """
    targets = flat(chosen)
    shown = console()
    done: list[Installed] = []
    try:
        _all(targets, shown, done)
    except KeyboardInterrupt:
        shown.print(f"[yellow]interrupted after {len(done)} of {len(targets)} targets[/]")
        raise click.exceptions.Exit(128 + signal.SIGINT) from None
    finally:
        if json_file is not None:
            write(json_file, {"schema": "tensorledger/install/1", "targets": msgspec.to_builtins(done)})
    states = {found.state for found in done}
    raise click.exceptions.Exit(1 if "failed" in states else 2 if "lacking" in states else 0)


def _all(targets: list[Target], shown: Console, done: list[Installed]) -> None:
    bar = progress(shown)
    worker = _once(_worker_packages)
    with bar:
        task = bar.add_task("", total=len(targets))
        for target in targets:
            bar.update(task, description=escape(str(target)))
            found = _install(target, worker)
            done.append(found)
            bar.advance(task)
            shown.print(_line(found, target), soft_wrap=True)


def _line(found: Installed, target: Target) -> str:
    version = f" {found.version}" if target.version is None and found.version else ""
    where = found.reason or ", ".join(found.folders)
    return f"{MARKS[found.state]} {escape(found.target)}{version} [dim]{SAID[found.state]}:[/] {escape(where)}"


def _install(target: Target, worker: Callable[[], State]) -> Installed:
    def told(state: State, folders: Sequence[Path] = (), reason: str = "") -> Installed:
        places = [str(folder) for folder in folders]
        return Installed(target=str(target), version=installed(target), state=state, folders=places, reason=reason)

    lacks = lacking(target)
    if lacks is not None:
        return told("lacking", reason=lacks)
    if target.language == "py":
        return told("there", [_folder(KERASES[target.name])])
    assert target.version is not None and target.backend is not None, "a target of TensorFlow.js has both"
    try:
        before = worker()
        state: State = before if releases.is_here(target.version, target.backend) else "fetched"
        found = releases.packages(target.version, target.backend)
    except NodeMissing as error:
        return told("lacking", reason=str(error))
    except (ReleaseMissing, PackagesMissing, CacheUnusable, OSError) as error:
        return told("failed", reason=str(error))
    return told(state, [folder for folder in (found.library, found.backend) if folder is not None])


def _folder(module: str) -> Path:
    spec = importlib.util.find_spec(module)  # a top-level name: nothing is imported for it
    assert spec is not None and spec.origin is not None, "lacking() has looked"
    return Path(spec.origin).parent


def _worker_packages() -> State:
    """Fetch what every JavaScript target needs, with the releases that the lock file pins."""
    state: State = "there" if packages.installed() else "fetched"
    packages.modules()
    return state


def _once(fetch: Callable[[], State]) -> Callable[[], State]:
    """Return ``fetch`` so that it is done once: what it threw, it throws again."""
    kept: list[State | PackagesMissing | CacheUnusable] = []

    def once() -> State:
        if not kept:
            try:
                kept.append(fetch())
            except (PackagesMissing, CacheUnusable) as error:
                kept.append(error)
        if isinstance(kept[0], Exception):
            raise kept[0]
        return kept[0]

    return once
